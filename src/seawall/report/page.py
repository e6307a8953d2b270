"""One page in one file: no script, no network, light or dark as the reader's system is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1d2327; --soft: #5d676e; --rule: #d5d8d6; --sent: #2f6f9f;
  --useful: #2e8b57; --bad: #b3402e; --hang: #f3e3b3; --down: #f3cfc6; --cold: #d9e5ee; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181b; --ink: #e6e8e6; --soft: #9aa5ab; --rule: #384046;
  --sent: #6fb1e0; --useful: #5cc48a; --bad: #f08a75; --hang: #4a411f; --down: #4d2a23; --cold: #22384a; } }
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
svg { width: 100%; min-width: 36rem; height: auto; display: block; font: 12px system-ui, sans-serif; }
svg .title { fill: var(--ink); font-weight: 600; font-size: 13px; } svg .note { fill: var(--soft); font-weight: 400; }
svg .tick { fill: var(--soft); font-size: 11px; } svg .rule { stroke: var(--rule); }
svg .mark { stroke: var(--bad); stroke-dasharray: 4 4; } svg .sent { fill: var(--sent); } svg .useful { fill: var(--useful); }
svg .hang { fill: var(--hang); } svg .down { fill: var(--down); } svg .cold { fill: var(--cold); }
"""


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
