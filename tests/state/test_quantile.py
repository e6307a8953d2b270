"""The moving percentile: where it converges, and what it costs to be wrong."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import threading
from random import Random

import pytest

from seawall.state.quantile import MovingQuantile

UNIFORM = [(0.5, 500, 50), (0.95, 950, 100), (0.99, 990, 250)]


@pytest.mark.parametrize(("quantile", "expected", "within"), UNIFORM)
def test_uniform_values(quantile: float, expected: float, within: float) -> None:
    """failsafe-go `quantile_test.go`: ten thousand values from [0, 1000), and the estimate after the last."""
    random, estimate = Random(42), MovingQuantile(quantile)
    for _ in range(10_000):
        estimate.observe(random.random() * 1000)
    assert estimate.value == pytest.approx(expected, abs=within)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("quantile", "expected", "within"), UNIFORM)
def test_the_average_estimate_of_uniform_values(
    quantile: float, expected: float, within: float, seed: int
) -> None:
    """A single estimate may be outside of the published bounds (σ of the median's is about 37); the average is not."""
    random, estimate, total = Random(seed), MovingQuantile(quantile), 0.0
    for number in range(10_000):
        estimate.observe(random.random() * 1000)
        if number >= 5000:
            total += estimate.value
    assert total / 5000 == pytest.approx(expected, abs=within)


@pytest.mark.parametrize(("quantile", "expected"), [(0.5, 100.0), (0.95, 116.45), (0.99, 123.26)])
def test_the_average_estimate_of_normal_values(quantile: float, expected: float) -> None:
    """failsafe-go looks at one estimate after 20 000 values, with one seed; here their average, within the same half σ."""
    random, estimate, total = Random(42), MovingQuantile(quantile), 0.0
    for number in range(40_000):
        estimate.observe(random.gauss(100.0, 10.0))
        if number >= 20_000:
            total += estimate.value
    assert total / 20_000 == pytest.approx(expected, abs=5.0)


def test_it_follows_a_shift() -> None:
    random, estimate = Random(42), MovingQuantile(0.5)
    for _ in range(5000):
        estimate.observe(random.uniform(90, 110))
    assert estimate.value == pytest.approx(100, abs=15)
    for _ in range(10_000):
        estimate.observe(random.uniform(490, 510))
    assert estimate.value == pytest.approx(500, abs=15)


def test_a_spike_in_twenty() -> None:
    """Latencies of 10 to 20 ms, one in twenty of 100 to 120 ms: above the middle of the usual ones."""
    random, estimate = Random(42), MovingQuantile(0.95)
    for _ in range(10_000):
        usual = random.random() >= 0.05
        estimate.observe(random.uniform(0.010, 0.020) if usual else random.uniform(0.100, 0.120))
    assert 0.015 < estimate.value < 0.120


def test_steps_by_hand() -> None:
    """alpha 0.5 (age 3): 4 then 8: mean 6, variance 8 - 4 = 4·2·0.5 = 4, σ 2."""
    estimate = MovingQuantile(0.75, step=0.1, age=3)
    assert (estimate.value, estimate.count) == (0.0, 0)
    estimate.observe(4.0)
    assert estimate.value == 4.0
    estimate.observe(8.0)
    assert estimate.value == pytest.approx(4.0 + 0.1 * 2.0 / 0.25)
    estimate.observe(0.0)  # mean 3, variance 4 + 0.5·(6·3 - 4) = 11
    assert estimate.value == pytest.approx(4.8 - 0.1 * math.sqrt(11) / 0.75)
    assert estimate.count == 3
    estimate.clear()
    assert (estimate.value, estimate.count) == (0.0, 0)


def test_equal_values_are_their_own_percentile() -> None:
    estimate = MovingQuantile()
    for _ in range(100):
        estimate.observe(42)
    assert estimate.value == 42.0


def test_what_is_not_finite_is_not_counted() -> None:
    estimate = MovingQuantile()
    for value in (1.0, math.nan, math.inf, -math.inf, 1.0):
        estimate.observe(value)
    assert (estimate.value, estimate.count) == (1.0, 2)


def test_settings() -> None:
    with pytest.raises(ValueError, match=r"MovingQuantile: quantile must be <= 0\.999999, got 95"):
        MovingQuantile(95)
    with pytest.raises(ValueError, match=r"MovingQuantile: step must be >= 1e-06, got 0"):
        MovingQuantile(step=0)
    with pytest.raises(TypeError, match="MovingQuantile: age must be a number, got '9'"):
        MovingQuantile(age="9")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert (
        repr(MovingQuantile())
        == "MovingQuantile(age=30, count=0, quantile=0.95, step=0.01, value=0.0)"
    )


def test_copies_go_on_alone() -> None:
    random, estimate = Random(3), MovingQuantile(0.9)
    for _ in range(50):
        estimate.observe(random.random())
    for twin in (copy.copy(estimate), pickle.loads(pickle.dumps(estimate))):
        again = copy.deepcopy(estimate)
        for value in (0.1, 0.9, 0.99):
            twin.observe(value)
            again.observe(value)
        assert (twin.value, twin.count) == (again.value, again.count) == (twin.value, 53)
    assert estimate.count == 50


def test_eight_threads_lose_no_value() -> None:
    estimate = MovingQuantile()

    def observe() -> None:
        for number in range(500):
            estimate.observe(float(number))

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=observe) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval_s)
    assert estimate.count == 4000
