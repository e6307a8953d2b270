"""Throttling by a moving average of acceptance."""

from __future__ import annotations

import copy
import math
import pickle

import pytest

from seawall.state.nack import NackThrottle, nack_probability


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [(1.0, 0.0), (0.5, 0.0), (0.4, 0.2), (0.2, 0.6), (0.1, 0.75), (0.0, 0.75)],
)
def test_finagle(accepted: float, expected: float) -> None:
    assert nack_probability(accepted) == pytest.approx(expected)


def refused_for(throttle: NackThrottle, begin_s: int, end_s: int, per_s: int = 10) -> None:
    """The server refuses every call that reaches it."""
    for step in range(begin_s * per_s, end_s * per_s):
        if throttle.admit(step / per_s, 0.999):
            throttle.settle(step / per_s, accepted=False)


def test_the_average_is_over_time() -> None:
    """After t seconds of refusals it is exp(-t / window), however many they were."""
    for per_s in (10, 1000):
        throttle = NackThrottle(window_s=60.0)
        refused_for(throttle, 0, 60, per_s)
        assert throttle.accepted == pytest.approx(math.exp(-1), rel=0.01)
        assert throttle.reject_probability(60.0) == pytest.approx(1 - 2 * math.exp(-1), rel=0.02)


def test_a_burst_of_refusals_weighs_little() -> None:
    throttle = NackThrottle()
    for _ in range(1000):
        throttle.admit(5.0, 0.5)
        throttle.settle(5.0, accepted=False)
    assert throttle.reject_probability(5.0) == 0.0


def test_a_client_with_few_calls_is_let_be() -> None:
    throttle = NackThrottle()
    refused_for(throttle, 0, 600, per_s=4)
    assert throttle.accepted < 0.01
    assert throttle.admit(600.0, 0.0)
    refused_for(throttle, 601, 700, per_s=10)
    assert not throttle.admit(700.0, 0.7499)
    assert throttle.admit(700.0, 0.75)
    assert throttle.reject_probability(700.0) == 0.75
    assert throttle.reject_probability(720.0) == 0.0


def test_what_has_no_verdict_and_a_clock_that_steps_back() -> None:
    throttle = NackThrottle()
    throttle.settle(0.0, accepted=True)
    throttle.settle(500.0, accepted=None)
    assert throttle.accepted == 1.0
    throttle.settle(120.0, accepted=False)
    before = throttle.accepted
    assert before == pytest.approx(math.exp(-1))
    throttle.settle(-1e9, accepted=False)
    throttle.settle(120.0, accepted=False)
    assert throttle.accepted == before


def test_copies_keep_the_average_under_another_clock() -> None:
    throttle = NackThrottle()
    refused_for(throttle, 1000, 1100)
    for twin in (copy.copy(throttle), pickle.loads(pickle.dumps(throttle))):
        assert twin.accepted == throttle.accepted
        twin.settle(3.0, accepted=False)
        assert twin.accepted == throttle.accepted


def test_settings() -> None:
    with pytest.raises(ValueError, match=r"NackThrottle: threshold must be <= 0\.99, got 1"):
        NackThrottle(threshold=1)
    with pytest.raises(ValueError, match="NackThrottle: max_probability must be <= 1, got 75"):
        NackThrottle(max_probability=75)
    with pytest.raises(ValueError, match="NackThrottle: min_rps must be >= 0 a second, got -1"):
        NackThrottle(min_rps=-1)
    with pytest.raises(ValueError, match="NackThrottle: window_s must be a finite number"):
        NackThrottle(window_s=0)
