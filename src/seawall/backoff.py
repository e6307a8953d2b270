"""How long to wait before each retry: growth curves, jitter, and the published strategies that have a memory.

Two families, and one way to write each wait:

* **Curve × jitter.** `Constant`, `Linear`, `Exponential`, `Fibonacci`, `Polynomial`, `Sequence` and `Custom` say how the
  *level* grows; their field `jitter` says what a draw makes of it. The level is capped first, the jitter comes after, so
  the spread stays when the level has reached the cap.
* **Strategies with their own rule.** `Decorrelated`, `DecorrelatedClamped`, `DecorrelatedFinagle`, `DecorrelatedSmithy`,
  `PollyV2`, `ClientGo`, `Resilience4j`, `Ethernet`: each as its authors published it, since four different formulas are
  called "decorrelated".

The formulas are module-level functions of floats, `formula(attempt, memory, draw, *parameters) -> (delay_s, memory)`, and
call nothing but `math` and each other. A compiler can take these very function objects: `Backoff.lowered` names the
function and its parameters.
"""

from __future__ import annotations

from collections import abc
from math import floor, isfinite, log, sqrt, tanh

from seawall.choice import one_of
from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import ClassVar, Literal

    Jitter = Literal["none", "full", "equal", "proportional", "grpc", "temporal", "additive"]
    Formula = Callable[..., tuple[float, float]]
    Waits = Callable[[int], float] | Callable[[int, float], float]
else:  # annotations are never evaluated
    Jitter = Formula = Waits = object


JITTERS: dict[Jitter, tuple[float, float, float, float]] = {
    "none": (1.0, 0.0, 0.0, 1.0),
    "full": (0.0, 1.0, 0.0, 1.0),
    "equal": (0.5, 0.5, 0.0, 1.0),
    "proportional": (0.75, 0.5, 0.0, 1.0),
    "grpc": (0.8, 0.4, 0.0, 1.2),
    "temporal": (0.8, 0.2, 0.0, 1.0),
    "additive": (1.0, 0.0, 1.0, 1.0),
}
"""Per jitter: fixed share of the level, random share, random seconds on top, highest wait as a multiple of the cap.

* `none`: the level. All clients together.
* `full`: U(0, level) (AWS). Any wait down to 0, which needs the fewest calls under contention.
* `equal`: level/2 + U(0, level/2) (AWS; the Java SDK calls it half jitter). Never under half the level.
* `proportional`: level × U(0.75, 1.25), then at most the cap (Polly v8). Half of the clients pile up at the cap once the
  level has reached it, as published.
* `grpc`: level × U(0.8, 1.2) after the cap (gRPC A6), so up to 1.2 × the cap, as published.
* `temporal`: level × U(0.8, 1) (Temporal server). Never above the cap.
* `additive`: min(level + U(0, 1 s), cap) (Google Cloud). Everybody waits exactly the cap once the level has reached it,
  as published.
"""

LONGEST_S = 1e9
"""Longest cap that is accepted, about 31 years: operating system timers overflow not far above."""

_FAR = 700.0  # e**700 is near the largest float; any level beyond it is the cap
_LOG_GOLDEN = log((1.0 + sqrt(5.0)) / 2.0)
_GOLDEN = (1.0 + sqrt(5.0)) / 2.0
_ROOT_5 = sqrt(5.0)
_EXACT_FIBONACCI = 70.0
_LONGEST_MS = 1e18  # Java stops at Long.MAX_VALUE, nine times that; both are beyond any cap


# --- Formulas -------------------------------------------------------------------------------------------------------


