"""Timeout: interrupts where the language can, is handed down where it cannot."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
import trio
import trio.testing

from seawall.backoff import Constant
from seawall.drivers.enclosing import enclosing
from seawall.errors import AttemptTimeout, DeadlineExceeded
from seawall.events import Event, TimedOut
from seawall.policies.deadline import Deadline
from seawall.policies.timeout import Timeout
from seawall.retrying import retry
from seawall.stack import Stack
from seawall.world import World
from tests.fakes import FakeWorld, run_virtual


def test_asyncio_cancels_what_takes_too_long() -> None:
    cancelled: list[float] = []

    async def main(world: World) -> float:
        async def slow() -> None:
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                cancelled.append(world.now())
                raise

        with pytest.raises(AttemptTimeout, match="no answer within 2 s"):
            await Stack(Timeout(2.0), world=world).acall(slow)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0  # a leftover count would break the caller's TaskGroup
        return world.now()

    assert run_virtual(main) == 2.0
    assert cancelled == [2.0]


def test_each_attempt_has_its_own_limit_and_the_deadline_cuts_the_last() -> None:
    async def main(world: World) -> list[float]:
        started: list[float] = []

        async def slow() -> None:
            started.append(world.now())
            await asyncio.sleep(100)

        stack = retry(
            on=TimeoutError,
            attempts=9,
            timeout_s=2.0,
            deadline_s=5.0,
            backoff=Constant(0.5, jitter="none"),
            world=world,
        )
        with pytest.raises(AttemptTimeout):
            await stack.acall(slow)
        return [*started, world.now()]

    # attempts at 0, 2.5; the second ends at 4.5 and the next would start at the deadline
    assert run_virtual(main) == [0.0, 2.5, 4.5]


def test_a_cancel_from_outside_is_not_taken_for_the_limit() -> None:
    async def main(world: World) -> int:
        calls = 0

        async def slow() -> None:
            nonlocal calls
            calls += 1
            await asyncio.sleep(100)

        stack = retry(on=TimeoutError, timeout_s=50.0, world=world)
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(1.0):
                await stack.acall(slow)
        assert not isinstance(caught.value, AttemptTimeout)
        return calls

    assert run_virtual(main) == 1


def test_the_calls_own_timeout_error_is_the_users() -> None:
    async def main(world: World) -> None:
        async def fails() -> None:
            raise TimeoutError("the user's")

        with pytest.raises(TimeoutError, match="the user's") as caught:
            await Stack(Timeout(2.0), world=world).acall(fails)
        assert type(caught.value) is TimeoutError

    run_virtual(main)


def test_nested_limits_the_shorter_wins() -> None:
    async def main(world: World) -> float:
        with pytest.raises(AttemptTimeout, match="within 1 s"):
            await Stack(Timeout(5.0), Timeout(1.0), world=world).acall(asyncio.sleep, 100)
        return world.now()

    assert run_virtual(main) == 1.0


def test_trio_cancels_what_takes_too_long() -> None:
    async def main() -> float:
        start = trio.current_time()
        with pytest.raises(AttemptTimeout):
            await Stack(Timeout(2.0)).acall(trio.sleep, 100)
        return trio.current_time() - start

    assert trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0)) == pytest.approx(2.0)


def test_trio_lets_a_cancel_from_outside_pass() -> None:
    async def main() -> bool:
        with trio.move_on_after(1.0) as scope:
            await retry(on=Exception, timeout_s=50.0).acall(trio.sleep, 100)
        return scope.cancelled_caught

    assert trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0)) is True


def test_in_sync_code_the_limit_is_a_deadline_that_adapters_can_read() -> None:
    world = FakeWorld()
    seen: list[float] = []

    def socket_call() -> str:
        scope = enclosing()
        assert scope is not None
        seen.append(scope.remaining_s())
        world.advance(3.0)  # nothing can interrupt it
        return "late but right"

    stack = Stack(Deadline(10.0), Timeout(2.0), world=world)
    assert stack.call(socket_call) == "late but right"
    assert seen == [2.0]


def test_nothing_starts_when_no_time_is_left() -> None:
    world = FakeWorld()

    def outer() -> Any:
        world.advance(11.0)
        return Stack(Timeout(2.0), world=world).call(lambda: 1)

    with pytest.raises(DeadlineExceeded, match="Timeout: the deadline passed"):
        Stack(Deadline(10.0), world=world).call(outer)


def test_a_hard_limit_leaves_the_thread_behind_and_names_it() -> None:
    world = FakeWorld()
    release = threading.Event()
    ended: list[str] = []
    events: list[Event] = []

    def stuck() -> None:
        release.wait()
        ended.append(threading.current_thread().name)

    with pytest.raises(
        AttemptTimeout, match=r"Thread seawall-timeout-\d+ goes on running"
    ) as caught:
        Stack(Timeout(2.0, hard=True), world=world, sink=events.append).call(stuck)
    assert ended == []
    assert [e.limit_s for e in events if isinstance(e, TimedOut)] == [2.0]
    release.set()
    for thread in threading.enumerate():
        if thread.name in caught.value.goes_on:
            thread.join()
    assert len(ended) == 1


def test_a_hard_limit_returns_and_raises_what_the_call_does() -> None:
    stack = Stack(Timeout(60.0, hard=True))
    assert stack.call(lambda: threading.current_thread().name).startswith("seawall-timeout-")
    with pytest.raises(KeyError):
        stack.call(dict[str, int]().__getitem__, "x")
    with pytest.raises(SystemExit):
        stack.call(raise_exit)


def raise_exit() -> None:
    raise SystemExit(3)


def test_what_was_left_behind_begins_nothing_new() -> None:
    """A retry inside a hard limit sees the limit as its deadline: no further sleep, no further attempt."""
    world = FakeWorld()
    release, over = threading.Event(), threading.Event()
    calls = 0

    def stuck() -> None:
        nonlocal calls
        calls += 1
        release.wait()
        raise ConnectionError

    def report(event: Event) -> None:
        if type(event).__name__ == "GaveUp":
            over.set()

    with pytest.warns(UserWarning, match="Timeout outside Retry"):
        stack = Stack(
            Timeout(2.0, hard=True), *retry(on=OSError).policies[1:], world=world, sink=report
        )
    with pytest.raises(AttemptTimeout):
        stack.call(stuck)
    release.set()
    assert over.wait(30)
    assert calls == 1
    assert world.sleeps == []
