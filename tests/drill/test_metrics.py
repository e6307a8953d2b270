"""The figures of a run, from records made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.drill.desk import LATE, REFUSED, USEFUL, WAITING
from seawall.drill.metrics import (
    between,
    bins,
    busiest,
    ended_as,
    machine_from,
    measure,
    recovered_after,
)
from seawall.drill.records import RunRecord
from seawall.drill.settings import Settings

SETTINGS = Settings(clients=10, capacity_per_s=15, load=2 / 3)  # 10 calls/s, out from 1 s to 3 s
Times = st.lists(st.floats(0.0, 6.0), max_size=80).map(sorted)


def every(step_s: float, from_s: float, to_s: float) -> list[float]:
    return [round(from_s + step_s * n, 9) for n in range(round((to_s - from_s) / step_s))]


def record(
    arrivals: list[tuple[float, float | None, int]], begun: list[float], failed: int = 0
) -> RunRecord:
    arrivals = sorted(arrivals, key=lambda each: each[0])
    useful = [end for _, end, fate in arrivals if fate == USEFUL and end is not None]
    return RunRecord(
        strategy="full",
        arrived_s=[at for at, _, _ in arrivals],
        ended_s=[end for _, end, _ in arrivals],
        fate=[fate for _, _, fate in arrivals],
        begun_s=begun,
        succeeded_s=sorted(useful),
        failed_s=[1.5] * failed,
        sent=len(arrivals),
    )


def test_a_run_by_hand() -> None:
    """Quiet second: 10 useful answers. Outage: 36 refused and a herd of 20. After it: 4 late answers, then 25 useful ones."""
    quiet = [(at, at + 0.01, USEFUL) for at in every(0.1, 0.0, 1.0)]
    refused = [(at + k * 0.2, at + k * 0.2, REFUSED) for at in every(0.1, 1.0, 2.8) for k in (0, 1)]
    herd = [(2.0 + n * 1e-4, 2.0, REFUSED) for n in range(20)]
    after = [(at, at + 0.01, USEFUL) for at in every(0.1, 3.5, 6.0)]
    late = [(at, at + 0.01, LATE) for at in every(0.1, 3.1, 3.5)]
    begun = every(0.1, 0.0, 6.0)
    metrics = measure(record([*quiet, *refused, *herd, *after, *late], begun, failed=20), SETTINGS)
    assert (metrics.calls, metrics.succeeded, metrics.failed, metrics.unfinished) == (60, 35, 20, 5)
    assert metrics.arrivals == 10 + 36 + 20 + 25 + 4
    assert metrics.amplification == pytest.approx(85 / 50)
    assert 20 <= metrics.peak <= 22
    assert metrics.peak_at_s == pytest.approx(2.0, abs=0.02)
    assert metrics.peak_after == 1
    assert metrics.useful_before_per_s == pytest.approx(10.0)
    assert metrics.useful_outage_per_s == 0.0
    assert metrics.useful_after_per_s == pytest.approx(25 / 3)
    assert metrics.load_after_per_s == pytest.approx(29 / 3)
    assert metrics.wasted == pytest.approx(4 / 29)
    assert metrics.recovered_s == 0.5


def test_an_empty_run_has_figures_too() -> None:
    metrics = measure(record([], []), SETTINGS)
    assert (metrics.amplification, metrics.wasted, metrics.peak) == (0.0, 0.0, 0)
    assert metrics.recovered_s is None


def test_what_still_waits_at_the_end_is_neither_useful_nor_late() -> None:
    run = record([(5.0, None, WAITING), (5.1, 5.2, USEFUL)], [5.0, 5.1])
    assert ended_as(run, USEFUL) == [5.2]
    assert ended_as(run, LATE) == []


@given(times=Times, width_s=st.floats(0.001, 2.0))
def test_the_busiest_window_is_the_busiest(times: list[float], width_s: float) -> None:
    """Against the plain definition: the best window begins with an arrival."""
    most, at_s = busiest(times, width_s, 0.0, 7.0)
    counts = [sum(0.0 <= t - start < width_s for t in times) for start in times]
    assert most == max(counts, default=0)
    if times:
        assert sum(0.0 <= t - at_s < width_s for t in times) == most


def test_the_busiest_window_looks_only_where_it_is_told() -> None:
    assert busiest([0.1, 0.1, 0.1, 2.0], 0.02, 1.0, 3.0) == (1, 2.0)
    assert busiest([], 0.02, 1.0, 3.0) == (0, 1.0)


@given(times=Times)
def test_bins_hold_each_time_once(times: list[float]) -> None:
    counts = bins(times, 6.0)
    assert len(counts) == 300
    assert sum(counts) == between(times, 0.0, 6.0)


def test_recovery_starts_where_every_following_second_is_good() -> None:
    begun = every(0.01, 0.0, 6.0)
    assert recovered_after(every(0.01, 3.0, 6.0), begun, 100.0, 3.0, 6.0) == 0.0
    assert recovered_after(every(0.01, 4.0, 6.0), begun, 100.0, 3.0, 6.0) == 1.0
    assert recovered_after([], begun, 100.0, 3.0, 6.0) is None


def test_a_relapse_is_no_recovery() -> None:
    begun = every(0.01, 0.0, 6.0)
    relapsed = [*every(0.01, 3.0, 5.2), *every(0.02, 5.2, 6.0)]
    assert recovered_after(relapsed, begun, 100.0, 3.0, 6.0) is None


def test_silence_is_no_recovery() -> None:
    """Clients who all wait to retry begin no calls; few answers to few calls are not the load of quiet times."""
    few = every(0.1, 3.0, 6.0)
    assert recovered_after(few, few, 100.0, 3.0, 6.0) is None
    assert recovered_after([], [], 100.0, 3.0, 6.0) is None


def test_a_second_that_begins_without_any_answer_is_not_the_first_good_one() -> None:
    """A burst of answers later in the second makes up for the number, not for the wait."""
    begun = every(0.01, 0.0, 6.0)
    catching_up = [*every(0.005, 3.5, 4.0), *every(0.01, 4.0, 6.0)]
    assert recovered_after(catching_up, begun, 100.0, 3.0, 6.0) == 0.5


def test_what_the_machine_does_to_a_burst() -> None:
    """The middle 90 % of each burst, and the median of the bursts; the first request of each client does not count."""
    connecting = every(0.01, 0.0, 1.0)
    bursts = [2.0 + n * 0.001 for n in range(100)], [3.0 + n * 0.002 for n in range(100)]
    third = [4.0 + n * 0.003 for n in range(100)]
    machine = machine_from([*connecting, *bursts[0], *bursts[1], *third], 100, 2, 1)
    assert machine.smear_s == pytest.approx(0.178)
    assert machine.burst_peak in (10, 11)
    assert machine.most_per_s == 500


def test_a_single_client_makes_no_burst() -> None:
    machine = machine_from([0.0, 1.0], 1, 2, 1)
    assert (machine.smear_s, machine.burst_peak) == (0.0, 1)
