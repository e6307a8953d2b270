"""Every decision is in the index, in the agreed form; every decision that the code cites exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
PAGES = sorted(DECISIONS.glob("[0-9]*.md"))


def test_the_index_lists_each_page_once() -> None:
    listed = re.findall(
        r"^\| \[\d{4}\]\((\S+)\)", (DECISIONS / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert listed == [page.name for page in PAGES]


def test_each_page_has_the_form() -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        assert text.startswith(f"# {page.name[:4]}: "), page.name
        parts = [
            text.find(f"\n{part}") for part in ("Status: ", "## Context", "## Decision", "## Cons")
        ]
        assert -1 not in parts, f"{page.name}: a part is missing"
        assert parts == sorted(parts), f"{page.name}: parts out of order"


def test_cited_decisions_exist() -> None:
    for source in (ROOT / "src").rglob("*.py"):
        for name in re.findall(r"decisions/(\d{4}[\w-]*\.md)", source.read_text("utf-8")):
            assert (DECISIONS / name).is_file(), f"{source.name} cites {name}"
