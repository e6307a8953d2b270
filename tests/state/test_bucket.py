"""Rate limits: each answers as an exact model would, whatever the clock does."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import threading
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.state.bucket import Gcra, Pacer, RateMeter, TokenBucket

METERS: list[type[RateMeter]] = [TokenBucket, Gcra]
each_meter = pytest.mark.parametrize("kind", METERS)

#: seconds since the call before; eighths, so that sums and products below are exact
steps_s = st.sampled_from([0.0, 0.0, 0.125, 0.5, 1.0, 3.875, 60.0, 1e6, -0.125, -2.5, -1e6])
costs = st.sampled_from([1.0, 1.0, 1.0, 0.0, 0.5, 2.0, 3.25, 8.0, 9.0])
asks = st.lists(st.tuples(steps_s, costs), max_size=80)
rates = st.sampled_from([0.5, 1.0, 2.0, 8.0])
bursts = st.sampled_from([1.0, 2.5, 8.0])


class ExactBucket:
    """Tokens as fractions; a clock that steps back stands still."""

    def __init__(self, rate_per_s: float, burst: float) -> None:
        self.rate, self.burst = Fraction(rate_per_s), Fraction(burst)
        self.tokens = self.burst
        self.at: Fraction | None = None

    def take(self, now_s: float, cost: float) -> float:
        now = Fraction(now_s)
        if self.at is not None and now > self.at:
            self.tokens = min(self.burst, self.tokens + (now - self.at) * self.rate)
        self.at = now if self.at is None else max(now, self.at)
        if cost <= self.tokens:
            self.tokens -= Fraction(cost)
            return 0.0
        if cost > self.burst:
            return math.inf
        return float(self.at - now + (Fraction(cost) - self.tokens) / self.rate)


# --- token bucket and GCRA -----------------------------------------------------------------------------


@each_meter
@given(asks, rates, bursts)
def test_as_an_exact_bucket(
    kind: type[RateMeter], steps: list[tuple[float, float]], rate: float, burst: float
) -> None:
    """Steps of the clock forwards and back included; the wait is exact, and refusals take nothing.

    The machines remember the time of grants alone, so the model forgets that it was asked when it has refused.
    """
    meter, model, now = kind(rate, burst), ExactBucket(rate, burst), 4096.0
    for passed_s, cost in steps:
        now += passed_s
        expected = copy.copy(model)
        answer = expected.take(now, cost)
        assert meter.take(now, cost) == pytest.approx(answer, rel=1e-12, abs=1e-9)
        if answer == 0.0:
            model = expected
        elif model.at is None:
            model.at = Fraction(now)


@given(asks, rates, bursts)
def test_gcra_and_token_bucket_are_the_same_limit(
    steps: list[tuple[float, float]], rate: float, burst: float
) -> None:
    bucket, gcra, now = TokenBucket(rate, burst), Gcra(rate, burst), 0.0
    for passed_s, cost in steps:
        now += passed_s
        first, second = bucket.take(now, cost), gcra.take(now, cost)
        assert (first == 0.0) == (second == 0.0)
        assert first == pytest.approx(second, abs=1e-9)


@each_meter
@given(
    st.lists(st.floats(0.0, 10.0), min_size=1, max_size=60),
    st.floats(1e-3, 1e6),
    st.floats(1.0, 1e3),
    st.floats(0.0, 1e9),
)
def test_over_any_stretch_of_time_no_more_than_burst_and_rate(
    kind: type[RateMeter], gaps_s: list[float], rate: float, burst: float, begin: float
) -> None:
    meter, now = kind(rate, burst), begin
    grants: list[float] = []
    for gap_s in gaps_s:
        now += gap_s
        grants += [now for _ in range(5) if meter.take(now) == 0.0]
    for first, start in enumerate(grants):
        for count, end in enumerate(grants[first:], 1):
            assert count <= (burst + rate * (end - start)) * (1 + 1e-9) + rate * math.ulp(end) * 60


@each_meter
@given(
    st.floats(1e-3, 1e6), st.floats(1.0, 1e4), st.floats(0.0, 1e9), st.floats(0.01, 1.0), st.data()
)
def test_after_exactly_the_wait_it_is_granted(
    kind: type[RateMeter], rate: float, burst: float, now: float, share: float, data: st.DataObject
) -> None:
    """PyrateLimiter #277 (negative sleep), and the loop of too short waits: float rounding never asks for a second one."""
    meter = kind(rate, burst)
    cost = share * burst
    for _ in range(data.draw(st.integers(1, 20))):
        while (wait_s := meter.take(now, cost)) == 0.0:
            pass
        assert wait_s > 0.0
        now += wait_s
        assert meter.take(now, cost) == 0.0


