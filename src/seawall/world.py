"""The only door to time and chance.

Policies and state machines are told the time and handed their random draws; drivers sleep through the world they were
given. Tests and the simulator pass another `World`; nothing else in the core may import `time`, `random`, `asyncio` or
`threading` (a lint rule enforces it).
"""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Protocol

    from seawall.events import Event

    Sink = Callable[[Event], None]

    class Waitable(Protocol):
        """What `World.wait` waits for: `threading.Event` is one."""

        def wait(self, timeout: float | None = None) -> bool: ...
else:  # annotations are never evaluated
    Sink = Waitable = object


class World:
    """A clock, a source of chance and two ways to sleep.

    * `now()`: monotonic seconds; only differences mean anything.
    * `unix_now()`: seconds since 1970, for dates that a server sends; may jump.
    * `random()`: a draw in [0, 1).
    * `sleep(delay_s)`, `asleep(delay_s)`: let time pass, blocking or awaiting.
    * `wait(event, limit_s)`: block until the event is set or the limit has passed; True if set.
    * `emit`: where policies send their events, or None when nobody listens.
    """

    __slots__ = ("asleep", "emit", "now", "random", "sleep", "unix_now", "wait")

    def __init__(
        self,
        now: Callable[[], float],
        random: Callable[[], float],
        sleep: Callable[[float], None],
        asleep: Callable[[float], Awaitable[None]],
        *,
        unix_now: Callable[[], float] | None = None,
        wait: Callable[[Waitable, float], bool] | None = None,
        emit: Sink | None = None,
    ) -> None:
        self.now = now
        self.random = random
        self.sleep = sleep
        self.asleep = asleep
        self.unix_now = unix_now if unix_now is not None else now
        self.wait = wait if wait is not None else _wait
        self.emit = emit

    def listening(self, sink: Sink) -> World:
        """The same world with one more listener."""
        first = self.emit

        def both(event: Event) -> None:
            if first is not None:
                first(event)
            sink(event)

        return World(
            self.now,
            self.random,
            self.sleep,
            self.asleep,
            unix_now=self.unix_now,
            wait=self.wait,
            emit=both if first is not None else sink,
        )

    def __reduce__(self) -> str | tuple[object, ...]:
        if self is REAL:
            return "REAL"
        return (_rebuild, (self.now, self.random, self.sleep, self.asleep, self.unix_now))


def _rebuild(
    now: Callable[[], float],
    random: Callable[[], float],
    sleep: Callable[[float], None],
    asleep: Callable[[float], Awaitable[None]],
    unix_now: Callable[[], float],
) -> World:
    return World(now, random, sleep, asleep, unix_now=unix_now)


def _draw() -> float:
    """A draw from the interpreter's own generator, which reseeds itself in forked children.

    Imported on the first draw: a program that never retries need not pay for `random`.
    """
    import random

    REAL.random = random.random  # from now on without this detour
    return random.random()  # noqa: S311 - jitter is no secret


def _sleep(delay_s: float) -> None:
    time.sleep(delay_s)  # looked up at call time, so that a test's monkeypatch of time.sleep works


async def _asleep(delay_s: float) -> None:
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        await trio.sleep(delay_s)
    else:
        await sys.modules["asyncio"].sleep(delay_s)  # whoever runs a coroutine has imported it


def _wait(event: Waitable, limit_s: float) -> bool:
    return event.wait(limit_s)


def in_trio() -> bool:
    """Is the running coroutine driven by trio? Anything else is taken for asyncio."""
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_task())


REAL = World(
    time.monotonic, _draw, _sleep, _asleep, unix_now=time.time
)  #: the machine's own clock and chance
