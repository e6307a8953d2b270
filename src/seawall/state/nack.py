"""Client-side throttling after Finagle: by a moving average of what is accepted, above a rate of calls."""

from __future__ import annotations

from math import exp, inf

from seawall.backoff.checks import check_number
from seawall.quantity import positive_s
from seawall.state.machine import Machine
from seawall.state.window import TimeWindow

_RATE_OVER_S = 10.0


def nack_probability(accepted: float, threshold: float = 0.5, most: float = 0.75) -> float:
    """The share to refuse when the share `accepted` is accepted and up to `threshold` may be refused by the server.

    Source: Finagle `NackAdmissionFilter.scala`.
    """
    return min(most, max(0.0, 1.0 - accepted / (1.0 - threshold)))


class NackThrottle(Machine):
    """Refuses a share of the calls when too many were refused by the server lately.

    Recent is told by an exponential average over time, not by counts: a burst of refusals within a second weighs little,
    and the first answer after a long rest weighs nearly everything.

    * `window_s`: of the average; default 120 s.
    * `threshold`: share of refusals by the server that is let be; default 0.5.
    * `max_probability`: the most that is refused here; default 0.75.
    * `min_rps`: at fewer calls a second (over the last 10 s, refused ones included) nothing is refused; default 5.

    Same steps as `Throttle`. Source: Finagle `NackAdmissionFilter.scala`, util `Ema.scala`.
    """

    __slots__ = ("_at", "_calls", "accepted", "max_probability", "min_rps", "threshold", "window_s")

    accepted: float
    """Moving average of the share that the server accepts."""

    def __init__(
        self,
        window_s: float = 120.0,
        threshold: float = 0.5,
        max_probability: float = 0.75,
        min_rps: float = 5.0,
    ) -> None:
        super().__init__()
        positive_s("NackThrottle", "window_s", window_s)
        check_number("NackThrottle", "threshold", threshold, 0.0, 0.99, "")
        check_number("NackThrottle", "max_probability", max_probability, 0.0, 1.0, "")
        check_number("NackThrottle", "min_rps", min_rps, 0.0, 1e9, " a second")
        self.window_s = float(window_s)
        self.threshold = float(threshold)
        self.max_probability = float(max_probability)
        self.min_rps = float(min_rps)
        self.accepted = 1.0
        self._at = inf  # of the last sample; inf: no time was told yet
        self._calls = TimeWindow(_RATE_OVER_S)

    def admit(self, now: float, draw: float) -> bool:
        """May a call be made? `draw` in [0, 1) decides where only a share may. If so, `settle` is due."""
        with self._lock:
            self._calls.add(now, failed=False, slow=False)
            if self._at == inf:
                self._at = now
            return draw >= self._probability()

    def settle(self, now: float, accepted: bool | None) -> None:
        """An admitted call is over: did the server accept it? None: its end says nothing."""
        if accepted is None:
            return
        with self._lock:
            passed_s = 0.0 if self._at == inf else max(0.0, now - self._at)
            weight = 1.0 - exp(-passed_s / self.window_s)
            self.accepted += ((1.0 if accepted else 0.0) - self.accepted) * weight
            self._at = now if self._at == inf else max(self._at, now)

    def reject_probability(self, now: float) -> float:
        """The share of calls that is refused now."""
        with self._lock:
            self._calls.move(now)
            return self._probability()

    def _probability(self) -> float:
        if self._calls.calls < self.min_rps * _RATE_OVER_S:
            return 0.0
        return nack_probability(self.accepted, self.threshold, self.max_probability)

    def _resume(self) -> None:
        self._at = inf
        self._calls = TimeWindow(_RATE_OVER_S)
