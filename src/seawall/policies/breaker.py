"""Do not call what is known to be broken: refuse at once, probe now and then, come back slowly."""

from __future__ import annotations

from seawall.classify import Classifier
from seawall.effects import Flow, Steps
from seawall.errors import AttemptTimeout, BreakerOpen, SeawallError
from seawall.events import (
    BreakerClosed,
    BreakerHalfOpened,
    BreakerOpened,
    BreakerOrdered,
    BreakerRecovering,
    BreakerRefused,
)
from seawall.outcome import Outcome
from seawall.policies.policy import Policy
from seawall.scope import Scope
from seawall.state.breaker import BreakerState, Change, Permit, Refusal
from seawall.state.breaker_rules import BreakerRules
from seawall.world import World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar


class Breaker(Policy):
    """Refuse calls with `BreakerOpen`, without making them, while too many of them have failed lately.

    * `on`: what is a failure of the callee (`Classifier`). Required. Whatever else the callee answers, an exception too, shows
      that it is well.
    * `uncounted`: exceptions that say nothing of the callee, and win over `on`. Default: none.
    * `rules`: when it opens, for how long, and how it comes back (`BreakerRules`).
    * `state`: the breaker itself. Default: a new one. Give several policies or stacks the same `BreakerState` to share it, one
      for each callee; the rules are then that state's.

    A call that is cancelled, or left by KeyboardInterrupt, has no verdict, nor has one that was refused on this side (any other
    `SeawallError` from inside). An `AttemptTimeout` is a failure whatever `on` says.

    Stands inside `Retry` (each attempt counts, and `BreakerOpen` ends the retries unless `Retry.on` names it: then they wait for
    its `retry_after_s`) and outside `Timeout` (so that it hears of calls that were cut short).
    """

    on: Classifier
    rules: BreakerRules = BreakerRules()
    uncounted: tuple[type[Exception], ...] = ()
    state: BreakerState | None = None

    wrong_inside: ClassVar[Mapping[str, str]] = {
        "Timeout": "a Timeout outside Breaker cuts calls off without a verdict, so the breaker never hears of the slow ones. "
        "Put Timeout inside Breaker.",
    }

    def __post_init__(self) -> None:
        known = self.__dict__
        if self.state is None:
            known["state"] = BreakerState(self.rules)
        elif self.rules not in (BreakerRules(), self.state.rules):
            raise ValueError(
                f"Breaker: rules and state contradict each other: rules={self.rules!r}, state.rules={self.state.rules!r}. "
                "Give the rules to the BreakerState alone."
            )
        known["circuit"] = known[
            "state"
        ]  # not a field: the state, which is never None from here on
        known["rules"] = known["state"].rules

    if TYPE_CHECKING:

        @property
        def circuit(self) -> BreakerState:
            """The breaker itself, for whoever operates it."""
            ...

    def run(self, inner: Flow, world: World, scope: Scope) -> Steps:
        circuit = self.circuit
        started_at = world.now()
        permit = circuit.admit(started_at)
        if isinstance(permit, Refusal):
            return self._refused(world, started_at, permit)
        ok: bool | None = None
        try:
            if permit.change is not None:
                tell(world, started_at, permit.change)
            outcome = yield from inner(world, scope)
            ok = self._verdict(outcome)
        finally:
            self._settle(world, permit, started_at, ok)
        return outcome

    def _settle(self, world: World, permit: Permit, started_at: float, ok: bool | None) -> None:
        now = world.now()
        change = self.circuit.settle(permit, now, ok, now - started_at, world.random())
        if change is not None:
            tell(world, now, change)

    def _verdict(self, outcome: Outcome) -> bool | None:
        """Was it the callee's failure? None: it says nothing of the callee."""
        error = outcome.error
        if error is not None:
            if isinstance(error, self.uncounted) or type(error).__name__ == "CancelledError":
                return None
            if isinstance(error, SeawallError):
                return False if isinstance(error, AttemptTimeout) else None
        verdict = self.on.judge(outcome)
        return verdict.ok or not (verdict.retry or verdict.forbidden)

    def _refused(self, world: World, now: float, refusal: Refusal) -> Outcome:
        if world.emit is not None:
            world.emit(BreakerRefused(now, refusal.state, refusal.retry_after_s))
        after_s = refusal.retry_after_s
        when = "" if after_s is None else f" It probes again in {after_s:.3g} s."
        return Outcome(
            error=BreakerOpen(
                f"Breaker: the call was not made, the breaker is {refusal.state}.{when}",
                policy="Breaker",
                retry_after_s=after_s,
            )
        )


def tell(world: World, now: float, change: Change) -> None:
    """Send a change of state as its event to whoever listens; also for changes that an operator has ordered."""
    if world.emit is None:
        return
    after = change.after
    if change.cause == "trip" or after == "open":
        counts = (change.calls, change.failures, change.slow)
        enforced = after == "open"
        world.emit(BreakerOpened(now, change.open_s, change.opening, *counts, enforced))
    elif after == "half-open":
        world.emit(BreakerHalfOpened(now))
    elif after == "recovering":
        world.emit(BreakerRecovering(now))
    elif after == "closed":
        world.emit(BreakerClosed(now))
    else:
        world.emit(BreakerOrdered(now, after))
