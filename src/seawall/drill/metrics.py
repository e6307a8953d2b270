"""What a run's record says. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import ceil, floor
from statistics import median

from seawall.drill.desk import LATE, USEFUL
from seawall.drill.records import Machine, RunRecord
from seawall.drill.settings import Settings
from seawall.record import Record

BIN_S = 0.02
RECOVERED_SHARE = 0.95
QUIET_SHARE = 0.9  # the calls of a quiet second vary
JUDGED_S = 1.0  # over whole seconds
STEP_S = 0.1


class Metrics(Record):
    """The figures of one run; everything but the calls is measured at the server.

    * `calls`, `succeeded`, `failed`, `unfinished`: calls of the clients in the whole run; unfinished at its end.
    * `arrivals`: requests in the whole run.
    * `amplification`: requests for each call begun, from the outage's start to the end of the run.
    * `peak`: most arrivals within any 20 ms from the outage's start on; `peak_at_s`: when that began.
    * `peak_after`: the same once the server works again.
    * `useful_before_per_s`, `useful_outage_per_s`, `useful_after_per_s`: answers that still met their client.
    * `load_after_per_s`: requests per second from the outage's end to the end of the run.
    * `wasted`: share of the server's answers after the outage that went to clients who had gone.
    * `recovered_s`: time from the outage's end until the server gives, in every whole second up to the end of the run,
      useful answers to 95 % of what is offered (`recovered_after`); None: not within the run.
    """

    strategy: str
    calls: int
    succeeded: int
    failed: int
    unfinished: int
    arrivals: int
    amplification: float
    peak: int
    peak_at_s: float
    peak_after: int
    useful_before_per_s: float
    useful_outage_per_s: float
    useful_after_per_s: float
    load_after_per_s: float
    wasted: float
    recovered_s: float | None


def measure(run: RunRecord, settings: Settings) -> Metrics:
    """The figures of a run."""
    useful_s = ended_as(run, USEFUL)
    late_s = ended_as(run, LATE)
    out_s, back_s, end_s = settings.warm_s, settings.back_at_s, settings.run_s
    peak, peak_at_s = busiest(run.arrived_s, BIN_S, out_s, end_s)
    begun = between(run.begun_s, out_s, end_s)
    served = between(useful_s, back_s, end_s) + between(late_s, back_s, end_s)
    quiet_per_s = between(useful_s, 0.0, out_s) / out_s
    ends = len(run.succeeded_s) + len(run.failed_s)
    return Metrics(
        strategy=run.strategy,
        calls=len(run.begun_s),
        succeeded=len(run.succeeded_s),
        failed=len(run.failed_s),
        unfinished=len(run.begun_s) - ends,
        arrivals=len(run.arrived_s),
        amplification=between(run.arrived_s, out_s, end_s) / begun if begun else 0.0,
        peak=peak,
        peak_at_s=peak_at_s,
        peak_after=busiest(run.arrived_s, BIN_S, back_s, end_s)[0],
        useful_before_per_s=quiet_per_s,
        useful_outage_per_s=between(useful_s, out_s, back_s) / (back_s - out_s),
        useful_after_per_s=between(useful_s, back_s, end_s) / (end_s - back_s),
        load_after_per_s=between(run.arrived_s, back_s, end_s) / (end_s - back_s),
        wasted=between(late_s, back_s, end_s) / served if served else 0.0,
        recovered_s=recovered_after(useful_s, run.begun_s, quiet_per_s, back_s, end_s),
    )


def ended_as(run: RunRecord, fate: int) -> list[float]:
    """When the requests that met this fate ended, in order."""
    pairs = zip(run.ended_s, run.fate, strict=True)
    return sorted(at_s for at_s, met in pairs if met == fate and at_s is not None)


def between(times_s: Sequence[float], from_s: float, to_s: float) -> int:
    """How many of these sorted times lie in [from, to)."""
    return bisect_left(times_s, to_s) - bisect_left(times_s, from_s)


def busiest(
    times_s: Sequence[float], width_s: float, from_s: float, to_s: float
) -> tuple[int, float]:
    """Most of these sorted times within any `width_s`, and when that window began; only times in [from, to) count."""
    inside = times_s[bisect_left(times_s, from_s) : bisect_left(times_s, to_s)]
    most, at_s, first = 0, from_s, 0
    for place, time_s in enumerate(inside):
        while time_s - inside[first] >= width_s:
            first += 1
        if place - first + 1 > most:
            most, at_s = place - first + 1, inside[first]
    return most, at_s


def recovered_after(
    useful_s: Sequence[float],
    begun_s: Sequence[float],
    quiet_per_s: float,
    back_s: float,
    end_s: float,
) -> float | None:
    """Seconds from `back_s` until every whole second, from there to the end, has useful answers to 95 % of what is offered.

    Offered in a second are the calls begun in it, and at least 90 % of those answered in a quiet one before the outage:
    clients who are waiting to retry begin no calls, and their silence is no recovery. The first tenth of the first second
    must have at least half of that: a queue worked off later would fill a second that began without any answer. In steps of
    0.1 s; None: the last second fails.
    """
    steps = floor((end_s - JUDGED_S - back_s) / STEP_S + 1e-9)
    steady: list[int] = []
    for step in range(steps, -1, -1):
        from_s = back_s + step * STEP_S
        begun = between(begun_s, from_s, from_s + JUDGED_S)
        offered = max(1.0, begun, QUIET_SHARE * quiet_per_s * JUDGED_S)
        if between(useful_s, from_s, from_s + JUDGED_S) < RECOVERED_SHARE * offered:
            break
        if between(useful_s, from_s, from_s + STEP_S) >= 0.5 * offered * STEP_S / JUDGED_S:
            steady.append(step)
    return round(min(steady) * STEP_S, 6) if steady else None


def bins(times_s: Sequence[float], run_s: float, width_s: float = BIN_S) -> list[int]:
    """How many of these times lie in each bin from 0 to `run_s`."""
    counts = [0] * ceil(run_s / width_s - 1e-9)
    for time_s in times_s:
        place = int(time_s / width_s)
        if 0 <= place < len(counts):
            counts[place] += 1
    return counts


def machine_from(
    arrived_s: Sequence[float], clients: int, processors: int, client_processes: int
) -> Machine:
    """What the calibration says: after one request of each client, bursts of all clients, each burst in one instant.

    `arrived_s`: all these arrivals, sorted. The figures are the medians of the bursts.
    """
    firsts = range(clients, len(arrived_s) - clients + 1, clients)
    bursts = [arrived_s[first : first + clients] for first in firsts]
    edge = clients // 20
    spans_s = [burst[-1] - burst[0] for burst in bursts]
    return Machine(
        processors=processors,
        client_processes=client_processes,
        clients=clients,
        smear_s=round(median(burst[-1 - edge] - burst[edge] for burst in bursts), 6),
        burst_peak=round(median(busiest(b, BIN_S, b[0], b[-1] + 1.0)[0] for b in bursts)),
        most_per_s=round((clients - 1) / max(1e-6, median(spans_s))),
    )
