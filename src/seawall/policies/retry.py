"""Try again after a failure, later each time, while attempts, deadline and budget last."""

from __future__ import annotations

from math import inf
from typing import ClassVar

from seawall.backoff import Backoff, Exponential
from seawall.classify import Classifier, Verdict
from seawall.effects import Flow, Sleep, Steps
from seawall.events import GaveUp, Recovered, RetryScheduled, StopReason
from seawall.hint import wait_after_hint
from seawall.outcome import Outcome
from seawall.policies.deadline import passed
from seawall.policies.policy import Policy
from seawall.quantity import at_least, positive_s
from seawall.scope import Scope
from seawall.state.budget import Budget, Unlimited
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
    * `paced_refusal`: when the budget refuses, still wait the backoff before failing, so that a caller who loops cannot
      spin (AWS does so for long polls). Default False.

    Failures end with the user's own exception, never with one of ours.
    """

    on: Classifier
    attempts: int | None = 5
    backoff: Backoff = DEFAULT_BACKOFF
    budget: Budget = Unlimited()
    guard: bool = True
    hint_cap_s: float = 300.0
    paced_refusal: bool = False

    reactive: ClassVar[bool] = True
    wrong_inside = {
        "Retry": "two Retry layers multiply: 3 x 3 attempts are 9 calls. Keep one, where the call is cheapest to repeat.",
        "Timeout": "a Timeout outside Retry cuts the waits as well and loses the last error. "
        "Use Deadline outside for the total and Timeout inside for each attempt.",
    }

    def __post_init__(self) -> None:
        if self.attempts is not None:
            at_least("Retry", "attempts", self.attempts, 1)
        positive_s("Retry", "hint_cap_s", self.hint_cap_s)

    def run(self, inner: Flow, world: World, scope: Scope) -> Steps:
        if self.guard and scope.retrying:
            return (yield from inner(world, scope))
        budget = self.budget
        budget.begin(world.now())
        try:
            return (yield from self._attempts(inner, world, scope))
        finally:
            budget.end(world.now())

    def _attempts(self, inner: Flow, world: World, scope: Scope) -> Steps:
        budget, backoff, limit = self.budget, self.backoff, self.attempts or inf
        now = world.now()
        if now >= scope.deadline_at:
            return Outcome(error=passed("Retry", now - scope.deadline_at))
        number, step, memory, charge = 1, 1, backoff.start, 0.0
        while True:
            try:
                outcome = yield from inner(world, scope.attempting(number, limit > 1))
            finally:
                if charge:
                    budget.release(world.now())
            verdict = self.on.judge(outcome)
            now = world.now()
            if verdict.ok:
                budget.succeed(now, charge)
                if number > 1 and world.emit is not None:
                    world.emit(Recovered(now, number))
                return outcome
            reason, wanted_s = self._may_repeat(verdict, number, scope), verdict.hint.delay_s
            if reason is None:
                own_s, memory = backoff.step(step, memory, world.random())
                delay_s = wait_after_hint(own_s, verdict.hint, world.random(), self.hint_cap_s) if wanted_s is not None else own_s
                if delay_s is None:
                    reason = "hint too long"
                elif now + delay_s >= scope.deadline_at:
                    reason = "deadline"
                else:
                    granted = budget.withdraw(now, verdict.throttled)
                    ...
            if reason is not None:
                return outcome
            number += 1
