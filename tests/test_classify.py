"""Which outcomes are failures worth another attempt."""

from __future__ import annotations

import concurrent.futures
import pickle
from typing import Any

import pytest

from seawall.classify import Classifier
from seawall.errors import SeawallError, do_not_retry
from seawall.hint import Hint
from seawall.outcome import Outcome


def verdict(
    classifier: Classifier, error: Exception | None = None, value: Any = None
) -> tuple[bool, bool]:
    judged = classifier.judge(Outcome(value, error))
    return judged.ok, judged.retry


def test_by_type_and_subtypes() -> None:
    on = Classifier(OSError)
    assert verdict(on, ConnectionError()) == (False, True)
    assert verdict(on, ValueError()) == (False, False)
    assert verdict(on, value=None) == (True, False)


def test_by_several_types() -> None:
    assert verdict(Classifier((KeyError, OSError)), KeyError()) == (False, True)


def test_by_a_predicate_on_the_exception() -> None:
    on = Classifier(lambda error: "later" in str(error))
    assert verdict(on, ValueError("try later")) == (False, True)
    assert verdict(on, ValueError("never")) == (False, False)


def test_by_result_alone_or_beside() -> None:
    on = Classifier(None, on_result=lambda value: value == "busy")
    assert verdict(on, value="busy") == (False, True)
    assert verdict(on, value="done") == (True, False)
    assert verdict(on, ValueError()) == (False, False)


def test_a_marked_exception_is_forbidden_even_when_seen_before() -> None:
    on = Classifier(ValueError)
    assert verdict(on, ValueError()) == (False, True)
    judged = on.judge(Outcome(error=do_not_retry(ValueError())))
    assert (judged.retry, judged.forbidden) == (False, True)
    try:
        raise ValueError from do_not_retry(KeyError())
    except ValueError as caused:
        assert on.judge(Outcome(error=caused)).forbidden


def test_a_cancelled_future_is_not_retried() -> None:
    assert verdict(Classifier(Exception), concurrent.futures.CancelledError()) == (False, False)


def test_an_exceptions_own_advice_is_a_hint() -> None:
    on = Classifier(SeawallError)
    assert on.judge(Outcome(error=SeawallError("x", retry_after_s=3))).hint == Hint(delay_s=3.0)
    assert on.judge(Outcome(error=SeawallError("x"))).hint == Hint()


def test_advice_set_on_an_exception_whose_type_is_known() -> None:
    on = Classifier(ValueError)
    on.judge(Outcome(error=ValueError()))
    later = ValueError()
    later.retry_after_s = 2.0  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    assert on.judge(Outcome(error=later)).hint == Hint(delay_s=2.0)


def test_throttling_and_hints_by_function() -> None:
    on = Classifier(
        None, on_result=lambda v: v > 0, throttled=lambda o: o.value == 429, hint=lambda o: 7.0
    )
    judged = on.judge(Outcome(429))
    assert (judged.throttled, judged.hint.delay_s) == (True, 7.0)
    assert not on.judge(Outcome(503)).throttled


def test_a_predicates_own_exception_is_the_users() -> None:
    def broken(error: Exception) -> bool:
        raise LookupError("no such rule")

    with pytest.raises(LookupError, match="no such rule"):
        Classifier(broken).judge(Outcome(error=ValueError()))


def test_pickled_with_the_same_judgement() -> None:
    class Local(Exception):
        pass

    on = Classifier(Exception)
    on.judge(Outcome(error=Local()))
    assert pickle.loads(pickle.dumps(on)) == on


@pytest.mark.parametrize(
    ("on", "message"),
    [
        (KeyboardInterrupt, "KeyboardInterrupt would retry cancellation or interpreter exit"),
        (BaseException, "use on=Exception"),
        ((ValueError, SystemExit), "SystemExit would retry"),
        ((), "matches no exception"),
        (int, "int, which is not one"),
        ("ValueError", "a type, a tuple|must be an exception type"),
        ((ValueError, len), "To mix types and conditions"),
        (None, "on=None and on_result=None match nothing"),
    ],
)
def test_what_cannot_work_is_refused_with_the_way_out(on: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Classifier(on)
