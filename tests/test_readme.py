"""What the README shows, runs."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_python_blocks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block runs on its own, in a module of its own; waits take no time. There must be one."""
    monkeypatch.setattr(time, "sleep", no_wait)
    assert BLOCKS
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


def no_wait(_: float) -> None:
    """Instead of `time.sleep`."""
