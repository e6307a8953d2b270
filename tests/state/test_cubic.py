"""The AWS adaptive rate: published tables, and botocore's own classes answer by answer."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import threading
from importlib import import_module
from random import Random
from typing import Any

import pytest

from seawall.state.cubic import CubicRate, cubic_per_s, zero_point_s

# --- published tables -------------------------------------------------------------------------------------


def test_the_seventeen_rows() -> None:
    """Sending rates of aws-sdk-go-v2, botocore, smithy-rs: (time, throttled, measured, fill)."""
    rows = [
        (0.2, False, 0.0, 0.5),
        (0.4, False, 0.0, 0.5),
        (0.6, False, 4.8, 0.5),
        (0.8, False, 4.8, 0.5),
        (1.0, False, 4.16, 0.5),
        (1.2, False, 4.16, 0.6912),
        (1.4, False, 4.16, 1.0976),
        (1.6, False, 5.632, 1.6384),
        (1.8, False, 5.632, 2.3328),
        (2.0, True, 4.3264, 3.02848),
        (2.2, False, 4.3264, 3.48663917347026),
        (2.4, False, 4.3264, 3.821874416040255),
        (2.6, False, 5.66528, 4.053385727709987),
        (2.8, False, 5.66528, 4.200373108479454),
        (3.0, False, 4.333056, 4.282036558348658),
        (3.2, True, 4.333056, 2.99742559084406),
        (3.4, False, 4.333056, 3.4522263943863463),
    ]
    rate = CubicRate(start_s=0.0)
    for now, throttled, measured, fill in rows:
        rate.settle(now, throttled)
        assert rate.measured_per_s == pytest.approx(measured, rel=1e-12)
        assert rate.fill_per_s == pytest.approx(fill, rel=1e-12)
        assert rate.enabled == (now >= 2.0)


def test_the_success_table() -> None:
    zero_s = zero_point_s(10.0)
    assert zero_s == pytest.approx(1.9574338205844317, rel=1e-15)
    rates = [cubic_per_s(10.0, t - 5.0, zero_s) for t in range(5, 12)]
    assert rates == pytest.approx(
        [7.0, 9.64893600966, 10.000030849917364, 10.453284520772092, 13.408697022224185,
         21.26626835427364, 36.425998516920465], rel=1e-12,
    )  # fmt: skip


def test_the_mixed_table() -> None:
    """Throttled at 7 and 8; as in the published test, the height to return to is the reduced rate."""
    w_max, throttled_at, rates = 10.0, 5.0, list[float]()
    for now in range(5, 13):
        if now in {7, 8}:
            w_max, throttled_at = rates[-1] * 0.7, float(now)
            rates.append(w_max)
        else:
            rates.append(cubic_per_s(w_max, now - throttled_at, zero_point_s(w_max)))
    assert rates == pytest.approx(
        [7.0, 9.64893600966, 6.754255206761999, 4.727978644733399, 4.670125557970046,
         4.770870456867401, 6.011819748005445, 10.792973431384178], rel=1e-12,
    )  # fmt: skip


def test_other_published_numbers() -> None:
    assert zero_point_s(8.0) == pytest.approx(1.8171205928321397, rel=1e-15)
    assert cubic_per_s(8.0, 0.0, zero_point_s(8.0)) == pytest.approx(5.6)
    assert cubic_per_s(10.0, 0.0, zero_point_s(10.0, beta=0.6)) == pytest.approx(6.0)


def test_the_clock_of_the_measured_rate() -> None:
    one, six = CubicRate(start_s=0.0), CubicRate(start_s=0.0)
    one.settle(1.0, throttled=False)
    assert one.measured_per_s == pytest.approx(0.8)
    for now in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5):
        six.settle(now, throttled=False)
    assert six.measured_per_s == pytest.approx(9.6)


def throttled_at_zero() -> CubicRate:
    rate = CubicRate(start_s=0.0)
    rate.settle(0.0, throttled=True)
    assert (rate.enabled, rate.fill_per_s) == (True, 0.5)
    return rate


def test_tokens_are_never_negative() -> None:
    """Ten callers at 0.1 s all get the same wait; none of them takes anything."""
    rate = throttled_at_zero()
    assert [rate.admit(0.1) for _ in range(10)] == [pytest.approx(1.9)] * 10
    assert rate.tokens(0.1) == pytest.approx(0.05)
    assert rate.admit(0.1 + rate.admit(0.1)) == 0.0


@pytest.mark.parametrize(("now", "wait_s"), [(0.5, 0.892857), (1.0, 1.785714), (2.0, 2.0)])
def test_waits_after_a_throttle(now: float, wait_s: float) -> None:
    """smithy-typescript: seconds to the next token after the first throttle, with an empty bucket."""
    rate = CubicRate(start_s=0.0)
    rate.settle(now, throttled=True)
    rate._tokens = 0.0  # theirs is empty at the throttle, botocore's has filled up since the start
    assert rate.admit(now) == pytest.approx(wait_s, rel=1e-6)


# --- botocore ---------------------------------------------------------------------------------------------


class FakeClock:
    def __init__(self, now: float) -> None:
        self.now = now

    def current_time(self) -> float:
        return self.now

    def sleep(self, amount: float) -> None:
        raise AssertionError("nobody sleeps here")


class Told:
    """In place of botocore's look at the response."""

    @staticmethod
    def is_throttling_error(throttled: bool) -> bool:
        return throttled


