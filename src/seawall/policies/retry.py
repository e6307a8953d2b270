"""Try again after a failure, later each time, while attempts, deadline and budget last."""

from __future__ import annotations

from math import inf

from seawall.backoff import Backoff, Exponential
from seawall.classify import RETRY, Classifier, Verdict
from seawall.effects import Flow, Sleep, Steps
from seawall.events import GaveUp, Recovered, RetryScheduled, StopReason
from seawall.hint import wait_after_hint
from seawall.outcome import Outcome
from seawall.policies.deadline import passed
from seawall.policies.policy import Policy
from seawall.quantity import at_least, positive_s
from seawall.scope import Scope
from seawall.state.budget import UNLIMITED, Budget
from seawall.world import World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import ClassVar

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

    wrong_inside: ClassVar[Mapping[str, str]] = {
        "Retry": "two Retry layers multiply: 3 x 3 attempts are 9 calls. "
        "Keep one, where the call is cheapest to repeat.",
        "Timeout": "a Timeout outside Retry cuts the waits as well and loses the last error. "
        "Use Deadline outside for the total and Timeout inside for each attempt.",
        "Breaker": "with Retry inside Breaker the breaker sees only the last of several attempts, and a breaker that opens "
        "does not end the others. Put Breaker inside Retry.",
    }

    def __post_init__(self) -> None:
        if self.attempts is not None:
            at_least("Retry", "attempts", self.attempts, 1)
        positive_s("Retry", "hint_cap_s", self.hint_cap_s)
        known = self.__dict__  # not fields: worked out once
        known["most"] = inf if self.attempts is None else self.attempts
        known["repeats"] = self.attempts != 1
        known["start"] = self.backoff.start
        known["counts_calls"] = self.budget.counts_calls

    if TYPE_CHECKING:

        @property
        def most(self) -> float:
            """`attempts` as a number."""
            ...

        @property
        def repeats(self) -> bool:
            """May there be a second attempt at all?"""
            ...

        @property
        def counts_calls(self) -> bool:
            """Must the budget hear of every call's beginning and end?"""
            ...

        @property
        def start(self) -> float:
            """The backoff's memory before the first retry."""
            ...

    def run(self, inner: Flow, world: World, scope: Scope) -> Steps:
        now = world.now()
        if now >= scope.deadline_at:
            return Outcome(error=passed("Retry", now - scope.deadline_at))
        if self.guard and scope.retrying:
            outcome = yield from inner(world, scope)
            self.stood_back(world, outcome)
            return outcome
        series = Series(
            self, world, scope.started_at, scope.deadline_at, scope.root or scope, scope.find
        )
        if self.budget.counts_calls:
            self.budget.begin(now)
        try:
            while True:
                outcome = yield from inner(world, series)
                delay_s = series.after(outcome.error, outcome.value)
                if series.paused_s > 0.0:
                    yield Sleep(series.paused_s)
                if delay_s is None:
                    return outcome
                yield Sleep(delay_s)
        finally:
            series.end()

    def stood_back(self, world: World, outcome: Outcome) -> None:
        """Tell of a failure that is left to the layer around this one."""
        if world.emit is None:
            return
        verdict = self.on.judge(outcome)
        if verdict.retry:
            hint_s = verdict.hint.delay_s
            world.emit(GaveUp(world.now(), 1, "nested", outcome.error, hint_s))


