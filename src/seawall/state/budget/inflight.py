"""A share of the calls in flight (Envoy)."""

from __future__ import annotations

from seawall.state.budget.base import Budget, number, whole

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any, ClassVar


class InflightBudget(Budget):
    """Retries in flight stay at or under max(`min_retries`, floor(`ratio` x calls in flight)). No clock, no memory.

    Defaults 0.2 and 3. A call is in flight from its first attempt to its end, waits included; a retry from its grant to the end
    of its attempt.

    It bounds how many retries there are at a time, not how many a second: where retries fail faster than first attempts they
    come round more often. If all take equally long, the load is at most 1 / (1 - `ratio`) times the calls: 1.25 by default.

    Source: Envoy `retry_budget` (budget_percent, min_retry_concurrency).
    """

    __slots__ = ("calls", "min_retries", "ratio", "retries")

    counts_calls: ClassVar[bool] = True

    def __init__(self, ratio: float = 0.2, min_retries: int = 3) -> None:
        super().__init__()
        self.idle = False
        self.ratio = number("InflightBudget", "ratio", ratio, 0, 1, 0.2)
        self.min_retries = whole("InflightBudget", "min_retries", min_retries, 10**9, 3)
        self.calls = 0
        self.retries = 0

    def begin(self, now: float) -> None:
        with self._lock:
            self.calls += 1

    def end(self, now: float) -> None:
        with self._lock:
            self.calls -= 1

    def withdraw(self, now: float, throttled: bool) -> float | None:
        with self._lock:
            if self.retries >= self.min_retries and self.retries >= self._share():
                return None
            self.retries += 1
        return 1.0

    def release(self, now: float) -> None:
        with self._lock:
            self.retries -= 1

    def balance(self, now: float) -> float:
        return float(max(0, max(self.min_retries, self._share()) - self.retries))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.calls = 0  # they end in the original; here nobody would ever take them off
        self.retries = 0

    def _share(self) -> int:
        return int(self.ratio * self.calls + 1e-9)  # 0.29 x 100 is 28.999999999999996
