"""Tokens lost by failures and slowly won back by successes (gRPC retry throttling)."""

from __future__ import annotations

from seawall.state.budget.base import Budget, number


class TokenBudget(Budget):
    """`max_tokens` at the start; every retryable failure takes 1, every success adds `token_ratio`.

    A retry is allowed while more than half of the tokens are left, the failure that asks for it already counted. Counted in
    thousandths, as the specification's three decimals ask. Defaults 100 and 0.1.

    Source: gRFC A6, "Throttling Retry Attempts and Hedged RPCs".
    """

    __slots__ = ("_max", "_ratio", "_tokens")

    def __init__(self, max_tokens: float = 100.0, token_ratio: float = 0.1) -> None:
        super().__init__()
        self._max = round(1000 * number("TokenBudget", "max_tokens", max_tokens, 0.001, 1000))
        self._ratio = round(1000 * number("TokenBudget", "token_ratio", token_ratio, 0.001, 1000))
        self._tokens = self._max

    @property
    def tokens(self) -> float:
        """Tokens left."""
        return self._tokens / 1000

    def succeed(self, now: float, charge: float) -> None:
        with self._lock:
            self._tokens = min(self._max, self._tokens + self._ratio)
            self.idle = self._tokens == self._max

    def fail(self, now: float, throttled: bool) -> None:
        self.withdraw(now, throttled)

    def withdraw(self, now: float, throttled: bool) -> float | None:
        with self._lock:
            self._tokens = max(0, self._tokens - 1000)
            self.idle = False
            return 1.0 if 2 * self._tokens > self._max else None

    def balance(self, now: float) -> float:
        return max(0.0, -(-(2 * self._tokens - self._max) // 2000) - 1.0)

    def __repr__(self) -> str:
        return f"TokenBudget({self._max / 1000:g}, {self._ratio / 1000:g}, tokens={self.tokens:g})"
