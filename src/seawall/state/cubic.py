"""The adaptive send rate of the AWS SDKs: nothing is limited until the server throttles, then CUBIC finds the rate again."""

from __future__ import annotations

from math import floor, inf

from seawall.state.bucket import exact_wait
from seawall.state.machine import Machine

_BETA = 0.7
_SCALE = 0.4
_SMOOTHING = 0.8
_SLICES_PER_S = 2  # the rate is measured anew every half second
_LEAST_PER_S = 0.5
_LEAST_CAPACITY = 1.0
_MOST_OF_MEASURED = 2.0
_LONGEST_S = 1e6  # since the last throttle; the cube of it is beyond any rate


def zero_point_s(w_max: float, beta: float = _BETA, scale: float = _SCALE) -> float:
    """K: seconds after a throttle until the rate is back at `w_max`, the rate at which it happened.

    Source: RFC 9438 section 4.2, in requests a second instead of segments.
    """
    return float(((w_max * (1 - beta)) / scale) ** (1 / 3.0))


def cubic_per_s(w_max: float, since_s: float, zero_s: float, scale: float = _SCALE) -> float:
    """The rate `since_s` seconds after a throttle at `w_max`: steep, flat around `zero_s`, steep again."""
    return float(scale * (since_s - zero_s) ** 3 + w_max)


class CubicRate(Machine):
    """A client-side send rate that follows what the server bears.

    Ask `admit` before each attempt, tell `settle` of each answer. Until the first throttling answer nothing is limited
    (`enabled` is False); afterwards a token bucket of `fill_per_s`, at least 0.5/s with a capacity of at least 1.

    * A throttling answer at the measured rate w: the rate is 0.7 w, and w the height to which it wants to return.
    * Any other answer: the rate is the cubic of the time since, and never above twice the measured rate.
    * The measured rate counts answers in half seconds and smooths them with 0.8.

    `start_s`: the time at which it begins, in the clock of `now`. Default: the first time that it is told. A clock that
    steps back refills nothing.

    Source: "Retry behavior", AWS SDKs and Tools Reference Guide, adaptive mode; botocore `retries/adaptive.py`,
    `throttling.py`, `bucket.py`, with which tests compare it answer by answer.
    """

    __slots__ = (
        "_at",
        "_capacity",
        "_count",
        "_slice",
        "_throttled_at",
        "_tokens",
        "_w_max",
        "_zero_s",
        "enabled",
        "fill_per_s",
        "measured_per_s",
    )

    def __init__(self, start_s: float | None = None) -> None:
        super().__init__()
        self.enabled = False
        self.fill_per_s = 1.0
        self.measured_per_s = 0.0
        self._tokens = 0.0
        self._capacity = _LEAST_CAPACITY
        self._count = 0
        self._w_max = 0.0
        self._zero_s = 0.0
        self._at = inf  # of the last refill; inf: no time was told yet
        self._throttled_at = 0.0
        self._slice = -inf  # when the half second began that was counted last; -inf: none yet
        if start_s is not None:
            self._begin(start_s)

    def admit(self, now: float) -> float:
        """May an attempt be made: 0.0, and a token is gone. Or else seconds after which to ask again; nothing is taken."""
        if not self.enabled:
            return 0.0
        with self._lock:
            self._refill(now)
            if self._tokens >= 1.0:
                self._tokens -= 1.0
                return 0.0
            at, tokens, fill_per_s = self._at, self._tokens, self.fill_per_s
            due = at + (1.0 - tokens) / fill_per_s
            return exact_wait(now, due, lambda then: tokens + (then - at) * fill_per_s >= 1.0)

    def settle(self, now: float, throttled: bool) -> None:
        """An answer has come: throttling, or any other."""
        with self._lock:
            if self._at == inf:
                self._begin(now)
            measured = self._measure(now)
            if throttled:
                rate = min(measured, self.fill_per_s) if self.enabled else measured
                self._w_max = rate
                self._zero_s = zero_point_s(rate)
                self._throttled_at = max(
                    now, self._at
                )  # a clock behind would let the rate grow early
                self.enabled = True
                rate *= _BETA
            else:
                since_s = min(max(0.0, now - self._throttled_at), _LONGEST_S)
                rate = cubic_per_s(self._w_max, since_s, self._zero_s)
            rate = min(rate, _MOST_OF_MEASURED * measured)
            self._refill(now)  # at the old rate
            self.fill_per_s = max(rate, _LEAST_PER_S)
            self._capacity = max(rate, _LEAST_CAPACITY)
            self._tokens = min(self._tokens, self._capacity)

    def tokens(self, now: float) -> float:
        """What the bucket would hold now; below 1 the next attempt waits, if `enabled`."""
        with self._lock:
            self._refill(now)
            return self._tokens

    # --- under the lock ----------------------------------------------------------------------------

    def _measure(self, now: float) -> float:
        self._count += 1
        slice_at = floor(now * _SLICES_PER_S) / _SLICES_PER_S
        before = self._slice
        if slice_at > before:
            rate = self._count / (slice_at - before)
            self.measured_per_s = rate * _SMOOTHING + self.measured_per_s * (1 - _SMOOTHING)
            self._count = 0
            self._slice = slice_at
        return self.measured_per_s

    def _refill(self, now: float) -> None:
        if self._at == inf:
            self._begin(now)
        elif now > self._at:
            flowed = (now - self._at) * self.fill_per_s
            self._tokens = min(self._capacity, self._tokens + flowed)
            self._at = now

    def _begin(self, now: float) -> None:
        """Take `now` for the moment from which the times kept so far are counted."""
        self._throttled_at += now
        if self._slice == -inf:
            self._slice = float(floor(now))  # whole seconds, as in botocore
        else:
            self._slice = floor((now + self._slice) * _SLICES_PER_S) / _SLICES_PER_S
        self._at = now

    def _resume(self) -> None:
        if self._at != inf:
            self._throttled_at -= self._at
            self._slice -= self._at
            self._at = inf
