"""What a backoff does, in numbers: the range of each wait, percentiles, the sum of the waits, and a herd of clients.

Pure: the draws come from the caller, so a seeded generator gives the same explanation every time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import ceil, nextafter

from seawall.backoff import Backoff, Curve, Custom
from seawall.record import Record

Draw = Callable[[], float]

SAMPLES = 4000  # p99 of a wait is then off by about a third of a percent of the clients
STEPS = 200_000  # but no more steps than this, so that a long series stays quick
WINDOW_S = 0.02

_LAST_DRAW = nextafter(1.0, 0.0)


class Wait(Record):
    """The wait before one retry, and all waits up to it. Seconds.

    * `lowest_s`, `highest_s`: the envelope, whatever the draws.
    * `p5_s` … `p99_s`: percentiles of this wait over many clients.
    * `total_p5_s` … `total_p99_s`: percentiles of the sum of the waits so far.
    """

    attempt: int
    lowest_s: float
    highest_s: float
    p5_s: float
    p50_s: float
    p95_s: float
    p99_s: float
    total_p5_s: float
    total_p50_s: float
    total_p95_s: float
    total_p99_s: float


class Arrivals(Record):
    """When the retries of a herd arrive: `clients` all fail at t = 0, and every retry fails at once.

    * `times_s`: the arrivals in order.
    * `peak`: most arrivals in any window of `window_s`; `peak_at_s`: where that window starts.
    """

    clients: int
    window_s: float
    times_s: tuple[float, ...]
    peak: int
    peak_at_s: float

    def spans_s(self, count: int) -> list[float]:
        """The time until the last arrival in `count` spans, as their ends: equal factors from the window's length on.

        Waits grow by factors, so each retry gets about the same room. Equal lengths where all is over in ten windows.
        """
        last_s = self.times_s[-1] if self.times_s else 0.0
        if last_s <= 10.0 * self.window_s:
            return [last_s * (place + 1) / count for place in range(count)]
        growth = last_s / self.window_s
        ends_s = [self.window_s * growth ** (place / count) for place in range(1, count)]
        return [*ends_s, last_s]

    def busiest(self, ends_s: Sequence[float]) -> list[int]:
        """For each span, given by its end, the most arrivals in a window whose last arrival lies in the span.

        A span shorter than a window never hides a burst.
        """
        counts = [0] * len(ends_s)
        first = place = 0
        for last, time_s in enumerate(self.times_s):
            while self.times_s[first] <= time_s - self.window_s:
                first += 1
            while place < len(ends_s) - 1 and time_s > ends_s[place]:
                place += 1
            counts[place] = max(counts[place], last - first + 1)
        return counts


class Explanation(Record):
    """All there is to say about a backoff: one `Wait` per retry and the herd."""

    waits: tuple[Wait, ...]
    arrivals: Arrivals


def explain(backoff: Backoff, attempts: int, clients: int, draw: Draw) -> Explanation:
    """Waits 1 … `attempts` of one client in percentiles, and the arrivals of `clients` that fail together."""
    return Explanation(
        waits=waits(backoff, attempts, draw), arrivals=herd(backoff, attempts, clients, draw)
    )


def waits(backoff: Backoff, attempts: int, draw: Draw) -> tuple[Wait, ...]:
    """Envelope and percentiles before each retry; exact where the wait depends on one draw only, else sampled."""
    samples = max(200, min(SAMPLES, STEPS // max(attempts, 1)))
    memories = [backoff.start] * samples
    totals_s = [0.0] * samples
    ranges = envelope(backoff, attempts)
    rows: list[Wait] = []
    for attempt in range(1, attempts + 1):
        delays_s: list[float] = []
        for client in range(samples):
            delay_s, memories[client] = backoff.step(attempt, memories[client], draw())
            delays_s.append(delay_s)
            totals_s[client] += delay_s
        lowest_s, highest_s = ranges[attempt - 1]
        ordered_s = sorted(totals_s)
        rows.append(
            Wait(
                attempt,
                min(lowest_s, *delays_s),
                max(highest_s, *delays_s),
                *_each_percentile(backoff, attempt, sorted(delays_s)),
                *(percentile(ordered_s, share) for share in _SHARES),
            )
        )
    return tuple(rows)


_SHARES = (0.05, 0.5, 0.95, 0.99)


def _each_percentile(backoff: Backoff, attempt: int, ordered_s: Sequence[float]) -> list[float]:
    """The four percentiles; a curve with jitter grows with its draw, so there the draw is the percentile."""
    if isinstance(backoff, Curve) and not isinstance(backoff, Custom):
        return [backoff.step(attempt, backoff.start, share)[0] for share in _SHARES]
    return [percentile(ordered_s, share) for share in _SHARES]


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the ordered values does not exceed (nearest rank)."""
    return ordered[max(ceil(share * len(ordered)) - 1, 0)]


def envelope(backoff: Backoff, attempts: int) -> list[tuple[float, float]]:
    """(lowest_s, highest_s) of each wait over all draws.

    Follows the extremes of the memory: all built-in formulas rise or fall steadily with memory and draw. A user's own
    function of the draw need not; `waits` widens the range by what it samples.
    """
    memories = {backoff.start}
    ranges: list[tuple[float, float]] = []
    for attempt in range(1, attempts + 1):
        steps = [backoff.step(attempt, m, u) for m in memories for u in (0.0, _LAST_DRAW)]
        ranges.append((min(d for d, _ in steps), max(d for d, _ in steps)))
        memories = {min(m for _, m in steps), max(m for _, m in steps)}
    return ranges


def herd(
    backoff: Backoff, attempts: int, clients: int, draw: Draw, window_s: float = WINDOW_S
) -> Arrivals:
    """`clients` fail together at t = 0 and retry `attempts` times, each failure seen at once."""
    times_s: list[float] = []
    for _ in range(clients):
        now_s, memory = 0.0, backoff.start
        for attempt in range(1, attempts + 1):
            delay_s, memory = backoff.step(attempt, memory, draw())
            now_s += delay_s
            times_s.append(now_s)
    times_s.sort()
    peak, peak_at_s = _peak(times_s, window_s)
    return Arrivals(clients, window_s, tuple(times_s), peak, peak_at_s)


def _peak(times_s: Sequence[float], window_s: float) -> tuple[int, float]:
    """The most arrivals within [t, t + window) and that t: the best window starts at an arrival."""
    peak, peak_at_s = 0, 0.0
    for first, start_s in enumerate(times_s):
        if first and times_s[first - 1] == start_s:
            continue  # an equal start saw at least as much
        count = bisect_left(times_s, start_s + window_s, first) - first
        if count > peak:
            peak, peak_at_s = count, start_s
    return peak, peak_at_s
