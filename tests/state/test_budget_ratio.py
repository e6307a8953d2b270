"""`RatioBudget`: Finagle's and tower's published numbers, the window, clocks, bounds, threads."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from seawall.state.budget import RatioBudget
from tests.state.budget_machine import BudgetMachine, Model, hammer


def begun(budget: RatioBudget, calls: int, now: float = 0.0) -> RatioBudget:
    for _ in range(calls):
        budget.begin(now)
    return budget


def drained(budget: RatioBudget, now: float = 0.0) -> int:
    """Retries until the refusal."""
    granted = 0
    while budget.withdraw(now, throttled=False) is not None:
        granted += 1
    return granted


def test_finagle_one_thousand_failing_requests() -> None:
    """Defaults, frozen clock: balance 100 at the start, 300 retries for 1000 requests."""
    budget = RatioBudget()
    assert budget.balance(0.0) == 100
    granted = 0
    for _ in range(1000):
        budget.begin(0.0)
        granted += budget.withdraw(0.0, throttled=False) is not None
    assert granted == 300


@pytest.mark.parametrize("min_per_s", [0, 10])
@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.25, 0.75, 0.99, 0.999, 0.9999, 0.01, 0.001, 0.0001])
def test_finagle_a_share_of_ten_thousand_requests(ratio: float, min_per_s: int) -> None:
    """RetryBudgetTest: 10 000 requests allow 10 000 x ratio retries and the reserve, one more or less."""
    budget = begun(RatioBudget(ratio, min_per_s, ttl_s=1.0), 10_000)
    assert drained(budget) == pytest.approx(10_000 * ratio + min_per_s, abs=1)


def test_finagle_a_ratio_of_two() -> None:
    assert begun(RatioBudget(2.0, min_per_s=0.0), 10_000).balance(0.0) == 20_000


def test_finagle_prices_are_cut_to_whole_units() -> None:
    """0.3: int(1000 / 0.3) = 3333, so 3333 calls earn 1000 retries and 33 units; an Int holds the dearest."""
    assert drained(begun(RatioBudget(0.3, min_per_s=0), 3333)) == 1000
    assert drained(begun(RatioBudget(1000, min_per_s=0), 2)) == 2000
    assert drained(begun(RatioBudget(5e-324, min_per_s=0), 1000)) == 0


def test_finagle_with_neither_share_nor_reserve_nothing_is_granted() -> None:
    assert drained(begun(RatioBudget(0, min_per_s=0), 1000)) == 0


def test_tower_reserve() -> None:
    """tps_budget.rs `tps_reserve` and `tps_empty`."""
    assert drained(RatioBudget.tower(1.0, min_per_s=5, ttl_s=1)) == 5
    assert drained(RatioBudget.tower(1.0, min_per_s=0, ttl_s=1)) == 0


def test_tower_deposits_leak() -> None:
    """tps_budget.rs `tps_leaky`."""
    budget = begun(RatioBudget.tower(1.0, min_per_s=0, ttl_s=1), 1)
    assert budget.withdraw(3.0, throttled=False) is None


def test_tower_slots() -> None:
    """tps_budget.rs `tps_slots`: two deposits of half a retry are good for one 901 ms later, and so on."""
    budget = begun(RatioBudget.tower(0.5, min_per_s=0, ttl_s=1), 2)
    assert budget.withdraw(0.901, throttled=False) is not None
    now = 0.901 + 2.001
    for passed in (0.0, 0.301, 0.801):
        now += passed
        budget.begin(now)
    assert budget.withdraw(now, throttled=False) is not None
    assert budget.withdraw(now, throttled=False) is None


@pytest.mark.parametrize(("ratio", "share"), [(0.3, 1 / 3), (0.2, 0.2), (1.0, 1.0), (2.0, 2.0)])
def test_tower_counts_in_ones_up_to_a_ratio_of_one(ratio: float, share: float) -> None:
    assert drained(begun(RatioBudget.tower(ratio, min_per_s=0), 3000)) == 3000 * share


def test_what_leaves_the_window_is_gone_withdrawals_too() -> None:
    budget = begun(RatioBudget(1.0, min_per_s=0.0, ttl_s=10.0), 5)
    assert budget.withdraw(0.0, throttled=False) is not None
    assert budget.balance(9.0) == 4
    assert budget.balance(20.0) == 0
    reserve = RatioBudget(0.0, min_per_s=1.0, ttl_s=10.0)
    assert drained(reserve) == 10
    assert reserve.balance(9.0) == 0
    assert reserve.balance(30.0) == 10


def test_slices_begin_with_the_first_call_in_them() -> None:
    """WindowedAdder: a slice that is looked at late ends late; ten of 1 s, each seen after 1.5 s, last for 15 s."""
    budget = begun(RatioBudget(1.0, min_per_s=0, ttl_s=10), 1)
    assert [budget.balance(1.5 * turn) for turn in range(12)] == [1] * 10 + [0, 0]


def test_floating_point_times_fall_into_the_slices_they_name() -> None:
    """In binary 4.2 - 4.1 is less than 0.1, and yet a slice of 0.1 s."""
    for tenths in range(2000):
        budget = begun(RatioBudget(1.0, min_per_s=0, ttl_s=1), 1, now=tenths / 10)
        assert [budget.balance((tenths + n) / 10) for n in (1, 5, 9, 10)] == [1, 1, 1, 0]


def test_a_clock_that_steps_back_keeps_the_window() -> None:
    budget = begun(RatioBudget(1.0, min_per_s=0, ttl_s=1), 3, now=100.0)
    assert budget.withdraw(99.0, throttled=False) is not None
    assert budget.balance(3.0) == 2
    assert budget.balance(100.95) == 2
    assert budget.balance(101.05) == 0


def test_a_pickled_window_goes_on_under_another_clock() -> None:
    """A monotonic clock starts anew with its machine; the copy must not wait until it has caught up."""
    budget = begun(RatioBudget(1.0, min_per_s=0, ttl_s=10), 3, now=1e6)
    for seconds, left in ((0.0, 3), (9.9, 3), (10.0, 0)):
        twin = pickle.loads(pickle.dumps(budget))
        assert twin.balance(5.0) == 3
        assert twin.balance(5.0 + seconds) == left


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
def test_the_windows_of_copies_are_apart(how: object) -> None:
    budget = begun(RatioBudget(1.0, min_per_s=0, ttl_s=10), 3)
    twin = copy.copy(budget) if how is copy.copy else copy.deepcopy(budget)
    for second in range(1, 9):
        begun(twin, 5, now=float(second))
    assert budget.balance(1.0) == 3


@given(
    ratio=st.sampled_from([0.05, 0.1, 0.3, 1.0, 3.0]),
    steps=st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.1, 0.5, 1.0, 9.9, 30.0, -0.7, -40.0]), st.integers(0, 30)
        ),
        max_size=40,
    ),
)
def test_without_a_reserve_the_share_is_never_passed(
    ratio: float, steps: list[tuple[float, int]]
) -> None:
    """Every call fails and asks for all it can get; whatever the clock does, retries stay under the share of calls so far."""
    budget = RatioBudget(ratio, min_per_s=0)
    now, calls, retries = 0.0, 0, 0
    for passed, new in steps:
        now += passed
        begun(budget, new, now)
        calls += new
        retries += drained(budget, now)
        assert retries * int(1000 / ratio) <= calls * 1000


def test_a_long_outage_gets_its_share_and_the_reserve() -> None:
    """100 failing calls a second for a minute, three attempts each: 20 %, and 10/s, with one window's reserve ahead."""
    budget = RatioBudget()
    calls = retries = 0
    for tick in range(6000):
        budget.begin(tick / 100)
        calls += 1
        for _ in range(2):
            retries += budget.withdraw(tick / 100, throttled=False) is not None
    assert 0.2 * calls <= retries <= 0.2 * calls + 10 * 60 + 100


