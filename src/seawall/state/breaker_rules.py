"""When a breaker opens, for how long, and how it comes back: the settings of `state.breaker`."""

from __future__ import annotations

from seawall.backoff import Backoff, Exponential
from seawall.quantity import at_least, positive_s
from seawall.record import Record
from seawall.state.window import LastCalls, LastSeconds


class BreakerRules(Record):
    """When a breaker opens, for how long, and how it comes back.

    It opens when any of these is reached, looked at after each counted call:

    * `failure_ratio`: this share of the calls in `window` failed (at >=). Default 0.5; None: not looked at.
    * `consecutive`: this many failures in a row. Default None.
    * `slow_after_s`, `slow_ratio`: this share of the calls in `window` took `slow_after_s` seconds or longer. Default None
      (nothing is slow) and 0.5.

    * `window`: `LastSeconds` or `LastCalls`. Default the last 30 s (Polly v8).
    * `min_calls`: the shares mean nothing under this many calls in the window. Default 20 (Hystrix).

    Then:

    * `open_backoff`: the open time; its n-th step for the n-th opening in a row. Default 5 s doubling to at most 300 s, half of
      it random (Finagle's failure accrual), so that a fleet that broke together does not probe together.
    * `probes`: calls admitted while half-open, in total. Default 3. A probe without a verdict gives its place to another.
    * `probes_needed`: of these must succeed to come back; as soon as they no longer can, it opens again. Default None: all. A
      slow probe counts as a failed one.
    * `probe_limit_s`: a probe that has not come back after so long has lost its place; its result is ignored. Default 60 s.
    * `ramp_s`: after the probes the admitted share grows linearly from nothing to everything. Default 0: all at once. The row
      of openings ends, and the open time starts anew, only when the ramp is over.
    """

    failure_ratio: float | None = 0.5
    min_calls: int = 20
    window: LastCalls | LastSeconds = LastSeconds(30.0)
    consecutive: int | None = None
    slow_after_s: float | None = None
    slow_ratio: float = 0.5
    open_backoff: Backoff = Exponential(base_s=5.0, cap_s=300.0, jitter="equal")
    probes: int = 3
    probes_needed: int | None = None
    probe_limit_s: float = 60.0
    ramp_s: float = 0.0

    def __post_init__(self) -> None:
        if self.failure_ratio is None and self.consecutive is None and self.slow_after_s is None:
            raise ValueError(
                "BreakerRules: failure_ratio, consecutive and slow_after_s are all None, so nothing could open the "
                "breaker. Set one of them, or leave the breaker out."
            )
        _share("failure_ratio", 1.0 if self.failure_ratio is None else self.failure_ratio)
        _share("slow_ratio", self.slow_ratio)
        at_least("BreakerRules", "min_calls", self.min_calls, 1)
        if isinstance(self.window, LastCalls) and self.window.size < self.min_calls:
            raise ValueError(
                "BreakerRules: min_calls must be <= the size of the window, or it never opens: "
                f"min_calls={self.min_calls}, window={self.window!r}. Lower min_calls or enlarge the window."
            )
        if self.consecutive is not None:
            at_least("BreakerRules", "consecutive", self.consecutive, 1)
        if self.slow_after_s is not None:
            positive_s("BreakerRules", "slow_after_s", self.slow_after_s)
        at_least("BreakerRules", "probes", self.probes, 1)
        if self.probes_needed is not None:
            at_least("BreakerRules", "probes_needed", self.probes_needed, 1)
            if self.probes_needed > self.probes:
                raise ValueError(
                    "BreakerRules: probes_needed must be <= probes: "
                    f"probes_needed={self.probes_needed}, probes={self.probes}. Raise probes or lower probes_needed."
                )
        positive_s("BreakerRules", "probe_limit_s", self.probe_limit_s)
        if self.ramp_s != 0:
            positive_s("BreakerRules", "ramp_s", self.ramp_s)

    @property
    def needed(self) -> int:
        """Successful probes that it takes to come back."""
        return self.probes if self.probes_needed is None else self.probes_needed


def _share(field: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"BreakerRules: {field} must be a number, got {value!r}.")
    if not 0.0 < value <= 1.0:
        raise ValueError(
            f"BreakerRules: {field} must be in (0, 1], got {value!r}. A share of 0 would open on nothing; "
            "None means: not looked at."
        )
