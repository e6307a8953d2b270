"""Client-side throttling: refuse here what the server would refuse anyway, in proportion to how much it refuses."""

from __future__ import annotations

from math import floor, inf

from seawall.backoff.checks import check_number
from seawall.quantity import at_least, positive_s
from seawall.state.machine import Machine

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Self


def reject_probability(
    requests: float,
    accepts: float,
    k: float = 2.0,
    aggression: float = 1.0,
    most: float = 1.0,
) -> float:
    """(max(0, requests - k x accepts) / (requests + 1)) to the power of 1 / aggression, at most `most`.

    Source: SRE book, "Handling overload", equation 21-1 (aggression 1, most 1); Envoy admission control with k = 1 /
    success-rate threshold; failsafe-go's AdaptiveThrottler with k = 1 / (1 - failure-rate threshold).
    """
    over = requests - k * accepts
    if over <= 0.0:
        return 0.0
    share = over / (requests + 1.0)
    if aggression != 1.0:
        share = share ** (1.0 / aggression)
    return min(most, share)


class Throttle(Machine):
    """Refuses a share of the calls, so that the server sees at most about `k` times what it accepts.

    Ask `admit` before each call and tell `settle` of its end. Everything of the last `window_s` seconds counts, in `slices`.

    * `k`: requests per accepted one that are let be. Default 2; lower refuses sooner.
    * `window_s`, `slices`: default 2 min in 12. Longer than the slowest call, or its acceptance comes too late to count.
    * `aggression`: above 1 a moderate share of failures already refuses much. Default 1.
    * `max_probability`: never refuse a larger share. Default 1: the formula alone, which lets something through always.
    * `min_calls`: with fewer calls in the window nothing is refused. Default 20, as in the breaker; the book has none.
    * `count_refused`: whether what is refused here is a request all the same. Default True, as in the book, where "requests"
      are those of the application; False as in Envoy and failsafe-go.

    By the book the way back from a total outage is long: what gets through grows by a factor of e every window_s / k
    seconds. At 100 calls/s it takes about ten minutes until nothing is refused any more, 3.5 with max_probability=0.9, and
    3 s with count_refused=False, which for that sends the server more when it accepts only a part.

    A call counts as a request when it starts: calls that hang weigh in at once, not after their timeout (go-zero #5011). The
    other side of it: what has started and not ended counts against the server, so that a client that starts cold with more
    than `min_calls` at once refuses some of them. Raise `min_calls` above what may be in flight then.
    """

    __slots__ = (
        "_accepts",
        "_ends_at",
        "_number",
        "_requests",
        "_rows",
        "_slice_s",
        "aggression",
        "count_refused",
        "k",
        "max_probability",
        "min_calls",
        "slices",
        "window_s",
    )

    def __init__(
        self,
        k: float = 2.0,
        window_s: float = 120.0,
        slices: int = 12,
        aggression: float = 1.0,
        max_probability: float = 1.0,
        min_calls: int = 20,
        count_refused: bool = True,
    ) -> None:
        super().__init__()
        check_number("Throttle", "k", k, 1.0, 1e6, "")
        positive_s("Throttle", "window_s", window_s)
        at_least("Throttle", "slices", slices, 1)
        check_number("Throttle", "aggression", aggression, 1e-3, 1e3, "")
        check_number("Throttle", "max_probability", max_probability, 0.0, 1.0, "")
        at_least("Throttle", "min_calls", min_calls, 0)
        self.k = float(k)
        self.window_s = float(window_s)
        self.slices = slices
        self.aggression = float(aggression)
        self.max_probability = float(max_probability)
        self.min_calls = min_calls
        self.count_refused = count_refused
        self._slice_s = window_s / slices
        self._rows = [
            [0, 0] for _ in range(slices)
        ]  # (requests, accepts) of each slice, the latest last
        self._requests = 0
        self._accepts = 0
        self._number: int | None = None  # of the latest slice; None: no time was told yet
        self._ends_at = -inf

    @classmethod
    def envoy(
        cls, success_threshold: float = 0.95, aggression: float = 1.0, min_rps: float = 0.0
    ) -> Self:
        """Envoy's admission control: 30 s, at least 95 % successes, at most 80 % refused.

        Source: Envoy `admission_control.proto`.
        """
        check_number("Throttle.envoy", "success_threshold", success_threshold, 0.01, 1.0, "")
        check_number("Throttle.envoy", "min_rps", min_rps, 0.0, 1e9, " a second")
        return cls(
            1.0 / success_threshold,
            30.0,
            30,
            aggression,
            0.8,
            round(min_rps * 30),
            count_refused=False,
        )

    @classmethod
    def failsafe_go(
        cls, failure_threshold: float = 0.1, max_probability: float = 0.9, min_calls: int = 0
    ) -> Self:
        """failsafe-go's AdaptiveThrottler: 1 min in 20 slices, at most 10 % failures, at most 90 % refused.

        Source: failsafe-go `adaptivethrottler/adaptivethrottler.go`.
        """
        check_number("Throttle.failsafe_go", "failure_threshold", failure_threshold, 0.0, 0.99, "")
        return cls(
            1.0 / (1.0 - failure_threshold),
            60.0,
            20,
            1.0,
            max_probability,
            min_calls,
            count_refused=False,
        )

    def admit(self, now: float, draw: float) -> bool:
        """May a call be made? `draw` in [0, 1) decides where only a share may. If so, `settle` is due."""
        with self._lock:
            if now >= self._ends_at:
                self._move(now)
            requests = self._requests
            if (
                requests > self.k * self._accepts
                and requests >= self.min_calls
                and draw < self._probability()
            ):
                if self.count_refused:
                    self._requests = requests + 1
                    self._rows[-1][0] += 1
                return False
            self._requests = requests + 1
            self._rows[-1][0] += 1
            return True

    def settle(self, now: float, accepted: bool | None) -> None:
        """An admitted call is over: did the server accept it? None takes it back: cancelled, or its end says nothing.

        Accepted is whatever the server has worked on, errors of the caller's making included; not accepted are throttling,
        overload, timeouts, refused connections.
        """
        if accepted is False:
            return
        with self._lock:
            if now >= self._ends_at:
                self._move(now)
            if accepted:
                self._accepts += 1
                self._rows[-1][1] += 1
            else:  # from the latest slice: the sum is right now, and again when both have left
                self._requests -= 1
                self._rows[-1][0] -= 1

    def reject_probability(self, now: float) -> float:
        """The share of calls that is refused now."""
        with self._lock:
            if now >= self._ends_at:
                self._move(now)
            return self._probability()

    def tally(self, now: float) -> tuple[int, int]:
        """(requests, accepted) in the window."""
        with self._lock:
            if now >= self._ends_at:
                self._move(now)
            return self._requests, self._accepts

    def _probability(self) -> float:
        if self._requests < self.min_calls:
            return 0.0
        return reject_probability(
            self._requests, self._accepts, self.k, self.aggression, self.max_probability
        )

    def _move(self, now: float) -> None:
        """Begin a slice, and let those pass in which nothing happened. A clock that has stepped back waits for itself."""
        number = floor(now / self._slice_s)
        if self._number is not None:
            for _ in range(min(number - self._number, self.slices)):
                requests, accepts = self._rows.pop(0)
                self._rows.append([0, 0])
                self._requests -= requests
                self._accepts -= accepts
        self._number = number
        self._ends_at = (number + 1) * self._slice_s

    def _resume(self) -> None:
        self._number = None
        self._ends_at = -inf
