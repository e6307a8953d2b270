"""The awaiting driver, for asyncio and trio."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any, cast

from seawall.drivers.enclosing import enclosing
from seawall.drivers.sync import beheaded
from seawall.effects import Attempt, Sleep, Steps, Within
from seawall.outcome import NOTHING, Outcome
from seawall.plan import Plan
from seawall.scope import CURRENT, Scope, nested, published
from seawall.world import World, in_trio

AsyncCall = Callable[[], Awaitable[Any]]


async def adrive(steps: Steps, call: AsyncCall, world: World) -> Outcome:
    """Run `steps` to their outcome; see `drivers.sync.drive`. Sleeps of 0 s still let other tasks run."""
    try:
        effect = next(steps)
        while True:
            if type(effect) is Attempt:
                answer = await attempt(effect.scope, call)
            elif type(effect) is Sleep:
                answer = NOTHING
                await world.asleep(effect.delay_s)
            elif type(effect) is Within:
                answer = await _within(effect, call, world)
            else:
                raise TypeError(f"a policy yielded {effect!r}; only effects may be yielded")
            effect = steps.send(answer)
    except StopIteration as stop:
        return cast("Outcome", stop.value)
    finally:
        answer = NOTHING  # see drivers.wrap: no frame of ours may end holding an exception
        steps.close()


async def attempt(scope: Scope, call: AsyncCall) -> Outcome:
    """One attempt, with its scope published to the call and to the tasks it starts."""
    token = CURRENT.set(scope)
    try:
        return Outcome(await call())
    except Exception as error:
        return Outcome(error=beheaded(error))
    finally:
        CURRENT.reset(token)


async def _within(effect: Within, call: AsyncCall, world: World) -> Outcome:
    """Run the sub-flow under a cancel scope. Only our own expiry becomes an outcome; a cancel from outside passes."""
    if in_trio():
        with sys.modules["trio"].move_on_after(effect.limit_s):
            return await adrive(effect.steps, call, world)
        return effect.expired("")  # only our own cancellation ends the block without returning
    import asyncio

    limit = asyncio.timeout(effect.limit_s)
    try:
        async with limit:
            return await adrive(effect.steps, call, world)
    except TimeoutError:
        if not limit.expired():
            raise
    return effect.expired("")


async def arun(plan: Plan, call: AsyncCall) -> Outcome:
    """One whole call, from its first attempt on."""
    root = nested(plan.world, published(), plan.world.now(), enclosing)
    try:
        return await adrive(plan.flow(plan.world, root), call, plan.world)
    finally:
        root.closed = True
