"""How the calls of one stack are made; worked out once, when the stack is composed."""

from __future__ import annotations

from math import inf

from seawall.effects import Flow
from seawall.policies.deadline import Deadline
from seawall.policies.policy import Policy
from seawall.policies.retry import Retry
from seawall.state.budget import UNLIMITED, Budget
from seawall.world import Sink, World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    Kind = Literal["bare", "counted", "published", "full"]
else:  # annotations are never evaluated
    Kind = str

DEFAULT_DEADLINE_S = 60.0  #: the safety net of `seawall.retry`, see `plan_for`


class Plan:
    """How to make a call.

    * `flow`: the composed generators. * `world`: where they run. * `kind`: see `plan_for`.
    * `retry`: the only policy besides a `Deadline`, unless `kind` is "full".
    * `budget`: to be told of successes while it is not idle.
    * `limit_s`, `retrying`: what a nested call may have to know of a first attempt that published nothing.
    """

    __slots__ = ("budget", "flow", "kind", "limit_s", "retry", "retrying", "world")

    def __init__(
        self,
        flow: Flow,
        world: World,
        kind: Kind = "full",
        retry: Retry | None = None,
        limit_s: float = inf,
    ) -> None:
        self.flow = flow
        self.world = world
        self.kind: Kind = kind
        self.retry = retry
        self.budget: Budget = UNLIMITED if retry is None else retry.budget
        self.limit_s = limit_s
        self.retrying = retry is not None and retry.repeats

    def heard_by(self, sink: Sink) -> Plan:
        """The same plan with one more listener."""
        world = self.world.listening(sink)
        return Plan(self.flow, world, self.kind, self.retry, self.limit_s)


def plan_for(policies: Sequence[Policy], flow: Flow, world: World) -> Plan:
    """Choose what the first attempt owes to others.

    * *bare*: only `Retry`, with no budget to be told of a success and no guard. A success owes nothing to anybody.
    * *counted*: `Retry`, perhaps under the default deadline. The clock is read and a budget that is not full is told.
    * *published*: `Retry` under a deadline of the stack's own, which nested calls must see from the start, in whatever task;
      or one that judges results, so that a return is not yet a success.
    * *full*: anything else: a policy that has work to do before the first attempt, or a budget that counts calls as they begin.
    """
    retry = policies[-1] if policies else None
    around = policies[:-1]
    if not isinstance(retry, Retry) or retry.budget.counts_calls or len(around) > 1:
        return Plan(flow, world)
    limit_s = inf
    if around:
        deadline = around[0]
        if not isinstance(deadline, Deadline):
            return Plan(flow, world)
        limit_s = deadline.limit_s
    if retry.on.on_result is not None or limit_s not in (inf, DEFAULT_DEADLINE_S):
        return Plan(flow, world, "published", retry, limit_s)
    bare = limit_s == inf and not retry.guard and retry.budget is UNLIMITED
    return Plan(flow, world, "bare" if bare else "counted", retry, limit_s)
