"""A bucket of points, and a price for each retry by what made it necessary (AWS SDK standard retry, v2.1)."""

from __future__ import annotations

from seawall.state.budget.base import Budget, whole

_MOST = 10**12


class CostBudget(Budget):
    """`capacity` points, full at the start. A retry costs `transient_cost`, or `throttle_cost` after throttling.

    A success at the first attempt adds `success_refund`; a success after retries gives back the price of the last one. A
    price that the bucket cannot pay is refused and costs nothing, so the balance is never negative.

    Defaults 500, 14, 5, 1, all whole numbers from 0: a burst of 35 retries (100 after throttling), then one for every 14 clean
    successes. No clock is involved: a client that calls once an hour has the same budget as one that calls a thousand times a
    second. `balance` counts by `transient_cost`. A capacity below a price never pays it; capacity 0 allows no retry at all.

    Source: AWS SDKs and Tools "standard" retry mode, version 2.1 (botocore 1.44, smithy).
    """

    __slots__ = ("capacity", "success_refund", "throttle_cost", "tokens", "transient_cost")

    def __init__(
        self,
        capacity: int = 500,
        transient_cost: int = 14,
        throttle_cost: int = 5,
        success_refund: int = 1,
    ) -> None:
        super().__init__()
        self.capacity = whole("CostBudget", "capacity", capacity, _MOST, 500)
        self.transient_cost = whole("CostBudget", "transient_cost", transient_cost, _MOST, 14)
        self.throttle_cost = whole("CostBudget", "throttle_cost", throttle_cost, _MOST, 5)
        self.success_refund = whole("CostBudget", "success_refund", success_refund, _MOST, 1)
        self.tokens: float = self.capacity  # whole: charges come back as they went

    def succeed(self, now: float, charge: float) -> None:
        with self._lock:
            tokens = self.tokens + (charge or self.success_refund)
            if tokens >= self.capacity:
                self.tokens = self.capacity
                self.idle = True
            else:
                self.tokens = tokens

    def withdraw(self, now: float, throttled: bool) -> float | None:
        cost = self.throttle_cost if throttled else self.transient_cost
        with self._lock:
            if cost > self.tokens:
                return None
            self.tokens -= cost
            self.idle = False
        return cost

    def balance(self, now: float) -> float:
        return float(self.tokens // self.transient_cost) if self.transient_cost else float("inf")
