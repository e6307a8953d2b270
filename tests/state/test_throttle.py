"""Client-side throttling: published vectors, an exact window, and what it does to a server."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import threading
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.state.throttle import Throttle, reject_probability


@pytest.mark.parametrize(
    ("requests", "accepts", "expected"),
    [
        (0, 0, 0), (10, 10, 0), (10, 5, 0), (10, 4, 0.181818), (100, 50, 0), (100, 40, 0.198020),
        (100, 10, 0.792079), (100, 0, 0.990099),
    ],
)  # fmt: skip
def test_sre_book(requests: int, accepts: int, expected: float) -> None:
    assert reject_probability(requests, accepts) == pytest.approx(expected, abs=5e-7)
    throttle = Throttle(min_calls=0)
    assert told(throttle, requests, accepts) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("requests", "accepts", "aggression", "expected"),
    [
        (100, 95, 1, 0), (100, 90, 1, 0.052110), (100, 80, 1, 0.156331), (100, 50, 1, 0.468994),
        (100, 10, 1, 0.8), (100, 90, 1.5, 0.139514), (100, 80, 1.5, 0.2902), (100, 50, 1.5, 0.60364),
    ],
)  # fmt: skip
def test_envoy(requests: int, accepts: int, aggression: float, expected: float) -> None:
    throttle = Throttle.envoy(aggression=aggression)
    assert told(throttle, requests, accepts) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("requests", "accepts", "most", "expected"),
    [
        (100, 95, 0.9, 0), (120, 90, 0.9, 0.165289), (200, 50, 0.9, 0.718629), (1000, 10, 0.9, 0.9),
        (1000, 10, 0.8, 0.8), (1, 0, 0.9, 0.5),
    ],
)  # fmt: skip
def test_failsafe_go(requests: int, accepts: int, most: float, expected: float) -> None:
    throttle = Throttle.failsafe_go(max_probability=most)
    assert told(throttle, requests, accepts) == pytest.approx(expected, abs=5e-7)


def told(throttle: Throttle, requests: int, accepts: int) -> float:
    """The probability after so many calls; a draw of nearly 1 admits them all but for those that no draw would."""
    for _ in range(requests):
        assert throttle.admit(0.0, math.nextafter(1.0, 0.0))
    for _ in range(accepts):
        throttle.settle(0.0, accepted=True)
    for _ in range(requests - accepts):
        throttle.settle(0.0, accepted=False)
    assert throttle.tally(0.0) == (requests, accepts)
    return throttle.reject_probability(0.0)


def test_published_defaults() -> None:
    def settings(t: Throttle) -> tuple[float, ...]:
        return t.window_s, t.aggression, t.max_probability, t.min_calls, t.count_refused

    assert (Throttle().k, *settings(Throttle())) == (2.0, 120.0, 1.0, 1.0, 20, True)
    assert settings(Throttle.envoy()) == (30.0, 1.0, 0.8, 0, False)
    assert Throttle.envoy(min_rps=5).min_calls == 150
    assert settings(Throttle.failsafe_go()) == (60.0, 1.0, 0.9, 0, False)
    assert Throttle.failsafe_go().slices == 20


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.0, 0.25, 1.0, 2.5, 30.0, -0.5, -20.0]),
            st.sampled_from(["admit", "admit", "refuse", "accepted", "failed", "cancelled"]),
        ),
        max_size=80,
    ),
    st.integers(1, 5),
    st.booleans(),
)
def test_the_window_against_a_list_of_all_events(
    steps: list[tuple[float, str]], slices: int, count_refused: bool
) -> None:
    """Slices of one second; a clock that steps back counts into the latest slice and forgets nothing."""
    throttle = Throttle(1.5, float(slices), slices, min_calls=3, count_refused=count_refused)
    now, latest = 1000.0, 0
    events: list[tuple[int, int, int]] = []  # (slice, requests, accepts)
    for passed_s, what in steps:
        now += passed_s
        latest = max(latest, int(now // 1.0))
        requests = sum(r for at, r, _ in events if at > latest - slices)
        accepts = sum(a for at, _, a in events if at > latest - slices)
        expected = reject_probability(requests, accepts, 1.5) if requests >= 3 else 0.0
        assert throttle.reject_probability(now) == expected
        assert throttle.tally(now) == (requests, accepts)
        if what in {"admit", "refuse"}:
            draw = 0.999999 if what == "admit" else 0.0
            admitted = throttle.admit(now, draw)
            assert admitted == (draw >= expected)
            if admitted or count_refused:
                events.append((latest, 1, 0))
        else:
            throttle.settle(now, {"accepted": True, "failed": False, "cancelled": None}[what])
            if what != "failed":
                events.append((latest, -(what == "cancelled"), what == "accepted"))


@pytest.mark.parametrize(
    ("throttle", "sent_per_s"),
    [
        (Throttle(), 200.0),  # k times what is accepted
        (Throttle(k=1.1), 110.0),
        (Throttle.failsafe_go(), 110.0),
    ],
    ids=["k=2", "k=1.1", "failsafe-go"],
)
def test_what_a_server_of_100_a_second_sees_of_1000(throttle: Throttle, sent_per_s: float) -> None:
    """The promise of the book: requests sent settle at k times the accepted ones."""
    random, sent, over_s = Random(1), 0, 400
    for second in range(over_s):
        accepted = 0
        for call in range(1000):
            now = second + call / 1000
            if throttle.admit(now, random.random()):
                throttle.settle(now, accepted=accepted < 100)
                accepted += accepted < 100
                sent += second >= over_s // 2
    # counted without refusals the share is of what was sent: (n - k·a)/n = 1 - n/1000, so n is larger than k·a
    if not throttle.count_refused:
        sent_per_s = (1000 * sent_per_s) ** 0.5
    assert sent / (over_s / 2) == pytest.approx(sent_per_s, rel=0.1)


def test_calls_that_hang_weigh_in_before_they_end() -> None:
    """go-zero #5011: counted at the end, a hanging server is not noticed until the timeouts come."""
    throttle = Throttle(window_s=12.0)
    for step in range(120):
        assert throttle.admit(step / 10, 0.5)
        throttle.settle(step / 10, accepted=True)
    shares: list[float] = []
    for second in range(12, 24):
        for call in range(10):
            throttle.admit(second + call / 10, 0.999)
        shares.append(throttle.reject_probability(second + 0.95))
    assert shares[:5] == [0.0] * 5
    assert shares[6:] == sorted(shares[6:])
    assert shares[-1] == pytest.approx(120 / 121)


