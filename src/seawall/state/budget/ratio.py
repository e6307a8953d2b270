"""A share of the recent calls, and a reserve for quiet times (Finagle, linkerd, tower)."""

from __future__ import annotations

from seawall.state.budget.base import Budget, number

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import ClassVar

_SLICES = 10  # the window moves in tenths: nine stored, one being written


class RatioBudget(Budget):
    """Retries stay under `ratio` of the calls of the last `ttl_s` seconds, plus `min_per_s` a second in reserve.

    Each call deposits 1000 into a sliding window, each retry withdraws int(1000 / ratio); what leaves the window leaves with
    its sign, so withdrawals expire as well. The reserve lets a client with few calls retry at all. Defaults 0.2, 10/s, 10 s.

    * `ratio` in [0, 1000] (0: the reserve alone), `min_per_s` >= 0, `ttl_s` in [1, 60].

    Source: Finagle `RetryBudget.scala`, util `WindowedAdder.scala`; tower `TpsBudget` deposits 1 and withdraws int(1 / ratio)
    instead (a ratio of 0.3 is then 1/3): `RatioBudget.tower(...)`.
    """

    __slots__ = (
        "_at",
        "_deposit",
        "_live",
        "_price",
        "_reserve",
        "_slot",
        "_stored",
        "min_per_s",
        "ratio",
        "ttl_s",
    )

    counts_calls: ClassVar[bool] = True

    def __init__(
        self, ratio: float = 0.2, min_per_s: float = 10.0, ttl_s: float = 10.0, *, scale: int = 1000
    ) -> None:
        super().__init__()
        self.idle = False
        self.ratio = number("RatioBudget", "ratio", ratio, 0, 1000)
        self.min_per_s = number("RatioBudget", "min_per_s", min_per_s, 0, 1e9)
        self.ttl_s = number("RatioBudget", "ttl_s", ttl_s, 1, 60)
        self._deposit = scale if ratio > 0 else 0
        self._price = max(1, int(scale / ratio)) if ratio > 0 else 1
        self._reserve = int(min_per_s * ttl_s * self._price)
        self._stored = [0] * (_SLICES - 1)
        self._slot = 0
        self._live = 0
        self._at: float | None = None

    @classmethod
    def tower(cls, ratio: float = 0.2, min_per_s: float = 10.0, ttl_s: float = 10.0) -> RatioBudget:
        """The same with tower's coarser units: 1 in, int(1 / ratio) out, for ratios up to 1."""
        return cls(ratio, min_per_s, ttl_s, scale=1 if ratio <= 1 else 1000)

    def begin(self, now: float) -> None:
        with self._lock:
            self._move(now)
            self._live += self._deposit

    def withdraw(self, now: float, throttled: bool) -> float | None:
        with self._lock:
            self._move(now)
            if sum(self._stored) + self._live + self._reserve < self._price:
                return None
            self._live -= self._price
        return 1.0

    def balance(self, now: float) -> float:
        with self._lock:
            self._move(now)
            return float(max(0, (sum(self._stored) + self._live + self._reserve) // self._price))

    def _move(self, now: float) -> None:
        """Let slices pass. A clock that goes backwards moves nothing."""
        if self._at is None:
            self._at = now
        passed = int((now - self._at) / (self.ttl_s / _SLICES) + 1e-9)
        if passed <= 0:
            return
        self._at = now
        for amount in [self._live, *[0] * min(passed - 1, len(self._stored))]:
            self._stored[self._slot] = amount
            self._slot = (self._slot + 1) % len(self._stored)
        self._live = 0
