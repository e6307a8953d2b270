"""What one call came to: a value or an error. Inside the core nothing is thrown; drivers convert once, both ways."""

from __future__ import annotations

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any


class Outcome:
    """The result of an attempt, or of a whole call.

    `error` is None for a success; then `value` is what the call returned. An outcome never holds a `BaseException` that
    is not an `Exception`: cancellation, KeyboardInterrupt and SystemExit pass through every policy without a verdict.
    """

    __slots__ = ("error", "value")

    def __init__(self, value: Any = None, error: Exception | None = None) -> None:
        self.value = value
        self.error = error

    def __repr__(self) -> str:
        if self.error is not None:
            return f"Outcome(error={self.error!r})"
        return f"Outcome(value={self.value!r})"


NOTHING = Outcome()  #: the answer to an effect that has no result of its own
