"""File descriptors: how many, and what to do when there are too few."""

from __future__ import annotations

import subprocess
import sys

import pytest

from seawall.drill.limits import descriptors_needed, too_few

resource = pytest.importorskip("resource")

RAISE = """
import resource
from seawall.drill.limits import descriptors_needed, ensure_descriptors
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
ensure_descriptors(200)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - descriptors_needed(200))
"""
DRILL = """
import resource, sys
from seawall.cli import main
resource.setrlimit(resource.RLIMIT_NOFILE, (150, 150))
sys.exit(main(["drill", "--clients", "200"]))
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )


def test_each_client_needs_one_and_some_are_spare() -> None:
    assert descriptors_needed(500) > 500
    assert descriptors_needed(1000) > descriptors_needed(500)


def test_the_message_says_how_many_fit_and_they_do() -> None:
    text = too_few(1000, descriptors_needed(1000), 256)
    assert "1000 clients need 1314 open files, the hard limit of this process is 256" in text
    assert "--clients 153" in text
    assert descriptors_needed(153) <= 256 < descriptors_needed(155)
    assert "--clients" not in too_few(10, descriptors_needed(10), 20)


def test_a_low_soft_limit_is_raised() -> None:
    assert python(RAISE).stdout == "0\n"


def test_a_low_hard_limit_is_a_message() -> None:
    done = python(DRILL)
    assert done.returncode == 2
    assert done.stderr.startswith("seawall drill: 200 clients need 314 open files")
    assert "limit" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
