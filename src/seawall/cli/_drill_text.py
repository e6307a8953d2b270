"""A drill in a terminal: table, chart, verdict."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from seawall.cli._chart import EIGHTHS, columns
from seawall.cli._terminal import Terminal, console, table, wrapped
from seawall.drill.desk import USEFUL
from seawall.drill.metrics import BIN_S, between, ended_as
from seawall.drill.strategies import CONTENDERS
from seawall.drill.verdict import verdict

if TYPE_CHECKING:
    from rich.console import Console

    from seawall.drill.metrics import Metrics
    from seawall.drill.records import RunRecord
    from seawall.drill.run import Result
    from seawall.drill.settings import Settings

GUTTER = 8
HEIGHT = 3
MARKS = {"up": "·", "hang": "h", "down": "x", "cold": "c"}
WORDS = "h hangs, requests wait   x crashed, answers 503 at once   c back but cold, requests wait"


def print_result(result: Result, out: Terminal) -> None:
    """Everything, for people."""
    screen = console(out)
    settings = result.settings
    screen.print(f"\n{wrapped(scenario(settings), out)}\n")
    _print_table(screen, result)
    screen.print(wrapped(LEGEND, out), style="dim")
    _print_chart(screen, out, result)
    screen.print("\nVerdict", style="bold")
    for sentence in verdict(settings, result.machine, result.metrics):
        screen.print(wrapped(sentence, out, "* ", "  "))
    screen.print(f"\n{result.took_s:.1f} s in all, seed {settings.seed}.", style="dim")


def scenario(settings: Settings) -> str:
    """The scenario in a few sentences."""
    return (
        f"{settings.clients} clients on loopback, each calling, thinking for {settings.think_s:.2g} s on average, calling again, "
        f"make {settings.offered_per_s:.0f} calls/s to a server that can answer {settings.capacity_per_s:.0f} requests/s. An "
        f"attempt may take {settings.timeout_s * 1000:.0f} ms, a call {settings.attempts} attempts. At {settings.warm_s:g} s "
        f"the server hangs, at {settings.crash_at_s:.3g} s it crashes and answers 503, at {settings.cold_at_s:.3g} s it is back "
        f"but cold, and only at {settings.back_at_s:.3g} s it works again."
    )


COLUMNS = (
    ("calls", "begun"),
    ("calls", "failed"),
    ("requests", "per call"),
    ("peak in", f"{BIN_S * 1000:.0f} ms"),
    ("load", "after"),
    ("useful", "after"),
    ("reco-", "vered"),
)
LEGEND = (
    "Requests per call and peak: from the outage's start. Load after: requests/s once the outage is over, in % of what the "
    "server can do. Useful after: answers/s that still met a waiting client. Recovered: how long after the outage useful "
    "answers are, and stay, at 95 % of what is offered."
)


def row(metrics: Metrics, settings: Settings) -> tuple[str, ...]:
    """The cells of one strategy: its title, then those of `COLUMNS`."""
    return (
        CONTENDERS[metrics.strategy].title,
        str(metrics.calls),
        str(metrics.failed),
        f"{metrics.amplification:.2f}",
        str(metrics.peak),
        f"{100 * metrics.load_after_per_s / settings.capacity_per_s:.0f} %",
        f"{metrics.useful_after_per_s:.0f}/s",
        "no" if metrics.recovered_s is None else f"{metrics.recovered_s:.1f} s",
    )


def _print_table(screen: Console, result: Result) -> None:
    made = table("strategy", *("\n".join(head) for head in COLUMNS), left=1)
    for metrics in result.metrics:
        made.add_row(*row(metrics, result.settings))
    screen.print(made)


def _print_chart(screen: Console, out: Terminal, result: Result) -> None:
    """Small multiples: one scale, one time axis."""
    cells = out.width - GUTTER - 2
    edges_s = [result.settings.run_s * place / cells for place in range(cells + 1)]
    drawn = [_busiest_in(run.arrived_s, edges_s) for run in result.runs]
    top = max(max(values) for values in drawn)
    edge = "│" if out.blocks else "|"
    title = (
        f"Arrivals at the server: the busiest {BIN_S * 1000:.0f} ms of each moment, all to one scale (0 to {top}). "
        "Under them the useful answers, full height: all that is offered."
    )
    screen.print(f"\n{wrapped(title, out)}", style="bold")
    ruler = _ruler(result.settings, edges_s)
    for run, metrics, values in zip(result.runs, result.metrics, drawn, strict=True):
        note = "not recovered"
        if metrics.recovered_s is not None:
            note = f"recovered in {metrics.recovered_s:.1f} s"
        head = f"{'':{GUTTER}} {edge}{CONTENDERS[run.strategy].title}: peak {metrics.peak}, {note}"
        screen.print(head, style="bold")
        scaled = columns([*values, top], HEIGHT, blocks=out.blocks)  # the last one sets the scale
        for place, line in enumerate(scaled):
            screen.print(f"{top if place == 0 else '':>{GUTTER}} {edge}", end="")
            screen.print(line[:cells].rstrip(), style="cyan")
        screen.print(f"{'useful':>{GUTTER}} {edge}", end="")
        screen.print(_useful(run, result.settings, edges_s, blocks=out.blocks), style="green")
        screen.print(f"{'':{GUTTER}} {edge}", end="")
        screen.print(ruler if out.blocks else ruler.replace("·", "."), style="dim")
    screen.print(f"{'':{GUTTER}}  {_seconds(result.settings, edges_s)}")
    screen.print(wrapped(WORDS, out), style="dim")


def _busiest_in(arrived_s: list[float], edges_s: list[float]) -> list[int]:
    """The most arrivals within 20 ms that begin in each span."""
    counts = [0] * (len(edges_s) - 1)
    for place, at_s in enumerate(arrived_s):
        span = bisect_right(edges_s, at_s) - 1
        if 0 <= span < len(counts):
            within = bisect_left(arrived_s, at_s + BIN_S) - place
            counts[span] = max(counts[span], within)
    return counts


def _useful(run: RunRecord, settings: Settings, edges_s: list[float], *, blocks: bool) -> str:
    times_s = ended_as(run, USEFUL)
    steps: list[str] = []
    for from_s, to_s in pairwise(edges_s):
        share = between(times_s, from_s, to_s) / (settings.offered_per_s * (to_s - from_s))
        eighths = min(8, round(share * 8))
        steps.append(EIGHTHS[eighths] if blocks else " .:#"[min(3, (eighths + 2) // 3)])
    return "".join(steps).rstrip()


def _ruler(settings: Settings, edges_s: list[float]) -> str:
    script = settings.script()
    starts_s = [at_s for at_s, _ in script]
    middles_s = [(a + b) / 2 for a, b in pairwise(edges_s)]
    return "".join(MARKS[script[bisect_right(starts_s, at_s) - 1][1]] for at_s in middles_s)


def _seconds(settings: Settings, edges_s: list[float]) -> str:
    """Whole seconds under the chart, each where it begins, as many as there is room for."""
    cells = len(edges_s) - 1
    line = [" "] * cells
    every = max(1, round(settings.run_s * 8 / cells))
    for second in range(0, int(settings.run_s) + 1, every):
        label = f"{second} s" if second == 0 else str(second)
        place = min(round(second / settings.run_s * cells), cells - len(label))
        line[place : place + len(label)] = label
    return "".join(line).rstrip()
