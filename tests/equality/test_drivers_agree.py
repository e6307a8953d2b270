"""One script of outcomes, one trace: whatever drives the policies, the same things happen at the same times.

The drivers: generators in a thread, the wrapper's short way in a thread, blocks in a thread, and the same three in asyncio and
in trio. A trace holds every attempt (with what a nested call can see: attempt number and time left), every sleep, every event
and the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import trio
from hypothesis import given
from hypothesis import strategies as st

from seawall.backoff import Constant, Decorrelated, Exponential
from seawall.classify import Classifier
from seawall.drivers.aio import arun
from seawall.drivers.enclosing import enclosing
from seawall.drivers.sync import run
from seawall.errors import do_not_retry
from seawall.events import Event
from seawall.hint import Hint
from seawall.policies.deadline import Deadline
from seawall.policies.policy import Policy
from seawall.policies.retry import Retry
from seawall.policies.timeout import Timeout
from seawall.record import Record
from seawall.stack import Stack
from seawall.state.budget import CostBudget, InflightBudget, RatioBudget, TokenBudget
from tests.fakes import FakeWorld

Trace = list[tuple[Any, ...]]


class Step(Record):
    """What one attempt comes to, and how long it takes."""

    ends: str
    takes_s: float
    hint: Hint | None


class Script(Record):
    """A stack's settings and what the callee does."""

    steps: tuple[Step, ...]
    draws: tuple[float, ...]
    attempts: int | None
    backoff: int
    budget: int
    deadline_s: float | None
    timeout_s: float | None
    guard: bool
    nested: bool


hints = st.one_of(
    st.none(),
    st.builds(
        Hint,
        delay_s=st.sampled_from([None, 0.0, 0.5, 3.0, 1000.0]),
        stop=st.sampled_from([False, False, False, True]),
        exact=st.booleans(),
    ),
)
steps = st.builds(
    Step,
    ends=st.sampled_from(["fail", "fail", "fail", "ok", "busy", "other", "forbidden"]),
    takes_s=st.sampled_from([0.0, 0.1, 1.0]),
    hint=hints,
)
scripts = st.builds(
    Script,
    steps=st.lists(steps, min_size=1, max_size=7).map(tuple),
    draws=st.lists(st.floats(0.0, 0.999), min_size=1, max_size=5).map(tuple),
    attempts=st.sampled_from([None, 1, 2, 3, 6]),
    backoff=st.integers(0, 2),
    budget=st.integers(0, 4),
    deadline_s=st.sampled_from([None, 60.0, 4.0]),
    timeout_s=st.sampled_from([None, None, 30.0]),
    guard=st.booleans(),
    nested=st.booleans(),
)


class Run:
    """One execution of a script, with everything of its own."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.trace: Trace = []
        draws = script.draws
        counter = iter(range(10**9))
        self.world = FakeWorld(time=0.0, draws=(draws[k % len(draws)] for k in counter))
        self.at = 0
        retry = Retry(
            Classifier(ConnectionError, on_result=lambda v: v == "busy", hint=self.hint),
            attempts=script.attempts if script.deadline_s is not None else script.attempts or 9,
            backoff=[Exponential(0.1, 2.0), Constant(0.0), Decorrelated(0.1, 2.0)][script.backoff],
            budget=[
                CostBudget(capacity=42),
                TokenBudget(4, 0.5),
                RatioBudget(),
                InflightBudget(),
                CostBudget(),
            ][script.budget],
            guard=script.guard,
        )
        policies: list[Policy] = [retry]
        if script.deadline_s is not None:
            policies.insert(0, Deadline(script.deadline_s))
        if script.timeout_s is not None:
            policies.append(Timeout(script.timeout_s))
        self.stack = Stack(*policies, world=self.world, sink=self.heard)

    def heard(self, event: Event) -> None:
        fields = {n: getattr(event, n) for n in event.__fields__ if n not in {"at", "error"}}
        self.trace.append((type(event).__name__, round(event.at, 9), *fields.values()))

    def hint(self, _: object) -> Hint | None:
        return self.script.steps[(self.at - 1) % len(self.script.steps)].hint

    def call(self) -> str:
        step = self.script.steps[self.at % len(self.script.steps)]
        self.at += 1
        scope = enclosing()
        seen = (0, 0.0) if scope is None else (scope.attempt, round(scope.remaining_s(), 9))
        self.trace.append(("attempt", round(self.world.time, 9), *seen))
        self.world.advance(step.takes_s)
        if self.at > 40:
            return "ok"
        if step.ends == "fail":
            raise ConnectionError
        if step.ends == "other":
            raise KeyError
        if step.ends == "forbidden":
            raise do_not_retry(ConnectionError())
        return step.ends

    async def acall(self) -> str:
        return self.call()

    def finish(self, end: str) -> Trace:
        self.trace.append(("end", end, round(self.world.time, 9)))
        self.trace.extend(("sleep", round(s, 9)) for s in self.world.sleeps if s > 0.0)
        return self.trace


def ending(fn: Callable[[], Any]) -> str:
    try:
        return str(fn())
    except Exception as error:
        return type(error).__name__


async def aending(made: Awaitable[Any]) -> str:
    try:
        return str(await made)
    except Exception as error:
        return type(error).__name__


def generators(r: Run) -> str:
    outcome = run(r.stack.plan, r.call)
    return str(outcome.value) if outcome.error is None else type(outcome.error).__name__


async def agenerators(r: Run) -> str:
    outcome = await arun(r.stack.plan, r.acall)
    return str(outcome.value) if outcome.error is None else type(outcome.error).__name__


def wrapper(r: Run) -> str:
    return ending(r.stack(r.call))


async def awrapper(r: Run) -> str:
    return await aending(r.stack(r.acall)())


def blocks(r: Run) -> str:
    def loop() -> Any:
        result: Any = None
        for attempt in r.stack.attempts():
            with attempt:
                attempt.result = result = r.call()
        return result

    return ending(loop)


async def ablocks(r: Run) -> str:
    async def loop() -> Any:
        result: Any = None
        async for attempt in r.stack.attempts():
            async with attempt:
                attempt.result = result = r.call()
        return result

    return await aending(loop())


def inside(r: Run, drive: Callable[[Run], str]) -> Trace:
    """Run it, perhaps inside another layer that retries nothing more but could."""
    if not r.script.nested:
        return r.finish(drive(r))
    outer = Stack(Retry(Classifier(LookupError), attempts=2), world=r.world)
    return r.finish(outer(lambda: drive(r))())


async def ainside(r: Run, drive: Callable[[Run], Awaitable[str]]) -> Trace:
    if not r.script.nested:
        return r.finish(await drive(r))
    outer = Stack(Retry(Classifier(LookupError), attempts=2), world=r.world)

    async def call() -> str:
        return await drive(r)

    return r.finish(await outer(call)())


@given(scripts)
def test_one_script_one_trace(script: Script) -> None:
    expected = inside(Run(script), generators)
    for drive in (wrapper, blocks):
        assert inside(Run(script), drive) == expected, drive
    for adrive in (agenerators, awrapper, ablocks):
        assert asyncio.run(ainside(Run(script), adrive)) == expected, adrive
        assert trio.run(ainside, Run(script), adrive) == expected, adrive
