"""The order checker: explains orders of policies that are known to be bad."""

from __future__ import annotations

from seawall.policies.policy import Policy
from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Sequence


class OrderProblem(Record):
    """`inner` stands inside `outer`, and `why` that is a mistake, with the way out. Positions count from 0, outermost first."""

    outer: str
    inner: str
    outer_at: int
    inner_at: int
    why: str

    def __str__(self) -> str:
        return f"{self.inner} (position {self.inner_at}) inside {self.outer} (position {self.outer_at}): {self.why}"


def check_order(policies: Sequence[Policy]) -> list[OrderProblem]:
    """All known-bad pairs of a stack, outermost first; each policy knows what must not stand around it."""
    return [
        OrderProblem(type(outer).__name__, type(inner).__name__, i, j, inner.wrong_inside[name])
        for i, outer in enumerate(policies)
        for j, inner in enumerate(policies[i + 1 :], start=i + 1)
        if (name := type(outer).__name__) in inner.wrong_inside
    ]
