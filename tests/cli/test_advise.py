"""`seawall advise`: options, questions, defaults that are named, JSON."""

from __future__ import annotations

import json

import pytest
import typer

from seawall.cli import advise as command
from seawall.cli import main
from seawall.cli._terminal import Terminal


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["advise", *arguments]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def test_without_options_and_terminal_the_defaults_are_taken_and_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = " ".join(shown(capsys).split())
    assert text.startswith("Take full: ")
    assert "Not said, so the default was taken: no floor (--floor-needed/--no-floor)," in text
    assert "contention high (--contention low|high)" in text
    assert "See it: seawall explain full --base 0.1 --cap 20" in text


def test_all_options_said_leaves_nothing_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--no-floor", "--contention", "low", "--unpredictable", "--no-server-hints"]
    assert "Not said" not in shown(capsys, *line)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("--floor-needed", "full"),
        ("--floor-needed --contention low", "decorrelated-clamped"),
        ("--predictable", "equal"),
        ("--predictable --contention low --server-hints", "temporal"),
    ],
)
def test_options_lead_to_their_strategy(
    line: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(capsys, *line.split()).startswith(f"Take {name}: ")


def test_json_says_what_was_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(capsys, "--floor-needed", "--base", "1", "--cap", "5", "--json"))
    assert found["strategy"] == "full"
    assert found["code"] == (
        "Exponential(base_s=1.0, cap_s=5.0, multiplier=2.0, jitter='full', floor_s=1.0)"
    )
    assert found["assumed"] == ["contention", "predictable", "server_hints"]
    assert found["needs"]["floor"] is True
    assert {row["name"] for row in found["comparison"]} >= {"none", "full", "equal", "decorrelated"}
    assert found["reasons"]
    assert found["beside"]


def test_on_a_terminal_it_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"floor": True, "contention": False, "predictable": False, "server_hints": True}
    asked: list[tuple[str, bool]] = []

    def confirm(question: str, *, default: bool) -> bool:
        asked.append((question, default))
        return answers[next(key for key, text in command.QUESTIONS.items() if text == question)]

    monkeypatch.setattr(command, "_somebody", lambda: True)
    monkeypatch.setattr(typer, "confirm", confirm)
    text = shown(capsys)
    assert "Take decorrelated-clamped: " in text
    assert "Not said" not in text
    assert [default for _, default in asked] == [False, True, False, False]


def test_an_option_or_json_asks_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_somebody", lambda: True)
    assert shown(capsys, "--predictable").startswith("Take equal")
    assert json.loads(shown(capsys, "--json"))["strategy"] == "full"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_text_fits_and_no_name_is_cut(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "terminal", lambda: Terminal(width, False, False))
    text = shown(capsys, "--floor-needed", "--contention", "low")
    assert max(map(len, text.splitlines())) <= width
    assert "\ndecorrelated-clamped * " in text
    assert "…" not in text.replace("…)", "")


@pytest.mark.parametrize(
    ("line", "message"),
    [("--contention medium", "'low'"), ("--cap 0.01", "cap_s must be >= base_s")],
)
def test_mistakes_are_messages_with_code_2(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["advise", *line.split()]) == 2
    assert message in capsys.readouterr().err
