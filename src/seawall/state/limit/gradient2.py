"""Gradient2: the limit that compares the latest time with a long average of them."""

from __future__ import annotations

from seawall.backoff.checks import check_number
from seawall.quantity import at_least
from seawall.state.limit.average import MovingAverage
from seawall.state.limit.base import Limit, check_bounds


class Gradient2Limit(Limit):
    """Aims at limit x clamp(tolerance x long average / latest, 0.5, 1) + queue.

    While calls are not much slower than on the average it grows by `queue` x `smoothing` at each sample; a time of
    `tolerance` times the average stops it. Nothing changes while less than half of the limit is in use.

    * `initial` 20, `least` 20, `most` 200; `smoothing` 0.2; `queue` 4; `tolerance` 1.5; `long_window` 600 samples.

    It drifts: when everything is slow for long enough, the average learns that this is normal, and the limit grows to
    `most` (Netflix #137). Drops are not looked at. `GuardedLimit` mends both.

    Source: Netflix concurrency-limits `Gradient2Limit.java`.
    """

    __slots__ = ("_estimate", "_long", "least", "most", "queue", "smoothing", "tolerance")

    def __init__(
        self,
        initial: int = 20,
        least: int = 20,
        most: int = 200,
        smoothing: float = 0.2,
        queue: int = 4,
        tolerance: float = 1.5,
        long_window: int = 600,
    ) -> None:
        check_bounds("Gradient2Limit", initial, least, most)
        check_number("Gradient2Limit", "smoothing", smoothing, 0.01, 1.0, "")
        at_least("Gradient2Limit", "queue", queue, 0)
        check_number("Gradient2Limit", "tolerance", tolerance, 1.0, 100.0, "")
        at_least("Gradient2Limit", "long_window", long_window, 1)
        super().__init__(initial)
        self.least = least
        self.most = most
        self.smoothing = smoothing
        self.queue = queue
        self.tolerance = tolerance
        self._estimate = float(initial)
        self._long = MovingAverage(long_window, warm_up=10)

    def on_sample(
        self, now: float, rtt_s: float, inflight: int, dropped: bool, draw: float = 0.5
    ) -> None:
        if rtt_s <= 0.0:
            return
        long_s = self._long.add(rtt_s)
        if long_s / rtt_s > 2:  # back to normal after a long trouble: do not wait for the average
            self._long.value = long_s * 0.95
        estimate = self._estimate
        if inflight < estimate / 2:
            return
        gradient = max(0.5, min(1.0, self.tolerance * long_s / rtt_s))
        aim = estimate * gradient + self.queue
        estimate = estimate * (1 - self.smoothing) + aim * self.smoothing
        self._estimate = max(float(self.least), min(float(self.most), estimate))
        self.limit = int(self._estimate)
