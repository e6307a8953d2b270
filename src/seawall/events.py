"""What policies report: plain immutable records, made only when somebody listens.

Never the user's arguments or results; an error only as the exception object itself.
"""

from __future__ import annotations

from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Literal

    StopReason = Literal[
        "not retryable",
        "attempts",
        "deadline",
        "budget",
        "nested",
        "do not retry",
        "server said stop",
        "hint too long",
    ]
else:  # annotations are never evaluated
    StopReason = str


class Event(Record):
    """Base of all events. `at`: the world's monotonic time in seconds."""

    at: float


class RetryScheduled(Event):
    """An attempt has failed and another will follow after `delay_s` seconds."""

    attempt: int
    delay_s: float
    error: Exception | None


class GaveUp(Event):
    """A call has failed for good after `attempt` attempts; `reason` says which limit it met.

    `error` is None when a result, not an exception, was the failure. `wanted_s` is the wait that a server asked for and
    that was too long.
    """

    attempt: int
    reason: StopReason
    error: Exception | None
    wanted_s: float | None = None


class Recovered(Event):
    """A call has succeeded after failed attempts; `attempt` is the one that succeeded."""

    attempt: int


class TimedOut(Event):
    """A `Timeout` has cut a call short after `limit_s` seconds."""

    limit_s: float


class BreakerOpened(Event):
    """A breaker has opened for `open_s` seconds, the `opening`-th time in a row.

    `calls`, `failures`, `slow`: what it had counted. `enforced` is False for one that only watches: nothing is refused.
    """

    open_s: float
    opening: int
    calls: int
    failures: int
    slow: int
    enforced: bool = True


class BreakerHalfOpened(Event):
    """The open time of a breaker is over; probes are admitted."""


class BreakerRecovering(Event):
    """The probes have succeeded, or an isolated breaker was released: a growing share of the calls is admitted."""


class BreakerClosed(Event):
    """A breaker admits every call again."""


class BreakerOrdered(Event):
    """Somebody has put a breaker into a `state` by hand: isolated, disabled or metrics-only."""

    state: str


class BreakerRefused(Event):
    """A breaker has refused a call because of its `state`; `retry_after_s` as in `BreakerOpen`."""

    state: str
    retry_after_s: float | None