@each_meter
@pytest.mark.parametrize("now", [0.0, 0.3, 5.3, 1234.567, 1e9 + 0.1])
def test_a_burst_is_whole(kind: type[RateMeter], now: float) -> None:
    """Adding up a thousand times of a millisecond loses the last call of a GCRA to rounding; not here."""
    meter = kind(1000.0, 1000.0)
    assert [meter.take(now) for _ in range(1000)] == [0.0] * 1000
    assert meter.take(now) == pytest.approx(0.001, abs=1e-6)


@each_meter
def test_waits_of_a_bucket_by_hand(kind: type[RateMeter]) -> None:
    meter = kind(2.0, 4.0)
    waits = [meter.take(now) for now in (10, 10, 10, 10, 10, 10.25, 10.5, 10.5, 13, 13, 13, 13, 13)]
    assert waits == [0, 0, 0, 0, 0.5, 0.25, 0, 0.5, 0, 0, 0, 0, 0.5]


@each_meter
def test_a_cost_above_the_burst_is_refused_for_ever_and_at_once(kind: type[RateMeter]) -> None:
    """limits #151 admitted them; others let them wait without end."""
    meter = kind(100.0, 5.0)
    assert meter.take(0.0, 5.5) == math.inf
    assert meter.take(1e9, 5.5) == math.inf
    assert [meter.take(1e9) for _ in range(5)] == [0.0] * 5
    assert meter.take(1e9) == pytest.approx(0.01, abs=1e-6)
    assert meter.refusal(5.5, math.inf) == (
        f"{kind.__name__}: cost must be <= burst: cost=5.5, burst=5. "
        "It can never be granted: split the call, lower its cost or raise burst."
    )
    assert meter.refusal(1.0, 0.01) == (
        f"{kind.__name__}: over 100/s with a burst of 5; a cost of 1 can be had in 0.01 s."
    )


@each_meter
def test_a_refused_call_burns_no_quota(kind: type[RateMeter]) -> None:
    """limits 5.8.0: a refused hit(cost=6) uses up a fixed window."""
    meter = kind(1.0, 5.0)
    assert meter.take(0.0, 2.0) == 0.0
    assert [meter.take(0.0, 4.0) for _ in range(100)] == [1.0] * 100
    assert meter.take(0.0, 3.0) == 0.0


@each_meter
def test_a_clock_that_steps_back_grants_nothing(kind: type[RateMeter]) -> None:
    meter = kind(1.0, 2.0)
    assert [meter.take(1000.0), meter.take(1000.0)] == [0.0, 0.0]
    assert meter.take(0.0) == 1001.0
    assert [meter.take(now) for now in (999.0, 1000.0, 0.0, 1000.5)] == [2.0, 1.0, 1001.0, 0.5]
    assert meter.take(1001.0) == 0.0
    assert meter.take(1001.0) == 1.0


@each_meter
def test_a_clock_that_leaps_grants_one_burst(kind: type[RateMeter]) -> None:
    meter = kind(1.0, 3.0)
    assert [meter.take(0.0) for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]
    assert [meter.take(1e12) for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]


@each_meter
@pytest.mark.parametrize("cost", [-1.0, math.nan, -math.inf])
def test_a_cost_that_is_none(kind: type[RateMeter], cost: float) -> None:
    meter = kind(1.0, 1.0)
    for _ in range(2):  # while there are tokens, and after
        with pytest.raises(ValueError, match=r"cost must be a number >= 0, got .* Leave it out"):
            meter.take(0.0, cost)
        meter.take(0.0)


