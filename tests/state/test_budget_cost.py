"""`CostBudget`: the quota columns of AWS standard v2.1's specification cases, prices, refunds, threads."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from seawall.state.budget import CostBudget
from tests.state.budget_machine import BudgetMachine, Model, hammer


def holding(tokens: int) -> CostBudget:
    budget = CostBudget()
    budget.tokens, budget.idle = tokens, tokens == budget.capacity
    return budget


def played(
    budget: CostBudget, statuses: list[int], max_attempts: int = 3
) -> list[tuple[str, float]]:
    """One call that meets these statuses in turn: what each response comes to, and the quota after it."""
    seen: list[tuple[str, float]] = []
    charge = 0.0
    for attempt, status in enumerate(statuses, start=1):
        if status == 200:
            budget.succeed(0.0, charge)
            seen.append(("success", budget.tokens))
        elif attempt == max_attempts:
            budget.fail(0.0, throttled=status == 400)
            seen.append(("max_attempts", budget.tokens))
        else:
            granted = budget.withdraw(0.0, throttled=status == 400)
            charge = charge if granted is None else granted
            seen.append(("quota_exceeded" if granted is None else "retry", budget.tokens))
    return seen


RETRY_CASES: dict[str, tuple[int, int, list[int], list[tuple[str, int]]]] = {
    # case: tokens at the start, max_attempts, statuses, (outcome, quota) of each
    "1": (500, 3, [500, 500, 200], [("retry", 486), ("retry", 472), ("success", 486)]),
    "2": (500, 3, [502, 502, 502], [("retry", 486), ("retry", 472), ("max_attempts", 472)]),
    "3": (14, 3, [500, 500], [("retry", 0), ("quota_exceeded", 0)]),
    "4": (0, 3, [500], [("quota_exceeded", 0)]),
    "5": (500, 5, [500] * 5,
          [("retry", 486), ("retry", 472), ("retry", 458), ("retry", 444), ("max_attempts", 444)]),
    "6": (20, 5, [500, 502], [("retry", 6), ("quota_exceeded", 6)]),
    "8": (500, 3, [400, 200], [("retry", 495), ("success", 500)]),
    "9": (500, 4, [500] * 4,
          [("retry", 486), ("retry", 472), ("retry", 458), ("max_attempts", 458)]),
    "10": (500, 3, [500, 200], [("retry", 486), ("success", 500)]),
}  # fmt: skip


@pytest.mark.parametrize("case", RETRY_CASES)
def test_aws_v21_specification_cases(case: str) -> None:
    tokens, max_attempts, statuses, expected = RETRY_CASES[case]
    assert played(holding(tokens), statuses, max_attempts) == expected


def test_aws_v21_specification_case_7() -> None:
    """A refund is there for the next call."""
    budget = holding(30)
    first = played(budget, [500, 502, 200], 5)
    assert first == [("retry", 16), ("retry", 2), ("success", 16)]
    assert played(budget, [500, 200], 5) == [("retry", 2), ("success", 16)]


def test_aws_v21_prices_of_mixed_errors() -> None:
    """Case 12: each retry is priced by the failure before it, whatever came earlier."""
    budget = CostBudget()
    kinds = [True, True, False, False, False, False, True]
    assert [budget.withdraw(0.0, kind) for kind in kinds] == [5, 5, 14, 14, 14, 14, 5]


def test_aws_concurrent_calls_share_a_bucket() -> None:
    """smithy-python: 500 500 200 beside 500 200 leave 486, in whatever order the responses come."""
    for second in itertools.combinations(range(5), 2):
        budget = CostBudget()
        left = {True: [500, 200], False: [500, 500, 200]}
        charge = {True: 0.0, False: 0.0}
        for turn in range(5):
            who = turn in second
            if left[who].pop(0) == 200:
                budget.succeed(0.0, charge[who])
            else:
                charge[who] = budget.withdraw(0.0, throttled=False) or 0.0
        assert budget.tokens == 486


def test_a_success_after_retries_gives_back_the_last_price_only() -> None:
    budget = CostBudget()
    budget.withdraw(0.0, throttled=False)
    charge = budget.withdraw(0.0, throttled=True)
    assert charge == 5
    budget.succeed(0.0, charge)
    assert budget.tokens == 500 - 14


def test_never_more_than_the_capacity() -> None:
    budget = holding(499)
    budget.succeed(0.0, 14.0)
    assert budget.tokens == 500
    budget.succeed(0.0, 0.0)
    assert budget.tokens == 500


def test_a_price_that_cannot_be_paid_costs_nothing() -> None:
    """smithy-rs #4632: deducting when refusing made the capacity negative."""
    budget = holding(13)
    assert budget.withdraw(0.0, throttled=False) is None
    assert budget.tokens == 13
    assert budget.withdraw(0.0, throttled=True) == 5


def test_without_a_price_retries_are_free() -> None:
    budget = CostBudget(capacity=0, transient_cost=0)
    assert budget.withdraw(0.0, throttled=False) == 0
    assert budget.withdraw(0.0, throttled=True) is None
    assert budget.balance(0.0) == float("inf")


class CostModel(Model):
    """Points in the bucket, as the specification words it."""

    def __init__(self, capacity: int, transient: int, throttle: int, refund: int) -> None:
        self.points = self.capacity = capacity
        self.price = {False: transient, True: throttle}
        self.refund = refund

    def succeed(self, charge: int) -> None:
        self.points = min(self.capacity, self.points + (charge if charge > 0 else self.refund))

    def withdraw(self, now_ms: int, throttled: bool) -> int | None:
        if self.points < self.price[throttled]:
            return None
        self.points -= self.price[throttled]
        return self.price[throttled]

    def balance(self, now_ms: int) -> int:
        return self.points // self.price[False]

    def idle(self) -> bool:
        return self.points == self.capacity


class CostMachine(BudgetMachine):
    @initialize(
        capacity=st.integers(0, 60),
        transient=st.integers(1, 14),
        throttle=st.integers(1, 14),
        refund=st.integers(0, 3),
    )
    def start(self, capacity: int, transient: int, throttle: int, refund: int) -> None:
        self.budget = CostBudget(capacity, transient, throttle, refund)
        self.model = CostModel(capacity, transient, throttle, refund)


TestCostAgainstItsModel = CostMachine.TestCase
TestCostAgainstItsModel.settings = settings(max_examples=60, stateful_step_count=40)


def test_threads_lose_no_point_and_overdraw_none() -> None:
    budget = CostBudget(capacity=140, success_refund=0)
    lowest: list[float] = []

    def work() -> None:
        seen = 140.0
        for turn in range(1500):
            charge = budget.withdraw(0.0, throttled=turn % 3 == 0)
            seen = min(seen, budget.tokens)
            if charge is not None:
                budget.succeed(0.0, charge)
        lowest.append(seen)

    hammer(work)
    assert budget.tokens == 140
    assert budget.idle
    assert min(lowest) >= 0


def test_threads_are_granted_what_there_is_and_no_more() -> None:
    budget = CostBudget(capacity=14_000)
    granted: list[int] = []

    def work() -> None:
        granted.append(sum(budget.withdraw(0.0, throttled=False) is not None for _ in range(500)))

    hammer(work)
    assert sum(granted) == 1000
    assert budget.tokens == 0
