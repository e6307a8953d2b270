"""The guards of the limit that does not drift, one by one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from seawall.state.limit import GuardedLimit
from seawall.state.limit.guarded import correlation, headroom


def test_headroom_published() -> None:
    """failsafe-go `adaptivelimiter_test.go`, computeMaxLimit."""
    assert [headroom(n) for n in (100, 200)] == [500, 1000]
    assert [headroom(n, decay=1.0) for n in (10, 100, 1000)] == [40, 300, 2000]
    assert headroom(200, decay=1.0) == pytest.approx(540, abs=1)
    assert headroom(10_000, decay=2.0) == 12_000


def test_correlation_published() -> None:
    """failsafe-go's test of its CorrelationWindow."""
    assert correlation([(1, 10), (2, 20), (3, 30)])[0] == pytest.approx(1.0)
    assert correlation([(1, 30), (2, 20), (3, 10)])[0] == pytest.approx(-1.0)
    assert correlation([(100, 200), (100.1, 200.1), (100.05, 200.05)]) == (0.0, 0.0)
    assert correlation([(1, 10)]) == (0.0, 0.0)
    assert correlation([(0, 0), (0, 0)]) == (0.0, 0.0)
    assert correlation([(1, 1), (2, 3)])[1] == pytest.approx(0.5)


def window(
    limit: GuardedLimit, at_s: float, rtt_s: float, inflight: int, drops: int = 0, calls: int = 50
) -> int:
    """One window of calls that take the same time; the limit after it."""
    for _ in range(drops):
        limit.on_sample(at_s, rtt_s, inflight, dropped=True)
    for _ in range(calls - drops):
        limit.on_sample(at_s, rtt_s, inflight, dropped=False)
    return limit.limit


def begun(limit: GuardedLimit) -> GuardedLimit:
    """Its first window begun at 0."""
    limit.on_sample(0.0, 0.01, 1, dropped=False)
    return limit


def test_a_step_up_each_window_while_there_is_no_queue() -> None:
    limit = begun(GuardedLimit())
    assert [window(limit, 2.0 * n, 0.01, 20) for n in range(1, 6)] == [21, 22, 23, 24, 25]


def test_a_window_ends_by_time_and_number() -> None:
    limit = begun(GuardedLimit())
    assert window(limit, 0.9, 0.01, 20, calls=500) == 20  # too early
    assert window(limit, 1.1, 0.01, 20, calls=1) == 21
    assert window(limit, 9.0, 0.01, 20, calls=49) == 21  # too few
    assert window(limit, 9.0, 0.01, 20, calls=1) == 22
    assert window(limit, 11.0, 4.0, 20) == 23
    assert window(limit, 18.0, 4.0, 20) == 23  # twice the shortest time is 8 s
    assert window(limit, 19.1, 4.0, 20, calls=1) != 23


def test_a_long_queue_is_a_step_down() -> None:
    limit = begun(GuardedLimit(initial=50))
    for n in range(1, 30):
        window(limit, 2.0 * n, 0.01, 20)
    before = limit.limit
    seen = [window(limit, 100.0 + 2.0 * n, 0.1, 20) for n in range(8)]
    assert seen[-1] < before
    assert all(a - b in {0, 1, -1} for a, b in pairwise(seen))


def test_a_drop_is_a_step_down_and_nothing_but_drops_a_tenth() -> None:
    limit = begun(GuardedLimit())
    assert window(limit, 2.0, 0.01, 20, drops=1, calls=49) == 19
    assert window(limit, 4.0, 0.01, 20, drops=50) == 17
    assert window(limit, 6.0, 0.0, 20, drops=50) == 15


def test_no_more_than_headroom_is_left_to_an_idle_client() -> None:
    limit = begun(GuardedLimit())
    seen = [window(limit, 2.0 * n, 0.01, 3) for n in range(1, 10)]
    assert seen[:5] == [19, 18, 17, 16, 15]
    assert set(seen[5:]) <= {14, 15}


def test_more_in_flight_for_no_more_throughput_is_a_step_down() -> None:
    """Times grow with the calls in flight, too slowly for the queue to show against a baseline that follows."""
    limit = begun(GuardedLimit(initial=30))
    directions: list[int] = []
    for n in range(1, 40):
        before, inflight = limit.limit, limit.limit
        directions.append(window(limit, 2.0 * n, 0.01 * inflight / 30, inflight) - before)
    assert directions[:9] == [1] * 9  # ten windows are too few to correlate
    assert -1 in directions[9:15]


def test_above_the_ceiling_a_tenth_goes_and_the_baseline_does_not_learn_it() -> None:
    limit = begun(GuardedLimit(initial=100, max_rtt_s=0.05))
    seen = [window(limit, 5.0 * n, 0.1, 100) for n in range(1, 5)]
    assert seen == [88, 78, 69, 61]  # a step for the queue against 50 ms as well
    assert limit._baseline.value == 0.05


def test_times_of_a_busy_window_are_thinned_out() -> None:
    limit = begun(GuardedLimit())
    for n in range(100_000):
        limit.on_sample(0.5, 0.01 + n * 1e-7, 20, dropped=False)
    assert len(limit._rtts) < 512
    limit.on_sample(2.0, 0.02, 20, dropped=False)
    assert limit._recent.value == pytest.approx(0.019, rel=0.01)  # the 0.9 quantile of 10 to 20 ms


def test_a_clock_that_steps_back_begins_the_window_anew() -> None:
    limit = begun(GuardedLimit())
    assert window(limit, -1e6, 0.01, 20) == 20
    assert window(limit, -1e6 + 1.5, 0.01, 20, calls=1) == 21
