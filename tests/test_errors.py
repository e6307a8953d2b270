"""Exceptions: picklable, and "do not retry" goes with them."""

from __future__ import annotations

import copy
import pickle

import pytest

from seawall.errors import (
    AttemptTimeout,
    DeadlineExceeded,
    SeawallError,
    do_not_retry,
    retry_forbidden,
)

ERRORS = [
    SeawallError("full", policy="Bulkhead", retry_after_s=1.5),
    DeadlineExceeded("late", policy="Deadline"),
    AttemptTimeout("slow", limit_s=2.0, goes_on="Thread 3"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_errors_survive_pickle_and_copy(error: SeawallError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


def test_limits_are_timeout_errors() -> None:
    assert isinstance(DeadlineExceeded("x"), TimeoutError)
    assert isinstance(AttemptTimeout("x"), TimeoutError)


def test_a_marked_exception_forbids_retries() -> None:
    assert retry_forbidden(do_not_retry(ValueError("full")))
    assert not retry_forbidden(ValueError("full"))


def test_the_mark_goes_through_causes_and_groups() -> None:
    try:
        raise RuntimeError("wrapped") from do_not_retry(ValueError("full"))
    except RuntimeError as wrapped:
        assert retry_forbidden(wrapped)
        assert retry_forbidden(ExceptionGroup("several", [KeyError(), wrapped]))
    assert not retry_forbidden(ExceptionGroup("several", [KeyError(), ValueError()]))


def test_a_cycle_of_causes_ends() -> None:
    one, two = ValueError(1), ValueError(2)
    one.__cause__, two.__cause__ = two, one
    assert not retry_forbidden(one)


def test_a_marked_exception_can_still_be_pickled() -> None:
    assert retry_forbidden(pickle.loads(pickle.dumps(do_not_retry(ValueError("full")))))
