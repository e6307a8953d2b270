"""How the calls of one stack are made; worked out once, when the stack is composed."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal

from seawall.effects import Flow
from seawall.policies.deadline import Deadline
from seawall.policies.policy import Policy
from seawall.policies.retry import Retry
from seawall.state.budget import UNLIMITED, Budget
from seawall.world import Sink, World

DEFAULT_DEADLINE_S = 60.0  #: the safety net of `seawall.retry`, see `plan_for`


class Plan:
    """* `flow`: the composed generators. * `world`: where they run.
    * `kind`: what the first attempt owes to others (`plan_for` decides).
    * `budget`: to be told of successes while it is not idle.
    * `limit_s`, `retrying`: what a nested call may have to know of a first attempt that published nothing.
    """

    __slots__ = ("budget", "flow", "kind", "limit_s", "retrying", "world")

    def __init__(
        self,
        flow: Flow,
        world: World,
        kind: Literal["bare", "counted", "full"],
        budget: Budget,
        limit_s: float = inf,
        retrying: bool = False,
    ) -> None:
        self.flow = flow
        self.world = world
        self.kind = kind
        self.budget = budget
        self.limit_s = limit_s
        self.retrying = retrying

    def heard_by(self, sink: Sink) -> Plan:
        """The same plan with one more listener."""
        world = self.world.listening(sink)
        return Plan(self.flow, world, self.kind, self.budget, self.limit_s, self.retrying)


def plan_for(policies: Sequence[Policy], flow: Flow, world: World) -> Plan:
    """Choose what the first attempt owes to others.

    * *bare*: only `Retry`, with no budget to be told of a success and no guard. A success owes nothing to anybody.
    * *counted*: `Retry`, perhaps under the default deadline. The clock is read and a budget that is not full is told.
    * *full*: anything else: a policy with work to do before the first attempt, a budget that counts calls when they begin,
      or a deadline of the stack's own, which nested calls must see from the start, in whatever task they run.
    """
    full = Plan(flow, world, "full", UNLIMITED)
    if not policies or not all(policy.reactive for policy in policies):
        return full
    retry = policies[-1]
    net = policies[:-1]
    if not isinstance(retry, Retry) or retry.budget.counts_calls:
        return full
    repeats = retry.attempts != 1
    if not net:
        kind: Literal["bare", "counted"] = (
            "counted" if retry.guard or retry.budget is not UNLIMITED else "bare"
        )
        return Plan(flow, world, kind, retry.budget, inf, repeats)
    if len(net) == 1 and isinstance(net[0], Deadline) and net[0].limit_s == DEFAULT_DEADLINE_S:
        return Plan(flow, world, "counted", retry.budget, DEFAULT_DEADLINE_S, repeats)
    return full
