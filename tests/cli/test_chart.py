"""Bars made of characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seawall.cli._chart import columns, range_bar, time_axis


def test_a_range_bar_places_the_five_values() -> None:
    assert range_bar((1, 2, 5, 8, 9), 10, 10, blocks=True) == " ░▒▒▒█▒▒▒░"
    assert range_bar((1, 2, 5, 8, 9), 10, 10, blocks=False) == " .---#---."
    assert range_bar((10, 10, 10, 10, 10), 10, 10, blocks=False) == "         #"
    assert range_bar((0, 0, 0, 0, 0), 0, 10, blocks=False) == "#"


def test_columns_fill_from_below_and_show_every_trace() -> None:
    assert columns([0, 1, 8, 16], 2, blocks=True) == ["   █", " ▁██"]
    assert columns([0, 1, 8, 16], 2, blocks=False) == ["   #", " .##"]
    assert columns([0, 0], 2, blocks=True) == ["  ", "  "]


@given(values=st.lists(st.integers(0, 2000), min_size=1, max_size=100), height=st.integers(1, 8))
def test_columns_have_the_given_size(values: list[int], height: int) -> None:
    for blocks in (True, False):
        lines = columns(values, height, blocks=blocks)
        assert len(lines) == height
        assert {len(line) for line in lines} == {len(values)}


def test_the_time_axis_marks_powers_of_ten_and_the_end() -> None:
    ends_s = [0.02 * 1000 ** ((n + 1) / 30) for n in range(30)]
    line, labels = time_axis(ends_s, "s", blocks=True)
    assert line == "└" + "".join("┴" if n in {6, 16, 26} else "─" for n in range(30))
    assert labels == "      0.1       1         20 s"


@given(first=st.floats(1e-4, 10), growth=st.floats(1.001, 2), count=st.integers(10, 110))
def test_the_time_axis_keeps_its_length(first: float, growth: float, count: int) -> None:
    ends_s = [first * growth**n for n in range(count)]
    for blocks in (True, False):
        line, labels = time_axis(ends_s, "s", blocks=blocks)
        assert len(line) == count + 1
        assert len(labels) == count
