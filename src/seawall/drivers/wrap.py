"""The wrappers that decoration makes: the first attempt is made directly, the flow starts after a failure.

One for each kind of plan (`plan.plan_for`). The user's exception is raised outside every
`except` block, so that its `__context__` stays the user's. No frame of ours may end holding an exception in a local name: the
exception's traceback keeps the user's frame, that frame keeps ours by `f_back`, and a cycle would form.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from functools import partial
from types import CodeType
from typing import Any, cast

from seawall.callables import Fn, name_of
from seawall.drivers.aio import arun
from seawall.drivers.direct import adirect, arepeat, direct, repeat
from seawall.drivers.enclosing import FIRST_ATTEMPTS, WRAPPERS, enclosing, unpublished
from seawall.drivers.sync import run
from seawall.plan import Plan
from seawall.policies.retry import Retry, Series
from seawall.scope import CURRENT


def wrap(plan: Plan, fn: Fn) -> Fn:
    """A wrapper for a function that returns its result. One that returns an awaitable is awaited and retried too."""
    if plan.retry is None or plan.kind == "full":
        return _full(plan, fn)
    kinds = {"bare": _bare, "counted": _counted, "published": _published}
    return kinds[plan.kind](plan, plan.retry, fn)


def awrap(plan: Plan, fn: Fn) -> Fn:
    """A wrapper for a coroutine function."""
    if plan.retry is None or plan.kind == "full":
        return _afull(plan, fn)
    kinds = {"bare": _abare, "counted": _acounted, "published": _apublished}
    return kinds[plan.kind](plan, plan.retry, fn)


def _bare(plan: Plan, retry: Retry, fn: Fn) -> Fn:
    plain: type[object] = int
    started_at = 0.0  # without a deadline nobody asks

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal plain
        try:
            value = fn(*args, **kwargs)
        except Exception as caught:
            caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
            error = caught
        else:
            if type(value) is not plain:
                if hasattr(value, "__await__"):
                    return adopt(plan, fn, args, kwargs, value)
                plain = cast("type[object]", type(value))
            return value
        outer = enclosing(1, hidden=False)
        find = None if outer is None else outer.itself
        series = Series(
            retry, plan.world, started_at, started_at + plan.limit_s, None, find, started_at
        )
        try:
            return repeat(series, error, None, True, fn, args, kwargs)
        finally:
            del error

    return call


def _counted(plan: Plan, retry: Retry, fn: Fn) -> Fn:
    plain: type[object] = int
    budget, now, current = plan.budget, plan.world.now, CURRENT.get

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal plain
        if current() is not None:
            return direct(plan, retry, fn, args, kwargs)
        started_at = now()
        try:
            value = fn(*args, **kwargs)
        except Exception as caught:
            caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
            error = caught
        else:
            if type(value) is not plain:
                if hasattr(value, "__await__"):
                    return adopt(plan, fn, args, kwargs, value)
                plain = cast("type[object]", type(value))
            if not budget.idle:
                budget.succeed(started_at, 0.0)
            return value
        outer = unpublished(1, hidden=False)
        find = None if outer is None else outer.itself
        series = Series(
            retry, plan.world, started_at, started_at + plan.limit_s, None, find, started_at
        )
        try:
            return repeat(series, error, None, True, fn, args, kwargs)
        finally:
            del error

    return call


def _published(plan: Plan, retry: Retry, fn: Fn) -> Fn:
    def call(*args: Any, **kwargs: Any) -> Any:
        value = direct(plan, retry, fn, args, kwargs)
        if hasattr(value, "__await__"):
            raise _refused(fn, value)
        return value

    return call


def _full(plan: Plan, fn: Fn) -> Fn:
    def call(*args: Any, **kwargs: Any) -> Any:
        outcome = run(plan, partial(fn, *args, **kwargs))
        if outcome.error is None:
            if hasattr(outcome.value, "__await__"):
                raise _refused(fn, outcome.value)
            return outcome.value
        try:
            raise outcome.error
        finally:
            del outcome

    return call


def _refused(fn: Fn, awaitable: Any) -> TypeError:
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()
    return TypeError(
        f"{name_of(fn)} is not a coroutine function but returned an awaitable: this stack has policies that would watch "
        "only its creation. Decorate the coroutine function itself, or make the call with stack.acall(...)."
    )


def _abare(plan: Plan, retry: Retry, fn: Fn) -> Fn:
    started_at = 0.0

    async def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return await fn(*args, **kwargs)
        except Exception as caught:
            caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
            error = caught
        outer = enclosing(1)
        find = None if outer is None else outer.itself
        series = Series(
            retry, plan.world, started_at, started_at + plan.limit_s, None, find, started_at
        )
        try:
            return await arepeat(series, error, None, True, fn, args, kwargs)
        finally:
            del error

    return call


def _acounted(plan: Plan, retry: Retry, fn: Fn) -> Fn:
    budget, now, current = plan.budget, plan.world.now, CURRENT.get

    async def call(*args: Any, **kwargs: Any) -> Any:
        if current() is not None:
            return await adirect(plan, retry, fn, args, kwargs)
        started_at = now()
        try:
            value = await fn(*args, **kwargs)
        except Exception as caught:
            caught.__traceback__ = caught.__traceback__ and caught.__traceback__.tb_next
            error = caught
        else:
            if not budget.idle:
                budget.succeed(started_at, 0.0)
            return value
        outer = unpublished(1)
        find = None if outer is None else outer.itself
        series = Series(
            retry, plan.world, started_at, started_at + plan.limit_s, None, find, started_at
        )
        try:
            return await arepeat(series, error, None, True, fn, args, kwargs)
        finally:
            del error

    return call


def _apublished(plan: Plan, retry: Retry, fn: Fn) -> Fn:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await adirect(plan, retry, fn, args, kwargs)

    return call


def _afull(plan: Plan, fn: Fn) -> Fn:
    async def call(*args: Any, **kwargs: Any) -> Any:
        outcome = await arun(plan, partial(fn, *args, **kwargs))
        if outcome.error is None:
            return outcome.value
        try:
            raise outcome.error
        finally:
            del outcome

    return call


def adopt(
    plan: Plan, fn: Fn, args: tuple[Any, ...], kwargs: dict[str, Any], made: Awaitable[Any]
) -> Coroutine[Any, Any, Any]:
    """Go on asynchronously: `fn` has turned out to return awaitables; the one it `made` is the first attempt's."""
    waiting = [made]

    async def attempt() -> Any:
        return await (waiting.pop() if waiting else fn(*args, **kwargs))

    return cast("Coroutine[Any, Any, Any]", awrap(plan, attempt)())


FIRST_ATTEMPTS.extend(
    code
    for make in (_bare, _counted, _abare, _acounted)
    for code in make.__code__.co_consts
    if isinstance(code, CodeType)
)
WRAPPERS.append(globals())
