"""One page in one file: no script, no network, light or dark as the reader's system is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from seawall.report.figure import FIGURE_STYLE

STYLE = (
    FIGURE_STYLE
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { max-width: 46rem; } .lead { font-size: 1.05rem; } .small { color: var(--soft); font-size: .875rem; }
li { max-width: 46rem; margin: .35rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .95rem; }
th, td { padding: .35rem .6rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
thead th { color: var(--soft); font-weight: 500; vertical-align: bottom; white-space: normal; min-width: 5rem; }
th:first-child { text-align: left; } tbody th { font-weight: 600; }
tr.good td:last-child { color: var(--useful); font-weight: 600; } tr.bad td:last-child { color: var(--bad); font-weight: 600; }
"""
)


def page(title: str, body: Sequence[str]) -> str:
    """The page; `body` is HTML, `title` is text."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of text; `kind`: its CSS class ("lead", "small")."""
    return f'<p class="{escape(kind)}">{escape(text)}</p>'


def bullets(items: Sequence[str]) -> str:
    """A list of sentences."""
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"


def wide(html: str) -> str:
    """Something that may be wider than a small screen: it scrolls by itself."""
    return f'<div class="wide">{html}</div>'
