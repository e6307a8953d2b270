"""Blocks: `for attempt in stack.attempts(): with attempt: ...`."""

from __future__ import annotations

import asyncio

import pytest
import trio
import trio.testing

from seawall.backoff import Constant
from seawall.errors import AttemptTimeout, DeadlineExceeded
from seawall.policies.deadline import Deadline
from seawall.retrying import retry
from seawall.stack import Stack
from seawall.state.budget import InflightBudget
from seawall.world import World
from tests.fakes import FakeWorld, Flaky, run_virtual

STEP = Constant(1.0, jitter="none")


def test_a_block_is_repeated_until_it_succeeds() -> None:
    world = FakeWorld()
    numbers: list[int] = []
    for attempt in retry(on=OSError, backoff=STEP, world=world).attempts():
        with attempt:
            numbers.append(attempt.number)
            if attempt.number < 3:
                raise ConnectionError
    assert numbers == [1, 2, 3]
    assert world.sleeps == [1.0, 1.0]


def test_a_result_can_be_judged() -> None:
    answers = iter([503, 503, 200])
    for attempt in retry(on=None, on_result=lambda v: v == 503, world=FakeWorld()).attempts():
        with attempt:
            attempt.result = next(answers)
    assert next(answers, None) is None


def test_a_break_ends_the_call_as_a_success() -> None:
    budget = InflightBudget()
    stack = retry(on=OSError, budget=budget, world=FakeWorld())
    before = budget.balance(0.0)
    for attempt in stack.attempts():
        with attempt:
            break
    assert budget.balance(0.0) == before


def test_a_forgotten_with_is_explained() -> None:
    with pytest.raises(RuntimeError, match="write `with attempt:`"):
        for _ in retry(on=OSError, world=FakeWorld()).attempts():
            pass


def test_an_attempt_is_entered_once() -> None:
    (attempt,) = [next(retry(on=OSError, world=FakeWorld()).attempts())]
    with attempt, pytest.raises(RuntimeError, match="entered already"):
        attempt.__enter__()


def test_a_deadline_that_has_passed_raises_before_the_first_block() -> None:
    world = FakeWorld()

    def outer() -> None:
        world.advance(11)
        for attempt in retry(on=OSError, world=world).attempts():
            with attempt:
                pytest.fail("no attempt may start")

    with pytest.raises(DeadlineExceeded):
        Stack(Deadline(10.0), world=world).call(outer)


def test_asyncio_blocks_are_interrupted_by_a_timeout() -> None:
    async def main(world: World) -> list[float]:
        starts: list[float] = []
        with pytest.raises(AttemptTimeout):
            async for attempt in retry(
                on=TimeoutError, attempts=2, timeout_s=2.0, backoff=STEP, world=world
            ).attempts():
                async with attempt:
                    starts.append(world.now())
                    await asyncio.sleep(100)
        return [*starts, world.now()]

    assert run_virtual(main) == [0.0, 3.0, 5.0]


def test_trio_blocks_are_interrupted_by_a_timeout() -> None:
    async def main() -> int:
        calls = 0
        async for attempt in retry(
            on=TimeoutError, timeout_s=2.0, backoff=Constant(0.0)
        ).attempts():
            async with attempt:
                calls += 1
                if calls < 3:
                    await trio.sleep(100)
        return calls

    assert trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0)) == 3


def test_a_cancel_from_outside_leaves_the_block_and_holds_nothing() -> None:
    budget = InflightBudget()
    before = budget.balance(0.0)

    async def main(world: World) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                async for attempt in retry(
                    on=Exception, budget=budget, timeout_s=50.0, world=world
                ).attempts():
                    async with attempt:
                        await asyncio.sleep(100)

    run_virtual(main)
    assert budget.balance(0.0) == before


def test_an_abandoned_loop_gives_everything_back() -> None:
    budget = InflightBudget()
    before = budget.balance(0.0)
    attempts = retry(on=OSError, budget=budget, world=FakeWorld()).attempts()
    attempt = next(attempts)
    assert budget.calls == 1
    del attempt, attempts  # at once, not when the collector comes by
    assert budget.balance(0.0) == before
    assert budget.calls == 0


def test_what_a_block_calls_sees_its_attempt() -> None:
    inner = Flaky(99)
    world = FakeWorld()
    nested = retry(on=OSError, world=world)(inner)
    with pytest.raises(ConnectionError):
        for attempt in retry(on=OSError, attempts=3, world=world).attempts():
            with attempt:
                nested()
    assert inner.calls == 3
