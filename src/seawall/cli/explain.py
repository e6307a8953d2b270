"""`seawall explain`: what a strategy does, as numbers, as pictures or as JSON."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seawall.cli._chart import RANGE_ASCII, RANGE_BLOCKS, columns, range_bar, time_axis
from seawall.cli._terminal import Terminal, Unit, console, table, terminal, tidy, unit_for, wrapped
from seawall.explain import Arrivals, Explanation, Wait
from seawall.explain import explain as explained
from seawall.strategies import STRATEGIES, strategy

if TYPE_CHECKING:
    from rich.console import Console

    from seawall.backoff import Backoff

MOST_STEPS = 2_000_000  # clients × retries: a few seconds of work
MOST_ROWS = 40
SPANS = 60


def explain(
    name: Annotated[str, typer.Argument(help="The strategy; see the list below.", metavar="NAME")],
    base: Annotated[float, typer.Option(help="First wait, in seconds.")] = 0.1,
    cap: Annotated[float, typer.Option(help="Longest wait, in seconds.")] = 20.0,
    attempts: Annotated[int, typer.Option(help="How many retries.", min=1, max=100_000)] = 10,
    draw: Annotated[
        float | None,
        typer.Option(
            help="One draw in [0, 1] for every wait: the waits, nothing else.", min=0, max=1
        ),
    ] = None,
    clients: Annotated[int, typer.Option(help="Clients that fail together.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Start of the random draws.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a retry strategy does, in numbers and pictures."""
    backoff = _made(name, base, cap)
    if draw is not None:
        delays_s = backoff.delays_s(attempts, [draw] * attempts)
        if as_json:
            print(json.dumps({"delays_s": [tidy(d) for d in delays_s]}))
        else:
            _print_series(terminal(), name, delays_s)
        return
    if clients * attempts > MOST_STEPS:
        raise typer.BadParameter(
            f"clients × attempts must be <= {MOST_STEPS}, got {clients} × {attempts}. "
            "Lower one of them, or give --draw for the waits alone."
        )
    explanation = explained(backoff, attempts, clients, Random(seed).random)  # noqa: S311  no secrets
    if as_json:
        head = {"strategy": name, "rule": STRATEGIES[name].summary, "base_s": base, "cap_s": cap}
        print(json.dumps(head | {"seed": seed} | _as_json(backoff, explanation)))
        return
    out = terminal()
    screen = console(out)
    screen.print(f"{name}: {STRATEGIES[name].summary}", style="bold")
    screen.print(f"base {base:g} s, cap {cap:g} s, seed {seed}\n")
    unit = unit_for(explanation.waits[-1].total_p99_s)
    _print_table(screen, out, explanation.waits, unit)
    _print_envelope(screen, out, explanation.waits, unit)
    _print_herd(screen, out, explanation.arrivals, unit)


_NAMES = "\n".join(f"  {name:<22}{entry.summary}" for name, entry in STRATEGIES.items())
explain.__doc__ = f"{explain.__doc__}\n\n\b\nStrategies:\n{_NAMES}"


def _made(name: str, base_s: float, cap_s: float) -> Backoff:
    """The strategy, or the library's own message as a usage error."""
    try:
        return strategy(name, base_s, cap_s)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error


def _as_json(backoff: Backoff, explanation: Explanation) -> dict[str, Any]:
    herd = explanation.arrivals
    ends_s = herd.spans_s(SPANS)
    return {
        "lowest_s": tidy(backoff.lowest_s),
        "ceiling_s": tidy(backoff.ceiling_s),
        "waits": [
            {field: tidy(getattr(row, field)) for field in Wait.__fields__ if field != "attempt"}
            | {"attempt": row.attempt}
            for row in explanation.waits
        ],
        "herd": {
            "clients": herd.clients,
            "window_s": herd.window_s,
            "peak": herd.peak,
            "peak_at_s": tidy(herd.peak_at_s),
            "last_s": tidy(herd.times_s[-1]),
            "ends_s": [tidy(end_s) for end_s in ends_s],
            "busiest": herd.busiest(ends_s),
        },
    }


def _shown(count: int) -> list[int]:
    """The places that are printed: all, or the first ones and the last."""
    return list(range(count)) if count <= MOST_ROWS else [*range(MOST_ROWS - 1), count - 1]


def _print_series(out: Terminal, name: str, delays_s: list[float]) -> None:
    screen = console(out)
    made = table("retry", "wait", "total")
    totals_s: list[float] = []
    for delay_s in delays_s:
        totals_s.append(delay_s + (totals_s[-1] if totals_s else 0.0))
    unit = unit_for(totals_s[-1])
    for place in _shown(len(delays_s)):
        made.add_row(str(place + 1), unit.show(delays_s[place]), unit.show(totals_s[place]))
    screen.print(f"{name}: the wait before each retry, in {unit.name}", style="bold")
    screen.print(made)


def _print_table(screen: Console, out: Terminal, rows: tuple[Wait, ...], unit: Unit) -> None:
    screen.print(f"Wait before each retry, and all waits so far, in {unit.name}", style="bold")
    shares = ("p50", "p95") if out.width < 76 else ("p5", "p50", "p95", "p99")
    summed = [share for share in shares if share != "p5"]
    made = table("retry", "min", *shares, "max", *(f"sum {share}" for share in summed))
    for place in _shown(len(rows)):
        row = rows[place]
        fields = ["lowest_s", *(f"{share}_s" for share in shares), "highest_s"]
        fields += [f"total_{share}_s" for share in summed]
        made.add_row(str(row.attempt), *(unit.show(getattr(row, field)) for field in fields))
    screen.print(made)


def _print_envelope(screen: Console, out: Terminal, rows: tuple[Wait, ...], unit: Unit) -> None:
    top_s = max(row.highest_s for row in rows)
    cells = out.width - 8
    outside, inside, median = RANGE_BLOCKS if out.blocks else RANGE_ASCII
    legend = f"{outside} min to max  {inside} p5 to p95  {median} median"
    screen.print(f"\nRange of the wait   {legend}", style="bold")
    screen.print(f"{'':8}0{unit.label(top_s):>{cells - 1}}")
    for place in _shown(len(rows)):
        row = rows[place]
        values = (row.lowest_s, row.p5_s, row.p50_s, row.p95_s, row.highest_s)
        screen.print(f"{row.attempt:>6}  ", end="")
        screen.print(range_bar(values, top_s, cells, blocks=out.blocks), style="cyan")


def _print_herd(screen: Console, out: Terminal, herd: Arrivals, unit: Unit) -> None:
    window = f"{herd.window_s * 1000:g} ms"
    title = f"{herd.clients} clients fail together at 0 s: retries in the busiest {window} of each moment"
    screen.print(f"\n{wrapped(title, out)}", style="bold")
    ends_s = herd.spans_s(out.width - 10)
    edge = "│" if out.blocks else "|"
    for place, bar in enumerate(columns(herd.busiest(ends_s), 6, blocks=out.blocks)):
        label = str(herd.peak) if place == 0 else ""
        screen.print(f"{label:>7} {edge}", end="")
        screen.print(bar.rstrip(), style="cyan")
    ends = [end_s * unit.per_s for end_s in ends_s]
    line, labels = time_axis(ends, unit.name, blocks=out.blocks)
    screen.print(f"{0:>7} {line}\n{'':9}{labels}")
    screen.print(f"Peak: {herd.peak} retries within {window}, at {unit.label(herd.peak_at_s)}.")
