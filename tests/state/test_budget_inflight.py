"""`InflightBudget`: Envoy's numbers, what is in flight, threads."""

from __future__ import annotations

import copy
import pickle
import threading
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from seawall.state.budget import InflightBudget
from tests.state.budget_machine import BudgetMachine, Model, hammer


def with_calls(budget: InflightBudget, calls: int) -> InflightBudget:
    for _ in range(calls):
        budget.begin(0.0)
    return budget


def drained(budget: InflightBudget) -> int:
    granted = 0
    while budget.withdraw(0.0, throttled=False) is not None:
        granted += 1
    return granted


@pytest.mark.parametrize(
    ("active", "retries"), [(0, 3), (2, 3), (15, 3), (20, 4), (25, 5), (100, 20), (1000, 200)]
)
def test_envoy_share_of_calls_in_flight(active: int, retries: int) -> None:
    budget = with_calls(InflightBudget(), active)
    assert budget.balance(0.0) == retries
    assert drained(budget) == retries
    assert budget.balance(0.0) == 0
    for _ in range(retries):
        budget.release(0.0)
    assert budget.balance(0.0) == retries


def test_the_share_is_cut_as_on_paper() -> None:
    """29 % of 100 is 29, although 0.29 x 100 is 28.999999999999996."""
    for percent in range(101):
        assert drained(with_calls(InflightBudget(percent / 100, 0), 100)) == percent


def test_fewer_calls_in_flight_mean_fewer_retries_but_none_is_taken_back() -> None:
    budget = with_calls(InflightBudget(0.5, 0), 10)
    assert drained(budget) == 5
    for _ in range(6):
        budget.end(0.0)
    assert budget.balance(0.0) == 0
    for _ in range(3):
        budget.release(0.0)
    assert budget.withdraw(0.0, throttled=False) is None  # two of four are in flight
    budget.release(0.0)
    assert budget.withdraw(0.0, throttled=False) is not None


def test_nothing_is_allowed_by_neither_share_nor_minimum() -> None:
    assert drained(with_calls(InflightBudget(0, 0), 100)) == 0


def test_copies_have_nothing_in_flight() -> None:
    """The calls of the original end there; in a copy nobody would ever take them off."""
    budget = with_calls(InflightBudget(0.0, 3), 5)
    drained(budget)
    for twin in (copy.copy(budget), copy.deepcopy(budget), pickle.loads(pickle.dumps(budget))):
        assert (twin.calls, twin.retries) == (0, 0)
        assert drained(twin) == 3
    assert (budget.calls, budget.retries) == (5, 3)


class InflightModel(Model):
    def __init__(self, percent: int, least: int) -> None:
        self.share = Fraction(percent, 100)
        self.least = least
        self.calls = self.retries = 0

    def begin(self, now_ms: int) -> None:
        self.calls += 1

    def end(self) -> None:
        self.calls -= 1

    def release(self) -> None:
        self.retries -= 1

    def withdraw(self, now_ms: int, throttled: bool) -> int | None:
        if self.balance(now_ms) == 0:
            return None
        self.retries += 1
        return 1

    def balance(self, now_ms: int) -> int:
        return max(0, max(self.least, self.share * self.calls // 1) - self.retries)


class InflightMachine(BudgetMachine):
    @initialize(percent=st.integers(0, 100), least=st.integers(0, 3))
    def start(self, percent: int, least: int) -> None:
        self.budget = InflightBudget(percent / 100, least)
        self.model = InflightModel(percent, least)

    def teardown(self) -> None:
        """When all calls are over, nothing is held."""
        if hasattr(self, "budget"):
            while self.calls:
                self.over(self.taken(0))
            assert isinstance(self.budget, InflightBudget)
            assert (self.budget.calls, self.budget.retries) == (0, 0)


TestInflightAgainstItsModel = InflightMachine.TestCase
TestInflightAgainstItsModel.settings = settings(max_examples=60, stateful_step_count=40)


def test_threads_never_hold_more_than_the_limit_and_give_all_back() -> None:
    budget = InflightBudget(0.5, min_retries=1)
    held, most, lock = [0], [0], threading.Lock()

    def work() -> None:
        for _ in range(1000):
            budget.begin(0.0)
            if budget.withdraw(0.0, throttled=False) is not None:
                with lock:
                    held[0] += 1
                    most[0] = max(most[0], held[0])
                with lock:
                    held[0] -= 1
                budget.release(0.0)
            budget.end(0.0)

    hammer(work)
    assert most[0] <= 4
    assert (budget.calls, budget.retries) == (0, 0)
