"""What the transports for httpx and for httpx2 share: all but the names of their classes.

Both libraries have the same transport interface; `adapters.httpx` and `adapters.httpx2` bind this file to either.
Requests and responses are `Any` here: they are one library's or the other's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from ssl import SSLCertVerificationError
from types import TracebackType
from typing import Any, Self

from seawall.adapters.exchange import Changes, Client, Exchange, Pairs, Settings
from seawall.adapters.release import RELEASE
from seawall.errors import SeawallError
from seawall.http_rules import is_idempotent, may_repeat
from seawall.idempotency import HEADER, carries_key
from seawall.outcome import Outcome
from seawall.record import Record

ATTEMPTS = "seawall_attempts"  #: in a response's extensions: how often the request was made
KEY = "seawall_idempotency_key"  #: in a response's extensions: the key that was issued for it

_TIMEOUTS = ("connect", "read", "write", "pool")


class Errors(Record):
    """The library's exceptions by what they say of the request."""

    not_sent: tuple[type[Exception], ...]
    transport: tuple[type[Exception], ...]
    proxy: type[Exception]

    def client(self) -> Client:
        """What `Exchange` must know: how responses are read, and which errors may pass."""
        return Client(
            status=_status,
            headers=_headers,
            not_sent=lambda error: isinstance(error, self.not_sent) and not self._lasting(error),
            transport=lambda error: isinstance(error, self.transport) and not self._lasting(error),
        )

    def _lasting(self, error: Exception) -> bool:
        """Would the next attempt fail in the same way? A certificate stays invalid, and a proxy's 407 is an answer."""
        if isinstance(error, self.proxy):
            status = str(error)[:3]
            return status.isdigit() and not may_repeat(int(status), repeatable=True)
        seen: BaseException | None = error
        for _ in range(10):  # a chain of causes can be a cycle
            if seen is None:
                return False
            if isinstance(seen, SSLCertVerificationError):
                return True
            seen = seen.__cause__ or seen.__context__
        return False


class Library(Record):
    """The names that differ between the libraries."""

    errors: Errors
    request: Callable[..., Any]
    byte_stream: type
    watched: Callable[[Any], Watched]


class BodyReadError(SeawallError):
    """A request would have been repeated, but its body could be read only once, and that has happened.

    Seen by sinks as the error of the event `GaveUp`; the caller gets the response or the client's own error. The way out is a
    body that can be read again: bytes, a list of bytes, or a seekable file.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(
            "not repeated: the request body is a stream that can be read once, and it has been read. "
            "Pass bytes, a list of bytes or a seekable file to have the request repeated.",
            policy="Retry",
        )
        self.outcome = outcome


class Watched:
    """A request body that remembers whether anybody has begun to read it."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self.begun = False

    def __iter__(self) -> Iterator[bytes]:
        self.begun = True
        yield from self._body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.begun = True
        async for part in self._body:
            yield part


class Sender:
    """Makes requests through the stacks of one transport."""

    def __init__(self, library: Library, settings: Settings | None, changes: Changes) -> None:
        self._library = library
        self._exchange = Exchange(
            library.errors.client(),
            (Settings() if settings is None else settings).replace(**changes),
        )

    def send(self, handle: Callable[[Any], Any], request: Any) -> Any:
        """Make the request with the wrapped transport's `handle_request`, as often as it takes and is safe."""
        call = _Call(self._library, self._exchange, request)

        def attempt() -> Any:
            call.release()  # a wait of 0 s is not slept
            try:
                response = handle(call.next_request())
            except Exception as error:
                call.check(Outcome(error=error))
                raise
            call.held = response
            call.check(Outcome(response))
            return response

        token = RELEASE.set(call.release)
        try:
            stack = self._exchange.stack(repeatable=call.repeatable, host=call.host)
            return call.finish(stack.call(attempt))
        except BodyReadError as refused:
            outcome = refused.outcome
        except BaseException:
            call.release()
            raise
        finally:
            RELEASE.reset(token)
        try:
            return call.ended(outcome)
        finally:
            del outcome  # its error's traceback holds this frame

    async def asend(self, handle: Callable[[Any], Awaitable[Any]], request: Any) -> Any:
        """`send` with the wrapped transport's `handle_async_request`."""
        call = _Call(self._library, self._exchange, request)

        async def attempt() -> Any:
            await call.arelease()
            try:
                response = await handle(call.next_request())
            except Exception as error:
                call.check(Outcome(error=error))
                raise
            call.held = response
            call.check(Outcome(response))
            return response

        token = RELEASE.set(call.arelease)
        try:
            return call.finish(
                await self._exchange.stack(repeatable=call.repeatable, host=call.host).acall(
                    attempt
                )
            )
        except BodyReadError as refused:
            outcome = refused.outcome
        except BaseException:
            await call.arelease()
            raise
        finally:
            RELEASE.reset(token)
        try:
            return call.ended(outcome)
        finally:
            del outcome  # its error's traceback holds this frame


class Wrapping:
    """What a transport does for the one inside it, besides sending. The library's base class comes after this one."""

    _wrapped: Any

    def close(self) -> None:
        """Close the wrapped transport."""
        self._wrapped.close()

    def __enter__(self) -> Self:
        self._wrapped.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self._wrapped.__exit__(exc_type, exc_value, traceback)


