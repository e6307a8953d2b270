"""Time many cases fairly on a machine that is not ours alone.

All cases of a group run in one process, in turns, many short rounds each; a disturbance then hits one round of one case and
not one case. The least time is compared: noise only ever adds. The collector is off while the clock runs.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from itertools import repeat
from threading import Thread
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds for each case, and seconds for each round."""

    rounds: int = 41
    round_s: float = 0.02
    processes: int = 15  #: fresh interpreters for each import


QUICK = Effort(rounds=7, round_s=0.01, processes=5)


@dataclass(frozen=True)
class Case:
    """Something to call over and over; `awaits` if the call returns an awaitable."""

    name: str
    call: Callable[[], Any]
    awaits: bool = False


@dataclass(frozen=True)
class Timing:
    """Nanoseconds a call."""

    least: float
    median: float


def measure(cases: Sequence[Case], effort: Effort) -> dict[str, Timing]:
    """Nanoseconds a call for each case, by name.

    Each round runs in a fresh thread, so that the harness's own frames are not on the stack: a call of ours that fails looks
    along it, and what each further frame costs is a row of its own.
    """
    with asyncio.Runner() as runner:

        def seconds(case: Case, calls: int) -> float:
            if case.awaits:
                return runner.run(_awaited(case, calls))
            taken: list[float] = []
            # in the caller's context: some peers are told not to wait by a context variable
            thread = Thread(target=copy_context().run, args=(_called, case.call, calls, taken))
            thread.start()
            thread.join()
            return taken[0]

        calls = {case.name: _calls_for(case, seconds, effort.round_s) for case in cases}
        taken: dict[str, list[float]] = {case.name: [] for case in cases}
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            for _ in range(effort.rounds):
                for case in cases:
                    gc.collect()
                    n = calls[case.name]
                    taken[case.name].append(seconds(case, n) / n * 1e9)
        finally:
            gc.enable()
            gc.unfreeze()
    return {name: Timing(min(ns), statistics.median(ns)) for name, ns in taken.items()}


def _calls_for(case: Case, seconds: Callable[[Case, int], float], round_s: float) -> int:
    """How many calls fill a round; also warms the case up."""
    calls = 1
    while (taken := seconds(case, calls)) < round_s / 4:
        calls *= 4
    return max(1, int(calls * round_s / taken))


def _called(call: Callable[[], Any], calls: int, taken: list[float]) -> None:
    turns = repeat(None, calls)
    start = perf_counter()
    for _ in turns:
        call()
    taken.append(perf_counter() - start)


async def _awaited(case: Case, calls: int) -> float:
    call = case.call
    turns = repeat(None, calls)
    start = perf_counter()
    for _ in turns:
        await call()
    return perf_counter() - start
