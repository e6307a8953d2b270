"""Concurrency limits: published vectors, and what becomes of them in front of a server of known capacity."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.state.limit import (
    AimdLimit,
    Gradient2Limit,
    GuardedLimit,
    Limit,
    VegasLimit,
    WindowedLimit,
)
from seawall.state.limit.average import MovingAverage
from seawall.state.limit.base import step_for

MAKE: dict[str, Callable[[], Limit]] = {
    "aimd": lambda: AimdLimit(least=1),
    "vegas": lambda: VegasLimit(most=200),
    "gradient2": lambda: Gradient2Limit(least=1),
    "guarded": GuardedLimit,
    "windowed": lambda: WindowedLimit(VegasLimit(most=200)),
    "fixed": Limit,
}
each_limit = pytest.mark.parametrize("name", MAKE)


def limits(limit: Limit, *samples: tuple[float, int]) -> list[int]:
    """The limit after each (milliseconds, in flight)."""
    seen: list[int] = []
    for rtt_ms, inflight in samples:
        limit.on_sample(0.0, rtt_ms / 1000, inflight, dropped=False)
        seen.append(limit.limit)
    return seen


# --- AIMD -------------------------------------------------------------------------------------------------


def test_aimd_published() -> None:
    """Netflix `AIMDLimitTest`: 20 to 21 on success in use, 30 to 27 on a drop."""
    assert AimdLimit().limit == 20
    assert limits(AimdLimit(), (1, 10)) == [21]
    limit = AimdLimit(initial=30)
    limit.on_sample(0.0, 0.001, 0, dropped=True)
    assert limit.limit == 27


def test_aimd_half_in_use_slow_calls_and_bounds() -> None:
    assert limits(AimdLimit(), (1, 9)) == [20]
    assert limits(AimdLimit(most=21), (1, 10), (1, 20)) == [21, 21]
    assert limits(AimdLimit(initial=30), (5000, 30), (5001, 30)) == [31, 27]
    assert limits(AimdLimit(), (9000, 20)) == [20]
    assert (AimdLimit().least, AimdLimit().most, AimdLimit().backoff_ratio) == (20, 200, 0.9)


# --- Vegas ------------------------------------------------------------------------------------------------


class HalvingVegas(VegasLimit):
    __slots__ = ()

    def lowered(self, limit: float) -> float:
        return limit / 2


def test_vegas_published() -> None:
    """Netflix `VegasLimitTest`; its alpha 3 and beta 6 are the defaults at these limits."""
    assert limits(VegasLimit(10, 20), (10, 10), (10, 11)) == [10, 16]
    assert limits(VegasLimit(10, 20), (10, 10), (50, 11)) == [10, 9]
    assert limits(VegasLimit(10, 20), (10, 10), (14, 14)) == [10, 10]
    assert limits(VegasLimit(10_000, 20_000), (10, 5000), (10, 6000)) == [10_000, 10_024]
    assert limits(HalvingVegas(100, 200, 0.5), (10, 100), (20, 100), (20, 100)) == [100, 75, 56]
    assert limits(HalvingVegas(100, 200), (10, 100), (20, 100), (20, 100)) == [100, 50, 25]


def test_vegas_a_short_queue_a_drop_and_little_use() -> None:
    assert limits(VegasLimit(10), (10, 10), (12, 10)) == [10, 11]  # a queue of 2
    assert limits(VegasLimit(10), (10, 10), (10, 4)) == [10, 10]
    limit = VegasLimit(10)
    limits(limit, (10, 10))
    limit.on_sample(
        0.0, 0.00001, 10, dropped=True
    )  # refused at once: no measurement of an idle server
    assert limit.limit == 9
    assert limits(limit, (10, 9)) == [15]


def test_vegas_measures_the_shortest_time_anew() -> None:
    """After 30 x limit x U(0.5, 1) samples the latest time is the shortest: here 0.75, then 0.5."""
    limit = VegasLimit(1, 1)
    limits(limit, (10, 1))
    probes: list[int] = []
    for number in range(2, 60):
        before = limit._shortest_s
        limit.on_sample(0.0, 0.010 + number / 1000, 1, dropped=False, draw=0.0)
        if limit._shortest_s != before:
            probes.append(number)
    assert probes == [23, 38, 53]  # 22.5, then every 15


def test_steps() -> None:
    assert [step_for(n) for n in (0.5, 1, 9, 10, 99, 100, 999.9, 1000, 10_000)] == [
        1, 1, 1, 1, 1, 2, 2, 3, 4,
    ]  # fmt: skip


# --- Gradient2 --------------------------------------------------------------------------------------------


def test_gradient2_by_the_formula() -> None:
    """20 times 10 ms with everything in use, then 5 times 100 ms."""
    limit = Gradient2Limit()
    seen: list[int] = []
    for rtt_s in [0.01] * 20 + [0.1] * 5:
        limit.on_sample(0.0, rtt_s, limit.limit, dropped=False)
        seen.append(limit.limit)
    assert seen == [
        20, 21, 22, 23, 24, 24, 25, 26, 27, 28, 28, 29, 30, 31, 32, 32, 33, 34, 35, 36,
        33, 30, 28, 26, 24,
    ]  # fmt: skip
    assert limit._estimate == pytest.approx(24.53372, abs=5e-6)


def test_gradient2_forgets_trouble_and_does_not_grow_unused() -> None:
    assert limits(Gradient2Limit(), (10, 9)) == [20]
    limit = Gradient2Limit(long_window=10**9)
    limits(limit, *[(100, 1)] * 10)
    limits(limit, *[(10, 1)] * 40)  # five percent off at each
    assert limit._long.value == pytest.approx(0.02, rel=0.05)


def test_the_average_is_a_plain_one_first() -> None:
    """Netflix `ExpAvgMeasurement`: the mean of the warm-up, then 2 / (age + 1)."""
    average = MovingAverage(age=9, warm_up=3)
    assert [average.add(v) for v in (3.0, 6.0, 9.0, 16.0)] == pytest.approx([3.0, 4.5, 6.0, 8.0])


# --- all of them ------------------------------------------------------------------------------------------


def before_a_server(
    limit: Limit, capacity: int, offered: int = 10**9, windows: int = 600, service_s: float = 0.01
) -> list[int]:
    """The limit at the end of each window of 60 calls, all of it in use, as far as there are calls.

    A server with `capacity` places: calls take 10 to 11 ms, and in proportion longer when there are more calls than places.
    """
    random, now = Random(1), 0.0
    trace: list[int] = []
    for _ in range(windows):
        for _ in range(60):
            inflight = min(limit.limit, offered)
            rtt_s = service_s * max(1.0, inflight / capacity) * (1 + 0.1 * random.random())
            now += 1.1 / 60
            limit.on_sample(now, rtt_s, inflight, dropped=False, draw=random.random())
        trace.append(limit.limit)
    return trace


@pytest.mark.parametrize("capacity", [10, 30, 60, 100])
def test_gradient2_drifts_and_the_guarded_limit_does_not(capacity: int) -> None:
    """Netflix #137: with nothing but slow calls to learn from, the long average takes them for normal."""
    assert before_a_server(Gradient2Limit(least=1), capacity)[-1] == 200
    trace = before_a_server(GuardedLimit(), capacity)[100:]
    assert max(trace) < 2 * capacity + 20
    assert 0.5 * capacity < sum(trace) / len(trace) < 2 * capacity


