"""The blocking driver: runs a flow in the calling thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seawall.drivers.enclosing import enclosing
from seawall.plan import Plan
from seawall.effects import Attempt, Sleep, Steps, Within
from seawall.outcome import NOTHING, Outcome
from seawall.scope import CURRENT, Scope, nested, published
from seawall.world import World

Call = Callable[[], Any]


def drive(steps: Steps, call: Call, world: World, first: Outcome | None = None) -> Outcome:
    """Run `steps` to their outcome. `first`: the outcome of a first attempt that was already made.

    A `BaseException` that is not an `Exception` passes through; the flow is closed, so that nothing stays held.
    """
    try:
        effect = next(steps)
        while True:
            if type(effect) is Attempt:
                if first is not None:
                    answer, first = first, None
                else:
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
        outcome: Outcome = stop.value
        return outcome
    finally:
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
    head = error.__traceback__
    if head is not None:
        error.__traceback__ = head.tb_next
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


def resume(plan: Plan, call: Call, started_at: float, error: Exception) -> Outcome:
    """The rest of a call whose first attempt was made directly, by the wrapper that calls this, and failed."""
    root = nested(plan.world, enclosing(skip=2), started_at)
    try:
        return drive(plan.flow(plan.world, root), call, plan.world, Outcome(error=beheaded(error)))
    finally:
        root.closed = True
