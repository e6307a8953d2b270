"""A scripted HTTP/1.1 server on loopback: one answer for each request, in the order in which requests arrive.

    with Server([respond(503), reset(), respond(200, b"ok")]) as server:
        client.get(server.url)
    assert [request.method for request in server.requests] == ["GET"] * 3

It speaks in raw sockets, so that it can do what servers do when they break. It never sleeps: it waits for bytes, and tests
wait for it with `wait_for_requests` and `wait_for_open`, which fail after five seconds instead of hanging.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Literal, Self

PATIENCE_S = 5.0  #: after which a test that waits for the server has failed


@dataclass(frozen=True)
class Answer:
    """What to do with one request; made by the functions below."""

    kind: Literal["respond", "half", "close", "reset", "hang"]
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | Iterable[bytes] = b""
    before: Callable[[], object] | None = None


@dataclass(frozen=True)
class Received:
    """A request as it arrived. `connection` counts accepted connections from 1."""

    method: str
    path: str
    headers: Sequence[tuple[str, str]] = field(repr=False)
    body: bytes
    connection: int

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case; None if there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


def respond(
    status: int = 200,
    body: bytes | Iterable[bytes] = b"",
    headers: Sequence[tuple[str, str]] = (),
    *,
    before: Callable[[], object] | None = None,
) -> Answer:
    """A whole answer. A body that is not bytes is sent chunk by chunk, as its iterator gives them.

    `before`, here and below, is called in the server's thread when the request has been read and not yet been answered.
    """
    return Answer("respond", status, headers, body, before)


def half(
    body: bytes = b"half",
    headers: Sequence[tuple[str, str]] = (),
    *,
    before: Callable[[], object] | None = None,
) -> Answer:
    """A 200 that announces twice the body it sends, and closes."""
    return Answer("half", 200, headers, body, before)


def close(*, before: Callable[[], object] | None = None) -> Answer:
    """Close the connection without a word when the request has been read."""
    return Answer("close", before=before)


def reset(*, before: Callable[[], object] | None = None) -> Answer:
    """Reset the connection (RST) when the request has been read."""
    return Answer("reset", before=before)


def hang(*, before: Callable[[], object] | None = None) -> Answer:
    """Never answer; the connection stays until the client closes it or the test ends."""
    return Answer("hang", before=before)


class Server:
    """See the module. `listening=False` refuses connections until `listen()` is called.

    A request that finds the script at its end is answered with 599, and leaving the server's block raises `AssertionError`.
    """

    def __init__(self, script: Iterable[Answer], *, listening: bool = True) -> None:
        self.requests: list[Received] = []
        self.connections = 0  #: accepted so far
        self._script = list(script)
        self._open: set[socket.socket] = set()
        self._changed = Condition()
        self._threads: list[Thread] = []
        self._ended = False
        self._socket = socket.socket()
        self._socket.bind(
            ("127.0.0.1", 0)
        )  # bound and not listening: refuses, and the port is ours
        self.port: int = self._socket.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}/"
        if listening:
            self.listen()

    def listen(self) -> None:
        """Accept connections from now on."""
        self._socket.listen(128)
        self._start(self._accept)

    @property
    def open_connections(self) -> int:
        """Connections that neither side has closed."""
        return len(self._open)

    def wait_for_requests(self, number: int) -> None:
        """Until that many requests have been read in all."""
        self._wait_for(lambda: len(self.requests) >= number, f"{number} requests")

    def wait_for_open(self, number: int) -> None:
        """Until exactly that many connections are open."""
        self._wait_for(lambda: len(self._open) == number, f"{number} open connections")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._changed:
            self._ended = True
            still_open = list(self._open)
        for each in (self._socket, *still_open):  # wakes the threads that read from them
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        self._socket.close()
        if kind is None and len(self.requests) > len(self._script):
            raise AssertionError(f"{len(self._script)} answers, but requests {self.requests}")

    def _wait_for(self, condition: Callable[[], bool], what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(condition, PATIENCE_S):
                raise AssertionError(
                    f"no {what}: {len(self.requests)} requests, {len(self._open)} open connections"
                )

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError:
                return
            with self._changed:
                if self._ended:
                    connection.close()
                    return
                self._open.add(connection)
                self.connections += 1
                number = self.connections
                self._changed.notify_all()
            self._start(self._serve, connection, number)

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            with suppress(OSError), connection.makefile("rb") as stream:
                while (request := _read(stream.readline, stream.read, number)) is not None:
                    with self._changed:
                        nth = len(self.requests)
                        self.requests.append(request)
                        self._changed.notify_all()
                    exhausted = nth >= len(self._script)
                    answer = respond(599) if exhausted else self._script[nth]
                    if not _answer(connection, answer, request.method):
                        break
        finally:
            connection.close()
            with self._changed:
                self._open.discard(connection)
                self._changed.notify_all()


@contextmanager
def refusing() -> Generator[str]:
    """The address of a port that refuses connections."""
    with Server([], listening=False) as server:
        yield server.url


def _read(
    readline: Callable[[], bytes], read: Callable[[int], bytes], connection: int
) -> Received | None:
    """The next request, or None when the client has closed, even in the middle of one."""
    method, _, rest = readline().decode("latin-1").rstrip("\r\n").partition(" ")
    if not rest:
        return None
    headers: list[tuple[str, str]] = []
    while line := readline().decode("latin-1").rstrip("\r\n"):
        name, _, value = line.partition(":")
        headers.append((name, value.strip()))
    found = {name.lower(): value for name, value in headers}
    body = b""
    if "chunked" in found.get("transfer-encoding", ""):
        while size := int(readline().split(b";")[0] or b"-1", 16):
            if size < 0:
                return None
            body += read(size)
            readline()
        readline()
    else:
        length = int(found.get("content-length", "0"))
        body = read(length)
        if len(body) < length:
            return None
    return Received(method, rest.rpartition(" ")[0], headers, body, connection)


def _answer(connection: socket.socket, answer: Answer, method: str) -> bool:
    """Do it; True if the connection can serve another request."""
    if answer.before is not None:
        answer.before()
    if answer.kind == "hang":
        while connection.recv(65536):
            pass
        return False
    if answer.kind == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    if answer.kind == "close":
        return False
    head = [f"HTTP/1.1 {answer.status} Scripted", *(f"{k}: {v}" for k, v in answer.headers)]
    body = answer.body
    if not isinstance(body, bytes):
        connection.sendall(_head([*head, "Transfer-Encoding: chunked"]))
        for chunk in body:
            connection.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        connection.sendall(b"0\r\n\r\n")
        return True
    announced = len(body) * (2 if answer.kind == "half" else 1)
    connection.sendall(_head([*head, f"Content-Length: {announced}"]))
    if method != "HEAD":
        connection.sendall(body)
    return answer.kind == "respond" and ("Connection", "close") not in answer.headers


def _head(lines: Iterable[str]) -> bytes:
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
