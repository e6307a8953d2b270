"""The whole drill on real sockets, small; and every way to end it leaves nothing running."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from seawall.cli import main
from seawall.drill.strategies import CONTENDERS

pytestmark = pytest.mark.sockets

SMALL = ["--clients", "20", "--capacity", "100", "--outage-s", "0.4", "--after-s", "1.5"]
TELLING = """
import sys
from seawall.cli import main
from seawall.drill import process
started = process.Process.__init__
def starting(self, module):
    started(self, module)
    print("child", self._child.pid, file=sys.stderr, flush=True)
process.Process.__init__ = starting
sys.exit(main(sys.argv[1:]))
"""


def alive(pid: int) -> bool:
    """Is the process there and more than a corpse that waits to be collected?"""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return not Path("/proc/self/stat").exists()
    return state[0] not in "ZX"


def gone(pids: list[int]) -> bool:
    """Wait until none of them is alive; the limit is generous, for a busy machine."""
    until = time.monotonic() + 20.0
    while any(map(alive, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def start(*arguments: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A drill that is in its first run, and its children."""
    drill = subprocess.Popen(
        [sys.executable, "-c", TELLING, "drill", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children: list[int] = []
    assert drill.stderr is not None
    for line in drill.stderr:
        if line.startswith("child "):
            children.append(int(line.split()[1]))
        elif "immediate" in line:
            break
    return drill, children


def test_a_small_drill_adds_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what cannot depend on the speed of the machine."""
    html, out = tmp_path / "drill.html", tmp_path / "drill.json"
    named = ["--strategies", "immediate,full+budget", "--html", str(html), "--out", str(out)]
    assert main(["drill", *SMALL, *named, "--timeout-s", "0.1", "--json"]) == 0
    printed = capsys.readouterr()
    found: dict[str, Any] = json.loads(printed.out)
    assert json.loads(out.read_text("utf-8")) == found
    assert [run["strategy"] for run in found["runs"]] == ["immediate", "full+budget"]
    for run in found["runs"]:
        check_run(run, found)
    machine = found["machine"]
    assert machine["clients"] == 20
    assert 1 <= machine["burst_peak"] <= 20
    assert machine["smear_s"] >= 0.0
    assert found["verdict"]
    page = html.read_text("utf-8")
    assert page.count("<svg") == 1
    assert "full jitter + budget" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "drill: calibration" in printed.err


def check_run(run: dict[str, Any], found: dict[str, Any]) -> None:
    assert run["title"] == CONTENDERS[run["strategy"]].title
    assert run["calls"] == run["succeeded"] + run["failed"] + run["unfinished"]
    assert 0 < run["arrivals"] <= run["sent"]
    assert 0 <= run["unfinished"] <= 20
    bins = round(found["settings"]["warm_s"] + 0.4 + 1.5, 6) / found["bin_s"]
    for name in ("arrivals_per_bin", "useful_per_bin", "begun_per_bin"):
        assert len(run[name]) == pytest.approx(bins, abs=1)
    assert sum(run["useful_per_bin"]) >= run["succeeded"] > 0
    assert sum(run["arrivals_per_bin"]) <= run["arrivals"]
    assert run["failed"] > 0
    assert run["amplification"] >= 1.0 or run["unfinished"] > 0
    assert run["useful_outage_per_s"] < run["useful_before_per_s"]


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (signal.SIGINT, 130),
        (signal.SIGTERM, -signal.SIGTERM),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_whatever_ends_it_nothing_is_left_running(ending: signal.Signals, code: int) -> None:
    drill, children = start(*SMALL)
    assert len(children) >= 2
    assert all(map(alive, children))
    drill.send_signal(ending)
    out, err = drill.communicate(timeout=30)
    assert drill.returncode == code
    assert gone(children)
    assert out == ""
    assert "Traceback" not in err


def test_a_server_that_dies_is_a_message() -> None:
    drill, children = start(*SMALL)
    os.kill(children[0], signal.SIGKILL)
    _, err = drill.communicate(timeout=30)
    assert drill.returncode == 2
    assert "the drill's process seawall.drill.server has ended unexpectedly (exit code -9)" in err
    assert "Traceback" not in err
    assert gone(children)


def test_a_port_in_use_is_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["drill", *SMALL, "--port", str(port)]) == 2
    printed = capsys.readouterr()
    assert f"seawall drill: port {port} on 127.0.0.1 is in use." in printed.err
    assert "--port" in printed.err
    assert "Traceback" not in printed.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--strategies", "ful"], "Did you mean 'full'?"),
        (["--strategies", ","], "strategies is empty"),
        (["--clients", "0"], "at least 1"),
        (["--html", "no-such-directory/page.html"], "there is no directory"),
    ],
)
def test_mistakes_are_usage_errors(
    line: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["drill", *line]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert words in message
