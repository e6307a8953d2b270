"""One comparison: ours against something else, measured in the same run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """Smaller is better, always: rows hold times and sizes, not rates.

    * `ours`, `peer`: in `unit`; `peer` is None where the peer is not installed.
    * `goal`: the highest permitted ratio of ours to the peer's, or None where nothing is promised.
    * `limit`: instead of a goal, the highest permitted value of `ours - peer`, in `unit`.
    * `medians`: of ours and the peer's rounds; far above the least, they tell of a disturbed run.
    """

    case: str
    ours: float
    peer: float | None
    unit: str = "ns"
    goal: float | None = None
    limit: float | None = None
    medians: tuple[float, float] | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over the peer's."""
        return self.ours / self.peer if self.peer else None

    @property
    def holds(self) -> bool | None:
        """Is the promise kept? None if there is none, or nobody to compare with."""
        if self.peer is None or self.ratio is None:
            return None
        if self.limit is not None:
            return self.ours - self.peer <= self.limit
        return None if self.goal is None else self.ratio <= self.goal

    @property
    def promise(self) -> str:
        """The goal in words."""
        if self.limit is not None:
            return f"≤ peer + {self.limit:g} {self.unit}"
        return "" if self.goal is None else f"≤ {self.goal:g}"

    def as_dict(self) -> dict[str, object]:
        """For JSON; numbers rounded to what was measured."""
        return {
            "case": self.case,
            "ours": round(self.ours, 1),
            "peer": None if self.peer is None else round(self.peer, 1),
            "unit": self.unit,
            "ratio": None if self.ratio is None else round(self.ratio, 3),
            "goal": self.promise or None,
            "holds": self.holds,
            "medians": self.medians and [round(median, 1) for median in self.medians],
        }