@each_meter
def test_settings(kind: type[RateMeter]) -> None:
    name = kind.__name__
    with pytest.raises(ValueError, match=rf"{name}: rate_per_s must be >= 1e-09 a second, got 0\."):
        kind(0)
    with pytest.raises(ValueError, match=rf"{name}: burst must be >= 1, got 0.5\. Raise burst"):
        kind(1.0, 0.5)
    with pytest.raises(TypeError, match=rf"{name}: rate_per_s must be a number a second, got '5'"):
        kind("5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="must be finite"):
        kind(math.nan)
    assert (kind(0.1).burst, kind(20).burst) == (1.0, 20.0)
    assert repr(kind(2, 5)) == f"{name}(burst=5.0, rate_per_s=2.0)"


@each_meter
def test_copies_have_the_credit_and_another_clock(kind: type[RateMeter]) -> None:
    meter = kind(1.0, 8.0)
    for now in (100.0, 100.0, 100.0, 101.0, 101.0):
        meter.take(now)
    state = pickle.dumps(meter)
    for twin in (copy.copy(meter), copy.deepcopy(meter), pickle.loads(state)):
        again = pickle.loads(pickle.dumps(twin))  # never told the time
        for each in (twin, again):
            assert [each.take(5.0, 4.0), each.take(5.0), each.take(6.0), each.take(6.0)] == [
                0.0, 1.0, 0.0, 1.0,
            ]  # fmt: skip
    assert [meter.take(101.0, 4.0), meter.take(101.0)] == [0.0, 1.0]


@each_meter
def test_a_copy_without_credit_fills_up_from_the_first_question(kind: type[RateMeter]) -> None:
    meter = kind(1.0, 1.0)
    meter.take(100.0)
    twin = copy.copy(meter)
    assert [twin.take(0.0), twin.take(0.5), twin.take(1.0)] == [1.0, 0.5, 0.0]


@each_meter
def test_eight_threads_share_one_burst(kind: type[RateMeter]) -> None:
    meter = kind(1.0, 1000.0)
    granted: list[int] = []

    def ask() -> None:
        granted.append(sum(meter.take(7.0) == 0.0 for _ in range(400)))

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval_s)
    assert sum(granted) == 1000


def test_the_base_class_is_no_meter() -> None:
    with pytest.raises(NotImplementedError, match="RateMeter must implement take"):
        RateMeter(1.0).take(0.0)


def test_the_theoretical_arrival_time() -> None:
    gcra = Gcra(2.0, 4.0)
    assert gcra.arrival_s == -math.inf
    seen: list[float] = []
    for now, cost in ((10.0, 1.0), (10.0, 2.0), (10.0, 2.0), (11.0, 1.0), (20.0, 1.0)):
        gcra.take(now, cost)
        seen.append(gcra.arrival_s)
    assert seen == [10.5, 11.5, 11.5, 12.0, 20.5]


def test_tokens_can_be_read_given_back_and_refilled_at_another_rate() -> None:
    bucket = TokenBucket(2.0, 10.0)
    assert bucket.tokens(0.0) == 10.0
    bucket.take(0.0, 8.0)
    assert [bucket.tokens(now) for now in (0.0, 1.0, -5.0, 100.0)] == [2.0, 4.0, 2.0, 10.0]
    bucket.give_back(1.0, 3.0)
    assert bucket.tokens(1.0) == 7.0
    bucket.give_back(1.0, 30.0)
    assert bucket.tokens(1.0) == 10.0
    bucket.take(1.0, 10.0)
    bucket.change(2.0, 1.0, 4.0)
    assert [bucket.tokens(now) for now in (2.0, 3.0, 9.0)] == [2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="rate_per_s must be >= 1e-09"):
        bucket.change(3.0, 0.0)
    assert (bucket.rate_per_s, bucket.burst) == (1.0, 4.0)


# --- pacing --------------------------------------------------------------------------------------------


