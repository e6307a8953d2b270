"""Small multiples over one time axis, as SVG. Colours are classes, which the page's style sheet fills in for light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from seawall.record import Record

WIDTH = 880
LEFT, RIGHT = 64, 16
HEAD, GAP, FOOT, TITLE = 22, 4, 30, 24


#: the colours, light and dark, and what the figure's classes mean
FIGURE_STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1d2327; --soft: #5d676e; --rule: #d5d8d6; --sent: #2f6f9f;
  --useful: #2e8b57; --bad: #b3402e; --hang: #f3e3b3; --down: #f3cfc6; --cold: #d9e5ee; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181b; --ink: #e6e8e6; --soft: #9aa5ab; --rule: #384046;
  --sent: #6fb1e0; --useful: #5cc48a; --bad: #f08a75; --hang: #4a411f; --down: #4d2a23; --cold: #22384a; } }
svg { width: 100%; min-width: 36rem; height: auto; display: block; font: 12px system-ui, sans-serif; }
svg .title { fill: var(--ink); font-weight: 600; font-size: 13px; } svg .note { fill: var(--soft); font-weight: 400; }
svg .tick { fill: var(--soft); font-size: 11px; } svg .rule { stroke: var(--rule); }
svg .mark { stroke: var(--bad); stroke-dasharray: 4 4; } svg .sent { fill: var(--sent); } svg .useful { fill: var(--useful); }
svg .hang { fill: var(--hang); } svg .down { fill: var(--down); } svg .cold { fill: var(--cold); }
"""


class Strip(Record):
    """One row of a panel: a filled step line.

    * `label`: what is counted. * `values`: one for each bin. * `top`: the value at the upper edge.
    * `height`: in pixels. * `kind`: CSS class of the filling. * `line`: a value to be marked by a dashed line; None: none.
    """

    label: str
    values: Sequence[float]
    top: float
    height: int
    kind: str
    line: float | None = None


class Panel(Record):
    """A titled pile of strips; `note` stands to the right of the title."""

    title: str
    note: str
    strips: Sequence[Strip]


class Band(Record):
    """A stretch of time behind all panels, with its name on top and a CSS class."""

    from_s: float
    to_s: float
    label: str
    kind: str


def small_multiples(
    panels: Sequence[Panel], bands: Sequence[Band], bin_s: float, run_s: float, title: str
) -> str:
    """An SVG of all panels under each other, from 0 to `run_s` seconds. `title` is what a screen reader says."""
    parts: list[str] = []
    y = float(HEAD)
    for panel in panels:
        parts.append(
            f'<text x="{LEFT}" y="{y + 16:g}" class="title">{escape(panel.title)}'
            f'<tspan class="note" dx="10">{escape(panel.note)}</tspan></text>'
        )
        y += TITLE
        for strip in panel.strips:
            parts.extend(_strip(strip, y, bin_s, run_s))
            y += strip.height + GAP
        y += GAP
    behind = [_band(band, y, run_s) for band in bands]
    axis = list(_axis(y, run_s))
    return (
        f'<svg viewBox="0 0 {WIDTH} {y + FOOT:g}" role="img" aria-label="{escape(title)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(behind + parts + axis)}</svg>'
    )


def standalone(svg: str) -> str:
    """The figure as a file of its own: with its style, and paper to stand on."""
    head, _, body = svg.partition(">")
    paper = '<rect width="100%" height="100%" fill="var(--paper)"/>'
    return f"{head}><style>{FIGURE_STYLE}</style>{paper}{body}\n"


def _x(at_s: float, run_s: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * at_s / run_s


def _strip(strip: Strip, y: float, bin_s: float, run_s: float) -> Iterable[str]:
    foot = y + strip.height
    scale = strip.height / strip.top if strip.top > 0 else 0.0
    path = [f"M{LEFT} {foot:g}"]
    last = 0.0
    for place, value in enumerate(strip.values):
        if value != last:
            at = _x(place * bin_s, run_s)
            path.append(f"H{at:.1f}V{foot - min(value, strip.top) * scale:.1f}")
            last = value
    end = _x(min(run_s, len(strip.values) * bin_s), run_s)
    path.append(f"H{end:.1f}V{foot:g}Z")
    yield f'<path class="{escape(strip.kind)}" d="{"".join(path)}"/>'
    yield f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{foot:g}" y2="{foot:g}"/>'
    if strip.line is not None:
        at = foot - strip.line * scale
        yield f'<line class="mark" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
    for offset, word in _labels(strip):
        yield f'<text x="{LEFT - 8}" y="{y + offset:g}" class="tick" text-anchor="end">{word}</text>'


def _labels(strip: Strip) -> Iterable[tuple[float, str]]:
    """The scale's top and the strip's name, or the name alone where there is room for one line only."""
    if strip.height >= 30:
        yield 9.0, f"{strip.top:g}"
    yield strip.height - 1.0, escape(strip.label)


def _band(band: Band, foot: float, run_s: float) -> str:
    left, right = _x(band.from_s, run_s), _x(band.to_s, run_s)
    return (
        f'<rect class="{escape(band.kind)}" x="{left:.1f}" width="{right - left:.1f}" y="{HEAD - 4}" '
        f'height="{foot - HEAD + 4:g}"/><text x="{(left + right) / 2:.1f}" y="{HEAD - 9}" class="tick" '
        f'text-anchor="middle">{escape(band.label)}</text>'
    )


def _axis(foot: float, run_s: float) -> Iterable[str]:
    """Whole seconds, not more than about a dozen of them."""
    every = max(1, round(run_s / 12))
    for second in range(0, int(run_s) + 1, every):
        at = _x(second, run_s)
        yield f'<line class="rule" x1="{at:.1f}" x2="{at:.1f}" y1="{foot:g}" y2="{foot + 5:g}"/>'
        yield f'<text x="{at:.1f}" y="{foot + 19:g}" class="tick" text-anchor="middle">{second} s</text>'
