"""A limit on the whole call: when it has passed, nothing new begins."""

from __future__ import annotations

from seawall.effects import Flow, Steps
from seawall.errors import DeadlineExceeded
from seawall.outcome import Outcome
from seawall.policies.policy import Policy
from seawall.quantity import positive_s
from seawall.scope import Scope
from seawall.world import World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar


class Deadline(Policy):
    """No attempt starts, and no sleep is begun, that would pass `limit_s` seconds after the call began.

    It does not interrupt an attempt that is running; `Timeout` does. Nested calls see it: their own retries stop at the
    earlier of both deadlines, and adapters hand the remaining time to their sockets.
    """

    limit_s: float

    wrong_inside: ClassVar[Mapping[str, str]] = {
        "Retry": "a Deadline inside Retry starts anew with each attempt, so the whole call has no limit. "
        "Put Deadline outside Retry.",
    }

    def __post_init__(self) -> None:
        positive_s("Deadline", "limit_s", self.limit_s)

    def run(self, inner: Flow, world: World, scope: Scope) -> Steps:
        deadline_at = min(scope.deadline_at, scope.started_at + self.limit_s)
        now = world.now()
        if now >= deadline_at:
            return Outcome(error=passed("Deadline", now - deadline_at))
        return (yield from inner(world, scope.until(deadline_at)))


def passed(policy: str, late_s: float) -> DeadlineExceeded:
    """The error of a call whose deadline had passed before its first attempt."""
    return DeadlineExceeded(
        f"{policy}: the deadline passed {late_s:.3f} s before the first attempt; no attempt was made. "
        "Give the outer call more time, or call less often.",
        policy=policy,
    )
