"""`TokenBudget`: gRPC's published sequences, exact thousandths, threads."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from seawall.state.budget import TokenBudget
from tests.state.budget_machine import BudgetMachine, Model, hammer


def test_grpc_tokens() -> None:
    """gRFC A6, maxTokens 10 and tokenRatio 0.1: tokens after each outcome, and whether a retry may follow."""
    expected = [
        ("F", 9, True), ("F", 8, True), ("F", 7, True), ("F", 6, True), ("F", 5, False),
        ("S", 5.1, True), ("F", 4.1, False), ("S", 4.2, False), ("S", 4.3, False),
        ("S", 4.4, False), ("S", 4.5, False), ("S", 4.6, False), ("S", 4.7, False),
        ("S", 4.8, False), ("S", 4.9, False), ("S", 5.0, False), ("S", 5.1, True), ("S", 5.2, True),
    ]  # fmt: skip
    budget = TokenBudget(10, 0.1)
    for outcome, tokens, above_half in expected:
        if outcome == "F":
            assert (budget.withdraw(0.0, throttled=False) is not None) is above_half
        else:
            budget.succeed(0.0, 0.0)
            assert (budget.tokens > 5) is above_half
        assert budget.tokens == tokens  # to the last bit: thousandths are counted


def test_grpc_go_retry_throttling() -> None:
    """TestRetryThrottling: maxTokens 10, tokenRatio 0.5, maxAttempts 4; code, index and tokens of twelve calls.

    Codes and indices are the published assertions. Three of the comments beside them (calls 3, 11 and 12) give other
    tokens; these follow from the specification's arithmetic.
    """
    good = {0, 3, 6, 10, 11, 12, 13, 14, 16, 18}
    budget = TokenBudget(10, 0.5)
    index = -1
    seen: list[tuple[str, int, float]] = []
    for _ in range(12):
        for attempt in range(1, 5):
            index += 1
            if index in good:
                budget.succeed(0.0, 0.0)
                seen.append(("OK", index, budget.tokens))
                break
            if attempt == 4:
                budget.fail(0.0, throttled=False)
            elif budget.withdraw(0.0, throttled=False) is not None:
                continue
            seen.append(("UNAVAILABLE", index, budget.tokens))
            break
    assert seen == [
        ("OK", 0, 10), ("OK", 3, 8.5), ("OK", 6, 7), ("UNAVAILABLE", 8, 5), ("UNAVAILABLE", 9, 4),
        ("OK", 10, 4.5), ("OK", 11, 5), ("OK", 12, 5.5), ("OK", 13, 6), ("OK", 14, 6.5),
        ("OK", 16, 6), ("UNAVAILABLE", 17, 5),
    ]  # fmt: skip


def test_a_final_failure_counts_as_well() -> None:
    budget = TokenBudget(10, 0.1)
    budget.fail(0.0, throttled=True)
    assert budget.tokens == 9
    assert not budget.idle


def test_tokens_stay_between_none_and_all() -> None:
    budget = TokenBudget(2, 0.5)
    for _ in range(5):
        budget.fail(0.0, throttled=False)
    assert budget.tokens == 0
    for _ in range(9):
        budget.succeed(0.0, 0.0)
    assert budget.tokens == 2
    assert budget.idle


def test_three_decimals_do_not_drift() -> None:
    budget = TokenBudget(1000, 0.001)
    for _ in range(400):
        budget.fail(0.0, throttled=False)
    for _ in range(123_456):
        budget.succeed(0.0, 0.0)
    assert budget.tokens == 723.456


@pytest.mark.parametrize(("given", "kept"), [(0.1234, "0.123"), (0.1236, "0.124"), (2, "2")])
def test_settings_are_rounded_to_three_decimals(given: float, kept: str) -> None:
    assert repr(TokenBudget(10, given)) == f"TokenBudget(10, {kept}, tokens=10)"


class TokenModel(Model):
    """The specification's text, in fractions."""

    def __init__(self, most: int, ratio: int) -> None:
        self.tokens = self.most = Fraction(most, 1000)
        self.ratio = Fraction(ratio, 1000)

    def succeed(self, charge: int) -> None:
        self.tokens = min(self.most, self.tokens + self.ratio)

    def fail(self) -> None:
        self.tokens = max(Fraction(0), self.tokens - 1)

    def withdraw(self, now_ms: int, throttled: bool) -> int | None:
        self.fail()
        return 1 if self.tokens > self.most / 2 else None

    def balance(self, now_ms: int) -> int:
        left, retries = self.tokens - 1, 0
        while left > self.most / 2:
            left, retries = left - 1, retries + 1
        return retries

    def idle(self) -> bool:
        return self.tokens == self.most


class TokenMachine(BudgetMachine):
    @initialize(most=st.integers(1, 12_000), ratio=st.integers(1, 3000))
    def start(self, most: int, ratio: int) -> None:
        self.budget = TokenBudget(most / 1000, ratio / 1000)
        self.model = TokenModel(most, ratio)


TestTokenAgainstItsModel = TokenMachine.TestCase
TestTokenAgainstItsModel.settings = settings(max_examples=60, stateful_step_count=40)


def test_threads_lose_no_token() -> None:
    budget = TokenBudget(1000, 0.01)

    def work() -> None:
        for _ in range(100):
            budget.fail(0.0, throttled=False)
        for _ in range(1000):
            budget.succeed(0.0, 0.0)

    budget.fail(0.0, throttled=False)
    hammer(work)  # whatever the order, it never fills up: 801 lost, at most 80 won back
    assert budget.tokens == 1000 - 801 + 80
