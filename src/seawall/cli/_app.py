"""Finds the commands, builds the application and turns every ending into an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from pkgutil import iter_modules
from typing import Annotated

import typer

import seawall.cli

INTERRUPTED = 130


def commands() -> list[str]:
    """The names of the commands: the modules of this package that are not parts."""
    found = iter_modules(seawall.cli.__path__)
    return sorted(module.name for module in found if not module.name.startswith("_"))


def build(first: str | None) -> typer.Typer:
    """The application. A command that was named is loaded alone, so that it does not pay for the others' imports."""
    app = typer.Typer(
        name="seawall",
        rich_markup_mode=None,  # plain text: the same in a terminal, a pipe and a log
        pretty_exceptions_enable=False,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_top)
    names = commands()
    named = (first or "").replace("-", "_")
    for name in [named] if named in names else names:
        app.command(name.replace("_", "-"))(_load(name))
    return app


def run(arguments: list[str]) -> int:
    """Run one command line to its exit code. A mistake of the user is a message, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # an ASCII terminal shows ? for ×, not a traceback
    app = build(arguments[0] if arguments else None)
    try:
        app(arguments, prog_name="seawall")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _load(name: str) -> Callable[..., object]:
    """The function of a command; a stand-in that says what to install where a package is missing."""
    try:
        function: Callable[..., object] = getattr(import_module(f"seawall.cli.{name}"), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("seawall"):
            raise
        missing = error.name
    else:
        return function

    def stand_in() -> None:
        typer.echo(
            f"seawall {name} needs the package {missing!r}: pip install 'seawall[all]'", err=True
        )
        raise typer.Exit(2)

    stand_in.__doc__ = f"(needs the package {missing!r}, which is not installed)"
    return stand_in


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"seawall {version('seawall')}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Retries, backoff and jitter that do not turn small faults into outages."""
