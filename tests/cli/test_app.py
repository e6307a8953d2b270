"""The frame of the command line: finding commands, help, mistakes, missing packages."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest

from seawall.cli import NEEDS_EXTRA, _app, main


def test_every_file_is_a_command_and_has_a_line_in_the_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {"advise", "explain"} <= set(_app.commands())
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in _app.commands():
        assert f"\n  {name.replace('_', '-')} " in shown
    assert len(shown.splitlines()) <= 24


@pytest.mark.parametrize("name", _app.commands())
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "-h"]) == 0
    assert f"Usage: seawall {name}" in capsys.readouterr().out


def test_a_named_command_is_loaded_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str) -> Any:
        loaded.append(name)
        return lambda: None

    monkeypatch.setattr(_app, "_load", load)
    _app.build("explain")
    assert loaded == ["explain"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"seawall {version('seawall')}\n"


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr()
    assert "Commands:" in shown.out + shown.err


@pytest.mark.parametrize("arguments", [["explian"], ["explain", "full", "--attemps", "3"]])
def test_a_mistyped_word_is_named_with_the_nearest(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert "No such" in message
    assert any(word in message for word in ("explain'", "--attempts"))
    assert "Traceback" not in message


def test_without_typer_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "typer":
            raise ModuleNotFoundError(name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["--help"]) == 2
    assert capsys.readouterr().err == f"{NEEDS_EXTRA}\n"


def _lacking(package: str | None) -> Any:
    def import_module(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    return import_module


def test_a_command_whose_package_is_missing_says_so_and_spares_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_app, "import_module", _lacking("aiohttp"))
    assert main(["--help"]) == 0
    assert "(needs the package 'aiohttp'" in capsys.readouterr().out
    assert main(["explain"]) == 2
    assert "pip install 'seawall[all]'" in capsys.readouterr().err


def test_a_fault_of_our_own_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_app, "import_module", _lacking("seawall.backof"))
    with pytest.raises(ModuleNotFoundError):
        main(["explain"])


def test_an_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str], prog_name: str) -> None:
        raise KeyboardInterrupt

    def build(first: str | None) -> Any:
        return interrupted

    monkeypatch.setattr(_app, "build", build)
    assert main(["explain"]) == _app.INTERRUPTED


COMMAND = [sys.executable, "-c", "import sys; from seawall.cli import main; sys.exit(main())"]


def test_an_ascii_output_gets_question_marks_not_a_traceback() -> None:
    done = subprocess.run(
        [*COMMAND, "explain", "grpc"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.stderr == b""
    assert done.returncode == 0
    assert b"level ? U(0.8, 1.2)" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_a_real_terminal_gets_blocks_and_colour_unless_refused(
    no_color: str, coloured: bool
) -> None:
    reader, writer = os.openpty()
    environment = {"TERM": "xterm", "COLUMNS": "80", "NO_COLOR": no_color, "PYTHONUTF8": "1"}
    with subprocess.Popen(
        [*COMMAND, "explain", "full", "--draw", "0.5", "--attempts", "3"],
        stdout=writer,
        env={**os.environ, **environment},
    ) as process:
        os.close(writer)
        seen = b""
        while chunk := _read(reader):
            seen += chunk
    os.close(reader)
    assert process.returncode == 0
    assert (b"\x1b[" in seen) == coloured


def _read(reader: int) -> bytes:
    """The next bytes of the terminal; none when the process has closed its side (Linux reports that as an error)."""
    try:
        return os.read(reader, 4096)
    except OSError:
        return b""
