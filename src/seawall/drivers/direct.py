"""Stacks of nothing but `Retry` (and a `Deadline` around it), run without generators.

The decisions are the same object's (`policies.retry.Series`); only the walk through the generators is left out, and a test
demands the same trace of both. This is what makes a failure cheap where nothing else has to be asked. Everything is written
out in one function for that reason; the coroutine twin differs by `await`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seawall.callables import Fn
from seawall.drivers.enclosing import enclosing
from seawall.outcome import NOTHING, Outcome
from seawall.plan import Plan
from seawall.policies.deadline import passed
from seawall.policies.retry import Retry, Series
from seawall.scope import CURRENT, Scope, published

Find = Callable[[], Scope | None] | None


def direct(plan: Plan, retry: Retry, fn: Fn, args: Any, kwargs: Any) -> Outcome:
    """One whole call, from its first attempt on, with everything published."""
    scope, suppressed = _begin(plan, retry)
    if scope.started_at >= scope.deadline_at:
        return Outcome(error=passed("Retry", scope.started_at - scope.deadline_at))
    outcome = NOTHING
    token = CURRENT.set(scope)
    try:
        try:
            outcome = Outcome(fn(*args, **kwargs))
        except Exception as caught:
            caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
            outcome = Outcome(error=caught)
        finally:
            CURRENT.reset(token)
        if suppressed:
            return outcome
        if outcome.error is None and retry.on.on_result is None:
            if not retry.budget.idle:
                retry.budget.succeed(scope.started_at, 0.0)
            return outcome
        return repeat(retry, scope, enclosing, outcome, fn, args, kwargs)
    finally:
        del outcome
        scope.closed = True


def rest(
    plan: Plan, retry: Retry, started_at: float, outcome: Outcome, fn: Fn, args: Any, kwargs: Any
) -> Outcome:
    """The rest of a call whose first attempt was made by the wrapper that calls this, and failed."""
    scope = Scope(plan.world, started_at, started_at + plan.limit_s, 1, plan.retrying)
    outer = enclosing(skip=2)
    try:
        return repeat(retry, scope, outer and outer.itself, outcome, fn, args, kwargs)
    finally:
        del outcome
        scope.closed = True


def repeat(
    retry: Retry, scope: Scope, find: Find, outcome: Outcome, fn: Fn, args: Any, kwargs: Any
) -> Outcome:
    """Attempts after the first, whose outcome is given."""
    world = scope.world
    series = Series(retry, world, scope.deadline_at, find)
    errors_only = retry.on.on_result is None
    token = None
    try:
        while True:
            delay_s = series.after(outcome)
            if series.paused_s > 0.0:
                world.sleep(series.paused_s)
            if delay_s is None:
                return outcome
            if delay_s > 0.0:
                world.sleep(delay_s)
            scope.deadline_at = series.deadline_at
            scope.attempt = series.number
            token = token or CURRENT.set(scope)
            try:
                outcome.value = fn(*args, **kwargs)
                outcome.error = None
            except Exception as caught:
                caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
                outcome.error = caught
            else:
                if errors_only:
                    series.succeeded(world.now())
                    return outcome
    finally:
        del outcome
        if token is not None:
            CURRENT.reset(token)
        if series.granted:
            series.end()


async def adirect(plan: Plan, retry: Retry, fn: Fn, args: Any, kwargs: Any) -> Outcome:
    """`direct` for coroutines."""
    scope, suppressed = _begin(plan, retry)
    if scope.started_at >= scope.deadline_at:
        return Outcome(error=passed("Retry", scope.started_at - scope.deadline_at))
    outcome = NOTHING
    token = CURRENT.set(scope)
    try:
        try:
            outcome = Outcome(await fn(*args, **kwargs))
        except Exception as caught:
            caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
            outcome = Outcome(error=caught)
        finally:
            CURRENT.reset(token)
        if suppressed:
            return outcome
        if outcome.error is None and retry.on.on_result is None:
            if not retry.budget.idle:
                retry.budget.succeed(scope.started_at, 0.0)
            return outcome
        return await arepeat(retry, scope, enclosing, outcome, fn, args, kwargs)
    finally:
        del outcome
        scope.closed = True


async def arest(
    plan: Plan, retry: Retry, started_at: float, outcome: Outcome, fn: Fn, args: Any, kwargs: Any
) -> Outcome:
    """`rest` for coroutines."""
    scope = Scope(plan.world, started_at, started_at + plan.limit_s, 1, plan.retrying)
    outer = enclosing(skip=2)
    try:
        return await arepeat(retry, scope, outer and outer.itself, outcome, fn, args, kwargs)
    finally:
        del outcome
        scope.closed = True


async def arepeat(
    retry: Retry, scope: Scope, find: Find, outcome: Outcome, fn: Fn, args: Any, kwargs: Any
) -> Outcome:
    """`repeat` for coroutines; a wait of 0 s still lets other tasks run."""
    world = scope.world
    series = Series(retry, world, scope.deadline_at, find)
    errors_only = retry.on.on_result is None
    token = None
    try:
        while True:
            delay_s = series.after(outcome)
            if series.paused_s > 0.0:
                await world.asleep(series.paused_s)
            if delay_s is None:
                return outcome
            await world.asleep(delay_s)
            scope.deadline_at = series.deadline_at
            scope.attempt = series.number
            token = token or CURRENT.set(scope)
            try:
                outcome.value = await fn(*args, **kwargs)
                outcome.error = None
            except Exception as caught:
                caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
                outcome.error = caught
            else:
                if errors_only:
                    series.succeeded(world.now())
                    return outcome
    finally:
        del outcome
        if token is not None:
            CURRENT.reset(token)
        if series.granted:
            series.end()


def _begin(plan: Plan, retry: Retry) -> tuple[Scope, bool]:
    """The scope of a call that begins now, and whether a layer around it does the repeating."""
    now = plan.world.now()
    outer = published()
    if outer is None:
        return Scope(plan.world, now, now + plan.limit_s, 1, plan.retrying), False
    deadline_at = min(now + plan.limit_s, outer.deadline_on(plan.world))
    if retry.guard and outer.retrying:
        return Scope(plan.world, now, deadline_at, outer.attempt, True), True
    return Scope(plan.world, now, deadline_at, 1, plan.retrying), False