class Theirs:
    """botocore's adaptive limiter, wired as `register_retry_handler` does it."""

    def __init__(self, start_s: float) -> None:
        bucket: Any = import_module("botocore.retries.bucket")
        throttling: Any = import_module("botocore.retries.throttling")
        adaptive: Any = import_module("botocore.retries.adaptive")
        self.refused: Any = import_module("botocore.exceptions").CapacityNotAvailableError
        self.clock = FakeClock(start_s)
        self.bucket = bucket.TokenBucket(max_rate=1, clock=self.clock)
        self.clocker = adaptive.RateClocker(self.clock)
        self.limiter = adaptive.ClientRateLimiter(
            rate_adjustor=throttling.CubicCalculator(starting_max_rate=0, start_time=start_s),
            rate_clocker=self.clocker,
            token_bucket=self.bucket,
            throttling_detector=Told(),
            clock=self.clock,
        )

    def admit(self, now: float) -> float:
        self.clock.now = now
        if not self.limiter._enabled:
            return 0.0
        try:
            self.bucket.acquire(block=False)
        except self.refused:
            return float(self.bucket._sleep_amount(1))
        return 0.0

    def settle(self, now: float, throttled: bool) -> None:
        self.clock.now = now
        self.limiter.on_receiving_response(throttled=throttled)

    def figures(self) -> tuple[bool, float, float, float]:
        return (
            self.limiter._enabled,
            self.clocker.measured_rate,
            self.bucket.max_rate,
            self.bucket.available_capacity,
        )


def figures(ours: CubicRate, now: float) -> tuple[bool, float, float, float]:
    return ours.enabled, ours.measured_per_s, ours.fill_per_s, ours.tokens(now)


@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_random_walks_beside_botocore(block: int) -> None:
    """The same questions and answers at the same times: equal to the last bit, but for a wait that would be too short."""
    granted = refused = 0
    for seed in range(block * 1000, (block + 1) * 1000):
        random = Random(seed)
        now = random.choice([0.0, 0.7, 1234.5678, 1.7e9])
        pace_s = random.choice([0.001, 0.02, 0.3, 5.0])
        trouble = random.choice([0.01, 0.1, 0.5])
        ours, theirs = CubicRate(start_s=now), Theirs(now)
        for _ in range(30):
            now += random.expovariate(1 / pace_s)
            if random.random() < 0.5:
                wait_s, wait_too_s = ours.admit(now), theirs.admit(now)
                assert (wait_s == 0.0) == (wait_too_s == 0.0), seed
                granted += ours.enabled and wait_s == 0.0
                refused += wait_s > 0.0
                assert math.isclose(wait_s, wait_too_s, rel_tol=1e-9, abs_tol=1e-6), seed
            else:
                throttled = random.random() < trouble
                ours.settle(now, throttled)
                theirs.settle(now, throttled)
            enabled, *numbers = theirs.figures()
            if theirs.bucket._last_timestamp == now:
                assert figures(ours, now) == (enabled, *numbers), seed
            else:
                assert (ours.enabled, ours.measured_per_s, ours.fill_per_s) == (
                    enabled, *numbers[:2],
                ), seed  # fmt: skip
    assert min(granted, refused) > 500  # the walks go where something is decided


