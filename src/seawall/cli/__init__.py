"""The command line: `seawall COMMAND`.

One file per command: the file `drill.py` in this package holds a function `drill`, which becomes `seawall drill`. There is
nothing to register. Files that begin with an underscore are parts, not commands.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

NEEDS_EXTRA = "seawall's command line needs the extra: pip install 'seawall[cli]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: the process's own) and give its exit code; 2 is a mistake of the user."""
    try:
        import typer as _  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        print(NEEDS_EXTRA, file=sys.stderr)
        return 2
    from seawall.cli._app import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