def test_one_after_another() -> None:
    pacer = Pacer(4.0, max_wait_s=1.0)
    assert [pacer.reserve(8.0) for _ in range(6)] == [0.0, 0.25, 0.5, 0.75, 1.0, 1.25]
    assert pacer.reserve(8.0) == 1.25  # a refusal reserves nothing
    assert pacer.reserve(8.25) == 1.0  # after as long as it was more
    assert pacer.reserve(100.0) == 0.0
    assert pacer.reserve(100.0) == 0.25  # no burst after a rest


def test_a_costly_call_has_the_road_for_longer() -> None:
    pacer = Pacer(2.0, max_cost=4.0)
    assert [pacer.reserve(0.0, cost) for cost in (4.0, 1.0, 0.0, 1.0, 4.5)] == [
        0.0, 2.0, 2.5, 2.5, math.inf,
    ]  # fmt: skip
    assert pacer.refusal(4.5, math.inf) == (
        "Pacer: cost must be <= max_cost: cost=4.5, max_cost=4. "
        "It can never be granted: split the call, lower its cost or raise max_cost."
    )
    assert pacer.refusal(1.0, 62.0) == (
        "Pacer: the next slot at 2/s is in 62 s, more than max_wait_s=60; ask again in 2 s."
    )


def test_a_slot_given_back_goes_to_the_next_caller() -> None:
    pacer = Pacer(1.0)
    assert [pacer.reserve(0.0) for _ in range(5)] == [0.0, 1.0, 2.0, 3.0, 4.0]
    pacer.give_back(0.0, 0.0, 2.0)
    pacer.give_back(0.0, 0.0, 3.0)
    assert pacer.reserve(0.0, 2.0) == 2.0  # both together are wide enough
    assert pacer.reserve(0.0) == 5.0
    pacer.give_back(0.5, 0.0, 4.0)
    pacer.give_back(0.5, 0.0, 5.0)  # the last one, and with it the gap before it
    assert pacer.reserve(0.5, 7.0) == 3.5


def test_a_gap_that_is_too_late_or_too_narrow_stays() -> None:
    pacer = Pacer(1.0, max_wait_s=4.0)
    for _ in range(5):
        pacer.reserve(0.0)
    pacer.give_back(0.0, 0.0, 1.0)
    assert pacer.reserve(0.0, 1.5) == 5.0  # too narrow; and the end of the road too far
    assert pacer.reserve(1.5) == 3.5  # half of it is past
    assert pacer.reserve(1.5, 0.5) == 0.0
    pacer.give_back(1.5, 0.0, 4.0)
    assert pacer.reserve(-3.0) == 9.0  # too late
    assert pacer.reserve(1.5) == 2.5


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.0, 0.0, 0.125, 0.5, 2.0, 50.0]),
            st.sampled_from([0.25, 0.5, 1.0, 1.0, 2.0, 3.0]),
            st.integers(0, 5),
        ),
        max_size=60,
    ),
    st.sampled_from([0.5, 1.0, 4.0]),
)
def test_everybody_gets_the_first_slot_that_is_free(
    steps: list[tuple[float, float, int]], rate: float
) -> None:
    """Against a list of all slots, with callers who cancel at random."""
    pacer, now = Pacer(rate, max_wait_s=10.0), 0.0
    slots: list[tuple[float, float, float, float, float]] = []  # (from, to, asked at, wait, cost)
    for passed_s, cost, choice in steps:
        now += passed_s
        waiting = [slot for slot in slots if slot[0] > now]
        if choice == 0 and waiting:
            leaving = waiting[len(slots) % len(waiting)]
            slots.remove(leaving)
            pacer.give_back(now, *leaving[2:])
            continue
        length_s = cost / rate
        free = sorted({now, *(to for _, to, *_ in slots if to > now)})
        begin = next(t for t in free if all(to <= t or t + length_s <= at for at, to, *_ in slots))
        wait_s = pacer.reserve(now, cost)
        if begin - now > 10.0:
            assert wait_s > 10.0
        else:
            assert wait_s == begin - now
            slots.append((begin, begin + length_s, now, wait_s, cost))


