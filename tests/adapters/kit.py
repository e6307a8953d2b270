"""One test for many clients: the same asynchronous test drives a blocking client, or an awaited one under asyncio or trio."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, TypeVar

import trio

from seawall.events import Event, GaveUp, RetryScheduled
from tests.fakes import FakeWorld

T = TypeVar("T")

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # loading certificates takes longer than a test


class HookedWorld(FakeWorld):
    """A virtual world in which something happens during each wait."""

    def __init__(self) -> None:
        self.hook: Callable[[], Coroutine[Any, Any, object]] | None = None
        super().__init__()

    def _sleep(self, delay_s: float) -> None:
        if self.hook is not None:
            run_blocking(self.hook)
        super()._sleep(delay_s)

    async def _asleep(self, delay_s: float) -> None:
        hook, self.hook = self.hook, None
        try:
            if hook is not None:
                await hook()
            await super()._asleep(delay_s)
        finally:
            self.hook = hook


class Kit:
    """A client library, a way of running it, and the virtual world of its transport."""

    def __init__(self, name: str, mode: str) -> None:
        self.name = name
        self.mode = mode
        self.library: Any = import_module(name)
        self.adapter: Any = import_module(f"seawall.adapters.{name}")
        self.world = HookedWorld()
        self.events: list[Event] = []
        self.sinks: list[Callable[[Event], object]] = [self.events.append]

    def __repr__(self) -> str:
        return f"{self.name}-{self.mode}"

    @property
    def blocking(self) -> bool:
        return self.mode == "sync"

    def run(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run the test."""
        if self.blocking:
            return run_blocking(main)
        if self.mode == "trio":
            return trio.run(main)
        return asyncio.run(main())

    def socket_transport(self, pool: int = 100) -> Any:
        """The library's own transport, with so many connections at most."""
        make = self.library.HTTPTransport if self.blocking else self.library.AsyncHTTPTransport
        return make(verify=_NO_TLS, limits=self.library.Limits(max_connections=pool))

    def transport(self, wrapped: Any = None, *, pool: int = 100, **changes: Any) -> Any:
        """Our transport around `wrapped`, in the virtual world."""
        make = self.adapter.Transport if self.blocking else self.adapter.AsyncTransport
        changes = {"world": self.world, "sink": self._hear, **changes}
        return make(self.socket_transport(pool) if wrapped is None else wrapped, **changes)

    @asynccontextmanager
    async def client(
        self, wrapped: Any = None, *, pool: int = 100, **changes: Any
    ) -> AsyncGenerator[AnyClient]:
        """A client that sends through our transport."""
        async with self.opened(self.transport(wrapped, pool=pool, **changes)) as client:
            yield client

    @asynccontextmanager
    async def opened(self, transport: Any) -> AsyncGenerator[AnyClient]:
        """A client that sends through this transport."""
        if self.blocking:
            with self.library.Client(transport=transport) as client:
                yield AnyClient(client, blocking=True)
        else:
            async with self.library.AsyncClient(transport=transport) as client:
                yield AnyClient(client, blocking=False)

    def gave_up(self) -> GaveUp:
        """The one call that was given up."""
        (found,) = [event for event in self.events if isinstance(event, GaveUp)]
        return found

    def on_retry(self, act: Callable[[], object]) -> None:
        """Do something whenever a retry has been decided on."""
        self.sinks.append(lambda event: act() if isinstance(event, RetryScheduled) else None)

    def _hear(self, event: Event) -> None:
        for sink in self.sinks:
            sink(event)


class AnyClient:
    """A client whose methods are awaited, whether it blocks or not."""

    def __init__(self, client: Any, *, blocking: bool) -> None:
        self.client = client
        self.blocking = blocking

    async def request(self, method: str, url: str, **options: Any) -> Any:
        made = self.client.request(method, url, **options)
        return made if self.blocking else await made

    async def get(self, url: str, **options: Any) -> Any:
        return await self.request("GET", url, **options)

    @asynccontextmanager
    async def stream(self, method: str, url: str) -> AsyncGenerator[Any]:
        if self.blocking:
            with self.client.stream(method, url) as response:
                yield response
        else:
            async with self.client.stream(method, url) as response:
                yield response

    async def chunks(self, response: Any) -> AsyncGenerator[bytes]:
        """The response's body as it arrives."""
        if self.blocking:
            for chunk in response.iter_raw():
                yield chunk
        else:
            async for chunk in response.aiter_raw():
                yield chunk


def run_blocking(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine that never waits for anything."""
    coroutine = main()
    try:
        coroutine.send(None)
    except StopIteration as stop:
        value: T = stop.value
        return value
    finally:
        coroutine.close()
    raise AssertionError("a blocking client must not yield to a loop")
