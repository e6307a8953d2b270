"""Try again after a failure, later each time, while attempts, deadline and budget last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from seawall.backoff import Backoff, Exponential
from seawall.classify import Classifier, Verdict
from seawall.effects import Flow, Sleep, Steps
from seawall.events import GaveUp, Recovered, RetryScheduled, StopReason
from seawall.hint import Hint, wait_after_hint
from seawall.outcome import Outcome
from seawall.policies.deadline import passed
from seawall.policies.policy import Policy
from seawall.quantity import at_least, positive_s
from seawall.scope import Scope
from seawall.state.budget import UNLIMITED, Budget
from seawall.world import World

DEFAULT_BACKOFF = Exponential(base_s=0.1, cap_s=20.0)


class Retry(Policy):
    """Repeat what is inside while it fails and something may be gained.

    * `on`: what is a failure worth repeating (`Classifier`). Required.
    * `attempts`: attempts in all, the first included; None: no limit but the deadline's. Default 5.
    * `backoff`: the wait before each repetition. Default: exponential from 0.1 s, cap 20 s, full jitter after the cap.
    * `budget`: shared by all calls through this policy; a refusal ends the call. Default: none here; `seawall.retry`
      gives each stack its own `CostBudget`.
    * `guard`: inside another retrying layer do not repeat again: three layers of three attempts are 27 calls. Default True.
    * `hint_cap_s`: a callee that asks for a longer wait than this is not waited for. Default 300 s.
    * `throttled_backoff`: another backoff after failures that were throttling; the attempt index goes on counting.
      Default None: the same. (AWS standard v2.1: transient from 50 ms, throttling from 1 s.)
    * `paced_refusal`: when the budget refuses, still wait the backoff before failing, so that a caller who loops cannot
      spin (AWS does so for long polls). Default False.

    Failures end with the user's own exception, never with one of ours.
    """

    on: Classifier
    attempts: int | None = 5
    backoff: Backoff = DEFAULT_BACKOFF
    budget: Budget = UNLIMITED
    guard: bool = True
    hint_cap_s: float = 300.0
    throttled_backoff: Backoff | None = None
    paced_refusal: bool = False

    reactive: ClassVar[bool] = True
    wrong_inside: ClassVar[Mapping[str, str]] = {
        "Retry": "two Retry layers multiply: 3 x 3 attempts are 9 calls. "
        "Keep one, where the call is cheapest to repeat.",
        "Timeout": "a Timeout outside Retry cuts the waits as well and loses the last error. "
        "Use Deadline outside for the total and Timeout inside for each attempt.",
    }

    def __post_init__(self) -> None:
        if self.attempts is not None:
            at_least("Retry", "attempts", self.attempts, 1)
        positive_s("Retry", "hint_cap_s", self.hint_cap_s)

    def run(self, inner: Flow, world: World, scope: Scope) -> Steps:
        now = world.now()
        if now >= scope.deadline_at:
            return Outcome(error=passed("Retry", now - scope.deadline_at))
        if self.guard and scope.retrying:
            return (yield from inner(world, scope))
        budget = self.budget
        number, step, memory, charge, granted = 1, 1, self.backoff.start, 0.0, False
        budget.begin(now)
        try:
            while True:
                outcome = yield from inner(world, scope.attempting(number, self.attempts != 1))
                now = world.now()
                if granted:
                    granted = False
                    budget.release(now)
                verdict = self.on.judge(outcome)
                if verdict.ok:
                    budget.succeed(now, charge)
                    if number > 1 and world.emit is not None:
                        world.emit(Recovered(now, number))
                    return outcome
                delay_s = 0.0
                reason = self._stop(verdict, number, scope)
                if reason is None:
                    own_s, memory = self._backoff(verdict).step(step, memory, world.random())
                    delay_s, reason = self._wait(own_s, verdict.hint, world, now, scope)
                if reason is None:
                    spent = budget.withdraw(now, verdict.throttled)
                    if spent is not None:
                        charge, granted = spent, True
                    else:
                        reason = "budget"
                        if self.paced_refusal:
                            yield Sleep(delay_s)
                elif verdict.retry and reason != "nested":
                    budget.fail(now, verdict.throttled)
                if reason is not None:
                    if world.emit is not None:
                        hint_s = verdict.hint.delay_s
                        world.emit(GaveUp(now, number, reason, outcome.error, hint_s))
                    return outcome
                if world.emit is not None:
                    world.emit(RetryScheduled(now, number, delay_s, outcome.error))
                yield Sleep(delay_s)
                number, step = number + 1, step + 1
                if verdict.hint.exact:
                    step, memory = 1, self.backoff.start
        finally:
            now = world.now()
            if granted:
                budget.release(now)
            budget.end(now)

    def _stop(self, verdict: Verdict, number: int, scope: Scope) -> StopReason | None:
        """Why the failure of attempt `number` is final, or None if it need not be."""
        if verdict.forbidden:
            return "do not retry"
        if verdict.hint.stop:
            return "server said stop"
        if not verdict.retry:
            return "not retryable"
        if self.attempts is not None and number >= self.attempts:
            return "attempts"
        if number == 1 and scope.look_around().retrying and self.guard:
            return "nested"
        return None

    def _backoff(self, verdict: Verdict) -> Backoff:
        if verdict.throttled and self.throttled_backoff is not None:
            return self.throttled_backoff
        return self.backoff

    def _wait(
        self, own_s: float, hint: Hint, world: World, now: float, scope: Scope
    ) -> tuple[float, StopReason | None]:
        """The wait before the next attempt, and why there will be none."""
        delay_s: float | None = own_s
        if hint.delay_s is not None:
            delay_s = wait_after_hint(own_s, hint, world.random(), self.hint_cap_s)
            if delay_s is None:
                return own_s, "hint too long"
        return delay_s, "deadline" if now + delay_s >= scope.deadline_at else None
