"""What kind of callable a user hands over: decided once, when it is decorated."""

from __future__ import annotations

import sys
from functools import partial

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    Fn = Callable[..., Any]
    Kind = Literal["sync", "async", "generator", "async generator"]
else:  # annotations are never evaluated
    Fn = Kind = object


# code flags, as documented for `inspect`, which is not imported: it costs 8 ms
_GENERATOR, _COROUTINE, _ITERABLE_COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200


def kind_of(fn: Callable[..., Any]) -> Kind:
    """Coroutine function, generator function, or neither; looks through partials, methods and callable objects.

    A synchronous function that returns an awaitable cannot be told from here; the wrapper notices what it returns.
    """
    inspect = sys.modules.get("inspect")  # whoever marked a function by hand has imported it
    while isinstance(fn, partial):
        fn = fn.func
    for target in (fn, None if isinstance(fn, type) else type(fn).__call__):
        code = getattr(getattr(target, "__func__", target), "__code__", None)
        flags = getattr(code, "co_flags", None)
        if isinstance(flags, int):
            if flags & (_COROUTINE | _ITERABLE_COROUTINE):
                return "async"
            if flags & _ASYNC_GENERATOR:
                return "async generator"
            if flags & _GENERATOR:
                return "generator"
            break
    if inspect is not None and inspect.iscoroutinefunction(fn):
        return "async"
    return "sync"


def name_of(fn: Callable[..., Any]) -> str:
    """A name for messages; not every callable has one."""
    return str(getattr(fn, "__qualname__", None) or type(fn).__qualname__)
