"""A concurrency limit that does not drift: by queue, by correlation, and by an absolute ceiling of time."""

from __future__ import annotations

from math import ceil, inf, log10, sqrt

from seawall.backoff.checks import check_number
from seawall.quantity import at_least, positive_s
from seawall.state.limit.average import MovingAverage
from seawall.state.limit.base import Limit, check_bounds, step_for

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

_KEPT = 512  # times of a window; beyond, every second one is kept, then every fourth ...
_MEDIAN_OF = 5
_SMOOTHED_OVER = 5
_WARM_UP = 10
_TOO_SLOW = 0.9  # of the limit, for each window above the ceiling


def headroom(inflight: int, factor: float = 5.0, decay: float = 0.0, least: float = 1.2) -> float:
    """The most a limit may be with so many in flight: inflight x max(least, factor - decay x log10(inflight)).

    Source: failsafe-go `adaptivelimiter.go`, WithMaxLimitFactorDecay.
    """
    return inflight * max(least, factor - decay * log10(max(1, inflight)))


def correlation(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """(Pearson's r of x and y, relative standard deviation of y); (0, 0) where either varies by less than 1 %.

    Source: failsafe-go `internal/util` CorrelationWindow.
    """
    count = len(pairs)
    if count < 2:
        return 0.0, 0.0
    mean_x = sum(x for x, _ in pairs) / count
    mean_y = sum(y for _, y in pairs) / count
    var_x = sum((x - mean_x) ** 2 for x, _ in pairs) / count
    var_y = sum((y - mean_y) ** 2 for _, y in pairs) / count
    if sqrt(var_x) < 0.01 * abs(mean_x) or sqrt(var_y) < 0.01 * abs(mean_y) or not var_x * var_y:
        return 0.0, 0.0
    together = sum((x - mean_x) * (y - mean_y) for x, y in pairs) / count
    return together / sqrt(var_x * var_y), sqrt(var_y) / mean_y


class GuardedLimit(Limit):
    """Vegas' queue against a moving baseline, with guards against learning that slow is normal.

    Each window gives one time, its `quantile` smoothed by a median of 5 and an average of 5. With a queue of
    limit x (1 - baseline / recent) and a step of log10(limit) the limit goes one step down

    * if the queue is longer than 6 steps, or a call of the window was dropped;
    * if it was reached, and more in flight meant less throughput (correlation < 0), or hardly more (< 0.3) but longer times
      (> 0.5), or an even throughput (varying by < 20 %) but longer times;
    * if it would be above `headroom(most in flight, max_factor, factor_decay)`;

    to 0.9 of itself if the recent time is above `max_rtt_s`, and one step up if the queue is shorter than 3 steps.

    * `initial` 20, `least` 1, `most` 200.
    * `max_rtt_s`: slower than this is never healthy, and the baseline does not learn it. Default None: no ceiling. The one
      guard against a server that is slow from the first call on; set it to what callers can bear.
    * `window_s` 1 s to `longest_s` 30 s (twice the shortest time between them), and at least `min_samples` 50 calls.
    * `quantile` 0.9. `baseline_age` 10 windows. `correlation_window` 50 windows. `max_factor` 5, `factor_decay` 0.

    Source: failsafe-go 0.9.7 `adaptivelimiter.go`. The ceiling is asked for there (#127) and not built; drops are ignored
    there; the 0.9 is AIMD's.
    """

    __slots__ = (
        "_baseline",
        "_began",
        "_dropped",
        "_estimate",
        "_latest",
        "_most_inflight",
        "_recent",
        "_rtts",
        "_samples",
        "_shortest_s",
        "_stride",
        "_throughputs",
        "_times",
        "_until",
        "baseline_age",
        "correlation_window",
        "factor_decay",
        "least",
        "longest_s",
        "max_factor",
        "max_rtt_s",
        "min_samples",
        "most",
        "quantile",
        "window_s",
    )  # fmt: skip

    _most_inflight: int
    _rtts: list[float]
    _shortest_s: float

    def __init__(
        self,
        initial: int = 20,
        least: int = 1,
        most: int = 200,
        max_rtt_s: float | None = None,
        window_s: float = 1.0,
        longest_s: float = 30.0,
        min_samples: int = 50,
        quantile: float = 0.9,
        baseline_age: int = 10,
        correlation_window: int = 50,
        max_factor: float = 5.0,
        factor_decay: float = 0.0,
    ) -> None:
        check_bounds("GuardedLimit", initial, least, most)
        if max_rtt_s is not None:
            positive_s("GuardedLimit", "max_rtt_s", max_rtt_s)
        positive_s("GuardedLimit", "window_s", window_s)
        check_number("GuardedLimit", "longest_s", longest_s, window_s, 1e9, " s")
        at_least("GuardedLimit", "min_samples", min_samples, 1)
        check_number("GuardedLimit", "quantile", quantile, 0.0, 1.0, "")
        at_least("GuardedLimit", "baseline_age", baseline_age, 1)
        at_least("GuardedLimit", "correlation_window", correlation_window, _WARM_UP)
        check_number("GuardedLimit", "max_factor", max_factor, 1.0, 1e6, "")
        check_number("GuardedLimit", "factor_decay", factor_decay, 0.0, 1e6, "")
        super().__init__(initial)
        self.least = least
        self.most = most
        self.max_rtt_s = max_rtt_s
        self.window_s = window_s
        self.longest_s = longest_s
        self.min_samples = min_samples
        self.quantile = quantile
        self.baseline_age = baseline_age
        self.correlation_window = correlation_window
        self.max_factor = max_factor
        self.factor_decay = factor_decay
        self._estimate = float(initial)
        self._baseline = MovingAverage(baseline_age, _WARM_UP)
        self._recent = MovingAverage(_SMOOTHED_OVER, _WARM_UP)
        self._latest: list[float] = []  # for the median
        self._throughputs: list[tuple[float, float]] = []  # (in flight, calls a second)
        self._times: list[tuple[float, float]] = []  # (in flight, seconds)
        self._began = -inf
        self._until = inf
        self._clear()

    def on_sample(
        self, now: float, rtt_s: float, inflight: int, dropped: bool, draw: float = 0.5
    ) -> None:
        if now < self._began or self._until == inf:
            self._begin(now, self.window_s)
        if inflight > self._most_inflight:  # noqa: PLR1730 - max() costs 60 ns
            self._most_inflight = inflight
        if dropped:
            self._dropped = True
        elif rtt_s > 0.0:
            if self._samples % self._stride == 0:
                self._keep(rtt_s)
            if rtt_s < self._shortest_s:  # noqa: PLR1730 - likewise
                self._shortest_s = rtt_s
        else:
            return
        self._samples += 1
        if now > self._until and self._samples >= self.min_samples:
            self._end(now)

    def _keep(self, rtt_s: float) -> None:
        self._rtts.append(rtt_s)
        if len(self._rtts) >= _KEPT:
            del self._rtts[1::2]
            self._stride *= 2

    def _end(self, now: float) -> None:
        if self._rtts:
            ranked = sorted(self._rtts)
            self._latest.append(ranked[min(len(ranked) - 1, int(self.quantile * len(ranked)))])
            del self._latest[:-_MEDIAN_OF]
            recent_s = self._recent.add(sorted(self._latest)[len(self._latest) // 2])
            self._move(self._estimate + self._direction(recent_s))
            if self.max_rtt_s is not None and recent_s > self.max_rtt_s:
                self._move(self._estimate * _TOO_SLOW)
        else:  # every single one was dropped
            self._move(self._estimate * _TOO_SLOW)
        twice_s = 2 * self._shortest_s if self._rtts else 0.0
        self._begin(now, min(max(twice_s, self.window_s), self.longest_s))
        self._clear()

    def _direction(self, recent_s: float) -> int:
        """Where the limit goes: a step up or down, or 0."""
        ceiling_s = inf if self.max_rtt_s is None else self.max_rtt_s
        baseline_s = self._baseline.add(min(recent_s, ceiling_s))
        limit, inflight = self._estimate, self._most_inflight
        step = step_for(limit)
        queue = ceil(limit * (1 - baseline_s / recent_s))
        crowded = self._crowded(inflight, recent_s)
        if queue > 6 * step or self._dropped or (inflight >= self.limit and crowded):
            return -step
        change = step if queue < 3 * step and recent_s <= ceiling_s else 0
        if limit + change > headroom(inflight, self.max_factor, self.factor_decay):
            return -step
        return change

    def _crowded(self, inflight: int, recent_s: float) -> bool:
        """Whether more in flight has only meant longer times lately."""
        self._throughputs.append((inflight, inflight / recent_s))
        self._times.append((inflight, recent_s))
        del self._throughputs[: -self.correlation_window]
        del self._times[: -self.correlation_window]
        if len(self._times) < _WARM_UP:
            return False
        more, spread = correlation(self._throughputs)
        slower, _ = correlation(self._times)
        return more < 0.0 or (slower > 0.5 and (more < 0.3 or spread < 0.2))

    def _move(self, limit: float) -> None:
        self._estimate = max(float(self.least), min(float(self.most), limit))
        self.limit = int(self._estimate)

    def _begin(self, now: float, length_s: float) -> None:
        self._began = now
        self._until = now + length_s

    def _clear(self) -> None:
        self._rtts = []
        self._stride = 1
        self._samples = 0
        self._shortest_s = inf
        self._most_inflight = 0
        self._dropped = False
