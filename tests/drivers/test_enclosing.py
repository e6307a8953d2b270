"""What a call can see of the calls around it, and for how long."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from seawall.drivers.enclosing import enclosing
from seawall.retrying import retry
from seawall.scope import CURRENT
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
