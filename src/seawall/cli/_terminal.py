"""What may be written to standard output: how wide, in colour or not, with block characters or plain ASCII."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING

from seawall.record import Record

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NARROWEST, WIDEST = 40, 120


class Terminal(Record):
    """The abilities of an output.

    * `width`: characters per line.
    * `colour`: escape sequences may be written.
    * `blocks`: block characters may be written; otherwise ASCII.
    """

    width: int
    colour: bool
    blocks: bool


def terminal(environment: Mapping[str, str] = os.environ) -> Terminal:
    """Standard output as it is now. A pipe gets neither colour nor blocks; NO_COLOR and TERM=dumb are obeyed."""
    is_terminal = sys.stdout.isatty()
    dumb = environment.get("TERM") == "dumb"
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return Terminal(
        width=min(max(get_terminal_size().columns, NARROWEST), WIDEST),
        colour=is_terminal and not dumb and not environment.get("NO_COLOR"),
        blocks=is_terminal and encoding.startswith("utf"),
    )


def console(out: Terminal) -> Console:
    """A rich console with exactly these abilities."""
    from rich.console import Console

    return Console(
        width=out.width,
        force_terminal=out.colour,
        color_system="standard" if out.colour else None,
        no_color=not out.colour,
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=False,
    )


def table(*columns: str, left: int = 0, gap: int = 2) -> Table:
    """A table without frame: the first `left` columns are text, the others numbers, `gap` spaces apart."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for place, column in enumerate(columns):
        made.add_column(column, justify="left" if place < left else "right", no_wrap=place >= left)
    return made


class Unit(Record):
    """A unit of time for a table: its name and how many of them are in a second."""

    name: str
    per_s: float

    def show(self, value_s: float) -> str:
        """The time in this unit, to three digits, without exponent."""
        value = value_s * self.per_s
        if value >= 1000:
            return f"{value:.0f}"
        return f"{value:.3g}" if value >= 0.1 else f"{round(value, 4):g}"

    def label(self, value_s: float) -> str:
        """The same with the unit's name."""
        return f"{self.show(value_s)} {self.name}"


def unit_for(longest_s: float) -> Unit:
    """The unit in which times up to this one are read most easily."""
    if longest_s >= 0.1 or longest_s == 0.0:
        return Unit("s", 1.0)
    return Unit("ms", 1e3) if longest_s >= 1e-4 else Unit("µs", 1e6)


def tidy(value: float) -> float:
    """The number to 12 digits: 0.075 rather than 0.07500000000000001."""
    return float(f"{value:.12g}")


def wrapped(text: str, out: Terminal, first: str = "", other: str = "") -> str:
    """A paragraph in lines that fit; `first` and `other` are the indents."""
    return fill(
        text, out.width, initial_indent=first, subsequent_indent=other, break_on_hyphens=False
    )