@pytest.mark.parametrize(
    ("throttle", "least_s", "most_s"),
    [
        (Throttle(), 300.0, 1200.0),
        (Throttle(max_probability=0.9), 120.0, 300.0),
        (Throttle(count_refused=False), 1.0, 10.0),
        (Throttle.envoy(), 10.0, 60.0),
        (Throttle.failsafe_go(), 10.0, 60.0),
    ],
    ids=["book", "at most 0.9", "refused not counted", "envoy", "failsafe-go"],
)
def test_how_long_the_way_back_from_a_total_outage_is(
    throttle: Throttle, least_s: float, most_s: float
) -> None:
    """100 calls/s, none of them accepted for two windows, then all: until nothing is refused here any more."""
    random, now, outage_s = Random(2), 0.0, 2 * throttle.window_s
    while now < outage_s or throttle.reject_probability(now) > 0.0:
        if throttle.admit(now, random.random()):
            throttle.settle(now, accepted=now >= outage_s)
        now += 0.01
    assert least_s < now - outage_s < most_s


def test_few_calls_are_never_refused() -> None:
    throttle = Throttle(min_calls=20)
    assert [throttle.admit(0.0, 0.0) for _ in range(21)] == [True] * 20 + [False]


def test_cancelled_calls_leave_nothing() -> None:
    throttle = Throttle(min_calls=0)
    for step in range(100_000):
        assert throttle.admit(step / 1000, 0.9)
        throttle.settle(step / 1000 + 0.5, accepted=None)
    assert throttle.tally(100.5) == (0, 0)
    assert throttle.tally(1000.0) == (0, 0)


def test_settings() -> None:
    with pytest.raises(ValueError, match=r"Throttle: k must be >= 1, got 0\.5\. Raise k"):
        Throttle(0.5)
    with pytest.raises(ValueError, match="Throttle: window_s must be a finite number of seconds"):
        Throttle(window_s=0)
    with pytest.raises(ValueError, match="Throttle: slices must be at least 1, got 0"):
        Throttle(slices=0)
    with pytest.raises(ValueError, match="Throttle: max_probability must be <= 1, got 80"):
        Throttle(max_probability=80)
    with pytest.raises(ValueError, match=r"Throttle: aggression must be >= 0\.001, got 0"):
        Throttle(aggression=0)
    with pytest.raises(TypeError, match=r"Throttle: min_calls must be a whole number, got 0\.5"):
        Throttle(min_calls=0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="success_threshold must be <= 1, got 95"):
        Throttle.envoy(95)
    with pytest.raises(ValueError, match=r"failure_threshold must be <= 0\.99, got 1"):
        Throttle.failsafe_go(1)


def test_copies_keep_the_window_under_another_clock() -> None:
    throttle = Throttle(min_calls=0)
    for _ in range(10):
        throttle.admit(1e6, 0.999)
    throttle.settle(1e6, accepted=True)
    for twin in (
        copy.copy(throttle),
        copy.deepcopy(throttle),
        pickle.loads(pickle.dumps(throttle)),
    ):
        assert twin.tally(5.0) == (10, 1)
        twin.admit(5.0, 0.999)
        assert twin.tally(119.0) == (11, 1)
        assert twin.tally(125.0) == (0, 0)
    assert throttle.tally(1e6) == (10, 1)
    assert "k=2.0" in repr(throttle)


def test_eight_threads_lose_no_call() -> None:
    throttle = Throttle()

    def call() -> None:
        for step in range(300):
            assert throttle.admit(step / 100, 0.999999)
            throttle.settle(step / 100, accepted=True)

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval_s)
    assert throttle.tally(3.0) == (2400, 2400)
