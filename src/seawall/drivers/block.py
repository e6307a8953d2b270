"""The block driver: `for attempt in stack.attempts(): with attempt: ...`, and the same with `async for`.

The flow is advanced when a block ends, so that a failure which is final leaves the `with` as the user's own exception,
untouched; waiting happens between blocks.
"""

from __future__ import annotations

import sys
from contextvars import Token
from math import inf
from types import TracebackType
from typing import Any, Self, cast

from seawall.effects import Attempt, Sleep, Steps, Within
from seawall.outcome import NOTHING, Outcome
from seawall.scope import CURRENT, Scope
from seawall.world import World, in_trio


class Attempts:
    """The attempts of one call, made by a block of code. Iterate once, with `for` or with `async for`."""

    def __init__(self, steps: Steps, root: Scope) -> None:
        self._layers: list[tuple[Steps, Within | None, float]] = [(steps, None, inf)]
        self._world: World = root.world
        self._root = root
        self._effect: Attempt | Sleep | None = None
        self._open = False  # an attempt was handed out and has no verdict yet
        self._started = False

    def __iter__(self) -> Self:
        return self

    def __aiter__(self) -> Self:
        return self

    def __next__(self) -> BlockAttempt:
        final = self._begin()
        while isinstance(self._effect, Sleep):
            if self._effect.delay_s > 0.0:
                self._world.sleep(self._effect.delay_s)
            final = self._enter(NOTHING)
        return self._next_attempt([final], StopIteration)

    async def __anext__(self) -> BlockAttempt:
        final = self._begin()
        while isinstance(self._effect, Sleep):
            await self._world.asleep(self._effect.delay_s)
            final = self._enter(NOTHING)
        return self._next_attempt([final], StopAsyncIteration)

    def close(self) -> None:
        """End the call without a verdict; nothing stays held. A block that is left by a cancellation does it by itself."""
        self._effect = None
        self._root.closed = True
        while self._layers:
            self._layers.pop()[0].close()

    def __del__(self) -> None:
        self.close()

    def _begin(self) -> Outcome | None:
        if self._open:
            raise RuntimeError(
                "the previous attempt has no verdict: write `with attempt:` (or `async with attempt:`) around "
                "the body of the loop"
            )
        if self._started:
            return None
        self._started = True
        return self._enter(None)

    def _next_attempt(self, final: list[Outcome | None], stop: type[Exception]) -> BlockAttempt:
        if isinstance(self._effect, Attempt):
            self._open = True
            return BlockAttempt(self, self._effect.scope)
        outcome = final.pop()
        if outcome is None or outcome.error is None:
            raise stop
        try:
            raise outcome.error  # the call has ended between two blocks, or before the first
        finally:
            del outcome

    def settle(self, verdict: Outcome) -> Outcome | None:
        """Take the verdict of the open attempt; the call's outcome if it is over, None if it is not."""
        self._open = False
        return self._enter(verdict)

    def limit(self) -> Within | None:
        """The time limit around the open attempt that will end first."""
        limits = [(ends_at, within) for _, within, ends_at in self._layers if within is not None]
        return min(limits, key=lambda each: each[0])[1] if limits else None

    def remaining_s(self, within: Within) -> float:
        """Seconds left of that limit."""
        ends_at = next(e for _, w, e in self._layers if w is within)
        return max(0.0, ends_at - self._world.now())

    def expire(self, within: Within) -> Outcome | None:
        """That limit has ended: close what is inside it and go on with its outcome."""
        self._open = False
        while self._layers[-1][1] is not within:
            self._layers.pop()[0].close()
        self._layers.pop()[0].close()
        return self._enter(within.expired(""))

    def _enter(self, answer: Outcome | None) -> Outcome | None:
        """Send an answer inward and follow limits and their ends, until there is something to do outside or the call is over.

        Nothing here keeps the outcome: it holds the exception, whose traceback holds the block that holds this.
        """
        while True:
            steps = self._layers[-1][0]
            try:
                effect = next(steps) if answer is None else steps.send(answer)
            except StopIteration as stop:
                answer = cast("Outcome", stop.value)
                self._layers.pop()
                if not self._layers:
                    self._effect = None
                    self._root.closed = True
                    return answer
                continue
            if not isinstance(effect, Within):
                self._effect = effect
                return None
            self._layers.append((effect.steps, effect, self._world.now() + effect.limit_s))
            answer = None


class BlockAttempt:
    """One attempt: enter it around the code to be tried. `number` counts from 1.

    Set `result` to a value that `on_result` shall judge. `async with` interrupts at a `Timeout`; `with` cannot.
    """

    def __init__(self, attempts: Attempts, scope: Scope) -> None:
        self._attempts = attempts
        self._scope = scope
        self._token: Token[Scope | None] | None = None
        self._limit: Within | None = None
        self._guard: Any = None
        self.number = scope.attempt
        self.result: Any = None

    def __enter__(self) -> Self:
        if self._token is not None:
            raise RuntimeError(
                "this attempt was entered already: each turn of the loop has its own"
            )
        self._token = CURRENT.set(self._scope)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self._leave_scope()
        if error is None:
            return self._end(Outcome(self.result), None)
        if not isinstance(error, Exception):
            self._attempts.close()
            return False
        return self._end(Outcome(error=error), error)

    async def __aenter__(self) -> Self:
        self._limit = self._attempts.limit()
        if self._limit is not None:
            limit_s = self._attempts.remaining_s(self._limit)
            if in_trio():
                self._guard = sys.modules["trio"].move_on_after(limit_s)
                self._guard.__enter__()
            else:
                import asyncio

                self._guard = asyncio.timeout(limit_s)
                await self._guard.__aenter__()
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if self._limit is None:
            return self.__exit__(kind, error, traceback)
        limit = self._limit
        if in_trio():
            self._guard.__exit__(kind, error, traceback)
            expired = bool(self._guard.cancelled_caught)
        else:
            expired = False
            try:
                await self._guard.__aexit__(kind, error, traceback)
            except TimeoutError:
                expired = self._guard.expired()
        if not expired:
            return self.__exit__(kind, error, traceback)
        self._leave_scope()
        outcome = self._attempts.expire(limit)
        try:
            if outcome is not None and outcome.error is not None:
                raise outcome.error from None
        finally:
            del outcome
        return True

    def _end(self, verdict: Outcome, error: Exception | None) -> bool:
        outcome = self._attempts.settle(verdict)
        if outcome is None:
            return True
        try:
            if outcome.error is None or outcome.error is error:
                return outcome.error is None
            raise outcome.error
        finally:
            del outcome, verdict, error

    def _leave_scope(self) -> None:
        token, self._token = self._token, None
        if token is None:
            return
        try:
            CURRENT.reset(token)
        except (
            ValueError
        ):  # the block is left in another context than it was entered in (async generators)
            CURRENT.set(None)
