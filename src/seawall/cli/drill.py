"""`seawall drill`: a retry storm and the same outage survived, on real sockets."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seawall.cli._drill_text import print_result
from seawall.cli._terminal import terminal
from seawall.drill.as_json import as_json
from seawall.drill.errors import DrillError
from seawall.drill.run import Progress, Result, Tell
from seawall.drill.run import drill as drilled
from seawall.drill.settings import Settings
from seawall.drill.strategies import CONTENDERS

if TYPE_CHECKING:
    from collections.abc import Generator


def drill(
    strategies: Annotated[
        str, typer.Option(help="Which to run, separated by commas; see the list below.")
    ] = ",".join(CONTENDERS),
    clients: Annotated[int, typer.Option(help="Concurrent clients.")] = 500,
    capacity: Annotated[float, typer.Option(help="Requests/s that the server can answer.")] = 750,
    load: Annotated[float, typer.Option(help="Share of the capacity that is asked for.")] = 0.667,
    outage_s: Annotated[float, typer.Option(help="Length of the outage, in seconds.")] = 2.0,
    after_s: Annotated[float, typer.Option(help="Time observed after it, in seconds.")] = 3.0,
    timeout_s: Annotated[float, typer.Option(help="Limit on each attempt, in seconds.")] = 0.2,
    seed: Annotated[int, typer.Option(help="Start of the random draws.")] = 0,
    port: Annotated[int, typer.Option(help="Port of the server; 0: any free one.")] = 0,
    as_json_text: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the JSON to this file as well.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to this file.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the chart to this file.")] = None,
) -> None:
    """Retry strategies against a real outage: server, sockets, clients."""
    try:
        settings = Settings(
            clients=clients,
            capacity_per_s=capacity,
            load=load,
            outage_s=outage_s,
            after_s=after_s,
            timeout_s=timeout_s,
            seed=seed,
            port=port,
            strategies=tuple(name.strip() for name in strategies.split(",") if name.strip()),
        )
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error
    for path in (out, html, svg):
        if path is not None and not path.resolve().parent.is_dir():
            raise typer.BadParameter(f"{path}: there is no directory {path.resolve().parent}.")
    try:
        with _progress() as tell:
            result = drilled(settings, tell)
    except DrillError as error:
        typer.echo(f"seawall drill: {error}", err=True)
        raise typer.Exit(2) from None
    _give(result, as_json_text=as_json_text, out=out, html=html)
    if svg is not None:
        from seawall.cli._drill_page import figure_for
        from seawall.report.figure import standalone

        svg.write_text(standalone(figure_for(result)), encoding="utf-8")


_NAMES = "\n".join(f"  {name:<14}{entry.title}" for name, entry in CONTENDERS.items())
drill.__doc__ = f"{drill.__doc__}\n\n\b\nStrategies:\n{_NAMES}"


def _give(result: Result, *, as_json_text: bool, out: Path | None, html: Path | None) -> None:
    if as_json_text:
        print(json.dumps(as_json(result)))
    else:
        print_result(result, terminal())
    if out is not None:
        out.write_text(json.dumps(as_json(result)) + "\n", encoding="utf-8")
    if html is not None:
        from seawall.cli._drill_page import page_for

        html.write_text(page_for(result), encoding="utf-8")
        typer.echo(f"Page: {html}", err=True)


@contextmanager
def _progress() -> Generator[Tell]:
    """On a terminal a moving bar, elsewhere a line for each step; on standard error, both."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    shown = (TextColumn("{task.description:<14}"), BarColumn(), TimeRemainingColumn())
    with Bar(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting")

        def tell(progress: Progress) -> None:
            bar.update(
                task,
                description=progress.step,
                completed=progress.done_s,
                total=progress.total_s,
            )

        yield tell


def _lines() -> Tell:
    last = ""

    def tell(progress: Progress) -> None:
        nonlocal last
        if progress.step != last:
            last = progress.step
            left_s = progress.total_s - progress.done_s
            print(f"drill: {progress.step} ({left_s:.0f} s left)", file=sys.stderr, flush=True)

    return tell