# --- what botocore does not promise -----------------------------------------------------------------------


def test_after_exactly_the_wait_it_is_granted() -> None:
    random = Random(7)
    for _ in range(300):
        now = random.choice([0.0, 1e4, 1.7e9]) + random.random()
        rate = CubicRate(start_s=now)
        for _ in range(random.randrange(1, 30)):
            now += random.expovariate(20.0)
            rate.settle(now, random.random() < 0.3)
        rate.settle(now, throttled=True)
        while (wait_s := rate.admit(now)) == 0.0:
            pass
        assert rate.admit(now + wait_s) == 0.0


def test_it_begins_when_it_is_first_told_the_time() -> None:
    early, late = CubicRate(start_s=50.25), CubicRate()
    late.settle(50.25, throttled=False)
    early.settle(50.25, throttled=False)
    for step in range(40):
        for rate in (early, late):
            rate.settle(50.5 + step / 8, throttled=step % 9 == 8)
    assert figures(early, 56.0) == figures(late, 56.0)
    fresh = CubicRate()
    assert (fresh.admit(3.0), fresh.tokens(3.0)) == (0.0, 0.0)


def test_a_clock_that_steps_back_refills_nothing() -> None:
    """botocore's bucket loses tokens then, below zero."""
    rate = throttled_at_zero()
    assert rate.tokens(1.0) == 0.5
    assert rate.tokens(-1000.0) == 0.5
    rate.settle(-1000.0, throttled=False)
    assert rate.tokens(1.0) == 0.5
    assert rate.tokens(2.0) == 1.0


def test_a_throttle_told_by_a_clock_behind_counts_from_the_latest_time() -> None:
    rate = CubicRate(start_s=0.0)
    for step in range(1, 401):
        rate.settle(step / 100, throttled=step == 400)
    twin = copy.deepcopy(rate)
    twin.settle(4.0, throttled=True)
    rate.settle(-50.0, throttled=True)
    for each in (twin, rate):
        each.settle(4.125, throttled=False)
    assert figures(rate, 4.25) == pytest.approx(figures(twin, 4.25))
    assert rate.fill_per_s < 100


def test_a_clock_that_leaps_breaks_nothing() -> None:
    rate = throttled_at_zero()
    rate.settle(1e300, throttled=False)
    assert rate.fill_per_s == 0.5  # twice the measured rate is nearly nothing
    assert rate.admit(1e300) == 0.0


def test_copies_go_on_under_another_clock() -> None:
    rate = CubicRate(start_s=1000.0)
    for step in range(1, 30):
        rate.settle(1000.0 + step / 8, throttled=step == 20)
    rate.admit(1003.625)
    pristine = CubicRate()
    for twin in (copy.copy(rate), copy.deepcopy(rate), pickle.loads(pickle.dumps(rate))):
        original = copy.deepcopy(rate)
        for step in range(30):
            original.settle(1003.625 + step / 8, throttled=False)
            twin.settle(1.625 + step / 8, throttled=False)
        assert figures(twin, 8.0) == pytest.approx(figures(original, 1010.0))
    assert figures(copy.copy(pristine), 8.0) == (False, 0.0, 1.0, 0.0)
    assert repr(rate) == (
        f"CubicRate(enabled=True, fill_per_s={rate.fill_per_s!r}, measured_per_s={rate.measured_per_s!r})"
    )


def test_eight_threads_lose_no_token() -> None:
    rate = CubicRate(start_s=0.0)
    for step in range(2000):
        rate.settle(step / 1000, throttled=False)
    rate.settle(2.0, throttled=True)
    for step in range(1, 3000):
        rate.settle(2.0 + step / 1000, throttled=False)
    there = int(rate.tokens(5.0))
    assert there > 5
    granted: list[int] = []

    def ask() -> None:
        granted.append(sum(rate.admit(5.0) == 0.0 for _ in range(200)))

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval_s)
    assert sum(granted) == there
