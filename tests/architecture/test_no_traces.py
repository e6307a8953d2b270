"""Nothing in the tree depends on the machine it was written on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = re.compile(r"(?<![\w.~}/-])/(?:root|work|home|Users|tmp)/\w")
INDEX = re.compile(r"\bpypi\.org|pythonhosted\.org|registry\.npmjs\.org|deb\.debian\.org")


def committed() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_machine_paths_and_no_package_indexes() -> None:
    """A path below somebody's home works nowhere else; which index serves the packages is the user's choice."""
    found: list[str] = []
    for path in committed():
        text = path.read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if HOME.search(line) or INDEX.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)