class AsyncWrapping:
    """`Wrapping` for transports that are awaited."""

    _wrapped: Any

    async def aclose(self) -> None:
        """Close the wrapped transport."""
        await self._wrapped.aclose()

    async def __aenter__(self) -> Self:
        await self._wrapped.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._wrapped.__aexit__(exc_type, exc_value, traceback)


class _Call:
    """One logical request: what is the same on all of its attempts, and what they leave behind."""

    def __init__(self, library: Library, exchange: Exchange, request: Any) -> None:
        self._library = library
        self._exchange = exchange
        self._request = request
        self._body = request.stream
        self._watched: Watched | None = None
        self._rewind = _rewinding(library, self._body)
        if self._rewind is None:
            self._watched = library.watched(self._body)
            self._body = self._watched
        self._key: str | None = None
        self.host = str(request.url.netloc, "ascii")
        self.repeatable = is_idempotent(request.method) or carries_key(
            request.headers.multi_items()
        )
        if not self.repeatable and exchange.settings.issue_keys:
            self._key = exchange.key_for(request.method, str(request.url), self._content())
            self.repeatable = True
        self.attempts = 0
        self.held: Any = None  # the response that the next attempt, if any, replaces

    def next_request(self) -> Any:
        """The request to be made now; the caller's own unless something must be added or cut."""
        self.attempts += 1
        if self.attempts > 1 and self._rewind is not None:
            self._rewind()
        request = self._request
        added = self._exchange.headers()
        if self._key is not None:
            added.append((HEADER, self._key))
        own: Mapping[str, float | None] = request.extensions.get("timeout", {})
        limits = {name: self._exchange.limit_s(own.get(name)) for name in _TIMEOUTS}
        cut = any(limits[name] != own.get(name) for name in _TIMEOUTS)
        if not cut and not added and self._watched is None:
            return request
        headers = request.headers.copy()
        for name, value in added:
            headers[name] = value
        made = self._library.request(
            request.method,
            request.url,
            headers=headers,
            stream=self._body,
            extensions={**request.extensions, "timeout": {**own, **limits}}
            if cut
            else request.extensions,
        )
        if isinstance(self._body, self._library.byte_stream):
            made.read()  # as in a request that was made from bytes, `content` is there
        return made

    def check(self, outcome: Outcome) -> None:
        """Raise `BodyReadError` if this would be repeated and the body is gone."""
        gone = self._watched is not None and self._watched.begun
        if gone and self._exchange.would_repeat(outcome, repeatable=self.repeatable):
            raise BodyReadError(outcome) from outcome.error

    def ended(self, outcome: Outcome) -> Any:
        """Return or raise what the only possible attempt came to."""
        if outcome.error is not None:
            try:
                raise outcome.error
            finally:
                del outcome
        return self.finish(outcome.value)

    def finish(self, response: Any) -> Any:
        """The response for the caller, with what it cost."""
        response.extensions[ATTEMPTS] = self.attempts
        if self._key is not None:
            response.extensions[KEY] = self._key
        return response

    def release(self) -> None:
        """Close the response of a failed attempt, if one is open."""
        response, self.held = self.held, None
        if response is not None:
            with suppress(Exception):  # what is thrown away need not end well
                response.close()

    async def arelease(self) -> None:
        """`release` in calls that are awaited."""
        response, self.held = self.held, None
        if response is not None:
            with suppress(Exception):  # what is thrown away need not end well
                await response.aclose()

    def _content(self) -> bytes:
        """What tells two requests to the same address apart; nothing for streams, which are not read for it."""
        kept = isinstance(self._body, self._library.byte_stream)
        return b"".join(self._body) if kept else b""


def _rewinding(library: Library, body: Any) -> Callable[[], object] | None:
    """How to make a body readable once more; None if that cannot be known to work.

    Bytes, forms and JSON are `ByteStream`s. Files and lists are recognised by the library's own names for them, and by what they
    hold; if those names change, such bodies count as readable once.
    """
    if isinstance(body, library.byte_stream):
        return _nothing
    kind = type(body).__name__
    if kind == "MultipartStream":
        fields = getattr(body, "fields", None)
        return None if fields is None or not all(map(_field_repeats, fields)) else _nothing
    if kind == "IteratorByteStream":
        content = getattr(body, "_stream", None)
        if isinstance(content, (list, tuple)):
            return _nothing
        if content is not None and _seekable(content):
            start = content.tell()
            return lambda: content.seek(start)
    return None


def _field_repeats(field: Any) -> bool:
    """A form field's value is kept; its file is rewound by the library."""
    file = getattr(field, "file", b"")
    return isinstance(file, (str, bytes)) or _seekable(file)


def _nothing() -> None:
    """Nothing to be done: it starts from the beginning by itself."""


def _seekable(file: Any) -> bool:
    seekable = getattr(file, "seekable", None)
    return seekable is not None and bool(seekable())


def _status(response: Any) -> int:
    """The status of a response."""
    code: int = response.status_code
    return code


def _headers(response: Any) -> Pairs:
    """The headers of a response."""
    pairs: Pairs = response.headers.multi_items()
    return pairs