@given(
    st.lists(st.tuples(st.floats(-5.0, 5.0), st.floats(0.1, 3.0), st.booleans()), max_size=60),
    st.floats(0.01, 1e4),
    st.floats(0.0, 1e8),
)
def test_no_two_have_the_road_at_once(
    steps: list[tuple[float, float, bool]], rate: float, now: float
) -> None:
    """With any numbers and any clock."""
    pacer = Pacer(rate, max_wait_s=100.0)
    slots: list[tuple[float, float]] = []
    for passed_s, cost, cancels in steps:
        now += passed_s
        wait_s = pacer.reserve(now, cost)
        if wait_s > 100.0:
            continue
        if cancels:
            pacer.give_back(now, now, wait_s, cost)
        else:
            slots.append((now + wait_s, now + wait_s + cost / rate))
    slots.sort()
    for (_, to), (at, _) in pairwise(slots):
        assert at >= to - 8 * math.ulp(to)


def test_a_slot_is_not_earlier_by_a_rounding() -> None:
    """A wait that is large against the time to which it leads."""
    pacer = Pacer(45.0)
    assert pacer.reserve(0.0) == 0.0
    assert -1.0 + pacer.reserve(-1.0) >= 1.0 / 45.0


def test_nothing_is_held_after_many_cancellations() -> None:
    pacer = Pacer(1000.0, max_wait_s=30.0)
    kept: list[tuple[float, float]] = []
    for number in range(20_000):
        now = number / 2000
        wait_s = pacer.reserve(now)
        if number % 3:
            pacer.give_back(now, now, wait_s)
        elif wait_s <= 30.0:
            kept.append((now + wait_s, wait_s))
    assert len(kept) == 6667
    assert max(wait_s for _, wait_s in kept) < 0.01  # those who left took their slots with them
    assert pacer.reserve(100.0) == 0.0
    assert pacer._gaps == []


def test_a_slot_given_back_twice_or_too_late_changes_nothing() -> None:
    pacer = Pacer(1.0)
    waits = [pacer.reserve(0.0) for _ in range(4)]
    pacer.give_back(2.5, 0.0, waits[1])  # its time is over
    assert pacer._gaps == []
    pacer.give_back(0.0, 0.0, waits[3])
    pacer.give_back(0.0, 0.0, waits[3])
    assert [pacer.reserve(0.0), pacer.reserve(0.0)] == [3.0, 4.0]


def test_a_pacer_with_bad_settings_or_costs() -> None:
    for cost in (-1.0, math.nan):
        with pytest.raises(ValueError, match="Pacer: cost must be a number >= 0, got"):
            Pacer(1.0).reserve(0.0, cost)
    with pytest.raises(ValueError, match="Pacer: max_wait_s must be >= 0 s, got -1"):
        Pacer(1.0, max_wait_s=-1)
    with pytest.raises(ValueError, match="Pacer: rate_per_s must be <= 1e\\+12"):
        Pacer(1e13)
    with pytest.raises(ValueError, match="Pacer: max_cost must be >= 1"):
        Pacer(1.0, max_cost=0.5)


def test_by_default_nobody_closes_the_road_for_longer_than_others_would_wait() -> None:
    for cost in (math.inf, 1e30, 20.5):
        assert Pacer(2.0, max_wait_s=10.0).reserve(0.0, cost) == math.inf
    assert Pacer(2.0, max_wait_s=10.0).reserve(0.0, 20.0) == 0.0
    assert [Pacer(2.0, 10.0).max_cost, Pacer(2.0, 0.0).max_cost] == [20.0, 1.0]


def test_a_copied_pacer_has_an_empty_road() -> None:
    pacer = Pacer(1.0, 5.0)
    for _ in range(3):
        pacer.reserve(100.0)
    pacer.give_back(100.0, 100.0, 1.0)
    for twin in (copy.copy(pacer), pickle.loads(pickle.dumps(pacer))):
        assert [twin.reserve(3.0), twin.reserve(3.0)] == [0.0, 1.0]
        assert twin.max_wait_s == 5.0
    assert pacer.reserve(100.0) == 1.0