def jittered(
    level_s: float,
    draw: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> float:
    """What `draw` makes of a level: a fixed part, raised to the floor, and a random part on top.

    Raising the fixed part, rather than clipping the result, keeps the clients apart while the level is still under the
    floor. Jitters that never pass their level are squeezed under `top_s`; the others are clipped, as published.
    """
    if level_s <= 0.0:
        return floor_s
    lowest_s = max(floor_s, share * level_s)
    width_s = spread * level_s + added_s
    if share + spread <= 1.0 and added_s == 0.0:
        width_s = min(width_s, top_s - lowest_s)
    return min(lowest_s + draw * width_s, top_s)


def constant(
    attempt: float,
    memory: float,
    draw: float,
    delay_s: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: always `delay_s`."""
    return jittered(delay_s, draw, floor_s, top_s, share, spread, added_s), memory


def linear(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    step_s: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: min(cap, base + step·(attempt - 1))."""
    level_s = min(cap_s, base_s + step_s * (attempt - 1.0))
    return jittered(level_s, draw, floor_s, top_s, share, spread, added_s), memory


def exponential(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    multiplier: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: min(cap, base·multiplier^(attempt - 1))."""
    level_s = cap_s
    if base_s <= 0.0:
        level_s = 0.0
    elif (attempt - 1.0) * log(multiplier) <= _FAR:
        level_s = min(cap_s, base_s * multiplier ** (attempt - 1.0))
    return jittered(level_s, draw, floor_s, top_s, share, spread, added_s), memory


def fibonacci(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: min(cap, base·F(attempt)), F = 1, 1, 2, 3, 5 … by Binet's formula, exact up to F(70), then to 13 digits."""
    level_s = cap_s
    if base_s <= 0.0:
        level_s = 0.0
    elif attempt * _LOG_GOLDEN <= _FAR:
        number = _GOLDEN**attempt / _ROOT_5
        if attempt <= _EXACT_FIBONACCI:
            number = floor(number + 0.5) * 1.0
        level_s = min(cap_s, base_s * number)
    return jittered(level_s, draw, floor_s, top_s, share, spread, added_s), memory


def polynomial(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    power: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: min(cap, base·attempt^power)."""
    level_s = cap_s
    number = max(1.0, attempt * 1.0)
    if base_s <= 0.0:
        level_s = 0.0
    elif power * log(number) <= _FAR:
        level_s = min(cap_s, base_s * number**power)
    return jittered(level_s, draw, floor_s, top_s, share, spread, added_s), memory


def sequence(
    attempt: float,
    memory: float,
    draw: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
    *delays_s: float,
) -> tuple[float, float]:
    """Level: the value at the attempt's place; the last one repeats."""
    place = int(min(max(attempt - 1.0, 0.0), len(delays_s) - 1.0))
    return jittered(delays_s[place], draw, floor_s, top_s, share, spread, added_s), memory


def decorrelated(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """min(cap, U(base, 3·previous)), previous starts at base. Brooker, AWS Architecture Blog, 2015."""
    previous_s = max(memory, base_s)
    delay_s = min(cap_s, base_s + draw * (3.0 * previous_s - base_s))
    return delay_s, delay_s


def decorrelated_clamped(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """U(base, min(cap, 3·previous)), previous starts at base. Polly.Contrib.WaitAndRetry, AwsDecorrelatedJitterBackoff."""
    previous_s = max(memory, base_s)
    delay_s = min(cap_s, base_s + draw * (min(cap_s, 3.0 * previous_s) - base_s))
    return delay_s, delay_s


def decorrelated_finagle(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """First base, then U(previous, min(3·previous, cap)): never shorter than the wait before. Finagle, Backoff.scala."""
    if memory <= 0.0:
        return base_s, base_s
    previous_s = min(cap_s, max(memory, base_s))
    delay_s = min(cap_s, previous_s + draw * (min(3.0 * previous_s, cap_s) - previous_s))
    return delay_s, delay_s


def decorrelated_smithy(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """min(cap, base + U(0, 3·previous)), previous starts at base. smithy-python, smithy_core/retries.py."""
    previous_s = max(memory, base_s)
    delay_s = min(cap_s, base_s + draw * 3.0 * previous_s)
    return delay_s, delay_s


def polly_v2(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """min(cap, (f(t) - f_before)·base/1.4), f(t) = 2^t·tanh(√(4t)), t = attempt - 1 + draw. Polly, RetryHelper.cs.

    The memory is f_before, kept without clamping.
    """
    if base_s <= 0.0:
        return 0.0, memory
    t = max(0.0, attempt - 1.0 + draw)
    if t > 1000.0:
        return cap_s, memory
    f = 2.0**t * tanh(sqrt(4.0 * t))
    return min(cap_s, max(0.0, (f - memory) * base_s / 1.4)), f


def client_go(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    factor: float,
    steps: float,
    spread: float,
) -> tuple[float, float]:
    """d·(1 + spread·draw), d = min(cap, base·factor^min(attempt - 1, steps)). apimachinery, wait.Backoff.Step."""
    grown = min(attempt - 1.0, steps)
    level_s = cap_s
    if base_s <= 0.0:
        level_s = 0.0
    elif grown * log(factor) <= _FAR:
        level_s = min(cap_s, base_s * factor**grown)
    return level_s * (1.0 + spread * draw), memory


def resilience4j(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    multiplier: float,
    spread: float,
) -> tuple[float, float]:
    """x·(1 - f) + U(0, 2·f·x + 1) in whole milliseconds, at least 1, then at most the cap; x grows by the multiplier.

    resilience4j, IntervalFunction.ofExponentialRandomBackoff. The memory is the x of the next attempt, in ms.
    """
    if base_s <= 0.0:
        return 0.0, memory
    x_ms = memory
    if x_ms < 1.0:
        x_ms = floor(base_s * 1000.0 + 0.5) * 1.0
    half_ms = spread * x_ms
    delay_ms = max(1.0, floor(x_ms - half_ms + draw * (2.0 * half_ms + 1.0)) * 1.0)
    next_ms = floor(min(x_ms * multiplier, _LONGEST_MS)) * 1.0
    return min(cap_s, delay_ms / 1000.0), next_ms


def ethernet(
    attempt: float, memory: float, draw: float, slot_s: float, cap_s: float, doublings: float
) -> tuple[float, float]:
    """A whole number of slots out of U{0 … 2^min(attempt, doublings) - 1}, fewer where the cap leaves less room.

    Truncated binary exponential backoff, IEEE 802.3 §4.2.3.2.5; Metcalfe & Boggs, CACM 1976.
    """
    if slot_s <= 0.0:
        return 0.0, memory
    slots = 2.0 ** min(attempt * 1.0, doublings)
    room = cap_s / slot_s
    if room < slots:
        slots = floor(room) + 1.0
    return min(cap_s, floor(draw * slots) * slot_s), memory


# --- Checks ---------------------------------------------------------------------------------------------------------


def _number(owner: str, field: str, value: object, least: float, most: float, unit: str) -> None:
    """A finite number from `least` to `most`; not a bool, not a string."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            f"{owner}: {field} must be a number{unit}, got {value!r}. Give it as an int or a float."
        )
    if not isfinite(value):
        raise ValueError(f"{owner}: {field} must be finite, got {value!r}. Give a number{unit}.")
    if value < least:
        raise ValueError(
            f"{owner}: {field} must be >= {least:g}{unit}, got {value!r}. Raise {field}."
        )
    if value > most:
        raise ValueError(
            f"{owner}: {field} must be <= {most:g}{unit}, got {value!r}. Lower {field}."
        )


def _seconds(owner: str, field: str, value: object) -> None:
    _number(owner, field, value, 0.0, LONGEST_S, " s")


def _not_above(owner: str, low: str, low_s: float, high: str, high_s: float) -> None:
    if low_s > high_s:
        raise ValueError(
            f"{owner}: {high} must be >= {low}: {high}={high_s!r}, {low}={low_s!r}. "
            f"Raise {high} or lower {low}."
        )


# --- The base classes -----------------------------------------------------------------------------------------------


class Backoff(Record):
    """How long to wait before each retry; immutable, shareable, without any state of a call.

    The caller keeps `memory` between the steps of one call (`start` before the first) and brings the random draws.
    """

    lowered: ClassVar[tuple[Formula, tuple[float, ...]] | None] = None
    """The formula and the parameters that follow its `attempt, memory, draw`; None when only Python can step it."""

    @property
    def start(self) -> float:
        """The memory before the first retry; 0.0 where there is none."""
        return 0.0

    @property
    def lowest_s(self) -> float:
        """No wait is shorter."""
        return 0.0

    @property
    def ceiling_s(self) -> float:
        """No wait is longer."""
        raise NotImplementedError

    def step(self, attempt: int, memory: float, draw: float) -> tuple[float, float]:
        """(delay_s, memory) before retry number `attempt` (1: the wait after the first failure); draw in [0, 1)."""
        if self.lowered is None:
            raise NotImplementedError(f"{type(self).__name__} needs a method step()")
        formula, parameters = self.lowered
        return formula(attempt, memory, draw, *parameters)

    def delays_s(self, attempts: int, draws: Iterable[float]) -> list[float]:
        """The waits before retries 1 … `attempts` with these draws; ValueError when there are fewer draws."""
        delays_s: list[float] = []
        memory = self.start
        for attempt, draw in zip(range(1, attempts + 1), draws, strict=False):
            delay_s, memory = self.step(attempt, memory, draw)
            delays_s.append(delay_s)
        if len(delays_s) < attempts:
            raise ValueError(
                f"delays_s needs one draw per attempt: attempts={attempts}, draws={len(delays_s)}. "
                "Give more draws."
            )
        return delays_s

    def _lower(self, formula: Formula, *parameters: float) -> None:
        """Fix the formula once, so that a step only calls it."""
        self.__dict__["lowered"] = (formula, tuple(map(float, parameters)))


class Curve(Backoff):
    """Base of the growth curves: what a jitter and a floor make of a level."""

    _range: ClassVar[tuple[float, float]] = (0.0, 0.0)

    @property
    def lowest_s(self) -> float:
        return self._range[0]

    @property
    def ceiling_s(self) -> float:
        return self._range[1]

    def _bounds(
        self,
        jitter: Jitter,
        floor_s: float,
        cap_s: float,
        *,
        clipped: bool = True,
        cap: str = "cap_s",
    ) -> tuple[float, float, float, float, float]:
        """Check jitter and floor; the last five parameters of every curve's formula.

        `cap_s` bounds the level; `clipped` says that it bounds the jittered wait too; `cap` is its name in messages.
        """
        owner = type(self).__name__
        one_of(f"{owner}: jitter", jitter, JITTERS)
        share, spread, added_s, over = JITTERS[jitter]
        _seconds(owner, "floor_s", floor_s)
        _not_above(owner, "floor_s", floor_s, cap, cap_s)
        top_s = cap_s * over if clipped else cap_s * (share + spread) + added_s
        self.__dict__["_range"] = (float(floor_s), float(top_s))
        return (floor_s, top_s, share, spread, added_s)


def _base_and_cap(owner: str, base_s: float, cap_s: float) -> None:
    _seconds(owner, "base_s", base_s)
    _seconds(owner, "cap_s", cap_s)
    _not_above(owner, "base_s", base_s, "cap_s", cap_s)


# --- Growth curves --------------------------------------------------------------------------------------------------


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
        _seconds("Constant", "delay_s", self.delay_s)
        if self.cap_s is None:
            bounds = self._bounds(
                self.jitter, self.floor_s, self.delay_s, clipped=False, cap="delay_s"
            )
        else:
            _seconds("Constant", "cap_s", self.cap_s)
            _not_above("Constant", "delay_s", self.delay_s, "cap_s", self.cap_s)
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
        _base_and_cap("Linear", self.base_s, self.cap_s)
        if self.step_s is not None:
            _seconds("Linear", "step_s", self.step_s)
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
        _base_and_cap("Exponential", self.base_s, self.cap_s)
        _number("Exponential", "multiplier", self.multiplier, 1.0, LONGEST_S, "")
        bounds = self._bounds(self.jitter, self.floor_s, self.cap_s)
        self._lower(exponential, self.base_s, self.cap_s, self.multiplier, *bounds)


class Fibonacci(Curve):
    """base × 1, 1, 2, 3, 5, 8 …, at most the cap. Grows by 1.618 in the long run. Fields as for `Exponential`."""

    base_s: float = 0.1
    cap_s: float = 20.0
    jitter: Jitter = "full"
    floor_s: float = 0.0

    def __post_init__(self) -> None:
        _base_and_cap("Fibonacci", self.base_s, self.cap_s)
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
        _base_and_cap("Polynomial", self.base_s, self.cap_s)
        _number("Polynomial", "power", self.power, 0.0, LONGEST_S, "")
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
        _seconds("Sequence", f"waits_s[{place}]", wait_s)
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
        _seconds("Custom", "cap_s", self.cap_s)
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


# --- Strategies with their own rule ---------------------------------------------------------------------------------


class _Remembering(Backoff):
    """Base of the four that are called decorrelated: each wait is drawn from the one before."""

    base_s: float = 0.1
    cap_s: float = 20.0

    formula: ClassVar[Formula]

    def __post_init__(self) -> None:
        owner = type(self).__name__
        _base_and_cap(owner, self.base_s, self.cap_s)
        self._lower(type(self).formula, self.base_s, self.cap_s)

    @property
    def start(self) -> float:
        return float(self.base_s)

    @property
    def lowest_s(self) -> float:
        return float(self.base_s)

    @property
    def ceiling_s(self) -> float:
        return float(self.cap_s)


class Decorrelated(_Remembering):
    """min(cap, U(base, 3·previous)): AWS, 2015. No wait under base.

    Piles up at the cap, as published: with base 1 s and cap 10 s 48 % of the waits in the long run are exactly the cap
    (T. Wright, 2024). `DecorrelatedClamped` is the same without the pile.
    Fields: `base_s` default 0.1 s, `cap_s` default 20 s.
    """

    formula: ClassVar[Formula] = staticmethod(decorrelated)


class DecorrelatedClamped(_Remembering):
    """U(base, min(cap, 3·previous)): Polly.Contrib's AWS variant, clamped before the draw, so nobody piles up at the cap.

    Fields: `base_s` default 0.1 s, `cap_s` default 20 s.
    """

    formula: ClassVar[Formula] = staticmethod(decorrelated_clamped)


class DecorrelatedFinagle(_Remembering):
    """base, then U(previous, min(3·previous, cap)): Finagle. A wait is never shorter than the one before.

    As published the first wait is exactly base for all clients, and the later ones close in on the cap, where the spread
    goes to nothing. Fields: `base_s` default 0.1 s, `cap_s` default 20 s.
    """

    formula: ClassVar[Formula] = staticmethod(decorrelated_finagle)

    @property
    def start(self) -> float:
        return 0.0  # nothing waited yet: the first wait is base


class DecorrelatedSmithy(_Remembering):
    """min(cap, base + U(0, 3·previous)): smithy-python. No wait under base.

    Piles up at the cap, as published. Fields: `base_s` default 0.1 s, `cap_s` default 20 s.
    """

    formula: ClassVar[Formula] = staticmethod(decorrelated_smithy)


class PollyV2(Backoff):
    """Polly's DecorrelatedJitterBackoffV2: smooth, without peaks where the ranges of neighbouring attempts meet.

    * `base_s`: the median of the *cumulative* wait before retry k is about base·2^k; default 0.1 s.
    * `cap_s`: default 20 s. Longer results are exactly the cap: they pile up there, as published.
    """

    base_s: float = 0.1
    cap_s: float = 20.0

    def __post_init__(self) -> None:
        _base_and_cap("PollyV2", self.base_s, self.cap_s)
        self._lower(polly_v2, self.base_s, self.cap_s)

    @property
    def ceiling_s(self) -> float:
        return float(self.cap_s)


class ClientGo(Backoff):
    """Kubernetes client-go's wait.Backoff: exponential with a relative jitter on top of the capped duration.

    * `base_s`: default 0.01 s. `factor`: default 5. `spread`: the wait is d·U(1, 1 + spread); default 0.1.
    * `steps`: how many times d grows; default 4 (`DefaultBackoff`).
    * `cap_s`: highest d; default 20 s. The jitter goes above it, as published: see `ceiling_s`.
    """

    base_s: float = 0.01
    cap_s: float = 20.0
    factor: float = 5.0
    steps: int = 4
    spread: float = 0.1

    def __post_init__(self) -> None:
        _base_and_cap("ClientGo", self.base_s, self.cap_s)
        _number("ClientGo", "factor", self.factor, 1.0, LONGEST_S, "")
        _number("ClientGo", "steps", self.steps, 0.0, LONGEST_S, "")
        _number("ClientGo", "spread", self.spread, 0.0, LONGEST_S, "")
        self._lower(client_go, self.base_s, self.cap_s, self.factor, self.steps, self.spread)

    @property
    def lowest_s(self) -> float:
        return float(self.base_s)

    @property
    def ceiling_s(self) -> float:
        return self.cap_s * (1.0 + self.spread)


class Resilience4j(Backoff):
    """resilience4j's ofExponentialRandomBackoff: x·U(1 - spread, 1 + spread) in whole milliseconds.

    * `base_s`: 0, or at least 1 ms, counted in whole milliseconds; default 0.5 s. `multiplier`: default 1.5.
    * `spread`: from 0 to 1; default 0.5.
    * `cap_s`: default 20 s. Longer results are exactly the cap, and x goes on growing: in the end all clients wait the
      cap, as published.
    """

    base_s: float = 0.5
    cap_s: float = 20.0
    multiplier: float = 1.5
    spread: float = 0.5

    def __post_init__(self) -> None:
        _base_and_cap("Resilience4j", self.base_s, self.cap_s)
        if 0 < self.base_s < 0.001:
            raise ValueError(
                f"Resilience4j: base_s must be 0 or >= 0.001 s, got {self.base_s!r}: it counts whole "
                "milliseconds. Raise base_s, or use Exponential."
            )
        _number("Resilience4j", "multiplier", self.multiplier, 1.0, LONGEST_S, "")
        _number("Resilience4j", "spread", self.spread, 0.0, 1.0, "")
        self._lower(resilience4j, self.base_s, self.cap_s, self.multiplier, self.spread)

    @property
    def ceiling_s(self) -> float:
        return float(self.cap_s)


class Ethernet(Backoff):
    """Truncated binary exponential backoff of Ethernet: U{0 … 2^k - 1} slots, k = min(attempt, doublings).

    * `slot_s`: default 51.2 µs (10 Mb/s). `doublings`: default 10.
    * `cap_s`: default 20 s; leaves fewer slots to draw from, so nobody piles up at it.

    Ethernet gives up after 16 attempts; say so with `Retry(attempts=16)`. The first retry has two slots only.
    """

    slot_s: float = 51.2e-6
    cap_s: float = 20.0
    doublings: int = 10

    def __post_init__(self) -> None:
        _seconds("Ethernet", "slot_s", self.slot_s)
        _seconds("Ethernet", "cap_s", self.cap_s)
        _not_above("Ethernet", "slot_s", self.slot_s, "cap_s", self.cap_s)
        _number("Ethernet", "doublings", self.doublings, 1.0, 52.0, "")
        self._lower(ethernet, self.slot_s, self.cap_s, self.doublings)

    @property
    def ceiling_s(self) -> float:
        return min(float(self.cap_s), (2.0**self.doublings - 1.0) * self.slot_s)
