"""Growth curves: how the level grows; their field `jitter` says what a draw makes of it."""

from __future__ import annotations

from collections import abc
from math import isfinite

from seawall.backoff.base import Curve
from seawall.backoff.checks import (
    LONGEST_S,
    check_base_and_cap,
    check_not_above,
    check_number,
    check_seconds,
)
from seawall.backoff.formulas import (
    constant,
    exponential,
    fibonacci,
    jittered,
    linear,
    polynomial,
    sequence,
)
from seawall.backoff.jitter import Jitter

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar

    Waits = Callable[[int], float] | Callable[[int, float], float]
else:  # annotations are never evaluated
    Waits = object


class Constant(Curve):
    """The same level every time.

    * `delay_s`: the level. Default 1 s.
    * `jitter`: one of `JITTERS`. Default full: U(0, delay). "none" keeps all clients together.
    * `floor_s`: no wait is shorter. Default 0.
    * `cap_s`: no wait is longer. Default None: as far as the jitter reaches.
    """

    delay_s: float = 1.0
    jitter: Jitter = "full"
    floor_s: float = 0.0
    cap_s: float | None = None

    def __post_init__(self) -> None:
        check_seconds("Constant", "delay_s", self.delay_s)
        if self.cap_s is None:
            bounds = self._bounds(
                self.jitter, self.floor_s, self.delay_s, clipped=False, cap="delay_s"
            )
        else:
            check_seconds("Constant", "cap_s", self.cap_s)
            check_not_above("Constant", "delay_s", self.delay_s, "cap_s", self.cap_s)
            bounds = self._bounds(self.jitter, self.floor_s, self.cap_s)
        self._lower(constant, self.delay_s, *bounds)

    def step(self, attempt: int, memory: float, draw: float) -> tuple[float, float]:
        if self.delay_s == 0.0:  # "at once" must not cost a formula
            return self.floor_s, memory
        return super().step(attempt, memory, draw)


class Linear(Curve):
    """base, base + step, base + 2·step …, at most the cap.

    * `base_s`: the first level. Default 0.1 s.
    * `cap_s`: the highest level. Default 20 s.
    * `step_s`: what each attempt adds. Default None: `base_s`, so that the levels are base·attempt.
    * `jitter`, `floor_s`: as for `Exponential`.
    """

    base_s: float = 0.1
    cap_s: float = 20.0
    step_s: float | None = None
    jitter: Jitter = "full"
    floor_s: float = 0.0

    def __post_init__(self) -> None:
        check_base_and_cap("Linear", self.base_s, self.cap_s)
        if self.step_s is not None:
            check_seconds("Linear", "step_s", self.step_s)
        step_s = self.base_s if self.step_s is None else self.step_s
        bounds = self._bounds(self.jitter, self.floor_s, self.cap_s)
        self._lower(linear, self.base_s, self.cap_s, step_s, *bounds)


class Exponential(Curve):
    """base, base·multiplier, base·multiplier² …, at most the cap; then the jitter. The default of the library.

    * `base_s`: the first level. Default 0.1 s; 0 stays 0.
    * `cap_s`: the highest level. Default 20 s.
    * `multiplier`: growth per attempt, at least 1. Default 2.
    * `jitter`: one of `JITTERS`. Default full: U(0, level). With full jitter a later wait may well be shorter than an
      earlier one; what grows is the range. `seawall explain full` shows it.
    * `floor_s`: no wait is shorter. Default 0. The fixed part of the wait is raised to the floor and the random part
      stays on top of it, so full jitter with a floor is floor + U(0, level), within the cap.
    """

    base_s: float = 0.1
    cap_s: float = 20.0
    multiplier: float = 2.0
    jitter: Jitter = "full"
    floor_s: float = 0.0

    def __post_init__(self) -> None:
        check_base_and_cap("Exponential", self.base_s, self.cap_s)
        check_number("Exponential", "multiplier", self.multiplier, 1.0, LONGEST_S, "")
        bounds = self._bounds(self.jitter, self.floor_s, self.cap_s)
        self._lower(exponential, self.base_s, self.cap_s, self.multiplier, *bounds)


class Fibonacci(Curve):
    """base × 1, 1, 2, 3, 5, 8 …, at most the cap. Grows by 1.618 in the long run. Fields as for `Exponential`."""

    base_s: float = 0.1
    cap_s: float = 20.0
    jitter: Jitter = "full"
    floor_s: float = 0.0

    def __post_init__(self) -> None:
        check_base_and_cap("Fibonacci", self.base_s, self.cap_s)
        bounds = self._bounds(self.jitter, self.floor_s, self.cap_s)
        self._lower(fibonacci, self.base_s, self.cap_s, *bounds)


