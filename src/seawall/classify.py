"""Which outcomes are failures worth another attempt.

`on=` has no default: no default can be right. What it may be: an exception type, a tuple of them, a predicate on the
exception, or a ready `Classifier` (adapters bring their own).
"""

from __future__ import annotations

from seawall.errors import retry_forbidden
from seawall.hint import NO_HINT, Hint, as_hint
from seawall.outcome import Outcome
from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Predicate = Callable[[Exception], bool]
    On = type[Exception] | tuple[type[Exception], ...] | Predicate
else:  # annotations are never evaluated
    On = Predicate = object


class Verdict:
    """What a classifier says of one outcome.

    * `ok`: a success. * `retry`: a failure that another attempt may mend. * `throttled`: the callee is overloaded (it
    costs less of an AWS budget, and backs off from a longer base). * `hint`: the callee's advice. * `forbidden`: marked by
    `do_not_retry`.
    """

    __slots__ = ("forbidden", "hint", "ok", "retry", "throttled")

    def __init__(
        self,
        *,
        ok: bool = False,
        retry: bool = False,
        throttled: bool = False,
        hint: Hint = NO_HINT,
        forbidden: bool = False,
    ) -> None:
        self.ok = ok
        self.retry = retry
        self.throttled = throttled
        self.hint = hint
        self.forbidden = forbidden


OK = Verdict(ok=True)
PERMANENT = Verdict()
FORBIDDEN = Verdict(forbidden=True)
RETRY = Verdict(retry=True)


class Classifier(Record):
    """Judges outcomes by exception type, exception value and result.

    * `on`: exception type(s) or a predicate on the exception; None: no exception is retried.
    * `on_result`: a predicate on the returned value; True means "a failure, try again". Default: every result is a success.
    * `throttled`: a predicate on the outcome that says "the callee is overloaded". Default: never.
    * `hint`: reads the callee's advice from an outcome: a `Hint`, seconds, or None. Default: an exception's own numeric
      `retry_after_s` attribute, if it has one.

    Never retried, whatever `on` says: exceptions marked by `do_not_retry`, and cancelled futures
    (`concurrent.futures.CancelledError` is an ordinary `Exception`, but somebody wanted the work to stop).
    """

    on: On | None
    on_result: Callable[[Any], bool] | None = None
    throttled: Callable[[Outcome], bool] | None = None
    hint: Callable[[Outcome], Hint | float | None] | None = None

    if TYPE_CHECKING:

        @property
        def plain(self) -> set[type]:
            """Exception types that were found to be simply retryable: no mark, no hint, no question to ask."""
            ...

        @property
        def _types(self) -> type[Exception] | tuple[type[Exception], ...]: ...

    def __post_init__(self) -> None:
        _check_on(self.on)
        if self.on is None and self.on_result is None:
            raise TypeError(
                "on must say which exceptions to retry: on=None and on_result=None match nothing. "
                "Pass on=SomeError, on=(A, B), on=predicate, or on_result=predicate."
            )
        named = isinstance(self.on, (type, tuple))
        self.__dict__["_types"] = (
            self.on if named else ()
        )  # not fields: what isinstance() is given, worked out once,
        self.__dict__["plain"] = set[type]()  # and the types already found to be simply retryable

    def judge(self, outcome: Outcome) -> Verdict:
        """The verdict on one outcome. An exception raised by a user's predicate is the user's: it propagates."""
        error = outcome.error
        if error is None:
            if self.on_result is None or not self.on_result(outcome.value):
                return OK
        elif not (isinstance(error, self._types) or (self._types == () and self._says_so(error))):
            return PERMANENT
        elif retry_forbidden(error):
            return FORBIDDEN
        elif (
            type(error).__name__ == "CancelledError"
        ):  # concurrent.futures: an Exception, but a cancellation
            return PERMANENT
        if self.throttled is None and self.hint is None and not hasattr(error, "retry_after_s"):
            self._remember(error)
            return RETRY
        said = self.hint(outcome) if self.hint is not None else _own_advice(error)
        return Verdict(
            retry=True,
            throttled=self.throttled is not None and self.throttled(outcome),
            hint=as_hint(said),
        )

    def _remember(self, error: Exception | None) -> None:
        """A type that `on` names outright needs no second look; a few types are all that a program raises."""
        kind: type[object] = type(error)
        group = issubclass(kind, BaseExceptionGroup)
        if error is not None and self._types != () and not group and len(self.plain) < 64:
            self.plain.add(kind)

    def _says_so(self, error: Exception) -> bool:
        on = self.on
        return on is not None and not isinstance(on, (type, tuple)) and on(error)


def _own_advice(error: Exception | None) -> float | None:
    said = getattr(error, "retry_after_s", None)
    return said if isinstance(said, (int, float)) else None


def _check_on(on: object) -> None:
    kinds: tuple[object, ...] = (on,)
    if isinstance(on, tuple):
        kinds = on  # pyright: ignore[reportUnknownVariableType]
    if isinstance(on, tuple) and not kinds:
        raise TypeError("on=() matches no exception. Name at least one exception type.")
    for kind in kinds:
        if isinstance(kind, type):
            if not issubclass(kind, BaseException):
                raise TypeError(
                    f"on must hold exception types, got {kind.__name__}, which is not one."
                )
            if not issubclass(kind, Exception):
                raise TypeError(
                    f"on={kind.__name__} would retry cancellation or interpreter exit. "
                    "Only subclasses of Exception can be retried; use on=Exception for all of those."
                )
        elif isinstance(on, tuple):
            raise TypeError(
                f"on=(...) must hold exception types only, got {kind!r}. "
                "To mix types and conditions pass one predicate: on=lambda error: ..."
            )
        elif kind is not None and not callable(kind):
            raise TypeError(
                f"on must be an exception type, a tuple of them or a predicate, got {kind!r}."
            )
