"""A call told in full: its outcome, and beside it what happened on the way."""

from __future__ import annotations

from seawall.events import Event, RetryScheduled
from seawall.outcome import Outcome
from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any


class CallReport(Record):
    """The outcome of a call and the events of its policies.

    Earlier failures are found here and not through the final exception: that one is the user's own object and stays as it was.
    """

    outcome: Outcome
    events: tuple[Event, ...]

    @property
    def value(self) -> Any:
        """What the call returned; None if it failed."""
        return self.outcome.value

    @property
    def error(self) -> Exception | None:
        """The exception that the call would have raised; None for a success."""
        return self.outcome.error

    @property
    def earlier(self) -> tuple[Exception | None, ...]:
        """The errors of the attempts before the last, in order; None where a result was the failure."""
        return tuple(e.error for e in self.events if isinstance(e, RetryScheduled))

    @property
    def delays_s(self) -> tuple[float, ...]:
        """The waits between the attempts, in seconds."""
        return tuple(e.delay_s for e in self.events if isinstance(e, RetryScheduled))

    @property
    def attempts(self) -> int:
        """How many attempts were made."""
        return len(self.delays_s) + 1
