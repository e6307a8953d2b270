"""Strategies of other systems, each as its authors published it."""

from __future__ import annotations

from seawall.backoff.base import Backoff
from seawall.backoff.checks import (
    LONGEST_S,
    check_base_and_cap,
    check_not_above,
    check_number,
    check_seconds,
)
from seawall.backoff.formulas import client_go, ethernet, resilience4j


class ClientGo(Backoff):
    """Kubernetes client-go's wait.Backoff: exponential with a relative jitter on top of the capped duration.

    * `base_s`: default 0.01 s. `factor`: default 5. `spread`: the wait is d·U(1, 1 + spread); default 0.1.
    * `steps`: how many times d grows; default 4 (`DefaultBackoff`).
    * `cap_s`: highest d; default 20 s. The jitter goes above it, as published: see `ceiling_s`.
    """

    base_s: float = 0.01
    cap_s: float = 20.0
    factor: float = 5.0
    steps: int = 4
    spread: float = 0.1

    def __post_init__(self) -> None:
        check_base_and_cap("ClientGo", self.base_s, self.cap_s)
        check_number("ClientGo", "factor", self.factor, 1.0, LONGEST_S, "")
        check_number("ClientGo", "steps", self.steps, 0.0, LONGEST_S, "")
        check_number("ClientGo", "spread", self.spread, 0.0, LONGEST_S, "")
        self._lower(client_go, self.base_s, self.cap_s, self.factor, self.steps, self.spread)

    @property
    def lowest_s(self) -> float:
        return float(self.base_s)

    @property
    def ceiling_s(self) -> float:
        return self.cap_s * (1.0 + self.spread)


class Resilience4j(Backoff):
    """resilience4j's ofExponentialRandomBackoff: x·U(1 - spread, 1 + spread) in whole milliseconds.

    * `base_s`: 0, or at least 1 ms, counted in whole milliseconds; default 0.5 s. `multiplier`: default 1.5.
    * `spread`: from 0 to 1; default 0.5.
    * `cap_s`: default 20 s. Longer results are exactly the cap, and x goes on growing: in the end all clients wait the
      cap, as published.
    """

    base_s: float = 0.5
    cap_s: float = 20.0
    multiplier: float = 1.5
    spread: float = 0.5

    def __post_init__(self) -> None:
        check_base_and_cap("Resilience4j", self.base_s, self.cap_s)
        if 0 < self.base_s < 0.001:
            raise ValueError(
                f"Resilience4j: base_s must be 0 or >= 0.001 s, got {self.base_s!r}: it counts whole "
                "milliseconds. Raise base_s, or use Exponential."
            )
        check_number("Resilience4j", "multiplier", self.multiplier, 1.0, LONGEST_S, "")
        check_number("Resilience4j", "spread", self.spread, 0.0, 1.0, "")
        self._lower(resilience4j, self.base_s, self.cap_s, self.multiplier, self.spread)

    @property
    def ceiling_s(self) -> float:
        return float(self.cap_s)


class Ethernet(Backoff):
    """Truncated binary exponential backoff of Ethernet: U{0 … 2^k - 1} slots, k = min(attempt, doublings).

    * `slot_s`: default 51.2 µs (10 Mb/s). `doublings`: default 10.
    * `cap_s`: default 20 s; leaves fewer slots to draw from, so nobody piles up at it.

    Ethernet gives up after 16 attempts; say so with `Retry(attempts=16)`. The first retry has two slots only.
    """

    slot_s: float = 51.2e-6
    cap_s: float = 20.0
    doublings: int = 10

    def __post_init__(self) -> None:
        check_seconds("Ethernet", "slot_s", self.slot_s)
        check_seconds("Ethernet", "cap_s", self.cap_s)
        check_not_above("Ethernet", "slot_s", self.slot_s, "cap_s", self.cap_s)
        check_number("Ethernet", "doublings", self.doublings, 1.0, 52.0, "")
        self._lower(ethernet, self.slot_s, self.cap_s, self.doublings)

    @property
    def ceiling_s(self) -> float:
        return min(float(self.cap_s), (2.0**self.doublings - 1.0) * self.slot_s)
