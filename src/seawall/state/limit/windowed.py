"""Samples by windows: a limit that learns from the average of many calls instead of from each."""

from __future__ import annotations

from math import inf

from seawall.backoff.checks import check_number
from seawall.quantity import at_least, positive_s
from seawall.state.limit.base import Limit


class WindowedLimit(Limit):
    """Tells `inner` of each window once: the mean time, the most in flight, and whether any call was dropped.

    * `window_s`, `longest_s`: a window lasts twice the shortest time of the one before, within these; default 1 s each.
    * `min_samples`: a window with fewer is forgotten; default 10.
    * `min_rtt_s`: calls that were quicker have hardly been to the server and are not counted; default 100 µs. A drop counts
      however quick it was.

    The first sample begins the first window. A clock that steps back begins the running window anew, with what it holds.

    Source: Netflix concurrency-limits `WindowedLimit.java`, `AverageSampleWindow.java`.
    """

    __slots__ = (
        "_began", "_count", "_dropped", "_most_inflight", "_shortest_s", "_sum_s", "_timed", "_until",
        "inner", "longest_s", "min_rtt_s", "min_samples", "window_s",
    )  # fmt: skip

    _most_inflight: int
    _shortest_s: float

    def __init__(
        self,
        inner: Limit,
        window_s: float = 1.0,
        longest_s: float = 1.0,
        min_samples: int = 10,
        min_rtt_s: float = 100e-6,
    ) -> None:
        positive_s("WindowedLimit", "window_s", window_s)
        positive_s("WindowedLimit", "longest_s", longest_s)
        if longest_s < window_s:
            raise ValueError(
                f"WindowedLimit: longest_s must be >= window_s: longest_s={longest_s!r}, window_s={window_s!r}. "
                "Raise longest_s or lower window_s."
            )
        at_least("WindowedLimit", "min_samples", min_samples, 1)
        check_number("WindowedLimit", "min_rtt_s", min_rtt_s, 0.0, 1e9, " s")
        super().__init__(inner.limit)
        self.inner = inner
        self.window_s = window_s
        self.longest_s = longest_s
        self.min_samples = min_samples
        self.min_rtt_s = min_rtt_s
        self._began = -inf
        self._until = inf
        self._clear()

    def on_sample(
        self, now: float, rtt_s: float, inflight: int, dropped: bool, draw: float = 0.5
    ) -> None:
        timed = rtt_s >= self.min_rtt_s and rtt_s > 0.0
        if not timed and not dropped:
            return
        if now < self._began or self._until == inf:
            self._begin(now, self.window_s)
        self._count += 1
        if timed:
            self._timed += 1
            self._sum_s += rtt_s
            if rtt_s < self._shortest_s:  # noqa: PLR1730 - min() costs 60 ns
                self._shortest_s = rtt_s
        if inflight > self._most_inflight:  # noqa: PLR1730 - likewise
            self._most_inflight = inflight
        if dropped:
            self._dropped = True
        if now > self._until:
            self._end(now, draw)

    def _end(self, now: float, draw: float) -> None:
        if self._count >= self.min_samples:
            mean_s = self._sum_s / self._timed if self._timed else 0.0
            self.inner.on_sample(now, mean_s, self._most_inflight, self._dropped, draw)
            self.limit = self.inner.limit
        twice_s = 2 * self._shortest_s if self._timed else 0.0
        self._begin(now, min(max(twice_s, self.window_s), self.longest_s))
        self._clear()

    def _begin(self, now: float, length_s: float) -> None:
        self._began = now
        self._until = now + length_s

    def _clear(self) -> None:
        self._count = 0
        self._timed = 0
        self._sum_s = 0.0
        self._shortest_s = inf
        self._most_inflight = 0
        self._dropped = False
