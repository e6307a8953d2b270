"""Stacks of nothing but `Retry` (and a `Deadline` around it), run without generators.

The decisions are the same object's (`policies.retry.Series`); only the walk through the generators is left out, and a test
demands the same trace of both. This is what makes a failure cheap where nothing else has to be asked. Everything is written
out in one function for that reason; the coroutine twin differs by `await`.
"""

from __future__ import annotations

from typing import Any

from seawall.callables import Fn
from seawall.drivers.enclosing import unpublished
from seawall.outcome import Outcome
from seawall.plan import Plan
from seawall.policies.deadline import passed
from seawall.policies.retry import Retry, Series
from seawall.scope import CURRENT, Scope, published


def direct(plan: Plan, retry: Retry, fn: Fn, args: Any, kwargs: Any) -> Any:
    """One whole call, from its first attempt on, with everything published."""
    scope = begin(plan, retry)
    if scope.started_at >= scope.deadline_at:
        raise passed("Retry", scope.started_at - scope.deadline_at)
    error = None
    token = CURRENT.set(scope)
    try:
        try:
            value = fn(*args, **kwargs)
        except Exception as caught:
            caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
            error = caught
            value = None
        errors_only = retry.on.on_result is None
        if isinstance(scope, Series) and (error is not None or not errors_only):
            try:
                return repeat(scope, error, value, errors_only, fn, args, kwargs)
            except Exception as final:
                shorten(final)
                raise
        if not isinstance(scope, Series):
            retry.stood_back(plan.world, Outcome(value, error))
        if error is not None:
            raise error
        if isinstance(scope, Series) and not retry.budget.idle:
            retry.budget.succeed(scope.started_at, 0.0)
        return value
    finally:
        del error
        scope.closed = True
        CURRENT.reset(token)


def repeat(
    series: Series,
    error: Exception | None,
    value: Any,
    errors_only: bool,
    fn: Fn,
    args: Any,
    kwargs: Any,
) -> Any:
    """The attempts after the first, whose end is given. Returns or raises what the last one does.

    `errors_only`: a returned value is a success and needs no judgement. Publishes nothing: in a thread nested calls find the
    caller's frame (`drivers.enclosing`).
    """
    world = series.world
    try:
        while True:
            delay_s = series.after(error, value)
            if series.paused_s > 0.0:
                world.sleep(series.paused_s)
            if delay_s is None:
                if error is not None:
                    raise error
                return value
            if delay_s > 0.0:
                world.sleep(delay_s)
            try:
                value = fn(*args, **kwargs)
            except Exception as caught:
                caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
                error = caught
            else:
                if errors_only:
                    series.succeeded()
                    return value
                error = None
    finally:
        del error
        series.closed = True
        if series.granted:
            series.end()


async def adirect(plan: Plan, retry: Retry, fn: Fn, args: Any, kwargs: Any) -> Any:
    """`direct` for coroutines."""
    scope = begin(plan, retry)
    if scope.started_at >= scope.deadline_at:
        raise passed("Retry", scope.started_at - scope.deadline_at)
    error = None
    token = CURRENT.set(scope)
    try:
        try:
            value = await fn(*args, **kwargs)
        except Exception as caught:
            caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
            error = caught
            value = None
        errors_only = retry.on.on_result is None
        if isinstance(scope, Series) and (error is not None or not errors_only):
            try:
                return await arepeat(scope, error, value, errors_only, fn, args, kwargs)
            except Exception as final:
                shorten(final)
                raise
        if not isinstance(scope, Series):
            retry.stood_back(plan.world, Outcome(value, error))
        if error is not None:
            raise error
        if isinstance(scope, Series) and not retry.budget.idle:
            retry.budget.succeed(scope.started_at, 0.0)
        return value
    finally:
        del error
        scope.closed = True
        CURRENT.reset(token)


async def arepeat(
    series: Series,
    error: Exception | None,
    value: Any,
    errors_only: bool,
    fn: Fn,
    args: Any,
    kwargs: Any,
) -> Any:
    """`repeat` for coroutines. Publishes the attempts, since tasks started by them see no frames.

    The first wait of 0 s is none, any further one lets other tasks run.
    """
    world = series.world
    token = None
    try:
        while True:
            delay_s = series.after(error, value)
            if series.paused_s > 0.0:
                await world.asleep(series.paused_s)
            if delay_s is None:
                if error is not None:
                    raise error
                return value
            if delay_s > 0.0 or series.attempt > 2:
                await world.asleep(delay_s)
            token = token or CURRENT.set(series)
            try:
                value = await fn(*args, **kwargs)
            except Exception as caught:
                caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
                error = caught
            else:
                if errors_only:
                    series.succeeded()
                    return value
                error = None
    finally:
        del error
        series.closed = True
        if token is not None:
            CURRENT.reset(token)
        if series.granted:
            series.end()


def shorten(error: Exception) -> None:
    """Take the frames of `direct` and `repeat` off its traceback; raising it again puts one of them back."""
    for _ in range(2):
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next


def begin(plan: Plan, retry: Retry) -> Scope:
    """The scope of a call that begins now: a `Series`, or a plain one if a layer around it does the repeating."""
    world = plan.world
    now = world.now()
    outer = published()
    if outer is None:
        return Series(retry, world, now, now + plan.limit_s, None, unpublished)
    deadline_at = min(now + plan.limit_s, outer.deadline_on(world))
    if retry.guard and outer.retrying:
        return Scope(world, now, deadline_at, outer.attempt, True, call=outer.identity)
    return Series(retry, world, now, deadline_at, None, None)
