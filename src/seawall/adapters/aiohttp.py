"""A client middleware for aiohttp that repeats requests safely.

    session = aiohttp.ClientSession(middlewares=(seawall.adapters.aiohttp.Middleware(),))

See `Middleware` for what it does.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Unpack

import aiohttp
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse

from seawall.adapters.exchange import Changes, Client, Exchange, Pairs, Settings
from seawall.adapters.httpx_family import BodyReadError
from seawall.adapters.release import RELEASE
from seawall.drivers.enclosing import unpublished
from seawall.http_rules import is_idempotent
from seawall.idempotency import HEADER, carries_key
from seawall.outcome import Outcome
from seawall.scope import CURRENT, published

__all__ = ["Middleware", "Settings"]

#: the last error that was given up on in this task, with the mark of the session's call that may make the request once more
_GIVEN_UP: ContextVar[list[tuple[object, BaseException]] | None] = ContextVar(
    "seawall.aiohttp_given_up", default=None
)
_DRAINED_BYTES = 65536  #: a failed response up to this long is read, to keep its connection,
_DRAINED_WITHIN_S = 0.1  #: if it comes within this time
_FORGOTTEN_AFTER_S = (
    1.0  #: an error that aiohttp does not ask about again; long after it would have
)


class Middleware:
    """A middleware for `aiohttp.ClientSession` that repeats what failed, when that is safe. Needs aiohttp >= 3.12.15.

    >>> import asyncio, aiohttp
    >>> async def main():
    ...     async with aiohttp.ClientSession(middlewares=(Middleware(attempts=2),)) as session:
    ...         await session.get("http://localhost:1/")  # where nobody listens
    >>> asyncio.run(main())
    Traceback (most recent call last):
    aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host localhost:1 ...

    * `settings`, `changes`: a `Settings` and its fields as keyword arguments, which take precedence:
      `Middleware(attempts=3, issue_keys=True)`. The defaults are safe.

    One middleware may serve several sessions, which then share its budget. Put it before others (authentication), so that
    they see each attempt. Middlewares of a single call (`session.get(..., middlewares=...)`) replace those of the session.

    What is repeated: connection failures, 429, 502, 503, 504 (and 408, 421, 425, and Cloudflare's 52x as they allow) of GET,
    HEAD, OPTIONS, TRACE, PUT and DELETE, and of any request that carries an `Idempotency-Key`. Other requests are repeated only
    when no server can have executed them: after `ClientConnectorError`, `ConnectionTimeoutError`, and 521, 523, 525.
    Never: other statuses, certificates and fingerprints that do not match, a connector that was closed, and what another
    middleware or `raise_for_status` raises for a status. The session's own `raise_for_status` sees only the last response.

    What comes back is what the last attempt came to: the response, a 503 included, still unread, with the number of
    attempts in `response.seawall_attempts`; or aiohttp's own exception. A call that begins after the deadline of a seawall
    layer around it raises `seawall.DeadlineExceeded`.

    * A failed response is released before the wait, so that its connection is free during the wait.
    * A failure while the caller reads the body comes after the middleware has returned, and is not repeated.
    * Each hop of a redirect is a request of its own, with attempts and deadline of its own.
    * An attempt may take as long as is left and at most `timeout_s`, from connecting to the response's headers; then it is
      cancelled and fails with `aiohttp.SocketTimeoutError`. The session's own `ClientTimeout` holds besides; its `total`
      (300 s, if nothing is said) spans all attempts and waits of a call, and ends it with a plain `TimeoutError`.
    * Bodies of bytes, text, JSON, forms and seekable files are sent again. One that can be read only once (a generator) is
      repeated only if no connection stood and nobody can have begun to read it. Otherwise the first outcome is final; sinks
      are told by the event `GaveUp`, whose error is a `BodyReadError` that says so.
    * `issue_keys=True` gives each POST or PATCH without a key one `Idempotency-Key`, the same on all attempts. It is told in
      `response.request_info.headers`.
    * aiohttp by itself repeats an idempotent request once when the connection breaks. Below a middleware that has given up
      this would begin the series anew; it is answered with the error that the series ended with.
    """

    def __init__(self, settings: Settings | None = None, **changes: Unpack[Changes]) -> None:
        self._exchange = Exchange(
            _CLIENT, (Settings() if settings is None else settings).replace(**changes)
        )

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Make one logical request; called by the session."""
        _refuse_second_series(request)
        # A failure that asyncio throws into `await session.get(...)` hides the frame that awaits it, so look outward now.
        outer = None if published() is not None else unpublished()
        if outer is None:
            return await self._series(request, handler)
        token = CURRENT.set(outer)
        try:
            return await self._series(request, handler)
        finally:
            outer.closed = True
            CURRENT.reset(token)

    async def _series(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        call = _Call(request, self._exchange)
        await call.take_key()

        async def attempt() -> ClientResponse:
            await call.next_request()
            try:
                response = await _within(self._exchange.limit_s(None), request, handler)
            except Exception as error:
                call.check(Outcome(error=error))
                raise
            call.held = response
            call.check(Outcome(response))
            return response

        token = RELEASE.set(call.release)
        try:
            stack = self._exchange.stack(repeatable=call.repeatable, host=request.url.authority)
            return call.finish(await stack.acall(attempt))
        except BodyReadError as refused:
            outcome = refused.outcome
        except BaseException as error:
            await call.release()
            call.given_up(error)
            raise
        finally:
            RELEASE.reset(token)
        try:
            return call.ended(outcome)
        finally:
            del outcome  # its error's traceback holds this frame


class _Call:
    """One logical request: what is the same on all of its attempts, and what they leave behind."""

    def __init__(self, request: ClientRequest, exchange: Exchange) -> None:
        self._request = request
        self._exchange = exchange
        self._key: str | None = None
        self._replayable = _replayable(request.body)
        self.repeatable = is_idempotent(request.method) or carries_key(request.headers.items())
        self.attempts = 0
        self.held: ClientResponse | None = None  # to be released before another attempt

    async def take_key(self) -> None:
        """Issue a key if one is wanted and not there. Only bodies that are in memory are read for it."""
        if self.repeatable or not self._exchange.settings.issue_keys:
            return
        request, body = self._request, self._request.body
        content = await body.as_bytes() if isinstance(body, aiohttp.BytesPayload) else b""
        self._key = self._exchange.key_for(request.method, str(request.url), content)
        self.repeatable = True

    async def next_request(self) -> None:
        """Make the request ready to be made (again). It is aiohttp's own object, made for this hop."""
        await self.release()  # a wait of 0 s is not slept
        self.attempts += 1
        if self.attempts > 1:
            await self._request.close()  # until nothing of the last attempt is writing the body
        for name, value in self._exchange.headers():
            self._request.headers[name] = value
        if self._key is not None:
            self._request.headers[HEADER] = self._key

    def check(self, outcome: Outcome) -> None:
        """Raise `BodyReadError` if this would be repeated and the body is gone."""
        if self._replayable or (outcome.error is not None and _not_sent(outcome.error)):
            return
        if self._exchange.would_repeat(outcome, repeatable=self.repeatable):
            raise BodyReadError(outcome) from outcome.error

    def ended(self, outcome: Outcome) -> ClientResponse:
        """Return or raise what the only possible attempt came to."""
        if outcome.error is not None:
            self.given_up(outcome.error)
            try:
                raise outcome.error
            finally:
                del outcome
        return self.finish(outcome.value)

    def finish(self, response: ClientResponse) -> ClientResponse:
        """The response for the caller, with what it cost."""
        setattr(response, "seawall_attempts", self.attempts)  # noqa: B010 - aiohttp knows no such name
        return response

    def given_up(self, error: BaseException) -> None:
        """Remember an error after which aiohttp will make the request once more, until it does."""
        if (
            isinstance(error, (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError))
            and not isinstance(error, aiohttp.ClientConnectorError)
            and is_idempotent(self._request.method)
        ):
            given_up: list[tuple[object, BaseException]] = [(_mark_of(self._request), error)]
            _GIVEN_UP.set(given_up)
            asyncio.get_running_loop().call_later(_FORGOTTEN_AFTER_S, given_up.clear)

    async def release(self) -> None:
        """Give back the connection of a failed attempt, if one is held: kept if its answer is complete, else closed.

        The rest of a short answer is on its way, a packet behind its head; a server in trouble need not shake hands again.
        """
        response, self.held = self.held, None
        if response is None:
            return
        if 0 < (response.content_length or 0) <= _DRAINED_BYTES and not response.content.at_eof():
            with suppress(Exception):  # what is thrown away need not end well
                async with asyncio.timeout(_DRAINED_WITHIN_S):
                    await response.read()
        response.release()


async def _within(
    limit_s: float | None, request: ClientRequest, handler: ClientHandlerType
) -> ClientResponse:
    """One attempt, cancelled after `limit_s` seconds."""
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            return await handler(request)
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise aiohttp.SocketTimeoutError(
            f"no answer from {request.url} within the {limit_s} s that the attempt had"
        ) from error


def _replayable(body: Any) -> bool:
    """Can the body be sent any number of times? aiohttp itself rewinds files to where they stood."""
    if isinstance(body, aiohttp.MultipartWriter):
        return all(_replayable(part) for part, *_ in body)
    if isinstance(body, aiohttp.payload.IOBasePayload):
        seekable = getattr(getattr(body, "_value", None), "seekable", None)
        return seekable is not None and bool(seekable())
    return isinstance(body, (bytes, aiohttp.BytesPayload))  # without a body it is b""


def _mark_of(request: ClientRequest) -> object:
    """What all requests of one call of the session have in common: the timer of its total."""
    return getattr(request, "_timer", None)


def _refuse_second_series(request: ClientRequest) -> None:
    """Raise the error that this very call has been given up with, if there is one."""
    given_up = _GIVEN_UP.get()
    if given_up is None:
        return
    _GIVEN_UP.set(None)
    mark, error = given_up.pop() if given_up else (None, None)
    if error is not None and mark is not None and mark is _mark_of(request):
        try:
            raise error
        finally:
            del error


def _not_sent(error: Exception) -> bool:
    """Does the error prove that no connection stood?"""
    return isinstance(
        error, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
    ) and _broken(error)


def _broken(error: Exception) -> bool:
    """Is it an error of the connection, which another may not have?"""
    if isinstance(
        error, (aiohttp.ClientConnectorCertificateError, aiohttp.ServerFingerprintMismatch)
    ):
        return False  # what does not verify now will not verify in a second
    # not a plain `TimeoutError`: the time of the whole call is over
    if not isinstance(error, (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError)):
        return False
    return not str(error).startswith("Connector is closed")


def _status(response: ClientResponse) -> int:
    return response.status


def _headers(response: ClientResponse) -> Pairs:
    return response.headers.items()


_CLIENT = Client(status=_status, headers=_headers, not_sent=_not_sent, transport=_broken)