class Polynomial(Curve):
    """base·attempt^power, at most the cap.

    `power`: at least 0. Default 2: base × 1, 4, 9, 16 … Other fields as for `Exponential`.
    """

    base_s: float = 0.1
    cap_s: float = 20.0
    power: float = 2.0
    jitter: Jitter = "full"
    floor_s: float = 0.0

    def __post_init__(self) -> None:
        check_base_and_cap("Polynomial", self.base_s, self.cap_s)
        check_number("Polynomial", "power", self.power, 0.0, LONGEST_S, "")
        bounds = self._bounds(self.jitter, self.floor_s, self.cap_s)
        self._lower(polynomial, self.base_s, self.cap_s, self.power, *bounds)


class Sequence(Curve):
    """The waits as listed; the last one repeats.

    * `waits_s`: at least one number of seconds.
    * `jitter`: one of `JITTERS`. Default none, since the list says what is wanted; a fleet needs "full" or "equal".
    * `floor_s`: no wait is shorter. Default 0.
    """

    waits_s: abc.Sequence[float]
    jitter: Jitter = "none"
    floor_s: float = 0.0

    def __post_init__(self) -> None:
        waits_s = _listed(self.waits_s)
        self.__dict__["waits_s"] = waits_s  # a list is accepted, a hashable tuple is kept
        bounds = self._bounds(
            self.jitter, self.floor_s, max(waits_s), clipped=False, cap="the longest of waits_s"
        )
        self._lower(sequence, *bounds, *waits_s)


def _listed(waits_s: object) -> tuple[float, ...]:
    """The waits as a tuple of checked numbers."""
    if isinstance(waits_s, str) or not isinstance(waits_s, abc.Sequence):
        raise TypeError(
            f"Sequence: waits_s must be a list of seconds, got {waits_s!r}. "
            "Write it like Sequence((0.1, 0.5, 2.0))."
        )
    listed: tuple[float, ...] = tuple(waits_s)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not listed:
        raise ValueError("Sequence: waits_s must hold at least one wait, got (). Add one.")
    for place, wait_s in enumerate(listed):
        check_seconds("Sequence", f"waits_s[{place}]", wait_s)
    return listed


class Custom(Curve):
    """Your own function: attempt -> seconds, or (attempt, draw) -> seconds.

    * `waits`: called with the attempt (1: the wait after the first failure), and with the draw in [0, 1) when it takes
      two arguments. Must give a finite number of seconds that is not negative: anything else raises `ValueError` or
      `TypeError` from the call that was about to wait. A function of the module's top level can be pickled.
    * `cap_s`: a longer result is the cap. Default 20 s.
    * `jitter`: one of `JITTERS`, for functions of the attempt alone. Default none.
    * `floor_s`: no wait is shorter. Default 0.
    """

    waits: Waits
    cap_s: float = 20.0
    jitter: Jitter = "none"
    floor_s: float = 0.0

    _takes_draw: ClassVar[bool] = False
    _jitter_by: ClassVar[tuple[float, float, float, float, float]] = (0.0, 0.0, 1.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not callable(self.waits):
            raise TypeError(
                f"Custom: waits must be a function, got {self.waits!r}. "
                "Give a function of the attempt, or Sequence for a list of waits."
            )
        check_seconds("Custom", "cap_s", self.cap_s)
        takes_draw = _takes_two(self.waits)
        if takes_draw and self.jitter != "none":
            raise ValueError(
                f"Custom: a function of (attempt, draw) makes its own jitter, got jitter={self.jitter!r}. "
                "Leave jitter out, or give a function of the attempt alone."
            )
        self.__dict__["_takes_draw"] = takes_draw
        self.__dict__["_jitter_by"] = self._bounds(self.jitter, self.floor_s, self.cap_s)

    def step(self, attempt: int, memory: float, draw: float) -> tuple[float, float]:
        given: object
        if self._takes_draw:
            given = self.waits(attempt, draw)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        else:
            given = self.waits(attempt)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        if isinstance(given, bool) or not isinstance(given, (int, float)):
            raise TypeError(
                f"Custom: waits({attempt}) must give a number of seconds, got {given!r}. "
                "Return an int or a float."
            )
        if not isfinite(given) or given < 0:
            raise ValueError(
                f"Custom: waits({attempt}) must give a finite number of seconds >= 0, got {given!r}. "
                f"Results above cap_s={self.cap_s!r} are cut; guard the function against overflow."
            )
        level_s = min(float(given), float(self.cap_s))
        return jittered(level_s, draw, *self._jitter_by), memory


def _takes_two(function: Waits) -> bool:
    """Does the function take (attempt, draw)? Imports `inspect` only here: few programs write their own waits."""
    from inspect import signature

    try:
        bind = signature(function).bind
    except (TypeError, ValueError):  # some built-ins have no signature
        return False
    for arguments in ((1,), (1, 0.5)):
        try:
            bind(*arguments)
        except TypeError:
            continue
        return len(arguments) == 2
    raise TypeError(
        f"Custom: waits must take (attempt) or (attempt, draw), got {function!r}. "
        "Bind other parameters with functools.partial."
    )