def test_above_the_ceiling_the_limit_falls() -> None:
    """A server that was slow from the first call on: no baseline tells, the ceiling does."""
    free = before_a_server(GuardedLimit(), 1000, service_s=0.3)
    bound = before_a_server(GuardedLimit(max_rtt_s=0.2), 1000, service_s=0.3)
    assert sum(free[100:]) / 500 > 50
    assert bound[40:] == [1] * 560
    enough = before_a_server(GuardedLimit(max_rtt_s=0.02), 10)[100:]
    assert sum(enough) / len(enough) < 20  # where calls take 20 ms


@each_limit
@given(
    samples=st.lists(
        st.tuples(
            st.floats(-1e3, 1e3),
            st.one_of(st.floats(-1.0, 1e3), st.sampled_from([0.0, 1e-9, 1e9])),
            st.integers(1, 500),
            st.booleans(),
            st.floats(0.0, 1.0, exclude_max=True),
        ),
        max_size=150,
    )
)
def test_whatever_it_is_told_it_stays_in_bounds(
    name: str, samples: list[tuple[float, float, int, bool, float]]
) -> None:
    limit, now = MAKE[name](), 0.0
    for passed_s, rtt_s, inflight, dropped, draw in samples:
        now += passed_s
        limit.on_sample(now, rtt_s, inflight, dropped, draw)
        assert type(limit.limit) is int
        assert 1 <= limit.limit <= 200


@each_limit
def test_a_clock_that_stepped_back_teaches_nothing(name: str) -> None:
    limit = MAKE[name]()
    limits(limit, *[(10, 20)] * 100)
    twin = copy.deepcopy(limit)
    for rtt_s in (0.0, -1.0, -1e9):
        twin.on_sample(0.0, rtt_s, 20, dropped=False)
    assert limits(limit, *[(10, 20)] * 10) == limits(twin, *[(10, 20)] * 10)


@each_limit
def test_copies_go_on_alone(name: str) -> None:
    limit = MAKE[name]()
    before_a_server(limit, 30, windows=30)
    twin, other = copy.deepcopy(limit), pickle.loads(pickle.dumps(limit))
    assert before_a_server(twin, 30, windows=30) == before_a_server(other, 30, windows=30)
    assert repr(limit) == f"{type(limit).__name__}(limit={limit.limit})"


def test_settings() -> None:
    with pytest.raises(
        ValueError, match=r"AimdLimit: initial must be from least to most: initial=10, least=20"
    ):
        AimdLimit(10)
    with pytest.raises(ValueError, match="VegasLimit: most must be at least 1, got 0"):
        VegasLimit(most=0)
    with pytest.raises(ValueError, match="VegasLimit: smoothing must be <= 1, got 2"):
        VegasLimit(smoothing=2)
    with pytest.raises(ValueError, match="Gradient2Limit: tolerance must be >= 1, got 0"):
        Gradient2Limit(tolerance=0)
    with pytest.raises(ValueError, match="AimdLimit: timeout_s must be a finite number of seconds"):
        AimdLimit(timeout_s=0)
    with pytest.raises(TypeError, match=r"Limit: initial must be a whole number, got 2\.5"):
        Limit(2.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="GuardedLimit: max_rtt_s must be a finite number"):
        GuardedLimit(max_rtt_s=0)
    with pytest.raises(ValueError, match="GuardedLimit: longest_s must be >= 5 s, got 1"):
        GuardedLimit(window_s=5, longest_s=1)
    with pytest.raises(ValueError, match="WindowedLimit: longest_s must be >= window_s"):
        WindowedLimit(Limit(), window_s=5)
