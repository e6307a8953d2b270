"""`seawall explain`: JSON to the letter, output that fits, mistakes without a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seawall.cli import explain as command
from seawall.cli import main
from seawall.cli._terminal import Terminal
from seawall.strategies import STRATEGIES, strategy

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "backoff.json").read_text(encoding="utf-8")
)


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", *arguments]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def delays_s(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[float]:
    found = json.loads(shown(capsys, *arguments, "--json"))
    assert list(found) == ["delays_s"]
    return found["delays_s"]


def test_the_published_line_is_printed_to_the_letter(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["full", "--base", "0.1", "--cap", "10", "--attempts", "10", "--draw", "0.5", "--json"]
    assert shown(capsys, *line) == (
        '{"delays_s": [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]}\n'
    )
    assert delays_s(capsys, "equal", *line[1:-1]) == VECTORS["aws_equal"]["delays"]


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_name_prints_its_ten_waits(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--base", "0.1", "--cap", "10", "--attempts", "10", "--draw", "0.5"]
    expected = strategy(name, 0.1, 10.0).delays_s(10, [0.5] * 10)
    assert delays_s(capsys, name, *line) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("additive --base 1 --cap 64 --attempts 9 --draw 0.5", VECTORS["gcp_additive_max64_u0.5"]),
        ("grpc --base 0.1 --cap 1 --attempts 7 --draw 0", VECTORS["grpc_a6_init0.1_max1"]["0.0"]),
        ("grpc --base 0.1 --cap 1 --attempts 7 --draw 1", VECTORS["grpc_a6_init0.1_max1"]["1.0"]),
        ("client-go --base 0.01 --attempts 5 --draw 0.5", VECTORS["client_go_default_u0.5"]),
        ("polly-v2 --base 1 --cap 99 --attempts 8 --draw 0.5", VECTORS["polly_v2_base1"]["0.5"]),
        (
            "temporal --base 1 --cap 10 --attempts 6 --draw 0",
            VECTORS["temporal_init1_max10"]["0.0"],
        ),
    ],
)
def test_published_numbers_come_out_of_the_command(
    line: str, expected: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert delays_s(capsys, *line.split()) == pytest.approx(expected, rel=2e-9)


def test_json_without_a_draw_is_the_whole_explanation(capsys: pytest.CaptureFixture[str]) -> None:
    line = [
        "full",
        "--base",
        "1",
        "--cap",
        "10",
        "--attempts",
        "8",
        "--clients",
        "100",
        "--seed",
        "3",
        "--json",
    ]
    first = shown(capsys, *line)
    assert shown(capsys, *line) == first
    found = json.loads(first)
    assert (found["strategy"], found["base_s"], found["cap_s"], found["seed"]) == ("full", 1, 10, 3)
    assert [row["attempt"] for row in found["waits"]] == list(range(1, 9))
    assert found["waits"][2]["p95_s"] == 3.8
    herd = found["herd"]
    assert herd["clients"] == 100
    assert herd["peak"] == max(herd["busiest"])
    assert len(herd["busiest"]) == len(herd["ends_s"])
    assert herd["ends_s"][-1] == herd["last_s"]


SIZES = [(60, True), (80, False), (120, True), (60, False)]


@pytest.mark.parametrize(
    ("name", "width", "blocks"),
    [(name, 80, True) for name in sorted(STRATEGIES)] + [("full", *size) for size in SIZES],
)
def test_the_pictures_fit_the_width(
    name: str,
    width: int,
    blocks: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "terminal", lambda: Terminal(width, False, blocks))
    text = shown(capsys, name, "--cap", "10", "--attempts", "8", "--clients", "50")
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    assert ("█" in text) == blocks
    assert "Peak: " in text
    assert "sum p95" in text


def test_microseconds_are_readable(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "ethernet", "--base", "0.0000512", "--clients", "5")
    assert "in ms" in text
    assert " sum p50  sum p95  sum p99\n" in text
    assert "    1    0       0  0.0512  0.0512  0.0512  0.0512 " in text


def test_a_pipe_gets_neither_colour_nor_boxes(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "full")
    assert not set(text) & set("\x1b│└─┴┌┐╭╮█▒░▁")
    assert "░" not in shown(capsys, "full", "--draw", "0.5")


def test_a_terminal_gets_colour(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "terminal", lambda: Terminal(80, True, True))
    assert "\x1b[36m" in shown(capsys, "full", "--clients", "10")


@pytest.mark.parametrize("extra", [(), ("--draw", "0.5")])
def test_a_long_series_shows_the_first_rows_and_the_last(
    extra: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(capsys, "full", "--attempts", "500", "--clients", "5", *extra)
    rows = [line.split()[0] for line in text.splitlines() if line.strip()[:1].isdigit()]
    assert rows[:39] == [str(n) for n in range(1, 40)]
    assert "500" in rows
    assert "41" not in rows


def test_base_zero_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Peak: 6 retries" in shown(
        capsys, "full", "--base", "0", "--clients", "3", "--attempts", "2"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ful", "strategy 'ful' is unknown. Did you mean 'full'? Use one of: additive, "),
        ("polly_v2", "Did you mean 'polly-v2'?"),
        ("full --cap 0.01", "cap_s must be >= base_s: cap_s=0.01, base_s=0.1. Raise cap_s or"),
        ("full --base nan", "base_s must be finite, got nan"),
        ("full --base=-1", "base_s must be >= 0 s, got -1.0"),
        ("full --base x", "--base"),
        ("full --draw 2", "--draw"),
        ("full --attempts 0", "--attempts"),
        ("full --clients 0", "--clients"),
        ("full --clients 1000000 --attempts 100", "clients × attempts must be <= 2000000"),
        ("", "NAME"),
    ],
)
def test_mistakes_are_messages_with_code_2(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *line.split()]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert "Traceback" not in output.err


def test_the_help_lists_every_strategy(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "--help")
    for name, entry in STRATEGIES.items():
        assert f"  {name}" in text
        assert entry.summary in text
