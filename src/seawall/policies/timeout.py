"""A limit on what it surrounds, that interrupts where the language can interrupt."""

from __future__ import annotations

from seawall.effects import Flow, Steps, Within
from seawall.errors import AttemptTimeout
from seawall.events import TimedOut
from seawall.outcome import Outcome
from seawall.policies.deadline import passed
from seawall.policies.policy import Policy
from seawall.quantity import positive_s
from seawall.scope import Scope
from seawall.world import World


class Timeout(Policy):
    """What is inside may take `limit_s` seconds, or what is left until the deadline if that is less.

    In asyncio and trio the inner call is cancelled and fails with `AttemptTimeout`. A thread cannot be interrupted: in
    synchronous code the limit is a deadline that adapters hand to their sockets, and a function that looks at nothing
    runs on. `hard=True` runs it in a worker thread and leaves that thread behind when the time is up; the error's
    `goes_on` names it. Whatever it still does, it does: only use it for calls that may safely finish late.

    Inside `Retry` it limits each attempt; outside, everything together.
    """

    limit_s: float
    hard: bool = False

    def __post_init__(self) -> None:
        positive_s("Timeout", "limit_s", self.limit_s)

    def run(self, inner: Flow, world: World, scope: Scope) -> Steps:
        now = world.now()
        limit_s = min(self.limit_s, scope.deadline_at - now)
        if limit_s <= 0.0:
            return Outcome(error=passed("Timeout", -limit_s))

        def expired(goes_on: str) -> Outcome:
            if world.emit is not None:
                world.emit(TimedOut(world.now(), limit_s))
            return Outcome(error=_timed_out(limit_s, goes_on))

        return (yield Within(limit_s, inner(world, scope.until(now + limit_s)), expired, self.hard))


def _timed_out(limit_s: float, goes_on: str) -> AttemptTimeout:
    rest = f" {goes_on} goes on running." if goes_on else ""
    return AttemptTimeout(
        f"Timeout: no answer within {limit_s:g} s.{rest}", limit_s=limit_s, goes_on=goes_on
    )
