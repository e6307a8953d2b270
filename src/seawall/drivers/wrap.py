"""The wrappers that decoration makes: the first attempt is made directly, the flow starts after a failure.

Three kinds, chosen once per stack (`Plan`): *bare*, when a success owes nothing to anybody; *counted*, when the deadline's
clock must be read and the budget may want to hear of the success; *full*, when a policy has work to do before the first
attempt, or nested calls must see a deadline of the stack's own from the start. The user's exception is raised outside every
`except` block, so that its `__context__` stays the user's, and the names that hold it are deleted, so that no cycle forms.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from seawall.callables import name_of
from seawall.drivers.aio import aresume, arun
from seawall.drivers.enclosing import FIRST_ATTEMPTS
from seawall.plan import Plan
from seawall.drivers.sync import resume, run
from seawall.scope import CURRENT

Fn = Callable[..., Any]


def wrap(plan: Plan, fn: Fn) -> Fn:
    """A wrapper for a function that returns its result. One that returns an awaitable is awaited and retried too."""
    return {"bare": _bare, "counted": _counted, "full": _full}[plan.kind](plan, fn)


def awrap(plan: Plan, fn: Fn) -> Fn:
    """A wrapper for a coroutine function."""
    return {"bare": _abare, "counted": _acounted, "full": _afull}[plan.kind](plan, fn)


def _bare(plan: Plan, fn: Fn) -> Fn:
    plain: type = int

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal plain
        started_at = 0.0  # without a deadline nobody asks
        try:
            value = fn(*args, **kwargs)
        except Exception as caught:
            error = caught
        else:
            if type(value) is not plain:
                if hasattr(value, "__await__"):
                    return adopt(plan, fn, args, kwargs, value)
                plain = type(value)
            return value
        outcome = resume(plan, partial(fn, *args, **kwargs), started_at, error)
        if outcome.error is None:
            return outcome.value
        try:
            raise outcome.error
        finally:
            del outcome, error

    FIRST_ATTEMPTS.add(call.__code__)
    return call


def _counted(plan: Plan, fn: Fn) -> Fn:
    plain: type = int
    budget, now, current = plan.budget, plan.world.now, CURRENT.get

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal plain
        if current() is None:
            started_at = now()
            try:
                value = fn(*args, **kwargs)
            except Exception as caught:
                error = caught
            else:
                if type(value) is not plain:
                    if hasattr(value, "__await__"):
                        return adopt(plan, fn, args, kwargs, value)
                    plain = type(value)
                if not budget.idle:
                    budget.succeed(started_at, 0.0)
                return value
            outcome = resume(plan, partial(fn, *args, **kwargs), started_at, error)
            del error
        else:
            outcome = run(plan, partial(fn, *args, **kwargs))
        if outcome.error is None:
            return outcome.value
        try:
            raise outcome.error
        finally:
            del outcome

    FIRST_ATTEMPTS.add(call.__code__)
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


def _abare(plan: Plan, fn: Fn) -> Fn:
    async def call(*args: Any, **kwargs: Any) -> Any:
        started_at = 0.0
        try:
            return await fn(*args, **kwargs)
        except Exception as caught:
            error = caught
        outcome = await aresume(plan, partial(fn, *args, **kwargs), started_at, error)
        if outcome.error is None:
            return outcome.value
        try:
            raise outcome.error
        finally:
            del outcome, error

    FIRST_ATTEMPTS.add(call.__code__)
    return call


def _acounted(plan: Plan, fn: Fn) -> Fn:
    budget, now, current = plan.budget, plan.world.now, CURRENT.get

    async def call(*args: Any, **kwargs: Any) -> Any:
        if current() is None:
            started_at = now()
            try:
                value = await fn(*args, **kwargs)
            except Exception as caught:
                error = caught
            else:
                if not budget.idle:
                    budget.succeed(started_at, 0.0)
                return value
            outcome = await aresume(plan, partial(fn, *args, **kwargs), started_at, error)
            del error
        else:
            outcome = await arun(plan, partial(fn, *args, **kwargs))
        if outcome.error is None:
            return outcome.value
        try:
            raise outcome.error
        finally:
            del outcome

    FIRST_ATTEMPTS.add(call.__code__)
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

    return awrap(plan, attempt)()


