"""Bars made of characters. Pure: numbers in, lines out."""

from __future__ import annotations

from collections.abc import Sequence

EIGHTHS = " ▁▂▃▄▅▆▇█"
RANGE_BLOCKS = ("░", "▒", "█")  # lowest to highest, p5 to p95, median
RANGE_ASCII = (".", "-", "#")


def range_bar(values: Sequence[float], top: float, cells: int, *, blocks: bool) -> str:
    """Lowest, p5, median, p95 and highest on a line of `cells` characters that ends at `top`."""
    outside, inside, median = RANGE_BLOCKS if blocks else RANGE_ASCII
    places = [min(int(v / top * cells), cells - 1) if top > 0 else 0 for v in values]
    lowest, low, middle, high, highest = places
    line = [" "] * cells
    line[lowest : highest + 1] = outside * (highest - lowest + 1)
    line[low : high + 1] = inside * (high - low + 1)
    line[middle] = median
    return "".join(line).rstrip()


def columns(values: Sequence[int], height: int, *, blocks: bool) -> list[str]:
    """Upright bars, the top line first; every value above 0 shows at least a trace."""
    top = max(values, default=0)
    if top == 0:
        return [" " * len(values)] * height
    steps = [max(1, round(v / top * height * 8)) if v else 0 for v in values]
    lines: list[str] = []
    for row in range(height - 1, -1, -1):
        filled = [min(max(step - row * 8, 0), 8) for step in steps]
        lines.append("".join(EIGHTHS[part] if blocks else _ascii(part, row) for part in filled))
    return lines


def _ascii(eighths: int, row: int) -> str:
    if eighths == 0:
        return " "
    if eighths >= 4:
        return "#"
    return "." if row == 0 else " "


def time_axis(ends: Sequence[float], unit: str, *, blocks: bool) -> tuple[str, str]:
    """The line under upright bars and its labels, for columns that end at these times in `unit`: powers of ten and the last."""
    line = ["─" if blocks else "-"] * len(ends)
    last = f"{ends[-1]:.3g} {unit}"
    labels = [" "] * len(ends)
    labels[-len(last) :] = last
    for power in range(-6, 10):
        mark, label = 10.0**power, f"{10.0**power:g}"
        place = sum(end < mark for end in ends)
        if 0 < place < len(ends) and mark > ends[0]:
            line[place] = "┴" if blocks else "+"
            if "".join(labels[place - 1 : place + len(label) + 1]).strip() == "":
                labels[place : place + len(label)] = label
    return ("└" if blocks else "+") + "".join(line), "".join(labels)
