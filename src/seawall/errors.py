"""Every exception of seawall's own. A call that fails for good raises the user's exception; these are for refusals and limits."""

from __future__ import annotations

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _E = TypeVar("_E", bound=BaseException)


class SeawallError(Exception):
    """Base of all: says which policy refused, why, and when to come back.

    * `policy`: name of the policy that speaks.
    * `retry_after_s`: seconds after which it may be worth coming back, or None when not known.
    """

    def __init__(
        self, message: str, *, policy: str = "", retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.policy = policy
        self.retry_after_s = retry_after_s

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.args), self.__dict__)


def _rebuild(cls: type[SeawallError], args: tuple[Any, ...]) -> SeawallError:
    error = cls.__new__(cls, *args)
    Exception.__init__(error, *args)
    return error


class DeadlineExceeded(SeawallError, TimeoutError):
    """The total deadline has passed before the first attempt could start."""


class AttemptTimeout(SeawallError, TimeoutError):
    """A `Timeout` has cut a call short. With a hard limit in a thread, `goes_on` says what is still running."""

    def __init__(
        self, message: str, *, policy: str = "Timeout", limit_s: float = 0.0, goes_on: str = ""
    ) -> None:
        super().__init__(message, policy=policy)
        self.limit_s = limit_s
        self.goes_on = goes_on


class BreakerOpen(SeawallError):
    """A `Breaker` has refused the call without making it. `retry_after_s`: the rest of its open time, None if not known."""


class OrderWarning(UserWarning):
    """A stack was composed in an order that is known to be bad; the message says why and what to do."""


def do_not_retry(error: _E) -> _E:
    """Mark an exception: no layer, however far out, may retry it. Returns it, so that it can be raised on the spot.

    The SRE book's "overloaded; don't retry": what a layer knows to be hopeless must not be multiplied by the layers above.
    """
    error.__dict__["seawall_do_not_retry"] = True
    return error


def retry_forbidden(error: BaseException) -> bool:
    """Has `do_not_retry` marked this exception, the cause it was raised from, or a member of its group?"""
    if not error.__dict__ and error.__cause__ is None and not isinstance(error, BaseExceptionGroup):
        return False
    waiting: list[BaseException] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if "seawall_do_not_retry" in each.__dict__:
            return True
        seen.add(id(each))  # a chain of causes can be a cycle
        if isinstance(each, BaseExceptionGroup):
            group: BaseExceptionGroup[BaseException] = each  # pyright: ignore[reportUnknownVariableType]
            waiting.extend(e for e in group.exceptions if id(e) not in seen)
        if each.__cause__ is not None and id(each.__cause__) not in seen:
            waiting.append(each.__cause__)
    return False
