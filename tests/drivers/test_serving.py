"""A service answers for a caller: its deadline and its retries are the caller's business first."""

from __future__ import annotations

import asyncio

import pytest

from seawall.drivers.enclosing import enclosing
from seawall.drivers.serving import serving
from seawall.errors import DeadlineExceeded
from seawall.propagation import outgoing
from seawall.retrying import retry
from tests.fakes import FakeWorld, Flaky


def test_three_services_of_three_attempts_are_three_calls_at_the_bottom() -> None:
    """Each hop is a call over the wire: only headers connect the layers."""
    world = FakeWorld()
    bottom = Flaky(10**6)

    def service(depth: int, headers: list[tuple[str, str]]) -> None:
        def call() -> None:
            scope = enclosing()
            assert scope is not None
            service(depth - 1, outgoing(scope.attempt, scope.remaining_s()))

        with serving(headers, world):
            if depth == 0:
                bottom()
            else:
                retry(on=ConnectionError, attempts=3, world=world).call(call)

    with pytest.raises(ConnectionError):
        service(3, [])
    assert bottom.calls == 3


def test_a_caller_that_does_not_say_so_does_not_retry() -> None:
    world = FakeWorld()
    fn = Flaky(99)
    with serving([("Accept", "*/*")], world) as said, pytest.raises(ConnectionError):
        retry(on=ConnectionError, attempts=4, world=world).call(fn)
    assert (fn.calls, said.attempt, said.repeated) == (4, None, False)


def test_the_callers_deadline_binds_nested_calls() -> None:
    world = FakeWorld()

    async def handler() -> None:
        with serving([("seawall-timeout-ms", "1500"), ("seawall-attempt", "2")], world) as said:
            assert said.repeated
            scope = enclosing()
            assert scope is not None
            assert scope.remaining_s() == 1.5
            world.advance(2.0)
            with pytest.raises(DeadlineExceeded):
                await retry(on=OSError, world=world).acall(Flaky(0).later)

    asyncio.run(handler())
    assert enclosing() is None
