"""What all budgets have in common: bounded load, the null object, copies, settings."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from seawall.state.budget import (
    UNLIMITED,
    Budget,
    CostBudget,
    InflightBudget,
    RatioBudget,
    TokenBudget,
)

ENGINES: dict[str, Callable[[], Budget]] = {
    "cost": CostBudget,
    "token": TokenBudget,
    "ratio": RatioBudget,
    "inflight": InflightBudget,
}
every_engine = pytest.mark.parametrize("name", ENGINES)


# --- what they are for -------------------------------------------------------------------------------


def retries_when_all_fail(budget: Budget, calls: int, at_once: int = 1, attempts: int = 3) -> int:
    """Retries granted at one instant when every attempt of every call fails, so many calls in flight at a time."""
    granted = 0
    waves = [at_once] * (calls // at_once)
    for wave in waves:
        for _ in range(wave):
            budget.begin(0.0)
        trying = wave
        for attempt in range(1, attempts + 1):
            if attempt > 1:
                for _ in range(trying):
                    budget.release(0.0)
            if attempt == attempts:
                for _ in range(trying):
                    budget.fail(0.0, throttled=False)
                break
            trying = sum(budget.withdraw(0.0, throttled=False) is not None for _ in range(trying))
            granted += trying
        for _ in range(wave):
            budget.end(0.0)
    return granted


def test_without_a_budget_attempts_multiply() -> None:
    """SRE book, "Handling overload": three attempts are three times the load."""
    assert retries_when_all_fail(UNLIMITED, 10_000) == 20_000


@pytest.mark.parametrize(
    ("make", "at_once", "granted"),
    [
        (CostBudget, 1, 35),  # 500 // 14
        (CostBudget, 1000, 35),
        (TokenBudget, 1, 33),  # 99, 98 ... 51 of 100, of which each third call for no retry: the last attempts
        (TokenBudget, 1000, 49),  # nobody gets to a last attempt
        (RatioBudget, 1, 2100),  # 20 % of 10 000, and 10/s for 10 s
        (RatioBudget, 1000, 2100),
        (lambda: RatioBudget(0.1, min_per_s=0), 1, 1000),
        (lambda: RatioBudget(0.1, min_per_s=0), 1000, 1000),
    ],
)  # fmt: skip
def test_load_when_everything_fails(make: Callable[[], Budget], at_once: int, granted: int) -> None:
    """The third column of the table in the package's docstring."""
    assert retries_when_all_fail(make(), 10_000, at_once) == granted


@pytest.mark.parametrize(
    "make", [CostBudget, TokenBudget, lambda: RatioBudget(0.1, min_per_s=0)], ids=str
)
def test_a_ten_percent_budget_bounds_load_at_1_1(make: Callable[[], Budget]) -> None:
    """SRE book, "Handling overload": the growth of load under a 10 % budget."""
    for calls in (1000, 10_000):
        assert (calls + retries_when_all_fail(make(), calls)) / calls <= 1.1


def test_in_flight_the_share_is_one_of_attempts_at_a_time() -> None:
    """1000 attempts at a time, all fail together, each call that ends is followed by another: never over 10 % are retries.

    So of all attempts 10 % are retries, and the load is 1 / (1 - 0.1) times the calls.
    """
    budget = InflightBudget(0.1, min_retries=0)
    for _ in range(1000):
        budget.begin(0.0)
    retries, calls = 0, 1000
    for _ in range(200):
        for _ in range(budget.retries):
            budget.release(0.0)
        granted = sum(budget.withdraw(0.0, throttled=False) is not None for _ in range(1000))
        assert granted == 100
        for _ in range(1000 - granted):
            budget.end(0.0)
            budget.begin(0.0)
        calls += 1000 - granted
        retries += granted
    assert (calls + retries) / calls <= 1 / 0.9


# --- the interface -----------------------------------------------------------------------------------


def test_the_null_object_allows_everything_and_stays_one() -> None:
    """Drivers ask `is UNLIMITED`; a policy that has been to another process must answer the same."""
    assert UNLIMITED.withdraw(0.0, throttled=True) == 0.0
    assert UNLIMITED.balance(0.0) == float("inf")
    assert UNLIMITED.idle
    assert repr(UNLIMITED) == "UNLIMITED"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(UNLIMITED, protocol)) is UNLIMITED
    assert copy.copy(UNLIMITED) is UNLIMITED
    assert copy.deepcopy([UNLIMITED])[0] is UNLIMITED


def test_who_must_hear_of_every_call() -> None:
    assert {name: make().counts_calls for name, make in ENGINES.items()} == {
        "cost": False, "token": False, "ratio": True, "inflight": True,
    }  # fmt: skip
    assert {name: make().idle for name, make in ENGINES.items()} == {
        "cost": True, "token": True, "ratio": False, "inflight": False,
    }  # fmt: skip


