"""Find the call around this one, when a failure first makes it worth knowing.

A context variable set and reset costs as much as a whole wrapper call, and nearly every call succeeds at the first
attempt. So that attempt publishes nothing. A layer whose attempt has failed looks outward instead: first at what was
published in this context, then at the interpreter's frames, for a wrapper of ours that is making its first attempt.
Frames do not cross into other tasks or threads; for those, every later attempt and every stack with a deadline of its own
is published by context (docs/decisions/0002-first-attempt.md).
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import TYPE_CHECKING, Any

from seawall.scope import CURRENT, Scope, published

if TYPE_CHECKING:
    from types import FrameType

    from seawall.plan import Plan

#: code of the wrappers (sync bare and counted, async bare and counted) that make first attempts unpublished; each has the names
#: `started_at` and `plan`. Four names, compared by identity: hashing a code object is slow, and this runs for every frame.
FIRST_ATTEMPTS: list[CodeType] = []


def enclosing(skip: int = 0) -> Scope | None:
    """The scope of the innermost seawall call around the caller, or around the frame `skip` levels further out."""
    if CURRENT.get() is not None:
        scope = published()
        if scope is not None:
            return scope
    try:
        frame: FrameType | None = sys._getframe(skip + 1)  # pyright: ignore[reportPrivateUsage]
    except ValueError:  # the stack is not that deep
        return None
    if not FIRST_ATTEMPTS:
        return None
    bare, counted, abare, acounted = FIRST_ATTEMPTS
    while frame is not None:
        code = frame.f_code
        if code is counted or code is acounted or code is bare or code is abare:
            found: dict[str, Any] = frame.f_locals
            started_at: float | None = found.get("started_at")
            if started_at is not None:  # else it is not making a first attempt
                plan: Plan = found["plan"]
                return Scope(plan.world, started_at, started_at + plan.limit_s, 1, plan.retrying)
        frame = frame.f_back
    return None
