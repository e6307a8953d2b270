"""`KeyedBudget`: one budget for each key, however many ask, and bounded."""

from __future__ import annotations

import copy
import gc
import pickle
import threading

import pytest

from seawall.state.budget import Budget, CostBudget, KeyedBudget, RatioBudget
from tests.state.budget_machine import hammer


def spent(budget: Budget) -> Budget:
    while budget.withdraw(0.0, throttled=False) is not None:
        pass
    return budget


def test_each_key_has_its_own() -> None:
    budgets = KeyedBudget(CostBudget)
    spent(budgets.of("a"))
    assert budgets.of("a").balance(0.0) == 0
    assert budgets.of("b").balance(0.0) == 35
    assert budgets.of("a") is budgets.of("a")


def test_the_least_recently_used_key_is_forgotten() -> None:
    budgets = KeyedBudget(CostBudget, capacity=2)
    for key in ("a", "b"):
        spent(budgets.of(key))
    budgets.of("a")
    budgets.of("c")
    gc.collect()
    assert [budgets.of(key).balance(0.0) for key in ("a", "b")] == [0, 35]
    assert len(budgets) == 2


def test_a_budget_in_use_is_never_doubled() -> None:
    """It has fallen out, but a call or a stack holds it: its key leads to it still."""
    made: list[Budget] = []

    def make() -> Budget:
        made.append(CostBudget())
        return made[-1]

    budgets = KeyedBudget(make, capacity=1)
    held = budgets.of("a")
    budgets.of("b")
    assert len(budgets) == 1
    assert budgets.of("a") is held
    assert len(budgets) == 1
    assert len(made) == 2


def test_making_one_may_ask_for_another() -> None:
    """A tenant's budget is sized by its group's: no lock is held meanwhile."""

    def make() -> Budget:
        if len(budgets) == 0 and not asked:
            asked.append(True)
            budgets.of("group")
        return CostBudget()

    asked: list[bool] = []
    budgets = KeyedBudget(make)
    done = threading.Thread(target=budgets.of, args=("tenant",), daemon=True)
    done.start()
    done.join(timeout=60)
    assert not done.is_alive()
    assert len(budgets) == 2


def test_a_make_that_fails_leaves_nothing() -> None:
    def make() -> Budget:
        raise LookupError("no such tenant")

    budgets = KeyedBudget(make)
    for _ in range(2):
        with pytest.raises(LookupError, match="no such tenant"):
            budgets.of("a")
    assert len(budgets) == 0


def test_threads_that_come_at_once_get_the_same_one() -> None:
    budgets = KeyedBudget(CostBudget, capacity=50)
    seen: list[list[Budget]] = []

    def work() -> None:
        seen.append([budgets.of(key) for key in range(200)])

    hammer(work)
    assert len(budgets) == 50
    for same in zip(*seen, strict=True):  # all are held here, so none was ever doubled
        assert len(set(map(id, same))) == 1


def test_copies_share_nothing() -> None:
    budgets = KeyedBudget(RatioBudget, capacity=3)
    for key in "abcd":
        spent(budgets.of(key))
    for twin in (pickle.loads(pickle.dumps(budgets)), copy.deepcopy(budgets)):
        assert repr(twin) == repr(budgets) == "KeyedBudget(RatioBudget, capacity=3, keys=3)"
        assert twin.of("d").balance(0.0) == 0
        assert twin.of("d") is not budgets.of("d")
        assert twin.of("a").balance(0.0) == 100  # had fallen out
        assert len(twin) == 3


@pytest.mark.parametrize(("capacity", "kind"), [(0, ValueError), (2.5, TypeError)])
def test_bad_capacities(capacity: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="KeyedBudget: capacity must be"):
        KeyedBudget(CostBudget, capacity)