def lone_calls(budget: Budget, calls: int) -> list[float | None]:
    """Answers to the first failures of calls that come one after another."""
    answers: list[float | None] = []
    for _ in range(calls):
        budget.begin(0.0)
        answers.append(budget.withdraw(0.0, throttled=False))
        if answers[-1] is not None:
            budget.release(0.0)
        budget.end(0.0)
    return answers


@every_engine
def test_copies_own_the_same_credit_and_share_nothing(name: str) -> None:
    budget = ENGINES[name]()
    lone_calls(budget, 7)
    protocols = range(pickle.HIGHEST_PROTOCOL + 1)
    twins = [pickle.loads(pickle.dumps(budget, protocol)) for protocol in protocols]
    twins += [copy.copy(budget), copy.deepcopy(budget)]
    before = repr(budget)
    balance = budget.balance(0.0)
    for twin in twins:
        assert repr(twin) == before
        assert (twin.balance(0.0), twin.idle) == (balance, budget.idle)
        lone_calls(twin, 1000)
    assert (repr(budget), budget.balance(0.0)) == (before, balance)
    expected = lone_calls(budget, 200)
    assert lone_calls(pickle.loads(pickle.dumps(ENGINES[name]())), 207)[7:] == expected


@every_engine
def test_a_budget_shows_its_settings_and_state(name: str) -> None:
    budget = ENGINES[name]()
    budget.begin(0.0)
    budget.withdraw(0.0, throttled=False)
    assert (
        repr(budget)
        == {
            "cost": "CostBudget(capacity=500, success_refund=1, throttle_cost=5, tokens=486, transient_cost=14)",
            "token": "TokenBudget(100, 0.1, tokens=99)",
            "ratio": "RatioBudget(min_per_s=10.0, ratio=0.2, ttl_s=10.0, available=99)",
            "inflight": "InflightBudget(calls=1, min_retries=3, ratio=0.2, retries=1)",
        }[name]
    )


class Counting(Budget):
    """A user's own: no slots, an attribute more."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def withdraw(self, now: float, throttled: bool) -> float | None:
        self.asked += 1
        return None


def test_a_budget_of_ones_own_is_copied_whole() -> None:
    budget = Counting()
    budget.withdraw(0.0, throttled=False)
    for twin in (pickle.loads(pickle.dumps(budget)), copy.copy(budget), copy.deepcopy(budget)):
        assert twin.asked == 1
        twin.withdraw(0.0, throttled=False)
    assert budget.asked == 1
    assert repr(budget) == "Counting(asked=1)"


# --- bad settings ------------------------------------------------------------------------------------

NOT_A_NUMBER: Any = "500"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: RatioBudget(ttl_s=0.5),
            (
                "RatioBudget: ttl_s must be in [1, 60], got 0.5. "
                "Default: 10; budget=None or UNLIMITED sets no limit to retries."
            ),
        ),
        (lambda: RatioBudget(ttl_s=61), "ttl_s must be in [1, 60], got 61."),
        (lambda: RatioBudget(ratio=-0.1), "ratio must be in [0, 1000], got -0.1."),
        (lambda: RatioBudget(ratio=1001), "ratio must be in [0, 1000], got 1001."),
        (lambda: RatioBudget(ratio=float("nan")), "ratio must be in [0, 1000], got nan."),
        (lambda: RatioBudget(min_per_s=-1), "min_per_s must be in [0, 1e+09], got -1."),
        (lambda: RatioBudget.tower(ttl_s=0), "ttl_s must be in [1, 60], got 0."),
        (lambda: TokenBudget(max_tokens=1001), "max_tokens must be in [0.001, 1000], got 1001."),
        (lambda: TokenBudget(token_ratio=0), "token_ratio must be in [0.001, 1000], got 0."),
        (lambda: CostBudget(capacity=-1), "capacity must be in [0, 1e+12], got -1. Default: 500"),
        (lambda: CostBudget(capacity=10**400), "capacity must be in [0, 1e+12], got 1000"),
        (lambda: CostBudget(transient_cost=-14), "transient_cost must be in"),
        (lambda: CostBudget(throttle_cost=True), "throttle_cost must be a number, got True."),
        (
            lambda: CostBudget(success_refund=0.5),  # type: ignore[arg-type] # what it refuses
            "success_refund must be a whole number, got 0.5. Default: 1.",
        ),
        (lambda: CostBudget(capacity=NOT_A_NUMBER), "capacity must be a number, got '500'."),
        (lambda: InflightBudget(ratio=1.5), "ratio must be in [0, 1], got 1.5."),
        (
            lambda: InflightBudget(min_retries=2.5),  # type: ignore[arg-type] # what it refuses
            "min_retries must be a whole number, got 2.5.",
        ),
    ],
)
def test_bad_settings_are_told_with_the_way_out(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as told:
        make()
    assert message in str(told.value)
