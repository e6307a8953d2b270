"""An adapter for requests that repeats requests safely.

    session = requests.Session()
    session.mount("https://", seawall.adapters.requests.Adapter())

See `Adapter` for what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Unpack, cast
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import rewind_body
from urllib3.exceptions import (
    ClosedPoolError,
    ConnectTimeoutError,
    MaxRetryError,
    NewConnectionError,
    ProxyError,
    SSLError,
    TimeoutStateError,
)
from urllib3.util import Timeout

from seawall.adapters.exchange import Changes, Client, Exchange, Pairs, Settings
from seawall.adapters.release import RELEASE
from seawall.http_rules import is_idempotent
from seawall.idempotency import HEADER, carries_key
from seawall.state.budget import UNLIMITED

__all__ = ["Adapter", "Settings"]

_DRAINED_BYTES = 65536  #: a failed response up to this long is read, to keep its connection; a longer one is closed


class Adapter(HTTPAdapter):
    """An `HTTPAdapter` that repeats what failed, when that is safe. Mount it on a session.

    >>> import requests
    >>> session = requests.Session()
    >>> session.mount("https://", Adapter(attempts=3))
    >>> session.mount("http://", session.get_adapter("https://"))  # one budget for both

    * `settings`, `changes`: a `Settings` and its fields as keyword arguments, which take precedence. The defaults are safe.
    * `pool_connections`, `pool_maxsize`, `pool_block`: as for `HTTPAdapter`. There is no `max_retries`: urllib3's own
      retries stay at 0, so that two layers do not multiply.

    What is repeated: connection failures, 429, 502, 503, 504 (and 408, 421, 425, and Cloudflare's 52x as they allow) of GET,
    HEAD, OPTIONS, TRACE, PUT and DELETE, and of any request that carries an `Idempotency-Key`. Other requests are repeated only
    when no server can have executed them: a connection that was refused or timed out before it stood, a name that was not
    resolved, and 521, 523, 525. Never: other statuses, certificates that do not verify, a proxy's 4xx, addresses that are none.

    What comes back is what the last attempt came to: the response, a 503 included, with the number of attempts in
    `response.seawall_attempts` and what was sent in `response.request`; or the exception that requests itself raises. A call
    that begins after the deadline of a seawall layer around it raises `seawall.DeadlineExceeded`.

    * Unless `stream=True`, the body is read within the attempt, so that one that breaks off is a failed attempt too. With
      `stream=True` it is handed over unread, and what happens while it is read is the caller's.
    * A failed response gives its connection back before the wait.
    * Each hop of a redirect is a request of its own, with attempts and deadline of its own.
    * Timeouts are cut to the time left and to `timeout_s`, never lengthened; what is left limits connecting and the
      first byte together. As always in requests, the read timeout limits each wait for bytes, not their sum.
    * Bodies of bytes, text, JSON, forms, multipart files and seekable files are sent again, from where they stood. A request
      with any other body (a generator) is made once.
    * `issue_keys=True` gives each POST or PATCH without a key one `Idempotency-Key`, the same on all attempts; it is in what
      was sent, not in the caller's request.

    Threads may share it. Pickled, it keeps its settings; its budget is copied, and its connections are opened anew.
    """

    __attrs__ = [*HTTPAdapter.__attrs__, "_settings"]  # noqa: RUF012 - what requests pickles

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        pool_connections: int = 10,
        pool_maxsize: int = 10,
        pool_block: bool = False,
        **changes: Unpack[Changes],
    ) -> None:
        self._use((Settings() if settings is None else settings).replace(**changes))
        super().__init__(pool_connections, pool_maxsize, 0, pool_block)

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Make one logical request; called by the session."""
        call = _Call(request, self._exchange)
        exchange = self._exchange if call.replayable else self._single

        def attempt() -> requests.Response:
            call.release()  # a wait of 0 s is not slept
            made, limits = call.next_request(), _cut(timeout, exchange.limit_s)
            response = HTTPAdapter.send(self, made, stream, limits, verify, cert, proxies)
            call.held = response
            if not stream:
                response.content  # noqa: B018 - reads and keeps it
            return response

        token = RELEASE.set(call.release)
        try:
            response = exchange.stack(repeatable=call.repeatable, host=call.host).call(attempt)
        except BaseException:
            call.release()
            raise
        finally:
            RELEASE.reset(token)
        setattr(response, "seawall_attempts", call.attempts)  # noqa: B010 - requests knows no such name
        return response

    def __setstate__(self, state: dict[str, Any]) -> None:
        unpickle: Any = super()  # whose types leave `__setstate__` out
        unpickle.__setstate__(state)
        self._use(self._settings)

    def _use(self, settings: Settings) -> None:
        self._settings = settings
        self._exchange = Exchange(_CLIENT, settings)
        # for bodies that can be read once: the same deadline and the same events, and one attempt
        self._single = Exchange(_CLIENT, settings.replace(attempts=1, budget=UNLIMITED))


class _Call:
    """One logical request: what is the same on all of its attempts, and what they leave behind."""

    def __init__(self, request: requests.PreparedRequest, exchange: Exchange) -> None:
        self._request = request
        self._exchange = exchange
        self._rewind = _rewinding(request)
        self._key: str | None = None
        self.replayable = self._rewind is not None
        self.host = urlsplit(request.url or "").netloc.rpartition("@")[2]
        method = request.method or "GET"
        self.repeatable = is_idempotent(method) or carries_key(request.headers.items())
        if not self.repeatable and exchange.settings.issue_keys:
            self._key = exchange.key_for(method, request.url or "", _content(request.body))
            self.repeatable = True
        self.attempts = 0
        self.held: requests.Response | None = None  # to be closed before another attempt

    def next_request(self) -> requests.PreparedRequest:
        """The request to be made now; the caller's own unless something must be added."""
        self.attempts += 1
        if self.attempts > 1 and self._rewind is not None:
            self._rewind()
        added = self._exchange.headers()
        if self._key is not None:
            added.append((HEADER, self._key))
        if not added:
            return self._request
        made = self._request.copy()
        made.headers.update(added)
        return made

    def release(self) -> None:
        """Give back the connection of a failed attempt, if one is held."""
        response, self.held = self.held, None
        if response is None:
            return
        with suppress(Exception):  # what is thrown away need not end well
            length = getattr(response.raw, "length_remaining", None)
            if length is not None and length <= _DRAINED_BYTES:
                response.raw.drain_conn()
            response.close()


def _nothing() -> None:
    """Nothing to be done: it can be read any number of times."""


def _rewinding(request: requests.PreparedRequest) -> Callable[[], object] | None:
    """How to make the body readable once more; None if that cannot be known to work."""
    body: Any = request.body
    if body is None or isinstance(body, (bytes, bytearray, str)):
        return _nothing
    seekable = getattr(body, "seekable", None)
    position = getattr(request, "_body_position", None)  # where requests found the file
    if isinstance(position, int) and seekable is not None and seekable():
        return lambda: rewind_body(request)
    return None


def _content(body: Any) -> bytes:
    """What tells two requests to the same address apart; nothing for files, which are not read for it."""
    if isinstance(body, str):
        return body.encode()
    return bytes(body) if isinstance(body, (bytes, bytearray)) else b""


def _cut(timeout: Any, limit_s: Callable[[float | None], float | None]) -> Any:
    """The caller's timeout (none, seconds, a pair, or urllib3's `Timeout`) cut to what is left for the attempt."""
    connect_s: Any
    read_s: Any
    total_s: Any = None
    if isinstance(timeout, Timeout):
        connect_s, total_s = timeout.connect_timeout, timeout.total
        try:
            read_s = timeout.read_timeout
        except TimeoutStateError:  # only the total limits it, and the clock has not started
            read_s = None
    elif isinstance(timeout, tuple):
        try:
            connect_s, read_s = cast("tuple[Any, Any]", timeout)
        except ValueError:
            return cast("object", timeout)  # for requests to complain about
    else:
        connect_s = read_s = timeout
    return Timeout(total=limit_s(total_s), connect=connect_s, read=read_s)


def _reason(error: Exception) -> object:
    """What urllib3 said, which requests wraps in one type for nearly everything."""
    cause: object = error.args[0] if error.args else None
    if isinstance(cause, MaxRetryError):
        cause = cause.reason
    return cause.original_error if isinstance(cause, ProxyError) else cause


def _not_sent(error: Exception) -> bool:
    """Does the error prove that no connection stood?"""
    if isinstance(error, requests.ConnectTimeout):
        return True
    if not isinstance(error, requests.ConnectionError):
        return False
    return isinstance(_reason(error), (NewConnectionError, ConnectTimeoutError))


def _broken(error: Exception) -> bool:
    """Is it an error of the connection, which another may not have?"""
    if not isinstance(
        error,
        (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError),
    ):
        return False
    reason = _reason(error)
    if isinstance(reason, SSLError) and reason.args:
        # what does not verify now will not verify in a second; both of its types are `ValueError`s
        return not isinstance(reason.args[0], ValueError)
    if str(reason).startswith("Tunnel connection failed: 4"):
        return False  # nor will a proxy that wants credentials get them
    return not isinstance(reason, ClosedPoolError)


def _status(response: requests.Response) -> int:
    return response.status_code


def _headers(response: requests.Response) -> Pairs:
    """From urllib3, which keeps repeated headers apart; from requests where a test's double has nothing else."""
    raw: Any = getattr(response.raw, "headers", None)
    pairs: Pairs = (response.headers if raw is None else raw).items()
    return pairs


_CLIENT = Client(status=_status, headers=_headers, not_sent=_not_sent, transport=_broken)
