"""Who takes part: ordinary stacks, the bad habits included."""

from __future__ import annotations

import pytest

from seawall import UNLIMITED, Classifier, CostBudget, Retry, Stack, Timeout
from seawall.drill.strategies import CONTENDERS, mean_wait_s, stack_for
from seawall.world import REAL


def made(name: str) -> Stack:
    return stack_for(
        name, Classifier(OSError), REAL, attempts=5, base_s=0.1, cap_s=20.0, timeout_s=0.2
    )


def retry_of(stack: Stack) -> Retry:
    retry = stack.policies[0]
    assert isinstance(retry, Retry)
    return retry


@pytest.mark.parametrize("name", CONTENDERS)
def test_each_is_a_retry_around_a_timeout_without_warnings(name: str) -> None:
    stack = made(name)
    assert [type(policy) for policy in stack.policies] == [Retry, Timeout]
    assert stack.check() == []


@pytest.mark.parametrize("name", CONTENDERS)
def test_only_the_budgeted_one_has_a_budget_and_it_is_fresh(name: str) -> None:
    budget = retry_of(made(name)).budget
    if CONTENDERS[name].budgeted:
        assert isinstance(budget, CostBudget)
        assert budget is not retry_of(made(name)).budget
    else:
        assert budget is UNLIMITED


@pytest.mark.parametrize(
    ("name", "draw", "waits_s"),
    [
        ("immediate", 0.9, [0.0, 0.0, 0.0, 0.0]),
        ("fixed", 0.9, [0.1, 0.1, 0.1, 0.1]),
        ("exponential", 0.9, [0.1, 0.2, 0.4, 0.8]),
        ("full", 0.5, [0.05, 0.1, 0.2, 0.4]),
        ("equal", 0.5, [0.075, 0.15, 0.3, 0.6]),
        ("decorrelated", 0.5, [0.2, 0.35, 0.575, 0.9125]),
        ("full+budget", 0.5, [0.05, 0.1, 0.2, 0.4]),
    ],
)
def test_the_waits_are_the_published_ones(name: str, draw: float, waits_s: list[float]) -> None:
    backoff = retry_of(made(name)).backoff
    assert backoff.delays_s(4, [draw] * 4) == pytest.approx(waits_s)


def test_mean_waits() -> None:
    """Full jitter waits half as long as no jitter, equal jitter three quarters."""
    assert mean_wait_s("immediate", 5, 0.1, 20.0) == 0.0
    assert mean_wait_s("fixed", 5, 0.1, 20.0) == pytest.approx(0.4)
    assert mean_wait_s("exponential", 5, 0.1, 20.0) == pytest.approx(1.5)
    assert mean_wait_s("full", 5, 0.1, 20.0) == pytest.approx(0.75, rel=0.02)
    assert mean_wait_s("equal", 5, 0.1, 20.0) == pytest.approx(1.125, rel=0.02)
    assert mean_wait_s("full", 1, 0.1, 20.0) == 0.0