class Series(Scope):
    """The attempts of one call under one `Retry`: their scope, and what to do after each outcome.

    Used by the generator above and by the driver that runs a stack of nothing but `Retry` without generators (`drivers.direct`).
    """

    __slots__ = ("charge", "granted", "memory", "paused_s", "policy", "step")

    def __init__(
        self,
        policy: Retry,
        world: World,
        started_at: float,
        deadline_at: float,
        root: Scope | None,
        find: Callable[[], Scope | None] | None,
        call: object = None,
    ) -> None:
        self.world = world
        self.started_at = started_at
        self.deadline_at = deadline_at
        self.attempt = 1
        self.retrying = policy.repeats
        self.root = root
        self.find = find  # looks for a call around this one; asked once, after the first failure
        self.call = call
        self.guarded = policy.guard
        self.closed = False
        self.policy = policy
        self.step = 1  # of the backoff, whose series an exact hint starts anew
        self.memory = policy.start
        self.charge = 0.0  # what the budget took for the last retry
        self.granted = False  # a budget that counts calls must be told when that retry is over
        self.paused_s = 0.0  # to be slept although the call ends (`Retry.paced_refusal`)

    def after(self, error: Exception | None, value: object = None) -> float | None:
        """Seconds to wait before the next attempt, when this one has ended so; None: that is final."""
        policy, world = self.policy, self.world
        now = world.now()
        if self.granted:
            self.granted = False
            policy.budget.release(now)
        on = policy.on
        if (
            type(error) in on.plain  # seen before, and nothing on it that could say otherwise
            and error is not None
            and not error.__dict__
            and error.__cause__ is None
            and self.find is None
            and self.attempt < policy.most
        ):
            verdict, reason = RETRY, None  # the usual failure: no more questions
            delay_s, self.memory = policy.backoff.step(self.step, self.memory, world.random())
            self.step += 1
        else:
            verdict = on.judge(Outcome(value, error))
            if verdict.ok:
                self.succeeded()
                return None
            delay_s, reason = self._considered(verdict)
        if reason is None:
            if now + delay_s >= self.deadline_at:
                reason = "deadline"
            else:
                spent = policy.budget.withdraw(now, verdict.throttled)
                if spent is not None:
                    self.charge = spent
                    self.granted = policy.counts_calls
                    if world.emit is not None:
                        world.emit(RetryScheduled(now, self.attempt, delay_s, error))
                    self.attempt += 1
                    return delay_s
                reason = "budget"
                self.paused_s = delay_s if policy.paced_refusal else 0.0
        self._gave_up(now, verdict, reason, error)
        return None

    def _gave_up(
        self, now: float, verdict: Verdict, reason: StopReason, error: Exception | None
    ) -> None:
        if verdict.retry and reason not in ("budget", "nested"):
            self.policy.budget.fail(now, verdict.throttled)
        if self.world.emit is not None:
            hint_s = verdict.hint.delay_s
            self.world.emit(GaveUp(now, self.attempt, reason, error, hint_s))

    def succeeded(self) -> None:
        """The call has succeeded with the attempt under way."""
        budget, world = self.policy.budget, self.world
        if self.granted:
            self.granted = False
            budget.release(world.now())
        if self.charge or not budget.idle:
            budget.succeed(world.now(), self.charge)
        if world.emit is not None and self.attempt > 1:
            world.emit(Recovered(world.now(), self.attempt))

    def end(self) -> None:
        """The call is over, in whatever way: give back what the budget may hold."""
        budget = self.policy.budget
        if self.granted:
            self.granted = False
            budget.release(self.world.now())
        if budget.counts_calls:
            budget.end(self.world.now())

    def _stop(self, verdict: Verdict) -> StopReason | None:
        """Why the failure is final whatever the wait would be, or None if it need not be."""
        policy = self.policy
        if not verdict.retry:
            return "do not retry" if verdict.forbidden else "not retryable"
        if verdict.hint.stop:
            return "server said stop"
        if self.attempt >= policy.most:
            return "attempts"
        if self.find is not None:
            outer, self.find = self.find(), None
            if outer is not None:
                self.deadline_at = min(self.deadline_at, outer.deadline_on(self.world))
                if outer.retrying and policy.guard:
                    return "nested"
        return None

    def _considered(self, verdict: Verdict) -> tuple[float, StopReason | None]:
        """The wait before the next attempt, and why there will be none."""
        reason = self._stop(verdict)
        if reason is not None:
            return 0.0, reason
        policy, hint, random = self.policy, verdict.hint, self.world.random
        backoff = policy.backoff
        if verdict.throttled and policy.throttled_backoff is not None:
            backoff = policy.throttled_backoff
        own_s, self.memory = backoff.step(self.step, self.memory, random())
        self.step += 1
        if hint.delay_s is None:
            return own_s, None
        if hint.exact:
            self.step, self.memory = 1, policy.start
        wait_s = wait_after_hint(own_s, hint, random(), policy.hint_cap_s)
        return (own_s, "hint too long") if wait_s is None else (wait_s, None)
