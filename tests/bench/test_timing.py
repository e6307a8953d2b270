"""Measuring, by a clock that moves only when a case says so."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable

import pytest

from bench import timing
from bench.timing import Case, Effort, measure


class Clock:
    """Stands in for `perf_counter`."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.calls: list[str] = []

    def __call__(self) -> float:
        return self.now_s

    def taking(self, name: str, seconds: Iterable[float]) -> Callable[[], None]:
        """A function whose calls take so long, one after another; the last for ever."""
        left = list(seconds)

        def call() -> None:
            self.calls.append(name)
            self.now_s += left.pop(0) if len(left) > 1 else left[0]

        return call


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timing, "perf_counter", clock)
    return clock


def test_cases_take_turns_and_the_least_counts(clock: Clock) -> None:
    """A round is as long as asked; the slow first calls are warming up."""
    fast = clock.taking("fast", [8.0, 2.0, 1.0])
    slow = clock.taking("slow", [8.0, 4.0])
    taken = measure([Case("fast", fast), Case("slow", slow)], Effort(rounds=2, round_s=8.0))
    assert taken["fast"].least == 1e9
    assert taken["fast"].median == 1.5e9
    assert taken["slow"].least == 4e9
    assert clock.calls == ["fast", "slow"] + ["fast", "slow"] * 2


def test_coroutines_are_awaited(clock: Clock) -> None:
    advance = clock.taking("async", [2.0])

    async def call() -> None:
        advance()

    taken = measure([Case("async", call, awaits=True)], Effort(rounds=3, round_s=4.0))
    assert taken["async"].least == 2e9
    assert len(clock.calls) == 1 + 3 * 2


def test_the_collector_rests_while_the_clock_runs(clock: Clock) -> None:
    running: list[bool] = []
    advance = clock.taking("call", [1.0])

    def call() -> None:
        running.append(gc.isenabled())
        advance()

    measure([Case("call", call)], Effort(rounds=2, round_s=1.0))
    assert running == [True, False, False]
    assert gc.isenabled()
