"""What the README shows, runs."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_there_is_something_to_run() -> None:
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_python_blocks_run(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block runs on its own, in a module of its own; waits take no time."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
