"""A share of the recent calls, and a reserve for quiet times (Finagle, linkerd, tower)."""

from __future__ import annotations

from math import inf

from seawall.state.budget.base import Budget, number

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any, ClassVar

_STORED = 9  # the window moves in tenths of ttl_s: nine stored, one being written
_MOST = 2**31 - 1  # a price is an Int in Finagle, which stops there
_SLACK = 1e-9  # of a slice: 0.1 + 0.2 s are three slices of 0.1 s


class RatioBudget(Budget):
    """Retries stay under `ratio` of the calls of the last `ttl_s` seconds, plus `min_per_s` a second in reserve.

    Each call deposits 1000 into a sliding window, each retry withdraws int(1000 / ratio); what leaves the window leaves with
    its sign, so withdrawals expire as well. The reserve lets a client with few calls retry at all. Defaults 0.2, 10/s, 10 s.

    * `ratio` in [0, 1000] (0: the reserve alone), `min_per_s` >= 0 (0: no reserve), `ttl_s` in [1, 60].

    Without a reserve the retries never pass `ratio` x calls, up to that rounding, over any stretch of time from the start.
    While the clock is behind where it has been, the window stands still: nothing expires, so nothing is granted for it.

    Source: Finagle `RetryBudget.scala`, util `WindowedAdder.scala`.
    """

    __slots__ = (
        "_at",
        "_deposit",
        "_live",
        "_price",
        "_reserve",
        "_stored",
        "_sure",
        "_until",
        "min_per_s",
        "ratio",
        "ttl_s",
    )

    counts_calls: ClassVar[bool] = True

    def __init__(self, ratio: float = 0.2, min_per_s: float = 10.0, ttl_s: float = 10.0) -> None:
        super().__init__()
        self.idle = False
        self.ratio = number("RatioBudget", "ratio", ratio, 0, 1000, 0.2)
        self.min_per_s = number("RatioBudget", "min_per_s", min_per_s, 0, 1e9, 10)
        self.ttl_s = number("RatioBudget", "ttl_s", ttl_s, 1, 60, 10)
        self._live = 0  # the slice being written
        self._stored = (0,) * _STORED  # older slices, the oldest first
        self._at = 0.0  # when the slice being written began
        self._until = -inf  # when it will end; -inf: it begins when the time is first told
        self._count_in(1000)

    @classmethod
    def tower(cls, ratio: float = 0.2, min_per_s: float = 10.0, ttl_s: float = 10.0) -> RatioBudget:
        """With tower's coarser units up to a ratio of 1: in 1, out int(1 / ratio), so that 0.3 gives a third.

        Its window keeps one slice more than Finagle's; this one does not.

        Source: tower `tps_budget.rs`.
        """
        budget = cls(ratio, min_per_s, ttl_s)
        if ratio <= 1:
            budget._count_in(1)
        return budget

    def _count_in(self, deposit: int) -> None:
        self._deposit = deposit if self.ratio > 0 else 0
        self._price = int(min(deposit / self.ratio, _MOST)) if self.ratio > 0 else 1
        self._reserve = int(self.min_per_s * self.ttl_s * self._price)
        self._sure = (
            self._reserve
        )  # the reserve and the older slices: fixed while a slice is being written

    def begin(self, now: float) -> None:
        with self._lock:
            if now >= self._until:
                self._move(now)
            self._live += self._deposit

    def withdraw(self, now: float, throttled: bool) -> float | None:
        with self._lock:
            if now >= self._until:
                self._move(now)
            if self._sure + self._live < self._price:
                return None
            self._live -= self._price
        return 1.0

    def balance(self, now: float) -> float:
        with self._lock:
            if now >= self._until:
                self._move(now)
            return float(max(0, (self._sure + self._live) // self._price))

    def __repr__(self) -> str:
        left = max(0, (self._sure + self._live) // self._price)  # when it was last told the time
        return f"{super().__repr__()[:-1]}, available={left})"

    def _move(self, now: float) -> None:
        """Begin a new slice, and let those pass in which nothing was asked. The lock is held."""
        slice_s = self.ttl_s / (_STORED + 1)
        if self._until != -inf:
            passed = max(1, int(min((now - self._at) / slice_s, _STORED + 1) + _SLACK))
            empty = (0,) * (passed - 1)
            self._stored = (*self._stored, self._live, *empty)[-_STORED:]
            self._live = 0
            self._sure = self._reserve + sum(self._stored)
        self._at = now
        self._until = now + slice_s * (1 - _SLACK)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._until = -inf  # another process has another clock
