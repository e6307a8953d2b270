"""The door to time and chance."""

from __future__ import annotations

import asyncio
import pickle

import trio

from seawall.events import Recovered
from seawall.world import REAL, in_trio
from tests.fakes import FakeWorld


def test_the_real_world_draws_and_has_a_clock() -> None:
    draws = [REAL.random() for _ in range(100)]
    assert all(0.0 <= draw < 1.0 for draw in draws)
    assert len(set(draws)) == 100
    assert REAL.now() <= REAL.now()


def test_the_real_world_is_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(REAL)) is REAL


def test_listeners_add_up() -> None:
    first: list[object] = []
    second: list[object] = []
    world = FakeWorld().listening(first.append).listening(second.append)
    assert world.emit is not None
    world.emit(Recovered(1.0, 2))
    assert first == second == [Recovered(1.0, 2)]


def test_the_running_library_is_told_apart() -> None:
    async def ask() -> bool:
        await REAL.asleep(0.0)
        return in_trio()

    assert asyncio.run(ask()) is False
    assert trio.run(ask) is True
    assert not in_trio()