class RatioModel(Model):
    """Every amount with the number of the slice it fell into, in milliseconds; nothing is ever merged."""

    def __init__(self, ratio: float, min_per_s: int, ttl_ms: int) -> None:
        self.price = int(1000 / ratio)
        self.reserve = min_per_s * ttl_ms * self.price // 1000
        self.slice_ms = ttl_ms // 10
        self.amounts: list[tuple[int, int]] = []
        self.slice = 0
        self.since: int | None = None

    def total(self, now_ms: int) -> int:
        if self.since is None:
            self.since = now_ms
        passed = (now_ms - self.since) // self.slice_ms
        if passed > 0:
            self.slice += passed
            self.since = now_ms
        return self.reserve + sum(n for at, n in self.amounts if at > self.slice - 10)

    def begin(self, now_ms: int) -> None:
        self.total(now_ms)
        self.amounts.append((self.slice, 1000))

    def withdraw(self, now_ms: int, throttled: bool) -> int | None:
        if self.total(now_ms) < self.price:
            return None
        self.amounts.append((self.slice, -self.price))
        return 1

    def balance(self, now_ms: int) -> int:
        return max(0, self.total(now_ms) // self.price)

    def copied(self) -> None:
        self.since = None


class RatioMachine(BudgetMachine):
    @initialize(
        ratio=st.sampled_from([0.1, 0.3, 0.5, 1.0, 2.5]),
        min_per_s=st.integers(0, 2),
        ttl_ms=st.sampled_from([1000, 2500, 10_000]),
    )
    def start(self, ratio: float, min_per_s: int, ttl_ms: int) -> None:
        self.budget = RatioBudget(ratio, min_per_s, ttl_ms / 1000)
        self.model = RatioModel(ratio, min_per_s, ttl_ms)


TestRatioAgainstItsModel = RatioMachine.TestCase
TestRatioAgainstItsModel.settings = settings(max_examples=100, stateful_step_count=50)


def test_threads_lose_no_call_and_overdraw_nothing() -> None:
    budget = RatioBudget(0.5, min_per_s=0)
    granted: list[int] = []

    def work() -> None:
        taken = 0
        for _ in range(1000):
            budget.begin(0.0)
            taken += budget.withdraw(0.0, throttled=False) is not None
        granted.append(taken)

    hammer(work)
    assert sum(granted) + budget.balance(0.0) == 4000


def test_threads_with_clocks_that_disagree_stay_under_the_share() -> None:
    budget = RatioBudget(0.5, min_per_s=0, ttl_s=1)
    granted: list[int] = []

    def work() -> None:
        taken = 0
        for turn in range(1000):
            now = turn / 500 + 0.05 * math.sin(turn)
            budget.begin(now)
            taken += budget.withdraw(now, throttled=False) is not None
        granted.append(taken)

    hammer(work)
    assert 0 < sum(granted) <= 4000
