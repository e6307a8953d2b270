"""Vegas: the limit that estimates a queue from the shortest time that it has seen."""

from __future__ import annotations

from math import ceil

from seawall.backoff.checks import check_number
from seawall.state.limit.base import Limit, check_bounds, step_for


class VegasLimit(Limit):
    """The queue is limit x (1 - shortest / latest time); it is kept between 3 and 6 steps of log10(limit).

    Up to one step: 6 steps more. Under 3: one more. Above 6: one less. A drop: one less. Nothing grows while less than half
    of the limit is in use. The shortest time is measured anew every `probe_multiplier` x limit samples, times U(0.5, 1).

    * `initial` 20, `most` 1000. `smoothing`: share of a change that is made at once; default 1. `probe_multiplier`: 30.
    * `draw` in [0, 1): for the time of the first probe.

    Unlike the original, a drop is not a measurement of the shortest time: a connection that is refused within 0.1 ms would
    pass for an idle server.

    Source: Netflix concurrency-limits `VegasLimit.java`, after Brakmo and Peterson, "TCP Vegas" (1995).
    """

    __slots__ = (
        "_estimate", "_probe_share", "_samples", "_shortest_s", "most", "probe_multiplier", "smoothing",
    )  # fmt: skip

    def __init__(
        self,
        initial: int = 20,
        most: int = 1000,
        smoothing: float = 1.0,
        probe_multiplier: int = 30,
        draw: float = 0.5,
    ) -> None:
        check_bounds("VegasLimit", initial, 1, most)
        check_number("VegasLimit", "smoothing", smoothing, 0.01, 1.0, "")
        check_number("VegasLimit", "probe_multiplier", probe_multiplier, 1.0, 1e6, "")
        super().__init__(initial)
        self.most = most
        self.smoothing = smoothing
        self.probe_multiplier = probe_multiplier
        self._estimate = float(initial)
        self._shortest_s = 0.0
        self._samples = 0
        self._probe_share = 0.5 + draw / 2

    def on_sample(
        self, now: float, rtt_s: float, inflight: int, dropped: bool, draw: float = 0.5
    ) -> None:
        if dropped:
            self._go_to(self.lowered(self._estimate))
            return
        if rtt_s <= 0.0:
            return
        self._samples += 1
        probe = self._samples >= self._probe_share * self.probe_multiplier * self._estimate
        if probe:
            self._probe_share = 0.5 + draw / 2
            self._samples = 0
        if probe or self._shortest_s == 0.0 or rtt_s < self._shortest_s:
            self._shortest_s = rtt_s
        elif inflight * 2 >= self._estimate:
            self._follow(ceil(self._estimate * (1 - self._shortest_s / rtt_s)))

    def lowered(self, limit: float) -> float:
        """The next limit down."""
        return limit - step_for(limit)

    def _follow(self, queue: int) -> None:
        limit = self._estimate
        step = step_for(limit)
        if queue <= step:
            self._go_to(limit + 6 * step)
        elif queue < 3 * step:
            self._go_to(limit + step)
        elif queue > 6 * step:
            self._go_to(self.lowered(limit))

    def _go_to(self, limit: float) -> None:
        limit = max(1.0, min(self.most, limit))
        self._estimate = (1 - self.smoothing) * self._estimate + self.smoothing * limit
        self.limit = int(self._estimate)
