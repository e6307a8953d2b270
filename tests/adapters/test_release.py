"""What is held is given back before the wait, and only then."""

from __future__ import annotations

import asyncio

from seawall.adapters.release import RELEASE, releasing
from tests.fakes import FakeWorld


def test_a_sleep_begins_with_the_release() -> None:
    world = FakeWorld()
    slept: list[list[float]] = []
    token = RELEASE.set(lambda: slept.append(list(world.sleeps)))
    try:
        releasing(world).sleep(1.0)
    finally:
        RELEASE.reset(token)
    assert slept == [[]]
    assert world.sleeps == [1.0]


def test_an_awaited_sleep_begins_with_the_awaited_release() -> None:
    world = FakeWorld()
    slept: list[list[float]] = []

    async def release() -> None:
        slept.append(list(world.sleeps))

    async def main() -> None:
        RELEASE.set(release)
        await releasing(world).asleep(1.0)

    asyncio.run(main())
    assert slept == [[]]
    assert world.sleeps == [1.0]


def test_where_nothing_is_held_nothing_is_released() -> None:
    world = FakeWorld()
    releasing(world).sleep(1.0)
    asyncio.run(asyncio.wait_for(_asleep(world), None))
    assert world.sleeps == [1.0, 2.0]


async def _asleep(world: FakeWorld) -> None:
    await releasing(world).asleep(2.0)


def test_the_rest_of_the_world_is_the_same() -> None:
    world = FakeWorld(time=5.0, draws=[0.25])
    made = releasing(world)
    assert (made.now(), made.unix_now(), made.random()) == (5.0, world.unix_now(), 0.25)
