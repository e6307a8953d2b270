"""Windows of recent calls: each answers as a list of all calls would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.state.window import (
    CountWindow,
    LastCalls,
    LastSeconds,
    RowWindow,
    TimeWindow,
    Window,
)

Counts = tuple[int, int, int]
#: (seconds since the call before, failed, slow); quarters of a second, so that sums are exact
calls = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.75, 100.0, -0.5, -10.0]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=60,
)


def counts(window: Window) -> Counts:
    return window.calls, window.failures, window.slow


def counted(kept: list[tuple[bool, bool]]) -> Counts:
    return len(kept), sum(f for f, _ in kept), sum(s for _, s in kept)


@given(calls, st.integers(1, 12))
def test_the_last_calls(steps: list[tuple[float, bool, bool]], size: int) -> None:
    window, every, now = CountWindow(size), list[tuple[bool, bool]](), 0.0
    for passed_s, failed, slow in steps:
        now += passed_s
        window.add(now, failed, slow)
        every.append((failed, slow))
        assert counts(window) == counted(every[-size:])


@given(calls, st.integers(1, 5))
def test_the_last_seconds(steps: list[tuple[float, bool, bool]], slices: int) -> None:
    """Slices of one second; a clock that goes backwards counts into the running slice."""
    window, now, latest = TimeWindow(float(slices), slices), 1000.0, 0
    every: list[tuple[int, bool, bool]] = []
    for passed_s, failed, slow in steps:
        now += passed_s
        latest = max(latest, int(now // 1.0))
        window.add(now, failed, slow)
        every.append((latest, failed, slow))
        kept = [(f, s) for at, f, s in every if at > latest - slices]
        assert counts(window) == counted(kept)


@given(calls)
def test_in_a_row(steps: list[tuple[float, bool, bool]]) -> None:
    window, every = RowWindow(), list[tuple[bool, bool]]()

    def row(place: int) -> int:
        length = 0
        while length < len(every) and every[-1 - length][place]:
            length += 1
        return length

    for _, failed, slow in steps:
        window.add(0.0, failed, slow)
        every.append((failed, slow))
        assert counts(window) == (max(row(0), row(1)), row(0), row(1))


def test_published_numbers_of_resilience4j() -> None:
    """Five calls, one failed, two slow: 20 % failed and 40 % slow, in a window of calls and in one of seconds."""
    for window in (CountWindow(5), TimeWindow(5.0, 5)):
        for failed, slow in [(0, 0), (0, 1), (0, 0), (1, 1), (0, 0)]:
            window.add(100.0, bool(failed), bool(slow))
        assert counts(window) == (5, 1, 2)


def test_time_moves_the_window_without_a_call() -> None:
    window = TimeWindow(10.0)
    window.add(0.5, failed=True, slow=False)
    window.move(9.99)
    assert counts(window) == (1, 1, 0)
    window.move(10.0)
    assert counts(window) == (0, 0, 0)


@pytest.mark.parametrize(
    "make", [lambda: CountWindow(4), lambda: TimeWindow(4.0, 4), RowWindow], ids=str
)
@given(calls, calls)
def test_a_dump_goes_on_like_the_original(
    make: Callable[[], Window],
    before: list[tuple[float, bool, bool]],
    after: list[tuple[float, bool, bool]],
) -> None:
    window, twin, now = make(), make(), 1000.0
    for passed_s, failed, slow in before:
        now += max(0.0, passed_s)
        window.add(now, failed, slow)
    twin.load(window.dump(now), now)
    assert counts(twin) == counts(window)
    for passed_s, failed, slow in after:
        now += passed_s
        for each in (window, twin):
            each.add(now, failed, slow)
        assert counts(twin) == counts(window)


def test_clear_forgets_everything() -> None:
    for window in (CountWindow(3), TimeWindow(3.0), RowWindow()):
        window.add(1.0, failed=True, slow=True)
        window.clear()
        assert counts(window) == (0, 0, 0)
        window.add(1.0, failed=True, slow=False)
        assert counts(window) == (1, 1, 0)


WORDS: Any = "ten"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LastCalls(0), "LastCalls: size must be at least 1, got 0"),
        (lambda: LastCalls(WORDS), "LastCalls: size must be a whole number, got 'ten'"),
        (lambda: LastSeconds(0.0), "LastSeconds: length_s must be a finite number of seconds"),
        (lambda: LastSeconds(1.0, 0), "LastSeconds: slices must be at least 1, got 0"),
    ],
)
def test_bad_settings_are_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_descriptions_make_windows() -> None:
    assert type(LastCalls(3).window()) is CountWindow
    window = LastSeconds(3.0, 6).window()
    assert (window.length_s, window.slices) == (3.0, 6)
