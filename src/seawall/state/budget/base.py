"""What every budget answers to, so that retries and hedges can share one and drivers need to know none of them."""

from __future__ import annotations

from threading import Lock

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any, ClassVar, SupportsIndex, cast
else:

    def cast(_: str, value: object) -> object:
        """What `typing` has: a mark for type checkers."""
        return value


class Budget:
    """How many retries all calls together may make. Told the time (`now`, monotonic seconds) and the fate of calls.

    * `idle`: a call that succeeds at its first attempt would change nothing now; drivers skip `succeed` then.
    * `counts_calls`: `begin`, `end` and `release` matter, and every call must make them.

    One lock each, held for arithmetic only. A clock that steps back breaks nothing and buys no retry. Budgets can be pickled
    and copied: the copy shares nothing, owns the same credit, and has no calls in flight, for those belong to the original.
    This base class has no limit; `UNLIMITED` is its one instance that anybody needs.
    """

    __slots__ = ("__weakref__", "_lock", "idle")

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
        """How many retries could be made now, were nothing else to happen; a whole number or infinity."""
        return float("inf")

    def __getstate__(self) -> dict[str, Any]:
        """Settings and credit, taken at one instant; without the lock."""
        with self._lock:
            plain, slots = cast(
                "tuple[dict[str, Any] | None, dict[str, Any]]", super().__getstate__()
            )
        state = {**(plain or {}), **slots}
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = Lock()
        for name, value in state.items():
            setattr(self, name, value)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        # The null object stays the one object, for those who ask `is UNLIMITED`.
        return "UNLIMITED" if self is UNLIMITED else super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        if self is UNLIMITED:
            return "UNLIMITED"
        shown = {n: v for n, v in self.__getstate__().items() if not n.startswith("_")}
        shown.pop("idle", None)
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in sorted(shown.items()))})"


UNLIMITED = Budget()  #: the null object: every retry is allowed


def number(
    owner: str, field: str, value: object, least: float, most: float, default: float
) -> float:
    """A number within [least, most]; the message says what else to do."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{owner}: {field} must be a number, got {value!r}. Default: {default:g}.")
    if not least <= value <= most:  # a NaN is not, either
        raise ValueError(
            f"{owner}: {field} must be in [{least:g}, {most:g}], got {value!r}. "
            f"Default: {default:g}; budget=None or UNLIMITED sets no limit to retries."
        )
    return value


def whole(owner: str, field: str, value: object, most: int, default: int) -> int:
    """A whole number within [0, most]."""
    number(owner, field, value, 0, most, default)
    if not isinstance(value, int):
        raise TypeError(
            f"{owner}: {field} must be a whole number, got {value!r}. Default: {default}."
        )
    return value
