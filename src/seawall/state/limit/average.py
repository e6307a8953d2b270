"""An exponential average that begins as a plain one."""

from __future__ import annotations


class MovingAverage:
    """The mean of the first `warm_up` values, then `value` + 2 / (age + 1) of the way to each further one.

    Source: Netflix concurrency-limits `ExpAvgMeasurement.java`; failsafe-go `internal/util` likewise.
    """

    __slots__ = ("_count", "_share", "_sum", "_warm_up", "value")

    def __init__(self, age: int, warm_up: int) -> None:
        self.value = 0.0
        self._share = 2.0 / (age + 1)
        self._warm_up = warm_up
        self._count = 0
        self._sum = 0.0

    def add(self, value: float) -> float:
        """Take in a value; the new average."""
        if self._count < self._warm_up:
            self._count += 1
            self._sum += value
            self.value = self._sum / self._count
        else:
            self.value = self.value * (1 - self._share) + value * self._share
        return self.value
