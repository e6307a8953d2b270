"""A client process: many concurrent clients, each making calls through one stack. Run as `python -m seawall.drill.clients`.

aiohttp carries about ten times as many requests per second as the other asynchronous clients; what the client machine
cannot carry would look like jitter.
"""

from __future__ import annotations

import asyncio
import gc
import time
from contextlib import suppress
from math import sqrt
from random import Random
from typing import Any

import aiohttp

from seawall.classify import Classifier
from seawall.drill.child import Message, serve
from seawall.drill.settings import Settings
from seawall.drill.strategies import stack_for
from seawall.errors import AttemptTimeout
from seawall.stack import Stack
from seawall.world import World


class Clients:
    """The clients `first` … `first + count - 1` of a drill."""

    def __init__(self) -> None:
        self._settings = Settings()
        self._first = 0
        self._count = 0

    async def handle(self, message: Message) -> Message:
        """Messages from the parent: prepare, burst, run."""
        if message["do"] == "prepare":
            self._settings = Settings.from_dict(message["settings"])
            self._first, self._count = message["first"], message["count"]
            return {}
        gc.collect()
        gc.freeze()  # what is there stays; collecting it again and again would delay the clients
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            url = f"http://127.0.0.1:{message['port']}/"
            if message["do"] == "burst":
                return await _burst(session, url, self._count, message["moments"])
            run = Run(self._settings, session, url, message["strategy"], message["start_at"])
            return await run.all(range(self._first, self._first + self._count))


async def _burst(
    session: aiohttp.ClientSession, url: str, count: int, moments: list[float]
) -> dict[str, Any]:
    """All clients connect, then fire in the same instant, at each of these moments."""
    await asyncio.gather(*(_get(session, url) for _ in range(count)))
    for moment in moments:
        await asyncio.sleep(max(0.0, moment - time.monotonic()))
        await asyncio.gather(*(_get(session, url) for _ in range(count)))
    return {}


async def _get(session: aiohttp.ClientSession, url: str) -> int:
    async with session.get(url) as response:
        await response.read()
        return response.status


class Run:
    """All calls of this process in one run, and their record."""

    def __init__(
        self,
        settings: Settings,
        session: aiohttp.ClientSession,
        url: str,
        strategy: str,
        start_at: float,
    ) -> None:
        self._settings = settings
        self._session = session
        self._url = url
        self._strategy = strategy
        self._start_at = start_at
        self._end_at = start_at + settings.run_s
        self.begun_s: list[float] = []
        self.succeeded_s: list[float] = []
        self.failed_s: list[float] = []
        self.sent = 0

    async def all(self, indices: range) -> dict[str, Any]:
        """Run these clients until the end of the run."""
        stack = self._stack(Random(f"{self._settings.seed} waits {indices.start}"))
        tasks = [asyncio.create_task(self._client(stack, index)) for index in indices]
        await asyncio.sleep(self._end_at - time.monotonic())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return {
            "begun_s": self.begun_s,
            "succeeded_s": self.succeeded_s,
            "failed_s": self.failed_s,
            "sent": self.sent,
        }

    def _stack(self, random: Random) -> Stack:
        settings = self._settings
        return stack_for(
            self._strategy,
            Classifier((aiohttp.ClientError, AttemptTimeout, OSError), on_result=_unavailable),
            World(time.monotonic, random.random, time.sleep, asyncio.sleep),
            attempts=settings.attempts,
            base_s=settings.base_s,
            cap_s=settings.cap_s,
            timeout_s=settings.timeout_s,
        )

    async def _client(self, stack: Stack, index: int) -> None:
        """Call, think, call again; the pauses are the same whatever the strategy."""
        random = Random(f"{self._settings.seed} client {index}")
        think_s = self._settings.think_s
        wait_s = self._start_at - time.monotonic() + think_s * _rest_of_a_pause(random)
        while True:
            await asyncio.sleep(wait_s)
            self.begun_s.append(self._now_s())
            ended_s = self.succeeded_s if await self._succeeds(stack) else self.failed_s
            ended_s.append(self._now_s())
            wait_s = think_s * random.uniform(0.5, 1.5)

    async def _succeeds(self, stack: Stack) -> bool:
        with suppress(aiohttp.ClientError, AttemptTimeout, OSError):
            return not _unavailable(await stack.acall(self._attempt))
        return False

    async def _attempt(self) -> int:
        self.sent += 1
        return await _get(self._session, self._url)

    def _now_s(self) -> float:
        return round(time.monotonic() - self._start_at, 6)


def _rest_of_a_pause(random: Random) -> float:
    """What is left, at a moment taken blindly, of pauses U(0.5, 1.5): so the load is steady from the start.

    Long pauses are met more often: the density of the one that is met is proportional to its length.
    """
    return random.random() * sqrt(random.uniform(0.25, 2.25))


def _unavailable(status: int) -> bool:
    return status == 503


if __name__ == "__main__":
    serve(Clients().handle)
