"""Advice of the callee: a minimum, jittered upward only, capped."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.hint import NO_HINT, Hint, as_hint, wait_after_hint

seconds = st.floats(0.0, 1e6)
draws = st.floats(0.0, 1.0, exclude_max=True)


@given(seconds, seconds, draws)
def test_never_earlier_than_advised_nor_than_the_own_backoff(
    own: float, said: float, draw: float
) -> None:
    wait = wait_after_hint(own, Hint(delay_s=said), draw, cap_s=inf)
    assert wait is not None
    assert wait >= said
    assert wait >= own


@given(seconds, seconds, draws)
def test_jitter_adds_at_most_its_share(own: float, said: float, draw: float) -> None:
    wait = wait_after_hint(own, Hint(delay_s=said), draw, cap_s=inf, spread=0.2)
    assert wait is not None
    assert wait <= max(own, said) + 0.2 * said


def test_clients_told_the_same_second_do_not_come_back_together() -> None:
    waits = {wait_after_hint(0.1, Hint(delay_s=30.0), k / 100, cap_s=300.0) for k in range(100)}
    assert len(waits) == 100


@pytest.mark.parametrize("said", [301.0, 1e30, inf])
def test_too_long_an_advice_is_not_waited_for(said: float) -> None:
    assert wait_after_hint(0.1, Hint(delay_s=said), 0.5, cap_s=300.0) is None


def test_zero_is_no_minimum_and_leaves_the_own_backoff() -> None:
    assert wait_after_hint(0.7, Hint(delay_s=0.0), 0.5, cap_s=300.0) == 0.7
    assert wait_after_hint(0.7, NO_HINT, 0.5, cap_s=300.0) == 0.7


def test_exact_advice_is_taken_as_it_is() -> None:
    assert wait_after_hint(3.0, Hint(delay_s=0.5, exact=True), 0.9, cap_s=300.0) == 0.5


@pytest.mark.parametrize(("said", "wait"), [(1.5, 1.5), (0.0, 0.05), (10.0, 5.05)])
def test_clamped_advice_aws_v21(said: float, wait: float) -> None:
    """Specification case 10 of AWS standard retry v2.1: [t, t + 5 s]."""
    assert wait_after_hint(
        0.05, Hint(delay_s=said, clamp_s=5.0), 0.5, cap_s=300.0
    ) == pytest.approx(wait)


def test_what_a_users_function_may_say() -> None:
    assert as_hint(None) is NO_HINT
    assert as_hint(2) == Hint(delay_s=2.0)
    assert as_hint(Hint(stop=True)).stop
    assert as_hint(-1.0) is as_hint(nan) is NO_HINT
