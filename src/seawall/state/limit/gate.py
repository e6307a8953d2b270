"""The gate: as many calls in flight as a limit allows, and their times told to the limit."""

from __future__ import annotations

from seawall.state.limit.base import Limit
from seawall.state.machine import Machine


class Permit:
    """Leave to make one call. `since`: when it was given. `inflight`: how many there were then, this one included.

    `gate`: whose it is; None once it is settled.
    """

    __slots__ = ("gate", "inflight", "since")

    def __init__(self, gate: Gate, since: float, inflight: int) -> None:
        self.gate: Gate | None = gate
        self.since = since
        self.inflight = inflight

    def __repr__(self) -> str:
        return (
            f"Permit(since={self.since!r}, inflight={self.inflight}, settled={self.gate is None})"
        )


class Gate(Machine):
    """Admits a call while fewer than `limit.limit` are in flight: `admit`, the call, `settle`.

    Owns its limit, which has no lock of its own: one limit for each gate. Copies have no calls in flight; a permit of the
    original means nothing to them.
    """

    __slots__ = ("inflight", "limit")

    inflight: int
    """Calls that have been admitted and not settled."""

    def __init__(self, limit: Limit) -> None:
        super().__init__()
        self.limit = limit
        self.inflight = 0

    def admit(self, now: float) -> Permit | None:
        """Leave to make a call now, or None. A permit must be settled, whatever becomes of the call."""
        with self._lock:
            inflight = self.inflight
            if inflight >= self.limit.limit:
                return None
            self.inflight = inflight = inflight + 1
            return Permit(self, now, inflight)

    def settle(self, permit: Permit, now: float, ok: bool | None, draw: float = 0.5) -> None:
        """The call is over: True, False (dropped: timeout, throttling, refused), or None (cancelled, or its end says nothing).

        An error that the server has taken its time for is True: it says as much about load as a success. Settling a permit
        again, or another gate's, changes nothing. `draw` in [0, 1): for limits that probe at random times.
        """
        with self._lock:
            if permit.gate is not self:
                return
            permit.gate = None
            self.inflight -= 1
            if ok is not None:
                self.limit.on_sample(now, now - permit.since, permit.inflight, not ok, draw)

    def _resume(self) -> None:
        self.inflight = 0
