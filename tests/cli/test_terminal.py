"""What an output can show."""

from __future__ import annotations

import io
import sys

import pytest

from seawall.cli._terminal import Terminal, terminal, tidy, unit_for, wrapped


class Screen(io.StringIO):
    """A standard output that is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class AsciiScreen(Screen):
    """An old one."""

    encoding = "ascii"


def test_a_utf8_terminal_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setenv("COLUMNS", "100")
    out = terminal({"TERM": "xterm"})
    assert (out.width, out.colour, out.blocks) == (100, True, True)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_is_refused(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen())
    assert not terminal(environment).colour


def test_an_empty_no_color_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen())
    assert terminal({"NO_COLOR": ""}).colour


def test_an_ascii_terminal_gets_no_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", AsciiScreen())
    assert not terminal({}).blocks


def test_a_pipe_gets_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    out = terminal({})
    assert (out.colour, out.blocks) == (False, False)


@pytest.mark.parametrize(("columns", "width"), [("10", 40), ("500", 120)])
def test_the_width_stays_readable(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal().width == width


@pytest.mark.parametrize(
    ("longest_s", "value_s", "text"),
    [
        (0.0, 0.0, "0 s"),
        (30.0, 0.00512, "0.0051 s"),
        (30.0, 0.1, "0.1 s"),
        (30.0, 12.34, "12.3 s"),
        (3000.0, 1234.4, "1234 s"),
        (0.0524, 51.2e-6, "0.0512 ms"),
        (5e-5, 51.2e-6, "51.2 µs"),
    ],
)
def test_times_are_shown_in_a_readable_unit(longest_s: float, value_s: float, text: str) -> None:
    assert unit_for(longest_s).label(value_s) == text


def test_tidy_drops_the_noise() -> None:
    assert tidy(0.07500000000000001) == 0.075


def test_wrapped_keeps_options_whole() -> None:
    lines = wrapped("one --server-hints/--no-server-hints", Terminal(40, False, False), "- ", "  ")
    assert lines == "- one --server-hints/--no-server-hints"
