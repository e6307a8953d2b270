"""Transports for httpx2 that repeat requests safely.

    client = httpx2.Client(transport=seawall.adapters.httpx2.Transport())

The same as in `adapters.httpx`, whose `Transport` says what it does.
"""

from __future__ import annotations

from typing import Unpack

import httpx2

from seawall.adapters.exchange import Changes, Settings
from seawall.adapters.httpx_family import (
    AsyncWrapping,
    Errors,
    Library,
    Sender,
    Watched,
    Wrapping,
)

__all__ = ["AsyncTransport", "Settings", "Transport"]


class _Watched(Watched, httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that the library takes for one of its own."""


_LIBRARY = Library(
    Errors(
        not_sent=(httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout),
        transport=(
            httpx2.NetworkError,
            httpx2.TimeoutException,
            httpx2.RemoteProtocolError,
            httpx2.ProxyError,
        ),
        proxy=httpx2.ProxyError,
    ),
    httpx2.Request,
    httpx2.ByteStream,
    _Watched,
)


class Transport(Wrapping, httpx2.BaseTransport):
    """A transport around another that repeats what failed, when that is safe.

    >>> import httpx2
    >>> answers = iter([httpx2.Response(503), httpx2.Response(200)])
    >>> server = httpx2.MockTransport(lambda request: next(answers))
    >>> with httpx2.Client(transport=Transport(server)) as client:
    ...     response = client.get("https://example.org/")
    >>> response.status_code, response.extensions["seawall_attempts"]
    (200, 2)

    * `wrapped`: makes the requests. Default `httpx2.HTTPTransport()`; leave its own `retries` at 0.
    * `settings`, `changes`: a `Settings` and its fields as keyword arguments, which take precedence:
      `Transport(attempts=3, issue_keys=True)`. The defaults are safe.

    For the rest see `seawall.adapters.httpx.Transport`: all that is said there holds here.
    """

    def __init__(
        self,
        wrapped: httpx2.BaseTransport | None = None,
        settings: Settings | None = None,
        **changes: Unpack[Changes],
    ) -> None:
        self._wrapped = httpx2.HTTPTransport() if wrapped is None else wrapped
        self._sender = Sender(_LIBRARY, settings, changes)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Make one logical request; called by the client."""
        response: httpx2.Response = self._sender.send(self._wrapped.handle_request, request)
        return response


class AsyncTransport(AsyncWrapping, httpx2.AsyncBaseTransport):
    """`Transport` for `httpx2.AsyncClient`, under asyncio and trio.

    >>> import asyncio, httpx2
    >>> answers = iter([httpx2.Response(503), httpx2.Response(200)])
    >>> server = httpx2.MockTransport(lambda request: next(answers))
    >>> async def main():
    ...     async with httpx2.AsyncClient(transport=AsyncTransport(server)) as client:
    ...         return await client.get("https://example.org/")
    >>> asyncio.run(main()).extensions["seawall_attempts"]
    2
    """

    def __init__(
        self,
        wrapped: httpx2.AsyncBaseTransport | None = None,
        settings: Settings | None = None,
        **changes: Unpack[Changes],
    ) -> None:
        self._wrapped = httpx2.AsyncHTTPTransport() if wrapped is None else wrapped
        self._sender = Sender(_LIBRARY, settings, changes)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Make one logical request; called by the client."""
        response: httpx2.Response = await self._sender.asend(
            self._wrapped.handle_async_request, request
        )
        return response
