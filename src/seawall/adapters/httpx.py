"""Transports for httpx that repeat requests safely.

    client = httpx.Client(transport=seawall.adapters.httpx.Transport())

See `Transport` for what they do. `adapters.httpx2` has the same for httpx2.
"""

from __future__ import annotations

from typing import Unpack

import httpx

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


class _Watched(Watched, httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that the library takes for one of its own."""


_LIBRARY = Library(
    Errors(
        not_sent=(httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout),
        transport=(
            httpx.NetworkError,
            httpx.TimeoutException,
            httpx.RemoteProtocolError,
            httpx.ProxyError,
        ),
        proxy=httpx.ProxyError,
    ),
    httpx.Request,
    httpx.ByteStream,
    _Watched,
)


class Transport(Wrapping, httpx.BaseTransport):
    """A transport around another that repeats what failed, when that is safe.

    >>> import httpx
    >>> answers = iter([httpx.Response(503), httpx.Response(200)])
    >>> server = httpx.MockTransport(lambda request: next(answers))
    >>> with httpx.Client(transport=Transport(server)) as client:
    ...     response = client.get("https://example.org/")
    >>> response.status_code, response.extensions["seawall_attempts"]
    (200, 2)

    * `wrapped`: makes the requests. Default `httpx.HTTPTransport()`; leave its own `retries` at 0.
    * `settings`, `changes`: a `Settings` and its fields as keyword arguments, which take precedence:
      `Transport(attempts=3, issue_keys=True)`. The defaults are safe.

    What is repeated: connection failures, 429, 502, 503, 504 (and 408, 421, 425, and Cloudflare's 52x as they allow) of GET,
    HEAD, OPTIONS, TRACE, PUT and DELETE, and of any request that carries an `Idempotency-Key`. Other requests are repeated only
    when no server can have executed them: after `ConnectError`, `ConnectTimeout`, `PoolTimeout`, and 521, 523, 525.
    Never: other statuses, invalid certificates, a proxy's refusal (407), `UnsupportedProtocol`, `LocalProtocolError`,
    `DecodingError`, `TooManyRedirects`, `InvalidURL`.

    What comes back is what the last attempt came to: the response, a 503 included, still unread, with the number of attempts
    in `response.extensions["seawall_attempts"]`; or the client's own exception. A call that begins after the deadline of a
    seawall layer around it raises `seawall.DeadlineExceeded`.

    * A failed response is closed before the wait, so that its connection is free during the wait.
    * A failure while the caller reads the body comes after the transport has returned, and is not repeated.
    * Each hop of a redirect is a request of its own, with attempts and deadline of its own.
    * Timeouts of the client are cut to the time left and to `timeout_s`, never lengthened. As always in httpx they
      limit each single read and write, not their sum.
    * Bodies made of bytes, text, JSON, forms, lists of bytes and seekable files are sent again. One that can be read only once (a
      generator) is repeated only if nobody has begun to read it. Otherwise the first outcome is final; sinks are told by
      the event `GaveUp`, whose error is a `BodyReadError` that says so.
    * `issue_keys=True` gives each POST or PATCH without a key one `Idempotency-Key`, the same on all attempts. It is put into
      what is sent, not into the caller's request, and told in `response.extensions["seawall_idempotency_key"]`.
    """

    def __init__(
        self,
        wrapped: httpx.BaseTransport | None = None,
        settings: Settings | None = None,
        **changes: Unpack[Changes],
    ) -> None:
        self._wrapped = httpx.HTTPTransport() if wrapped is None else wrapped
        self._sender = Sender(_LIBRARY, settings, changes)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Make one logical request; called by the client."""
        response: httpx.Response = self._sender.send(self._wrapped.handle_request, request)
        return response


class AsyncTransport(AsyncWrapping, httpx.AsyncBaseTransport):
    """`Transport` for `httpx.AsyncClient`, under asyncio and trio.

    >>> import asyncio, httpx
    >>> answers = iter([httpx.Response(503), httpx.Response(200)])
    >>> server = httpx.MockTransport(lambda request: next(answers))
    >>> async def main():
    ...     async with httpx.AsyncClient(transport=AsyncTransport(server)) as client:
    ...         return await client.get("https://example.org/")
    >>> asyncio.run(main()).extensions["seawall_attempts"]
    2
    """

    def __init__(
        self,
        wrapped: httpx.AsyncBaseTransport | None = None,
        settings: Settings | None = None,
        **changes: Unpack[Changes],
    ) -> None:
        self._wrapped = httpx.AsyncHTTPTransport() if wrapped is None else wrapped
        self._sender = Sender(_LIBRARY, settings, changes)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Make one logical request; called by the client."""
        response: httpx.Response = await self._sender.asend(
            self._wrapped.handle_async_request, request
        )
        return response
