"""A percentile of the latest values, in constant time and space: the delay before a hedge, for one."""

from __future__ import annotations

from math import isfinite, sqrt

from seawall.backoff.checks import check_number
from seawall.state.machine import Machine


class MovingQuantile(Machine):
    """Estimates the `quantile` of a stream that changes, without keeping any of it.

    The estimate moves down a little at each value below it and up at each above it, in the ratio that balances where the
    wanted share lies below: by step·σ / q and step·σ / (1 - q), σ being the moving standard deviation.

    * `quantile`: between 0 and 1; default 0.95.
    * `step`: share of σ; smaller is calmer and slower. Default 0.01.
    * `age`: about how many values back mean and deviation remember, as an exponential average. Default 30.

    Near 0 and 1 single steps are large: at 0.99 one value above moves the estimate by a whole σ. It may leave the range
    of what was seen; whoever derives a delay from it sets bounds. Values that are not finite are not counted.

    Source: M. Jambon, "Estimating a moving percentile" (2016); failsafe-go `internal/util/quantile.go`.
    """

    __slots__ = ("_mean", "_variance", "age", "count", "quantile", "step", "value")

    value: float
    """The estimate; 0.0 before the first value."""
    count: int
    """How many values it has seen."""

    def __init__(self, quantile: float = 0.95, step: float = 0.01, age: float = 30) -> None:
        super().__init__()
        check_number("MovingQuantile", "quantile", quantile, 1e-6, 1 - 1e-6, "")
        check_number("MovingQuantile", "step", step, 1e-6, 1.0, "")
        check_number("MovingQuantile", "age", age, 1.0, 1e9, "")
        self.quantile = quantile
        self.step = step
        self.age = age
        self.clear()

    def observe(self, value: float) -> None:
        """Take in one value."""
        if not isfinite(value):
            return
        with self._lock:
            self.count += 1
            if self.count == 1:
                self.value = self._mean = float(value)
                return
            alpha = 2.0 / (self.age + 1.0)
            before = value - self._mean
            self._mean += alpha * before
            self._variance += alpha * (before * (value - self._mean) - self._variance)
            move = self.step * sqrt(max(0.0, self._variance))
            if value < self.value:
                self.value -= move / self.quantile
            elif value > self.value:
                self.value += move / (1.0 - self.quantile)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self.count = 0
            self.value = 0.0
            self._mean = 0.0
            self._variance = 0.0
