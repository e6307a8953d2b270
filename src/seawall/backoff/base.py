"""What every backoff is, and the checks on what users give."""

from __future__ import annotations

from seawall.backoff.checks import check_not_above, check_seconds
from seawall.backoff.jitter import JITTERS, Jitter
from seawall.choice import one_of
from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import ClassVar

    Formula = Callable[..., tuple[float, float]]
else:  # annotations are never evaluated
    Formula = object


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
        check_seconds(owner, "floor_s", floor_s)
        check_not_above(owner, "floor_s", floor_s, cap, cap_s)
        top_s = cap_s * over if clipped else cap_s * (share + spread) + added_s
        self.__dict__["_range"] = (float(floor_s), float(top_s))
        return (floor_s, top_s, share, spread, added_s)
