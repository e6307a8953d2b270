"""Stacks of nothing but `Retry` (and a `Deadline` around it), run without generators.

The decisions are the same object's (`policies.retry.Series`); only the walk through the generators is left out, and a test
demands the same trace of both. This is what makes a failure cheap where nothing else has to be asked. Everything is written
out in one function for that reason; the coroutine twin differs by `await`.
"""

from __future__ import annotations

from typing import Any

from seawall.callables import Fn
from seawall.drivers.enclosing import enclosing
from seawall.outcome import NOTHING, Outcome
from seawall.plan import Plan
from seawall.policies.deadline import passed
from seawall.policies.retry import Retry, Series
from seawall.scope import CURRENT, Scope, published


def direct(plan: Plan, retry: Retry, fn: Fn, args: Any, kwargs: Any) -> Outcome:
    """One whole call, from its first attempt on, with everything published."""
    scope = begin(plan, retry)
    if scope.started_at >= scope.deadline_at:
        return Outcome(error=passed("Retry", scope.started_at - scope.deadline_at))
    outcome = NOTHING
    token = CURRENT.set(scope)
    try:
        outcome = Outcome(fn(*args, **kwargs))
    except Exception as caught:
        caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
        outcome = Outcome(None, caught)
    finally:
        CURRENT.reset(token)
        if outcome is NOTHING:
            scope.closed = True
    try:
        if not isinstance(scope, Series):
            scope.closed = True
            return outcome
        if outcome.error is None and retry.on.on_result is None:
            scope.closed = True
            if not retry.budget.idle:
                retry.budget.succeed(scope.started_at, 0.0)
            return outcome
        return repeat(scope, outcome, fn, args, kwargs)
    finally:
        del outcome


def repeat(series: Series, outcome: Outcome, fn: Fn, args: Any, kwargs: Any) -> Outcome:
    """The attempts after the first, whose outcome is given; the same object takes the outcomes of all."""
    world = series.world
    errors_only = series.policy.on.on_result is None
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
            token = token or CURRENT.set(series)
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
        series.closed = True
        if token is not None:
            CURRENT.reset(token)
        if series.granted:
            series.end()


async def adirect(plan: Plan, retry: Retry, fn: Fn, args: Any, kwargs: Any) -> Outcome:
    """`direct` for coroutines."""
    scope = begin(plan, retry)
    if scope.started_at >= scope.deadline_at:
        return Outcome(error=passed("Retry", scope.started_at - scope.deadline_at))
    outcome = NOTHING
    token = CURRENT.set(scope)
    try:
        outcome = Outcome(await fn(*args, **kwargs))
    except Exception as caught:
        caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
        outcome = Outcome(None, caught)
    finally:
        CURRENT.reset(token)
        if outcome is NOTHING:
            scope.closed = True
    try:
        if not isinstance(scope, Series):
            scope.closed = True
            return outcome
        if outcome.error is None and retry.on.on_result is None:
            scope.closed = True
            if not retry.budget.idle:
                retry.budget.succeed(scope.started_at, 0.0)
            return outcome
        return await arepeat(scope, outcome, fn, args, kwargs)
    finally:
        del outcome


async def arepeat(series: Series, outcome: Outcome, fn: Fn, args: Any, kwargs: Any) -> Outcome:
    """`repeat` for coroutines; a wait of 0 s still lets other tasks run."""
    world = series.world
    errors_only = series.policy.on.on_result is None
    token = None
    try:
        while True:
            delay_s = series.after(outcome)
            if series.paused_s > 0.0:
                await world.asleep(series.paused_s)
            if delay_s is None:
                return outcome
            await world.asleep(delay_s)
            token = token or CURRENT.set(series)
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
        series.closed = True
        if token is not None:
            CURRENT.reset(token)
        if series.granted:
            series.end()


def begin(plan: Plan, retry: Retry) -> Scope:
    """The scope of a call that begins now: a `Series`, or a plain one if a layer around it does the repeating."""
    world = plan.world
    now = world.now()
    outer = published()
    if outer is None:
        return Series(retry, world, now, now + plan.limit_s, None, enclosing)
    deadline_at = min(now + plan.limit_s, outer.deadline_on(world))
    if retry.guard and outer.retrying:
        return Scope(world, now, deadline_at, outer.attempt, True)
    return Series(retry, world, now, deadline_at, None, None)
