"""Tokens lost by failures and slowly won back by successes (gRPC retry throttling)."""

from __future__ import annotations

from seawall.state.budget.base import Budget, number


class TokenBudget(Budget):
    """`max_tokens` at the start; every retryable failure takes 1, every success adds `token_ratio`.

    A retry is allowed while more than half of the tokens are left, the failure that asks for it already counted; calls that are
    not retried count as well. Throttling is a failure like any other. Both settings lie in [0.001, 1000] and are rounded to
    three decimals, which the specification supports; inside, whole thousandths are counted, so nothing drifts.

    Defaults 100 and 0.1: a burst of 49 retries at most; for one more, ten clean successes. gRPC's own examples have 10 and 0.1:
    a burst of 4.

    Source: gRFC A6, "Throttling Retry Attempts and Hedged RPCs".
    """

    __slots__ = ("_max", "_ratio", "_tokens")

    def __init__(self, max_tokens: float = 100.0, token_ratio: float = 0.1) -> None:
        super().__init__()
        self._max = round(1000 * number("TokenBudget", "max_tokens", max_tokens, 0.001, 1000, 100))
        self._ratio = round(
            1000 * number("TokenBudget", "token_ratio", token_ratio, 0.001, 1000, 0.1)
        )
        self._tokens = self._max

    @property
    def tokens(self) -> float:
        """Tokens left."""
        return self._tokens / 1000

    def succeed(self, now: float, charge: float) -> None:
        with self._lock:
            tokens = self._tokens + self._ratio
            if tokens >= self._max:
                self._tokens = self._max
                self.idle = True
            else:
                self._tokens = tokens

    def fail(self, now: float, throttled: bool) -> None:
        self.withdraw(now, throttled)

    def withdraw(self, now: float, throttled: bool) -> float | None:
        with self._lock:
            tokens = self._tokens - 1000
            self._tokens = tokens = max(0, tokens)
            self.idle = False
        return 1.0 if 2 * tokens > self._max else None

    def balance(self, now: float) -> float:
        above_half = 2 * self._tokens - self._max  # in half thousandths: a failure takes 2000
        return float(max(0, (above_half - 1) // 2000))

    def __repr__(self) -> str:
        return f"TokenBudget({self._max / 1000:g}, {self._ratio / 1000:g}, tokens={self.tokens:g})"
