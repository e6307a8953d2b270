"""Retry budgets: published vectors, an exact oracle for each engine, threads, clock steps, pickling."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.state.budget import (
    UNLIMITED,
    Budget,
    CostBudget,
    InflightBudget,
    KeyedBudget,
    RatioBudget,
    TokenBudget,
)

ENGINES: dict[str, Callable[[], Budget]] = {
    "cost": CostBudget,
    "token": TokenBudget,
    "ratio": RatioBudget,
    "inflight": InflightBudget,
}


def calls_that_all_fail(budget: Budget, calls: int, attempts: int = 3) -> int:
    """Retries granted at one instant when every attempt fails."""
    granted = 0
    for _ in range(calls):
        budget.begin(0.0)
        for _ in range(attempts - 1):
            if budget.withdraw(0.0, throttled=False) is None:
                break
            granted += 1
            budget.release(0.0)
        else:
            budget.fail(0.0, throttled=False)
        budget.end(0.0)
    return granted


# --- published numbers -------------------------------------------------------------------------------


def test_finagle_one_thousand_failing_requests() -> None:
    """Defaults, frozen clock: balance 100 at the start, 300 retries for 1000 requests."""
    budget = RatioBudget()
    assert budget.balance(0.0) == 100
    granted = 0
    for _ in range(1000):
        budget.begin(0.0)
        granted += budget.withdraw(0.0, throttled=False) is not None
    assert granted == 300


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.25, 0.75, 0.99, 0.999, 0.9999, 0.01, 0.001, 0.0001])
def test_finagle_a_share_of_ten_thousand_requests(ratio: float) -> None:
    """RetryBudgetTest: 10 000 requests allow 10 000 x ratio retries, one more or less, beside the reserve."""
    budget = RatioBudget(ratio, min_per_s=0.0)
    for _ in range(10_000):
        budget.begin(0.0)
    assert budget.balance(0.0) == pytest.approx(10_000 * ratio, abs=1 + 10_000 * ratio * 2e-3)


def test_finagle_a_ratio_of_two() -> None:
    budget = RatioBudget(2.0, min_per_s=0.0)
    for _ in range(10_000):
        budget.begin(0.0)
    assert budget.balance(0.0) == 20_000


def test_tower_reserve_and_window() -> None:
    """tps_budget.rs: a reserve of 5 a second is 5 withdrawals; two deposits at half a token are good for one 901 ms later."""
    reserve = RatioBudget.tower(1.0, min_per_s=5.0, ttl_s=1.0)
    assert [reserve.withdraw(0.0, throttled=False) is not None for _ in range(6)] == [True] * 5 + [
        False
    ]
    budget = RatioBudget.tower(0.5, min_per_s=0.0, ttl_s=1.0)
    budget.begin(0.0)
    budget.begin(0.0)
    assert budget.withdraw(0.901, throttled=False) is not None
    assert budget.withdraw(0.901, throttled=False) is None


def test_what_leaves_the_window_is_gone_withdrawals_too() -> None:
    budget = RatioBudget(1.0, min_per_s=0.0, ttl_s=10.0)
    for _ in range(5):
        budget.begin(0.0)
    assert budget.withdraw(0.0, throttled=False) is not None
    assert budget.balance(9.0) == 4
    assert budget.balance(20.0) == 0
    reserve = RatioBudget(0.0, min_per_s=1.0, ttl_s=10.0)
    assert sum(reserve.withdraw(0.0, throttled=False) is not None for _ in range(20)) == 10
    assert reserve.balance(30.0) == 10


@pytest.mark.parametrize(
    ("steps", "tokens", "allowed"),
    [
        ("F", 9, True), ("FF", 8, True), ("FFF", 7, True), ("FFFF", 6, True), ("FFFFF", 5, False),
        ("FFFFFSF", 4.1, False), ("FFFFFSFSSSSSSSSSS", 5.1, None),
    ],
)  # fmt: skip
def test_grpc_tokens(steps: str, tokens: float, allowed: bool | None) -> None:
    """gRFC A6 with maxTokens 10 and tokenRatio 0.1: a retry while more than half is left after the failure is counted."""
    budget = TokenBudget(10, 0.1)
    answer: float | None = None
    for step in steps:
        if step == "F":
            answer = budget.withdraw(0.0, throttled=False)
        else:
            budget.succeed(0.0, 0.0)
    assert budget.tokens == pytest.approx(tokens)
    assert allowed is None or (answer is not None) is allowed


@pytest.mark.parametrize(
    ("active", "retries"), [(0, 3), (2, 3), (15, 3), (20, 4), (25, 5), (100, 20), (1000, 200)]
)
def test_envoy_share_of_calls_in_flight(active: int, retries: int) -> None:
    budget = InflightBudget(0.2, 3)
    for _ in range(active):
        budget.begin(0.0)
    assert budget.balance(0.0) == retries
    assert (
        sum(budget.withdraw(0.0, throttled=False) is not None for _ in range(retries + 5))
        == retries
    )
    for _ in range(retries):
        budget.release(0.0)
    assert budget.balance(0.0) == retries


def test_aws_concurrent_calls_share_a_bucket() -> None:
    """smithy-python: one call fails twice and then three times over, another fails once and succeeds: 500 -> 486."""
    budget = CostBudget()
    first = [budget.withdraw(0.0, throttled=False) for _ in range(2)]
    second = budget.withdraw(0.0, throttled=False)
    assert second is not None
    budget.succeed(0.0, second)
    assert first[-1] is not None
    budget.succeed(0.0, first[-1])
    assert budget.tokens == 486


def test_aws_prices_and_refunds() -> None:
    budget = CostBudget()
    assert budget.withdraw(0.0, throttled=True) == 5
    assert budget.withdraw(0.0, throttled=False) == 14
    assert budget.tokens == 481
    budget.succeed(0.0, 0.0)
    assert budget.tokens == 482
    budget.succeed(0.0, 14)
    budget.succeed(0.0, 14)
    assert (budget.tokens, budget.idle) == (500, True)


# --- what they are for -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "burst", "share"),
    [
        (CostBudget, 500 / 14, 0.0),
        (lambda: TokenBudget(100, 0.1), 50, 0.0),
        (lambda: RatioBudget(0.1, min_per_s=1.0), 10, 0.1),
        (
            lambda: InflightBudget(0.1, min_retries=3),
            0,
            2.0,
        ),  # one call at a time: three retries are always allowed
    ],
    ids=ENGINES,
)
def test_load_is_bounded_when_everything_fails(
    make: Callable[[], Budget], burst: float, share: float
) -> None:
    """Three attempts alone would be three times the load."""
    granted = calls_that_all_fail(make(), 10_000)
    assert granted <= burst + share * 10_000 + 1


def test_ten_percent_budget_bounds_growth_at_1_1() -> None:
    """SRE book, "Handling overload": with a 10 % budget the load never passes 1.1 times, against 3 without it."""
    granted = calls_that_all_fail(RatioBudget(0.1, min_per_s=0.0), 10_000)
    assert (10_000 + granted) / 10_000 <= 1.1
    assert calls_that_all_fail(UNLIMITED, 10_000) == 20_000


# --- exact oracles -----------------------------------------------------------------------------------

operations = st.lists(
    st.tuples(
        st.sampled_from(["begin", "end", "ok", "fail", "withdraw", "throttled", "release"]),
        st.sampled_from([0.0, 0.0, 0.3, 1.0, 5.0, -2.0]),
    ),
    max_size=80,
)


def drive(budget: Budget, steps: list[tuple[str, float]]) -> list[Any]:
    """Answers to a sequence of operations; ends and releases only what was begun and granted."""
    now, begun, charges = 100.0, 0, list[float]()
    answers: list[Any] = []
    for name, passed in steps:
        now += passed
        if name == "begin":
            budget.begin(now)
            begun += 1
        elif name == "end" and begun:
            budget.end(now)
            begun -= 1
        elif name == "ok":
            budget.succeed(now, charges.pop() if charges else 0.0)
        elif name == "fail":
            budget.fail(now, throttled=False)
        elif name in {"withdraw", "throttled"}:
            charge = budget.withdraw(now, throttled=name == "throttled")
            answers.append(charge)
            if charge is not None:
                charges.append(charge)
        elif name == "release" and charges:
            budget.release(now)
            charges.pop()
    return answers


class CostOracle(Budget):
    def __init__(self) -> None:
        super().__init__()
        self.points = 60

    def succeed(self, now: float, charge: float) -> None:
        self.points = min(60, self.points + int(charge or 1))

    def withdraw(self, now: float, throttled: bool) -> float | None:
        price = 5 if throttled else 14
        if price > self.points:
            return None
        self.points -= price
        return price


class TokenOracle(Budget):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = 10.0

    def succeed(self, now: float, charge: float) -> None:
        self.tokens = round(min(10.0, self.tokens + 0.3), 6)

    def fail(self, now: float, throttled: bool) -> None:
        self.tokens = round(max(0.0, self.tokens - 1.0), 6)

    def withdraw(self, now: float, throttled: bool) -> float | None:
        self.fail(now, throttled)
        return 1.0 if self.tokens > 5.0 else None


class InflightOracle(Budget):
    def __init__(self) -> None:
        super().__init__()
        self.calls = self.retries = 0

    def begin(self, now: float) -> None:
        self.calls += 1

    def end(self, now: float) -> None:
        self.calls -= 1

    def release(self, now: float) -> None:
        self.retries -= 1

    def withdraw(self, now: float, throttled: bool) -> float | None:
        if self.retries >= max(1, self.calls * 3 // 10):
            return None
        self.retries += 1
        return 1.0


class RatioOracle(Budget):
    """Every amount with the slice it fell into; nothing is ever merged."""

    def __init__(self) -> None:
        super().__init__()
        self.amounts: list[tuple[int, int]] = []
        self.slice = 0
        self.since: float | None = None

    def _move(self, now: float) -> None:
        if self.since is None:
            self.since = now
        passed = int((now - self.since) / 0.5 + 1e-9)
        if passed > 0:
            self.slice += passed
            self.since = now
        self.amounts = [(at, n) for at, n in self.amounts if at > self.slice - 10]

    def begin(self, now: float) -> None:
        self._move(now)
        self.amounts.append((self.slice, 1000))

    def withdraw(self, now: float, throttled: bool) -> float | None:
        self._move(now)
        if sum(n for _, n in self.amounts) + 5 * 2000 < 2000:
            return None
        self.amounts.append((self.slice, -2000))
        return 1.0


@pytest.mark.parametrize(
    ("make", "oracle"),
    [
        (lambda: CostBudget(capacity=60), CostOracle),
        (lambda: TokenBudget(10, 0.3), TokenOracle),
        (lambda: InflightBudget(0.3, 1), InflightOracle),
        (lambda: RatioBudget(0.5, min_per_s=1.0, ttl_s=5.0), RatioOracle),
    ],
    ids=ENGINES,
)
@given(operations)
def test_every_answer_is_the_oracles(
    make: Callable[[], Budget], oracle: Callable[[], Budget], steps: list[tuple[str, float]]
) -> None:
    assert drive(make(), steps) == drive(oracle(), steps)


@pytest.mark.parametrize("name", ENGINES)
@given(operations)
def test_a_first_success_changes_nothing_while_idle(
    name: str, steps: list[tuple[str, float]]
) -> None:
    budget = ENGINES[name]()
    drive(budget, steps)
    if budget.idle:
        before = budget.balance(1000.0)
        budget.succeed(1000.0, 0.0)
        assert budget.balance(1000.0) == before


# --- sharing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cost", "inflight"])
def test_eight_threads_lose_nothing(name: str) -> None:
    """What is given back is there again; nothing is ever granted beyond the limit."""
    budget: Budget = CostBudget(capacity=140) if name == "cost" else InflightBudget(0.0, 10)
    before = budget.balance(0.0)
    held, most, lock = [0], [0], threading.Lock()
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work() -> None:
        for _ in range(2000):
            charge = budget.withdraw(0.0, throttled=False)
            if charge is None:
                continue
            with lock:
                held[0] += 1
                most[0] = max(most[0], held[0])
            with lock:
                held[0] -= 1
            if name == "cost":
                budget.succeed(0.0, charge)
            else:
                budget.release(0.0)

    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert budget.balance(0.0) == before
    assert most[0] <= 10


@pytest.mark.parametrize("name", ENGINES)
def test_copies_have_the_balance_and_share_nothing(name: str) -> None:
    budget = ENGINES[name]()
    budget.begin(0.0)
    budget.withdraw(0.0, throttled=False)
    for twin in (pickle.loads(pickle.dumps(budget)), copy.copy(budget), copy.deepcopy(budget)):
        assert repr(twin) == repr(budget)
        assert twin.balance(0.0) == budget.balance(0.0)
        before = budget.balance(0.0)
        for _ in range(1000):
            twin.withdraw(0.0, throttled=False)
        assert budget.balance(0.0) == before


def test_a_budget_for_each_key() -> None:
    budgets = KeyedBudget(CostBudget, capacity=2)
    a = budgets.of("a")
    assert budgets.of("a") is a
    b = budgets.of("b")
    assert b is not a
    budgets.of("a")
    budgets.of("c")  # b was used least recently
    assert budgets.of("a") is a
    assert budgets.of("b") is not b
    assert len(budgets) == 2


# --- bad settings ------------------------------------------------------------------------------------

NOT_A_NUMBER: Any = "500"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RatioBudget(ttl_s=0.5), r"RatioBudget: ttl_s must be in \[1, 60\], got 0\.5"),
        (lambda: RatioBudget(ratio=-0.1), "ratio must be in"),
        (lambda: RatioBudget(ratio=float("nan")), "ratio must be in"),
        (lambda: TokenBudget(max_tokens=1001), "max_tokens must be in"),
        (lambda: CostBudget(capacity=-1), r"capacity must be in .* got -1.*Use UNLIMITED"),
        (lambda: InflightBudget(ratio=1.5), "ratio must be in"),
        (lambda: CostBudget(capacity=NOT_A_NUMBER), "capacity must be a number, got '500'"),
        (lambda: KeyedBudget(CostBudget, capacity=0), "capacity must be at least 1"),
    ],
)
def test_bad_settings_are_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()
