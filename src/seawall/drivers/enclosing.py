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

#: code of the wrappers that make first attempts unpublished; each has the names `started_at` and `plan`
FIRST_ATTEMPTS: list[CodeType] = []
#: the globals of the module that defines them, the one quick look that most frames get
WRAPPERS: list[dict[str, Any]] = []


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
    wrappers = WRAPPERS[0] if WRAPPERS else None
    while frame is not None:
        if frame.f_globals is wrappers and frame.f_code in FIRST_ATTEMPTS:
            found: dict[str, Any] = frame.f_locals
            started_at: float | None = found.get("started_at")
            if started_at is not None:  # else it is not making a first attempt
                plan: Plan = found["plan"]
                return Scope(plan.world, started_at, started_at + plan.limit_s, 1, plan.retrying)
        frame = frame.f_back
    return None
