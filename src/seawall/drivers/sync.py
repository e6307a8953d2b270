"""The blocking driver: runs a flow in the calling thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from seawall.drivers.enclosing import enclosing
from seawall.effects import Attempt, Sleep, Steps, Within
from seawall.outcome import NOTHING, Outcome
from seawall.plan import Plan
from seawall.scope import CURRENT, Scope, nested, published
from seawall.world import World

Call = Callable[[], Any]


def drive(steps: Steps, call: Call, world: World) -> Outcome:
    """Run `steps` to their outcome.

    A `BaseException` that is not an `Exception` passes through; the flow is closed, so that nothing stays held.
    """
    try:
        effect = next(steps)
        while True:
            if type(effect) is Attempt:
                answer = attempt(effect.scope, call)
            elif type(effect) is Sleep:
                answer = NOTHING
                if effect.delay_s > 0.0:
                    world.sleep(effect.delay_s)
            elif type(effect) is Within:
                answer = _within(effect, call, world)
            else:
                raise TypeError(f"a policy yielded {effect!r}; only effects may be yielded")
            effect = steps.send(answer)
    except StopIteration as stop:
        return cast("Outcome", stop.value)
    finally:
        answer = NOTHING  # see drivers.wrap: no frame of ours may end holding an exception
        steps.close()


def attempt(scope: Scope, call: Call) -> Outcome:
    """One attempt, with its scope published. The outcome's traceback starts in the user's code."""
    token = CURRENT.set(scope)
    try:
        return Outcome(call())
    except Exception as error:
        return Outcome(error=beheaded(error))
    finally:
        CURRENT.reset(token)


def beheaded(error: Exception) -> Exception:
    """The same exception, its traceback without the library's own frame on top."""
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
    return error


def _within(effect: Within, call: Call, world: World) -> Outcome:
    if not effect.hard:
        return drive(effect.steps, call, world)
    from seawall.drivers.thread import drive_in_thread

    return drive_in_thread(effect, call, world)


def run(plan: Plan, call: Call) -> Outcome:
    """One whole call, from its first attempt on."""
    root = nested(plan.world, published(), plan.world.now(), enclosing)
    try:
        return drive(plan.flow(plan.world, root), call, plan.world)
    finally:
        root.closed = True
