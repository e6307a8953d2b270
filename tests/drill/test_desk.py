"""The server's model: a queue, a rate, an outage; every request ends in exactly one way."""

from __future__ import annotations

from collections import Counter
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.drill.desk import CRASHED, LATE, REFUSED, USEFUL, WAITING, Desk

UP = [(0.0, "up")]
OUTAGE = [(0.0, "up"), (1.0, "hang"), (2.0, "down"), (3.0, "cold"), (4.0, "up")]


def test_one_request_takes_one_service() -> None:
    desk: Desk[str] = Desk(10.0, UP)
    assert desk.arrive(0.0, "a") == 0
    assert desk.wake_at() == pytest.approx(0.1)
    assert desk.advance(0.09) == []
    assert desk.advance(0.1) == [("a", 200)]
    assert desk.wake_at() == inf
    assert (list(desk.ended), list(desk.fate)) == ([0.1], [USEFUL])


def test_the_queue_is_worked_off_in_order_at_the_set_rate() -> None:
    desk: Desk[int] = Desk(10.0, UP)
    for client in range(5):
        desk.arrive(0.0, client)
    assert desk.advance(0.25) == [(0, 200), (1, 200)]
    assert desk.advance(10.0) == [(2, 200), (3, 200), (4, 200)]
    assert list(desk.ended) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])


def test_a_late_look_loses_no_capacity_and_gains_none() -> None:
    """Whether it is asked often or once: the same answers at the same times."""
    often: Desk[int] = Desk(7.0, OUTAGE)
    once: Desk[int] = Desk(7.0, OUTAGE)
    for client in range(4):
        often.arrive(0.5, client)
        once.arrive(0.5, client)
    for step in range(100):
        often.advance(0.5 + step * 0.05)
    once.advance(6.0)
    assert (list(often.ended), list(often.fate)) == (list(once.ended), list(once.fate))


def test_abandoned_work_is_done_all_the_same() -> None:
    desk: Desk[str] = Desk(10.0, UP)
    gone = desk.arrive(0.0, "gone")
    desk.arrive(0.0, "stays")
    assert gone is not None
    desk.abandon(gone)
    assert desk.advance(0.2) == [("stays", 200)]
    assert list(desk.fate) == [LATE, USEFUL]
    assert desk.ended[1] == pytest.approx(0.2)


def test_the_crash_fails_all_that_wait_in_one_instant() -> None:
    desk: Desk[str] = Desk(100.0, OUTAGE)
    desk.advance(1.1)
    for number in range(3):
        desk.arrive(1.1 + number / 10, str(number))
    assert desk.advance(1.9) == []
    assert desk.advance(2.0) == [("0", 503), ("1", 503), ("2", 503)]
    assert list(desk.ended) == [2.0, 2.0, 2.0]
    assert list(desk.fate) == [CRASHED] * 3


def test_while_down_requests_are_refused_at_once() -> None:
    desk: Desk[str] = Desk(100.0, OUTAGE)
    desk.advance(2.5)
    assert desk.arrive(2.5, "a") is None
    assert (list(desk.ended), list(desk.fate)) == ([2.5], [REFUSED])


def test_cold_takes_in_and_works_off_later() -> None:
    desk: Desk[str] = Desk(10.0, OUTAGE)
    desk.advance(3.5)
    desk.arrive(3.5, "a")
    desk.arrive(3.6, "b")
    assert desk.advance(4.05) == []
    assert desk.advance(4.25) == [("a", 200), ("b", 200)]
    assert list(desk.ended) == pytest.approx([4.1, 4.2])


def test_without_a_limit_answers_are_immediate() -> None:
    desk: Desk[int] = Desk(inf, UP)
    for client in range(3):
        desk.arrive(1.0, client)
    assert desk.advance(1.0) == [(0, 200), (1, 200), (2, 200)]


@given(
    arrivals=st.lists(st.floats(0.0, 6.0), max_size=60),
    patience_s=st.floats(0.01, 2.0),
    capacity_per_s=st.floats(1.0, 200.0),
)
def test_every_request_ends_in_exactly_one_way(
    arrivals: list[float], patience_s: float, capacity_per_s: float
) -> None:
    """However requests come and clients go: one fate each, one answer at most, never before the arrival."""
    desk: Desk[int] = Desk(capacity_per_s, OUTAGE)
    moments = sorted(
        [(at, 0, n) for n, at in enumerate(arrivals)]
        + [(at + patience_s, 1, n) for n, at in enumerate(arrivals)]
    )
    tickets: dict[int, int] = {}
    answered: list[int] = []
    for at, leaves, number in moments:
        answered += [client for client, _ in desk.advance(at)]
        if leaves and number in tickets and number not in answered:
            desk.abandon(tickets[number])
        elif not leaves:
            ticket = desk.arrive(at, number)
            if ticket is not None:
                tickets[number] = ticket
    answered += [client for client, _ in desk.advance(1e6)]
    assert len(answered) == len(set(answered))
    assert len(desk.fate) == len(arrivals)
    assert WAITING not in desk.fate
    fates = Counter(desk.fate)
    assert fates[USEFUL] <= len(answered) <= fates[USEFUL] + fates[CRASHED]
    assert all(end >= at - 1e-9 for at, end in zip(desk.arrived, desk.ended, strict=True))


def test_capacity_is_never_exceeded() -> None:
    desk: Desk[int] = Desk(50.0, UP)
    for number in range(500):
        desk.arrive(number * 0.001, number)
        desk.advance(number * 0.001)
    desk.advance(100.0)
    gaps = [b - a for a, b in zip(desk.ended, list(desk.ended)[1:], strict=False)]
    assert min(gaps) >= 0.02 - 1e-9
