"""What every budget answers to, so that retries and hedges can share one and drivers need to know none of them."""

from __future__ import annotations

from math import isfinite
from threading import Lock

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self


class Budget:
    """How many retries all calls together may make. Told the time (`now`, monotonic seconds) and the fate of calls.

    * `idle`: a call that succeeds at its first attempt would change nothing now; drivers skip `succeed` then.
    * `counts_calls`: `begin`, `end` and `release` matter, and every call must make them.

    One lock each, held for arithmetic only. Budgets can be pickled and copied; a copy starts with the same balance and
    shares nothing. This base class has no limit.
    """

    __slots__ = ("_lock", "idle")

    counts_calls: ClassVar[bool] = False
    idle: bool

    def __init__(self) -> None:
        self._lock = Lock()
        self.idle = True

    def begin(self, now: float) -> None:
        """A call starts."""

    def end(self, now: float) -> None:
        """A call is over, in whatever way; exactly once for each `begin`."""

    def succeed(self, now: float, charge: float) -> None:
        """A call has succeeded; `charge` is what its last retry cost, 0 if there was none."""

    def fail(self, now: float, throttled: bool) -> None:
        """A retryable failure is final for other reasons than this budget (the last attempt, the deadline)."""

    def withdraw(self, now: float, throttled: bool) -> float | None:
        """May one more retry be made, after a failure that was throttling or not? Its charge, or None: refused."""
        return 0.0

    def release(self, now: float) -> None:
        """A granted retry is over; exactly once for each grant."""

    def balance(self, now: float) -> float:
        """How many retries could be made now."""
        return float("inf")

    def __getstate__(self) -> dict[str, Any]:
        names = [n for kind in type(self).__mro__ for n in getattr(kind, "__slots__", ())]
        return {name: getattr(self, name) for name in names if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = Lock()
        for name, value in state.items():
            setattr(self, name, value)

    def __copy__(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    def __repr__(self) -> str:
        shown = {n: v for n, v in self.__getstate__().items() if not n.startswith("_")}
        shown.pop("idle", None)
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in shown.items())})"


UNLIMITED = Budget()  #: the null object: every retry is allowed


def number(owner: str, field: str, value: object, least: float, most: float) -> float:
    """A finite number within [least, most]; the message says what else to do."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{owner}: {field} must be a number, got {value!r}.")
    if not isfinite(value) or not least <= value <= most:
        raise ValueError(
            f"{owner}: {field} must be in [{least:g}, {most:g}], got {value!r}. "
            "Use UNLIMITED (budget=None) to have no budget."
        )
    return value
