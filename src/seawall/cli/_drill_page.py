"""A drill as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seawall.cli._drill_text import COLUMNS, LEGEND, row, scenario
from seawall.drill.desk import USEFUL
from seawall.drill.metrics import BIN_S, bins, ended_as
from seawall.drill.strategies import CONTENDERS
from seawall.drill.verdict import verdict
from seawall.report.figure import Band, Panel, Strip, small_multiples
from seawall.report.page import bullets, heading, page, paragraph, wide
from seawall.report.table import html_table

if TYPE_CHECKING:
    from seawall.drill.run import Result
    from seawall.drill.settings import Settings

SENT_PX, USEFUL_PX = 68, 16


def page_for(result: Result) -> str:
    """The whole page as HTML."""
    settings, machine = result.settings, result.machine
    figure = figure_for(result)
    head = ("strategy", *(f"{upper} {lower}".replace("- ", "") for upper, lower in COLUMNS))
    rows = [row(metrics, settings) for metrics in result.metrics]
    marks = ["bad" if metrics.recovered_s is None else "good" for metrics in result.metrics]
    facts = (
        f"{machine.processors} processors, {machine.client_processes} client process(es), at most "
        f"{machine.most_per_s:.0f} requests/s; seed {settings.seed}; {result.took_s:.1f} s in all."
    )
    count = len(result.runs)
    title = f"One outage, {count} retry {'strategies' if count > 1 else 'strategy'}"
    return page(
        f"seawall drill: {title.lower()}",
        [
            heading(title, 1),
            paragraph(scenario(settings), "lead"),
            heading("Verdict"),
            bullets(verdict(settings, machine, result.metrics)),
            heading("Figures"),
            wide(html_table(head, rows, marks)),
            paragraph(LEGEND, "small"),
            heading("Over time"),
            paragraph(_caption(settings), "small"),
            wide(figure),
            paragraph(facts, "small"),
        ],
    )


def figure_for(result: Result) -> str:
    """The chart alone, as SVG."""
    settings = result.settings
    title = "Arrivals and useful answers over time"
    return small_multiples(_panels(result), _bands(settings), BIN_S, settings.run_s, title)


def _caption(settings: Settings) -> str:
    return (
        f"Blue: requests that arrive at the server, per {BIN_S * 1000:.0f} ms, all to one scale; dashed: what it can do. "
        f"Green: answers that met a waiting client; full height is its capacity of {settings.capacity_per_s:.0f}/s."
    )


def _bands(settings: Settings) -> list[Band]:
    script = [*settings.script(), (settings.run_s, "")]
    names = {"hang": "hangs", "down": "answers 503", "cold": "cold"}
    return [
        Band(from_s, script[place + 1][0], names[state], state)
        for place, (from_s, state) in enumerate(script)
        if state in names
    ]


def _panels(result: Result) -> list[Panel]:
    settings = result.settings
    capacity = settings.capacity_per_s * BIN_S
    arrivals = [bins(run.arrived_s, settings.run_s) for run in result.runs]
    top = max(capacity, *(max(counts) for counts in arrivals))
    panels: list[Panel] = []
    for run, metrics, counts in zip(result.runs, result.metrics, arrivals, strict=True):
        note = "not recovered"
        if metrics.recovered_s is not None:
            note = f"recovered {metrics.recovered_s:.1f} s after the outage"
        useful = _smooth(bins(ended_as(run, USEFUL), settings.run_s))
        strips = [
            Strip("sent", counts, top, SENT_PX, "sent", capacity),
            Strip("useful", useful, capacity, USEFUL_PX, "useful"),
        ]
        panels.append(Panel(CONTENDERS[run.strategy].title, note, strips))
    return panels


def _smooth(counts: list[int], over: int = 5) -> list[float]:
    """Means of five bins: a few answers in 20 ms would only flicker."""
    return [
        sum(counts[first : first + over]) / len(counts[first : first + over])
        for first in range(0, len(counts), over)
        for _ in counts[first : first + over]
    ]
