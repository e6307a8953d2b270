"""The numbers behind `seawall explain`."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.backoff import Custom, Exponential
from seawall.explain import Arrivals, envelope, explain, herd, percentile, waits
from seawall.strategies import STRATEGIES, strategy

PEAKS = [
    ("none", 1000, 1000),
    ("full", 1000, 43),
    ("equal", 1000, 57),
    ("decorrelated", 1000, 25),
    ("full", 10_000, 345),
    ("equal", 10_000, 452),
    ("decorrelated", 10_000, 163),
]
"""Most retries in any 20 ms: 8 retries, base 1 s, cap 10 s; computed independently, mean of 5 runs, ±5 %."""


@pytest.mark.parametrize(("name", "clients", "expected"), PEAKS)
def test_the_herd_peaks_as_computed_independently(name: str, clients: int, expected: int) -> None:
    backoff = strategy(name, 1, 10)
    runs = 5 if clients == 1000 else 2
    peaks = [herd(backoff, 8, clients, Random(seed).random).peak for seed in range(runs)]
    assert sum(peaks) / runs == pytest.approx(expected, rel=0.05)


def test_clients_without_jitter_arrive_in_the_same_instants() -> None:
    """Plain exponential, base 2 s: t = 2, 6, 14 with all clients each time."""
    arrivals = herd(Exponential(2, 100, jitter="none"), 3, 10, Random(1).random)
    assert arrivals.times_s == (2,) * 10 + (6,) * 10 + (14,) * 10
    assert (arrivals.peak, arrivals.peak_at_s) == (10, 2)
    assert arrivals.busiest([1, 3, 5, 7, 9, 13, 14]) == [0, 10, 0, 10, 0, 0, 10]


def test_the_peak_is_that_of_any_window_not_of_a_grid() -> None:
    times_s = iter([0.019, 0.021, 0.0385])
    arrivals = herd(Custom(lambda attempt: next(times_s)), 1, 3, Random(1).random)
    assert (arrivals.peak, arrivals.peak_at_s) == (3, 0.019)


def test_busiest_of_nothing_and_of_immediate_retries() -> None:
    assert Arrivals(0, 0.02, (), 0, 0.0).busiest([1, 2, 3]) == [0, 0, 0]
    arrivals = herd(Exponential(0, 1), 2, 5, Random(1).random)
    assert arrivals.busiest(arrivals.spans_s(3)) == [10, 0, 0]


@given(
    times_s=st.lists(st.integers(0, 320).map(lambda n: n / 64), min_size=1, max_size=40),
    spans=st.integers(1, 50),
)
def test_the_peak_is_right_and_some_span_shows_it(times_s: list[float], spans: int) -> None:
    left = iter(times_s)
    arrivals = herd(Custom(lambda attempt: next(left)), 1, len(times_s), Random(1).random, 0.5)
    brute = max(sum(t - 0.5 < other <= t for other in times_s) for t in times_s)
    assert max(arrivals.busiest(arrivals.spans_s(spans))) == brute
    assert arrivals.peak == brute


def test_spans_grow_by_equal_factors_and_end_at_the_last_arrival() -> None:
    long = Arrivals(1, 0.02, (20.0,), 1, 20.0)
    assert long.spans_s(3) == pytest.approx([0.2, 2.0, 20.0])
    short = Arrivals(1, 0.02, (0.09,), 1, 0.09)
    assert short.spans_s(3) == pytest.approx([0.03, 0.06, 0.09])


def test_full_jitter_percentiles_are_the_draws() -> None:
    row = waits(Exponential(1, 10), 3, Random(1).random)[2]
    assert (row.attempt, row.lowest_s, row.p5_s, row.p50_s) == (3, 0.0, 0.2, 2.0)
    assert (row.p95_s, row.p99_s) == (3.8, 3.96)
    assert row.highest_s == pytest.approx(4.0)


def test_totals_add_up() -> None:
    """The sum of U(0, 1) and U(0, 2) has median 1.5 and 95th percentile 3 - √0.2 ≈ 2.553."""
    row = waits(Exponential(1, 10), 2, Random(1).random)[1]
    assert row.total_p50_s == pytest.approx(1.5, abs=0.05)
    assert row.total_p95_s == pytest.approx(2.553, abs=0.05)
    steady = waits(Exponential(1, 10, jitter="none"), 3, Random(1).random)[2]
    assert (steady.total_p5_s, steady.total_p99_s) == (7.0, 7.0)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_percentiles_stand_in_order_within_the_envelope(name: str) -> None:
    backoff = strategy(name, 0.1, 10.0)
    for row in waits(backoff, 12, Random(3).random):
        values = [row.lowest_s, row.p5_s, row.p50_s, row.p95_s, row.p99_s, row.highest_s]
        assert values == sorted(values)
        totals = [row.total_p5_s, row.total_p50_s, row.total_p95_s, row.total_p99_s]
        assert totals == sorted(totals)
        assert backoff.lowest_s <= row.lowest_s
        assert row.highest_s <= backoff.ceiling_s


@given(name=st.sampled_from(sorted(STRATEGIES)), seed=st.integers(0, 2**32))
def test_no_client_leaves_the_envelope(name: str, seed: int) -> None:
    backoff = strategy(name, 0.1, 10.0)
    random = Random(seed)
    delays_s = backoff.delays_s(15, (random.random() for _ in range(15)))
    for delay_s, (lowest_s, highest_s) in zip(delays_s, envelope(backoff, 15), strict=True):
        assert lowest_s <= delay_s <= highest_s


def test_a_function_that_does_not_rise_with_the_draw_is_sampled() -> None:
    hill = Custom(lambda attempt, draw: 4 * draw * (1 - draw))
    row = waits(hill, 1, Random(1).random)[0]
    assert row.lowest_s == 0.0
    assert row.highest_s == pytest.approx(1.0, abs=0.001)
    assert row.p50_s == pytest.approx(0.75, abs=0.05)


def test_the_same_seed_gives_the_same_explanation() -> None:
    first, second = (explain(Exponential(), 5, 100, Random(9).random) for _ in range(2))
    assert first == second
    assert len(first.waits) == 5
    assert len(first.arrivals.times_s) == 500


def test_percentile_is_the_nearest_rank() -> None:
    assert [percentile([1, 2, 3, 4], p) for p in (0.0, 0.25, 0.5, 0.51, 1.0)] == [1, 1, 2, 3, 4]
