"""Find the call around this one, when a failure first makes it worth knowing.

A context variable set and reset costs as much as a whole wrapper call, and nearly every call succeeds at the first
attempt. So under the default deadline that attempt publishes nothing, nor does any in a thread. A layer whose attempt has
failed looks outward instead: first at what was published in this context, then at the interpreter's frames, for a wrapper of
ours. Frames do not cross into other tasks; for those, a coroutine's later attempts and all of a stack with a deadline of its
own are published by context (docs/decisions/0002-first-attempt.md).
"""

from __future__ import annotations

import sys
from types import CodeType, CoroutineType
from typing import TYPE_CHECKING, Any

from seawall.scope import CURRENT, Scope, published

if TYPE_CHECKING:
    from types import FrameType

    from seawall.plan import Plan

#: code of the wrappers that publish nothing; each has the names `started_at`, `plan` and, once it repeats, `series`
FIRST_ATTEMPTS: list[CodeType] = []
#: the globals of the module that defines them, the one quick look that most frames get
WRAPPERS: list[dict[str, Any]] = []


_COROUTINE: Any = CoroutineType


def enclosing(skip: int = 0, *, hidden: bool = True) -> Scope | None:
    """The scope of the innermost seawall call around the caller, or around the frame `skip` levels further out.

    `hidden`: look for coroutines that the chain of frames leaves out as well; a wrapper in a thread need not.
    """
    if CURRENT.get() is not None:
        scope = published()
        if scope is not None:
            return scope
    return unpublished(skip + 1, hidden=hidden)


def unpublished(skip: int = 0, *, hidden: bool = True) -> Scope | None:
    """The same by frames alone: for a call that is published itself and looks for what is around it."""
    try:
        frame: FrameType | None = sys._getframe(skip + 1)  # pyright: ignore[reportPrivateUsage]
    except ValueError:  # the stack is not that deep
        return None
    scope, _ = _outward(frame)
    return _hidden() if scope is None and hidden else scope


def repeating() -> Scope | None:
    """The scope of the call around the caller that will be repeated if it fails, for what must be the same on every attempt.

    That is the innermost one, unless it is guarded and stands in another that retries: then it is left to that one.
    """
    found = enclosing(1)
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while found is not None and found.guarded:
        outer, frame = _outward(frame)
        if outer is None:
            break
        if outer.retrying and outer.identity is not found.identity:
            found = outer
    return found


def _outward(frame: FrameType | None) -> tuple[Scope | None, FrameType | None]:
    """The first call that a frame tells of, from `frame` outward, and where to go on from there."""
    wrappers = WRAPPERS[0] if WRAPPERS else None
    while frame is not None:
        if frame.f_globals is wrappers and frame.f_code in FIRST_ATTEMPTS:
            scope = _scope_of(frame.f_locals)
            if scope is not None:
                return scope, frame.f_back
        frame = frame.f_back
    return None, None


def _hidden() -> Scope | None:
    """What the walk over the frames has missed: the running task's coroutines, from the outermost on.

    When a failure is thrown into a coroutine that awaits an object with an `__await__` of its own, CPython leaves its frame out
    of the chain. Seen from outside it is there, down to that object; where there is no such object nothing is missing.
    """
    outermost: Any = _task_coroutine()
    if outermost is None:
        return None
    if not _AWAIT_TOLD_WHILE_RUNNING:
        return _unlinked(outermost)
    inner: Any = outermost
    while type(inner) is _COROUTINE:
        inner = inner.cr_await
    return None if inner is None else _unlinked(outermost)


def _unlinked(coroutine: Any) -> Scope | None:
    """The innermost call in a chain of coroutines whose frames cannot be reached from here."""
    linked: set[int] = set()
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        linked.add(id(frame))
        frame = frame.f_back
    found: Scope | None = None
    while type(coroutine) is _COROUTINE:
        frame = coroutine.cr_frame
        if frame is not None and id(frame) not in linked and frame.f_code in FIRST_ATTEMPTS:
            found = _scope_of(frame.f_locals) or found
        coroutine = _awaited_by(coroutine)
    return found


#: Python 3.13 answers None to `cr_await` while a coroutine runs, even if it runs by awaiting another
_AWAIT_TOLD_WHILE_RUNNING = sys.version_info < (3, 13)


def _awaited_by(coroutine: Any) -> Any:
    if _AWAIT_TOLD_WHILE_RUNNING or not coroutine.cr_running:
        return coroutine.cr_await
    import gc

    referents: list[Any] = gc.get_referents(coroutine)  # its frame holds what it awaits
    for held in referents:
        if type(held) is _COROUTINE and held.cr_running:
            return held
    return None


def _task_coroutine() -> Any:
    """The outermost coroutine of the running task, in asyncio or trio; None outside any."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None:
        loop = asyncio._get_running_loop()  # noqa: SLF001 - exported for this
        if loop is not None:
            task = asyncio.current_task(loop)
            return None if task is None else task.get_coro()
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        return trio.lowlevel.current_task().coro
    return None


def _scope_of(found: dict[str, Any]) -> Scope | None:
    """The scope of the call that a wrapper's frame is making; None if it left the matter to a published one."""
    plan: Plan = found["plan"]
    started_at: float | None = found.get("started_at")
    series: Scope | None = found.get("series")
    if (
        type(found) is dict
    ):  # Python < 3.13 keeps this copy with the frame, and it holds the failed attempt's exception
        found.clear()
    if series is not None or started_at is None:
        return series
    deadline_at = started_at + plan.limit_s
    scope = Scope(plan.world, started_at, deadline_at, 1, plan.retrying, call=started_at)
    scope.guarded = plan.retry is not None and plan.retry.guard
    return scope
