"""The model of a server with a set capacity: one FIFO queue, a set rate, a scripted outage. Told the time, does no I/O.

It keeps the record of every request: when it arrived, when it was dealt with, what became of it.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Generic, TypeVar

WAITING, USEFUL, LATE, REFUSED, CRASHED = range(5)
"""What became of a request: still waiting · answered while its client waited · worked off for a client who had gone ·
refused at once · failed by the crash."""

T = TypeVar("T")


class Desk(Generic[T]):
    """Requests come in through `arrive`, answers go out through `advance`; `wake_at` says when to ask next.

    * `capacity_per_s`: answers per second while up; `inf`: at once.
    * `script`: (from when, what) with what out of "up", "hang", "down", "cold"; the first entry holds from the start.

    While hanging or cold, requests wait. When "down" begins, all that wait fail; while it lasts, requests are refused.
    """

    def __init__(self, capacity_per_s: float, script: Sequence[tuple[float, str]]) -> None:
        self._service_s = 1.0 / capacity_per_s
        self._edges = deque(script)
        self._state = self._edges.popleft()[1]
        self._queue: deque[int] = deque()
        self._done_at = inf  # of the request at the head, while up
        self._clients: dict[int, T] = {}  # those who still wait
        self.arrived = array("d")
        self.ended = array("d")
        self.fate = array("b")

    def arrive(self, now: float, client: T) -> int | None:
        """A request comes in. Its ticket, or None: refused; call `advance` first."""
        ticket = len(self.fate)
        self.arrived.append(now)
        if self._state == "down":
            self.ended.append(now)
            self.fate.append(REFUSED)
            return None
        self.ended.append(0.0)
        self.fate.append(WAITING)
        self._clients[ticket] = client
        self._queue.append(ticket)
        if self._state == "up" and len(self._queue) == 1:
            self._done_at = now + self._service_s
        return ticket

    def abandon(self, ticket: int) -> None:
        """The client of this request has gone; the work stays in the queue."""
        self._clients.pop(ticket, None)

    def advance(self, now: float) -> list[tuple[T, int]]:
        """The clients to be answered by now, with the status of their answer."""
        answers: list[tuple[T, int]] = []
        while True:
            edge_at = self._edges[0][0] if self._edges else inf
            if self._done_at <= min(now, edge_at):
                self._finish(self._queue.popleft(), self._done_at, USEFUL, answers)
                self._done_at = self._done_at + self._service_s if self._queue else inf
            elif edge_at <= now:
                self._enter(*self._edges.popleft(), answers)
            else:
                return answers

    def wake_at(self) -> float:
        """When there will be something to do; inf if only an arrival can change anything."""
        return min(self._done_at, self._edges[0][0] if self._edges else inf)

    def _enter(self, at: float, state: str, answers: list[tuple[T, int]]) -> None:
        self._state = state
        self._done_at = at + self._service_s if state == "up" and self._queue else inf
        if state == "down":
            while self._queue:
                self._finish(self._queue.popleft(), at, CRASHED, answers)

    def _finish(self, ticket: int, at: float, fate: int, answers: list[tuple[T, int]]) -> None:
        client = self._clients.pop(ticket, None)
        self.ended[ticket] = at
        self.fate[ticket] = LATE if client is None and fate == USEFUL else fate
        if client is not None:
            answers.append((client, 200 if fate == USEFUL else 503))
