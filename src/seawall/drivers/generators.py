"""Generator functions, restarted from the beginning after a failure; only on request (`Stack.restart`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seawall.stack import Stack


def restarting(stack: Stack, fn: Callable[..., Generator[Any, Any, Any]]) -> Callable[..., Any]:
    """Wrap a generator function; `send`, `throw` and the return value pass through."""

    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        result: Any = None
        for attempt in stack.attempts():
            with attempt:
                result = attempt.result = yield from fn(*args, **kwargs)
        return result

    return call


def arestarting(stack: Stack, fn: Callable[..., AsyncGenerator[Any, Any]]) -> Callable[..., Any]:
    """Wrap an async generator function. Items are pulled, not sent; time limits do not interrupt between items."""

    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        async for attempt in stack.attempts():
            with attempt:  # not `async with`: a cancel scope may not stay open across a yield
                items = fn(*args, **kwargs)
                try:
                    async for item in items:
                        yield item
                finally:
                    await items.aclose()

    return call
