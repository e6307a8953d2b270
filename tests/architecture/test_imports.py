"""Who may import whom. A new module must be given its place here; that is the moment to think about it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
MODULES = sorted((SRC / "seawall").rglob("*.py"))

VOCABULARY = {"outcome", "effects", "world", "errors", "events", "record", "quantity", "scope"}
FORMULAS = {"backoff", "strategies", "choice", "explain", "advise"}
KNOWLEDGE = {
    "classify",
    "hint",
    "http_rules",
    "idempotency",
    "propagation",
    "retry_after",
    "state",
    *FORMULAS,
}
COMPOSING = {"policies", "plan", "order", "describe", "callables", "call_report"}
COMPOSITION = {"stack", "retrying", *COMPOSING}
CORE = VOCABULARY | KNOWLEDGE | COMPOSITION
PUBLIC = {"__init__", *CORE, "drivers"}

#: what each part may import of the others, besides itself
MAY_IMPORT: dict[str, set[str]] = {
    **dict.fromkeys(VOCABULARY, VOCABULARY),
    **dict.fromkeys(KNOWLEDGE, VOCABULARY | KNOWLEDGE),
    **dict.fromkeys(COMPOSITION, CORE),
    "stack": CORE | {"drivers"},  # where policies and drivers meet, inside its methods
    "drivers": CORE,
    "__init__": PUBLIC,
    "adapters": PUBLIC,
    "drill": PUBLIC | {"adapters"},
    "report": {"record"},
    "cli": PUBLIC | {"adapters", "drill", "report"},
}
#: parts that may use what others have written; everything else runs on the standard library alone
WITH_LIBRARIES = {"adapters", "cli", "drill", "report"}


def part(module: Path) -> str:
    """The first name below `seawall`: `policies` for seawall/policies/retry.py."""
    return module.relative_to(SRC / "seawall").parts[0].removesuffix(".py")


def imported(module: Path) -> Iterator[str]:
    """Every module imported anywhere in the file, inside functions too; with the names taken from it."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: write imports in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(SRC)))
def test_imports_point_one_way(module: Path) -> None:
    """Vocabulary ← knowledge ← composition ← drivers ← adapters, drill ← cli."""
    here = part(module)
    assert here in MAY_IMPORT, f"{here} has no place in the table of this test; give it one"
    for name in imported(module):
        top, _, rest = name.partition(".")
        if top == "seawall":
            there = rest.partition(".")[0]
            there = (
                there if (SRC / "seawall" / there).is_dir() or there in MAY_IMPORT else "__init__"
            )
            assert there == here or there in MAY_IMPORT[here], f"{here} may not import {name}"
        elif here not in WITH_LIBRARIES:
            assert top in sys.stdlib_module_names, (
                f"{here} may not import {top}: core needs nothing"
            )
        if here == "state" and top in {"time", "random", "asyncio", "threading"}:
            assert name in {"threading.Lock", "threading.RLock"}, f"state is told the time: {name}"


def test_no_drawers() -> None:
    """Each thing has a room with a name."""
    assert not {"utils", "helpers", "common", "misc"} & {name.stem for name in MODULES}
    assert not {"utils", "helpers", "common", "misc"} & {name.parent.name for name in MODULES}


def test_import_is_light() -> None:
    """`import seawall` loads nothing of others' and none of the slow modules of the standard library."""
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules); import seawall; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    run = [sys.executable, "-I", "-S", "-c", code, str(SRC)]
    loaded = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    tops = {name.partition(".")[0] for name in loaded}
    assert "seawall" in tops
    assert not tops - {"seawall"} - sys.stdlib_module_names
    assert not tops & {"asyncio", "dataclasses", "datetime", "email", "inspect", "random", "typing"}
