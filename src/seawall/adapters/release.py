"""Give back what a failed attempt still holds, before the wait for the next one.

A response that is going to be repeated holds a connection of the client's pool. Kept open through a wait it would keep everybody
else from that connection; only the driver knows that a wait begins, and only the adapter how to close. So the adapter's
stacks sleep through a world that first calls what the call under way has left in `RELEASE`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from seawall.world import World

#: of the call under way: closes its failed response; returns an awaitable in calls that are awaited
RELEASE: ContextVar[Callable[[], Any] | None] = ContextVar("seawall.release", default=None)


def releasing(world: World) -> World:
    """The same world, whose sleeps begin with the release of what the call under way holds."""

    def sleep(delay_s: float) -> None:
        release = RELEASE.get()
        if release is not None:
            release()
        world.sleep(delay_s)

    async def asleep(delay_s: float) -> None:
        release = RELEASE.get()
        if release is not None:
            await release()
        await world.asleep(delay_s)

    return World(
        world.now,
        world.random,
        sleep,
        asleep,
        unix_now=world.unix_now,
        wait=world.wait,
        emit=world.emit,
    )
