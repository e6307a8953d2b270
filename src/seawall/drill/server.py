"""The server process: HTTP/1.1 on loopback before a `Desk`. Run as `python -m seawall.drill.server`.

The parser knows what the drill needs, GET with keep-alive, and nothing else: the server must have time to spare on the core
it has, so that what is measured is the set capacity.
"""

from __future__ import annotations

import asyncio
import errno
import time
from math import inf
from typing import Any, cast

from seawall.drill.child import Message, serve
from seawall.drill.desk import Desk
from seawall.drill.errors import DrillError

BACKLOG = 4096
ANSWERS = {
    200: b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n",
    503: b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\ndown\n",
}


class Connection(asyncio.Protocol):
    """One client's connection: at most one request at a time."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._ticket: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._server.connections.add(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._buffer.endswith(b"\r\n\r\n"):
            self._buffer = b""
            self._ticket = self._server.arrive(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        self._transport = None
        if self._ticket is not None:
            self._server.desk.abandon(self._ticket)

    def answer(self, status: int) -> None:
        """Send the answer to the request."""
        self._ticket = None
        if self._transport is not None:
            self._transport.write(ANSWERS[status])

    def abort(self) -> None:
        """Cut the connection."""
        if self._transport is not None:
            self._transport.abort()


class Server:
    """A listening socket, its connections and the desk behind them; anew for each run."""

    def __init__(self) -> None:
        self.desk: Desk[Connection] = Desk(inf, [(0.0, "up")])
        self.connections: set[Connection] = set()
        self._listening: asyncio.Server | None = None
        self._started_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = inf

    async def handle(self, message: Message) -> Message:
        """Messages from the parent: listen, begin, report."""
        if message["do"] == "listen":
            return {"port": await self._listen(message["port"])}
        if message["do"] == "begin":
            self._started_at = message["start_at"]
            script = [(self._started_at + at_s, state) for at_s, state in message["script"]]
            self.desk = Desk(message["capacity_per_s"] or inf, script)
            self._pump()
            return {}
        return self._report()

    def arrive(self, connection: Connection) -> int | None:
        """A request has come in on a connection."""
        now = time.monotonic()
        self._send(self.desk.advance(now))
        ticket = self.desk.arrive(now, connection)
        if ticket is None:
            connection.answer(503)
        else:
            asyncio.get_running_loop().call_soon(self._pump)
        return ticket

    async def _listen(self, port: int) -> int:
        if self._listening is not None:
            self._listening.close()
            for connection in list(self.connections):
                connection.abort()
            await asyncio.sleep(0)  # lets the transports close, so that the port is free again
        loop = asyncio.get_running_loop()
        try:
            self._listening = await loop.create_server(
                lambda: Connection(self), "127.0.0.1", port, backlog=BACKLOG
            )
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                raise DrillError(_no_port(port, error)) from error
            raise
        return int(self._listening.sockets[0].getsockname()[1])

    def _pump(self) -> None:
        """Send what is due, and come again when more will be."""
        self._send(self.desk.advance(time.monotonic()))
        wake_at = self.desk.wake_at()
        if self._timer is not None and not self._timer.cancelled():
            if self._timer_at <= wake_at:
                return
            self._timer.cancel()
        self._timer = None
        if wake_at < inf:
            self._timer_at = wake_at
            self._timer = asyncio.get_running_loop().call_at(wake_at, self._rung)

    def _rung(self) -> None:
        self._timer = None
        self._pump()

    def _send(self, answers: list[tuple[Connection, int]]) -> None:
        for connection, status in answers:
            connection.answer(status)

    def _report(self) -> dict[str, Any]:
        desk = self.desk
        return {
            "arrived_s": [round(at - self._started_at, 6) for at in desk.arrived],
            "ended_s": [round(at - self._started_at, 6) if at else None for at in desk.ended],
            "fate": list(desk.fate),
        }


def _no_port(port: int, error: OSError) -> str:
    if error.errno == errno.EACCES:
        return f"port {port} may not be used by this user. Take one above 1023, or leave --port out to take a free one."
    return f"port {port} on 127.0.0.1 is in use. Name another with --port, or leave --port out to take a free one."


if __name__ == "__main__":
    serve(Server().handle)
