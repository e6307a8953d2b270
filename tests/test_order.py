"""The order checker explains known-bad orders."""

from __future__ import annotations

import pytest

from seawall.classify import Classifier
from seawall.errors import OrderWarning
from seawall.order import check_order
from seawall.policies.deadline import Deadline
from seawall.policies.retry import Retry
from seawall.policies.timeout import Timeout
from seawall.stack import Stack

RETRY = Retry(Classifier(OSError))


def test_the_recommended_order_has_no_problem() -> None:
    assert check_order((Deadline(10), RETRY, Timeout(1))) == []


def test_a_deadline_inside_a_retry_limits_nothing() -> None:
    (problem,) = check_order((RETRY, Deadline(10)))
    assert (problem.outer, problem.inner, problem.outer_at, problem.inner_at) == (
        "Retry",
        "Deadline",
        0,
        1,
    )
    assert "starts anew with each attempt" in problem.why


def test_two_retries_multiply() -> None:
    problem, _timeout_outside = check_order((RETRY, Timeout(1), RETRY))
    assert "multiply" in str(problem)
    assert "(position 2) inside Retry (position 0)" in str(problem)


def test_a_timeout_outside_a_retry() -> None:
    assert [p.inner for p in check_order((Timeout(1), RETRY))] == ["Retry"]


def test_composing_a_bad_order_warns_and_explains() -> None:
    with pytest.warns(OrderWarning, match="Put Deadline outside Retry"):
        stack = Stack(RETRY, Deadline(10))
    assert len(stack.check()) == 1
