"""What a call can see of the calls around it, and for how long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Generator
from typing import Any

import pytest
import trio

from seawall.drivers.enclosing import enclosing
from seawall.retrying import retry
from seawall.scope import CURRENT
from seawall.world import in_trio
from tests.fakes import FakeWorld, Flaky


def test_outside_any_call_there_is_nothing() -> None:
    assert enclosing() is None


def test_the_first_attempt_publishes_nothing_and_is_found_all_the_same() -> None:
    world = FakeWorld()

    def call() -> tuple[object, float, int, bool]:
        scope = enclosing()
        assert scope is not None
        return CURRENT.get(), scope.remaining_s(), scope.attempt, scope.retrying

    assert retry(on=OSError, world=world).call(call) == (None, 60.0, 1, True)


def test_later_attempts_are_published() -> None:
    world = FakeWorld()
    seen: list[int] = []

    def call() -> None:
        scope = enclosing()
        assert scope is not None
        seen.append(scope.attempt)
        if len(seen) < 3:
            raise ConnectionError

    retry(on=OSError, world=world).call(call)
    assert seen == [1, 2, 3]
    assert CURRENT.get() is None


def test_tasks_started_inside_see_a_deadline_of_the_stacks_own_from_the_start() -> None:
    """Frames do not cross into other tasks; what is published by context does."""
    world = FakeWorld()
    inner = Flaky(99)
    nested = retry(on=OSError, attempts=5, world=world)(inner.later)

    async def gathers() -> None:
        await asyncio.gather(nested())

    with pytest.raises(ConnectionError):
        asyncio.run(retry(on=OSError, attempts=3, deadline_s=50.0, world=world).acall(gathers))
    assert inner.calls == 3


def test_tasks_started_in_an_unpublished_first_attempt_add_and_do_not_multiply() -> None:
    """Under the default deadline only the second attempt is published: the bound is inner + outer - 1, not the product."""
    world = FakeWorld()
    inner = Flaky(99)
    nested = retry(on=OSError, attempts=5, world=world)(inner.later)

    async def gathers() -> None:
        await asyncio.gather(nested())

    with pytest.raises(ConnectionError):
        asyncio.run(retry(on=OSError, attempts=3, world=world).acall(gathers))
    assert inner.calls == 5 + 3 - 1


def test_a_task_that_outlives_the_call_is_bound_by_nothing() -> None:
    world = FakeWorld()
    background: list[asyncio.Task[Any]] = []
    go = asyncio.Event()
    late = Flaky(99)

    async def later() -> Any:
        await go.wait()
        return await retry(on=OSError, attempts=4, world=world).acall(late.later)

    async def starts() -> None:
        background.append(asyncio.create_task(later()))

    async def main() -> None:
        await retry(on=OSError, deadline_s=5.0, world=world).acall(starts)
        world.advance(100.0)
        go.set()
        with pytest.raises(ConnectionError):
            await background[0]

    asyncio.run(main())
    assert late.calls == 4


def test_other_threads_are_other_calls() -> None:
    world = FakeWorld()
    inner = Flaky(99)
    nested = retry(on=OSError, attempts=4, world=world)(inner)
    results: list[type] = []

    def work() -> None:
        try:
            nested()
        except ConnectionError as error:
            results.append(type(error))

    def call() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    retry(on=OSError, attempts=2, world=world).call(call)
    assert (inner.calls, results) == (4, [ConnectionError])


class Wrapped:
    """An awaitable of the kind that clients return: not a coroutine, but it awaits one."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()


@pytest.mark.parametrize("settings", [{}, {"deadline_s": 50.0}], ids=["unpublished", "published"])
@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_the_guard_holds_across_an_awaitable_that_hides_the_frames(
    library: str, settings: dict[str, Any]
) -> None:
    """CPython 3.11 loses the link between frames when a failure is thrown in through an `__await__`."""
    world = FakeWorld()
    calls = 0

    async def thrown() -> None:
        nonlocal calls
        calls += 1
        if in_trio():
            with trio.move_on_after(
                0
            ):  # cancelled at the checkpoint: thrown in, as a failed future is
                await trio.lowlevel.checkpoint()
        else:
            future = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(future.set_exception, ConnectionError())
            await future
        raise ConnectionError

    inner = retry(on=OSError, attempts=3, world=world)(thrown)
    outer = retry(on=OSError, attempts=3, world=world, **settings)

    async def main() -> None:
        await outer.acall(lambda: Wrapped(inner()))

    with pytest.raises(ConnectionError):
        asyncio.run(main()) if library == "asyncio" else trio.run(main)
    assert calls == 3
