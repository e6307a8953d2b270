"""A share of the calls in flight (Envoy)."""

from __future__ import annotations

from seawall.state.budget.base import Budget, number

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import ClassVar


class InflightBudget(Budget):
    """Retries in flight stay under max(`min_retries`, floor(`ratio` x calls in flight)). No clock, no memory.

    Defaults 0.2 and 3. A call is in flight from its first attempt to its end, waits included; a retry from its grant to the end
    of its attempt.

    Source: Envoy `retry_budget` (budget_percent, min_retry_concurrency).
    """

    __slots__ = ("calls", "min_retries", "ratio", "retries")

    counts_calls: ClassVar[bool] = True

    def __init__(self, ratio: float = 0.2, min_retries: int = 3) -> None:
        super().__init__()
        self.idle = False
        self.ratio = number("InflightBudget", "ratio", ratio, 0, 1)
        self.min_retries = int(number("InflightBudget", "min_retries", min_retries, 0, 1e9))
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
            if self.retries >= self._limit():
                return None
            self.retries += 1
        return 1.0

    def release(self, now: float) -> None:
        with self._lock:
            self.retries -= 1

    def balance(self, now: float) -> float:
        return float(max(0, self._limit() - self.retries))

    def _limit(self) -> int:
        return max(self.min_retries, int(self.ratio * self.calls + 1e-9))
