"""What every concurrency limit answers to, so that the gate needs to know none of them."""

from __future__ import annotations

from math import log10

from seawall.quantity import at_least


class Limit:
    """How many calls may be in flight, learnt from how long calls take. `limit` is the answer, a whole number.

    Told of calls that have ended; without a lock or a clock of its own: whoever owns a limit locks, as `Gate` does.
    This base class is a limit that stays what it is.
    """

    __slots__ = ("limit",)

    limit: int

    def __init__(self, initial: int = 20) -> None:
        at_least(type(self).__name__, "initial", initial, 1)
        self.limit = initial

    def on_sample(
        self, now: float, rtt_s: float, inflight: int, dropped: bool, draw: float = 0.5
    ) -> None:
        """A call has ended `now` after `rtt_s` seconds; when it started there were `inflight`, itself included.

        `dropped`: it was lost to overload (timeout, throttling, refused connection). `draw` in [0, 1): for algorithms that
        probe at random times. An `rtt_s` of 0 or less (a clock that stepped back) teaches nothing; a drop still counts.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}(limit={self.limit})"


def check_bounds(owner: str, initial: int, least: int, most: int) -> None:
    """1 <= least <= initial <= most, all whole."""
    at_least(owner, "initial", initial, 1)
    at_least(owner, "least", least, 1)
    at_least(owner, "most", most, 1)
    if not least <= initial <= most:
        raise ValueError(
            f"{owner}: initial must be from least to most: initial={initial}, least={least}, most={most}. "
            "Move initial, or widen the bounds."
        )


def step_for(limit: float) -> int:
    """max(1, log10 of the limit), whole: the step in which Vegas and its kin move.

    Source: Netflix concurrency-limits `Log10RootFunction.java`.
    """
    return max(1, int(log10(max(1, int(limit)))))
