"""A world without real time: sleeping moves the clock, draws are given beforehand."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterable, Iterator
from itertools import repeat
from typing import Any, TypeVar

import trio

from seawall.world import Sink, Waitable, World, in_trio

T = TypeVar("T")


class FakeWorld(World):
    """Starts at `time`; `sleeps` records every sleep. `draws` defaults to 0.5 for ever."""

    __slots__ = ("_draws", "sleeps", "time")

    def __init__(
        self,
        *,
        time: float = 1000.0,
        draws: Iterable[float] | None = None,
        emit: Sink | None = None,
    ) -> None:
        self.time = time
        self.sleeps: list[float] = []
        self._draws: Iterator[float] = iter(repeat(0.5) if draws is None else draws)
        super().__init__(
            now=lambda: self.time,
            random=lambda: next(self._draws),
            sleep=self._sleep,
            asleep=self._asleep,
            unix_now=lambda: self.time + 1_767_000_000.0,
            wait=self._wait_for,
            emit=emit,
        )

    def advance(self, seconds: float) -> None:
        """Let time pass, as a slow call would."""
        self.time += seconds

    def _sleep(self, delay_s: float) -> None:
        self.sleeps.append(delay_s)
        self.time += delay_s

    async def _asleep(self, delay_s: float) -> None:
        self._sleep(delay_s)
        if in_trio():
            await trio.lowlevel.checkpoint()
        else:
            await asyncio.sleep(0)

    def _wait_for(self, event: Waitable, limit_s: float) -> bool:
        if event.wait(0.0):
            return True
        self.time += limit_s
        return False


class Flaky:
    """A function that fails `failures` times and then returns `value`; counts its calls."""

    def __init__(
        self,
        failures: float,
        error: Callable[[], Exception] = lambda: ConnectionError("refused"),
        value: Any = "ok",
        world: FakeWorld | None = None,
        takes_s: float = 0.0,
    ) -> None:
        self.failures = failures
        self.error = error
        self.value = value
        self.world = world
        self.takes_s = takes_s
        self.calls = 0
        self.raised: list[Exception] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.world is not None:
            self.world.advance(self.takes_s)
        if self.calls <= self.failures:
            error = self.error()
            self.raised.append(error)
            raise error
        return self.value

    async def later(self, *args: Any, **kwargs: Any) -> Any:
        """The same as a coroutine function."""
        return self(*args, **kwargs)


class _JumpingSelector(selectors.SelectSelector):
    """Instead of waiting for the next timer, jumps to it."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(0.001)
        self.time += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop whose clock jumps from timer to timer."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.time


def run_virtual(main: Callable[[World], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine in virtual time; it is given the world whose clock is the loop's."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        world = World(loop.time, lambda: 0.5, lambda _: None, asyncio.sleep)
        return runner.run(main(world))
