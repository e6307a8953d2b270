"""The scenario of a drill: how many clients, how strong a server, what kind of outage."""

from __future__ import annotations

from math import isfinite
from typing import Any

from seawall.choice import one_of
from seawall.drill.strategies import CONTENDERS
from seawall.quantity import at_least, positive_s
from seawall.record import Record

MOST_CLIENTS = (
    20_000  # one server address has about 28 000 client ports, and closed ones rest a while
)
HANG_SHARE = (
    0.9  # of the client's time limit: what waits must still be waiting when the server crashes
)
COLD_SHARE = 0.25  # of the outage


class Settings(Record):
    """One scenario, the same for every strategy.

    A closed population: each client calls, thinks for U(0.5, 1.5) × `think_s`, calls again. The server works off one FIFO
    queue at `capacity_per_s`, and does not notice that a client has gone: abandoned work is done too.

    The outage lasts `outage_s` in all. First the server hangs (for 0.9 of a client's time limit): requests wait. Then it
    crashes: all that wait fail in one instant, which is what makes a herd of clients that were spread before; until it is
    back every request is refused at once with 503. For the last quarter it is back but cold: it takes requests in and
    answers none, so that the queue is as long as the clients' retries make it when work begins again.

    * `clients`: concurrent clients, each with a connection. Default 500.
    * `capacity_per_s`: requests that the server can answer each second. Default 750.
    * `load`: share of the capacity that the clients ask for in quiet times. Default 2/3.
    * `timeout_s`: a client's limit on each attempt. Default 0.2. `attempts`: in all, per call. Default 5.
    * `base_s`, `cap_s`: of the strategies' waits. Defaults 0.1 and 20, those of the library.
    * `warm_s`, `outage_s`, `after_s`: quiet time before, the outage, time observed after it. Defaults 1, 2, 3.
    * `seed`: of all random draws. `port`: of the server; 0 lets the system choose. Defaults 0.
    * `strategies`: names out of `CONTENDERS`, in this order. Default: all.
    """

    clients: int = 500
    capacity_per_s: float = 750.0
    load: float = 2.0 / 3.0
    timeout_s: float = 0.2
    attempts: int = 5
    base_s: float = 0.1
    cap_s: float = 20.0
    warm_s: float = 1.0
    outage_s: float = 2.0
    after_s: float = 3.0
    seed: int = 0
    port: int = 0
    strategies: tuple[str, ...] = tuple(CONTENDERS)

    def __post_init__(self) -> None:
        at_least("drill", "clients", self.clients, 1)
        at_least("drill", "attempts", self.attempts, 1)
        for field in ("timeout_s", "base_s", "cap_s", "warm_s", "outage_s", "after_s"):
            positive_s("drill", field, getattr(self, field))
        _within("capacity_per_s", self.capacity_per_s, 1.0, 1e6)
        _within("load", self.load, 0.01, 10.0)
        _within("port", self.port, 0, 65535)
        if self.clients > MOST_CLIENTS:
            raise ValueError(
                f"drill: clients must be at most {MOST_CLIENTS}, got {self.clients}: a loopback address has about 28000 "
                "ports for connections to one server. Lower clients."
            )
        if self.cap_s < self.base_s:
            raise ValueError(
                f"drill: cap_s must be >= base_s: cap_s={self.cap_s:g}, base_s={self.base_s:g}. Raise cap_s or lower base_s."
            )
        shortest_s = HANG_SHARE * self.timeout_s / (1.0 - COLD_SHARE)
        if self.outage_s <= shortest_s:
            raise ValueError(
                f"drill: outage_s must be > {shortest_s:g} s, got {self.outage_s:g}: the server hangs for "
                f"{HANG_SHARE:g} x timeout_s ({self.timeout_s:g} s) before it crashes. Raise outage_s or lower timeout_s."
            )
        if self.after_s < 1.5:
            raise ValueError(
                f"drill: after_s must be >= 1.5 s, got {self.after_s:g}: recovery is judged over whole seconds. Raise after_s."
            )
        if not self.strategies:
            raise ValueError(f"drill: strategies is empty. Name some of: {', '.join(CONTENDERS)}.")
        for name in self.strategies:
            one_of("drill: strategy", name, CONTENDERS)
        if len(set(self.strategies)) < len(self.strategies):
            raise ValueError(
                f"drill: each strategy runs once, got {', '.join(self.strategies)}. Leave out the repetition."
            )

    @property
    def offered_per_s(self) -> float:
        """Calls per second in quiet times."""
        return self.load * self.capacity_per_s

    @property
    def think_s(self) -> float:
        """Mean pause of a client between two calls; makes `clients` ask for `offered_per_s`."""
        return self.clients / self.offered_per_s

    @property
    def crash_at_s(self) -> float:
        """When the server crashes, from the start of the run."""
        return self.warm_s + HANG_SHARE * self.timeout_s

    @property
    def cold_at_s(self) -> float:
        """When the server is back but cold."""
        return self.back_at_s - COLD_SHARE * self.outage_s

    @property
    def back_at_s(self) -> float:
        """When the server works again: the outage's end."""
        return self.warm_s + self.outage_s

    @property
    def run_s(self) -> float:
        """Length of one run."""
        return self.back_at_s + self.after_s

    def script(self) -> list[tuple[float, str]]:
        """What the server does from when on, in seconds from the start of the run."""
        return [
            (0.0, "up"),
            (self.warm_s, "hang"),
            (self.crash_at_s, "down"),
            (self.cold_at_s, "cold"),
            (self.back_at_s, "up"),
        ]

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return {field: getattr(self, field) for field in self.__fields__} | {
            "strategies": list(self.strategies)
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Settings:
        """The inverse of `as_dict`."""
        values: dict[str, Any] = {**fields, "strategies": tuple(fields["strategies"])}
        return cls(**values)


def _within(field: str, value: object, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"drill: {field} must be a number, got {value!r}.")
    if not isfinite(value) or not least <= value <= most:
        raise ValueError(f"drill: {field} must be in [{least:g}, {most:g}], got {value!r}.")
