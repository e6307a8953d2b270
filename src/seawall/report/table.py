"""A table in HTML: the first column names the row, the others are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[str] = ()
) -> str:
    """`marked`: a CSS class for each row, or nothing."""
    classes = list(marked) or [""] * len(rows)
    titles = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = [
        f'<tr class="{escape(kind)}"><th scope="row">{escape(cells[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells[1:])
        + "</tr>"
        for cells, kind in zip(rows, classes, strict=True)
    ]
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
