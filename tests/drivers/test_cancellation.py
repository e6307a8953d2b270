"""Cancelled anywhere: nothing is retried, nothing stays held."""

from __future__ import annotations

import asyncio
import random

import pytest
import trio

from seawall.backoff import Constant
from seawall.retrying import retry
from seawall.state.budget import InflightBudget
from tests.fakes import FakeWorld


@pytest.mark.parametrize("timeout_s", [None, 60.0], ids=["without", "with a timeout"])
def test_nothing_is_held_after_random_cancellations(timeout_s: float | None) -> None:
    budget = InflightBudget(ratio=1.0, min_retries=1)
    draws = random.Random(1)
    world = FakeWorld()

    async def flaky() -> None:
        for _ in range(draws.randrange(4)):
            await asyncio.sleep(0)
        if draws.random() < 0.7:
            raise ConnectionError

    async def main() -> None:
        stack = retry(
            on=OSError, backoff=Constant(0.0), budget=budget, timeout_s=timeout_s, world=world
        )
        for _ in range(60):
            tasks = [asyncio.create_task(stack.acall(flaky)) for _ in range(20)]
            for _ in range(draws.randrange(8)):
                await asyncio.sleep(0)
            for task in tasks:
                if draws.random() < 0.6:
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert (budget.calls, budget.retries) == (0, 0)


def test_nothing_is_held_after_random_cancellations_in_trio() -> None:
    budget = InflightBudget(ratio=1.0, min_retries=1)
    draws = random.Random(2)
    stack = retry(on=OSError, backoff=Constant(0.0), budget=budget, world=FakeWorld())

    async def flaky() -> None:
        for _ in range(draws.randrange(4)):
            await trio.lowlevel.checkpoint()
        if draws.random() < 0.7:
            raise ConnectionError

    async def call(scope: trio.CancelScope) -> None:
        with scope:
            try:
                await stack.acall(flaky)
            except ConnectionError:
                return

    async def main() -> None:
        for _ in range(60):
            scopes = [trio.CancelScope() for _ in range(20)]
            async with trio.open_nursery() as nursery:
                for scope in scopes:
                    nursery.start_soon(call, scope)
                for _ in range(draws.randrange(8)):
                    await trio.lowlevel.checkpoint()
                for scope in scopes:
                    if draws.random() < 0.6:
                        scope.cancel()

    trio.run(main)
    assert (budget.calls, budget.retries) == (0, 0)
