"""One file, no network, nothing unescaped."""

from __future__ import annotations

from seawall.report.page import bullets, heading, page, paragraph, wide
from seawall.report.table import html_table


def test_a_page_needs_nothing_from_anywhere() -> None:
    html = page("a < b", [heading("x & y", 1), paragraph("<p>"), bullets(["<i>"]), wide("<svg/>")])
    assert "<title>a &lt; b</title>" in html
    assert "<h1>x &amp; y</h1>" in html
    assert "&lt;p&gt;" in html
    assert "<li>&lt;i&gt;</li>" in html
    assert '<div class="wide"><svg/></div>' in html
    assert "prefers-color-scheme: dark" in html
    for outside in ("src=", "href=", "@import", "url(", "<script"):
        assert outside not in html


def test_a_table_names_its_rows_and_marks_them() -> None:
    html = html_table(["who", "n"], [["<a>", "1"], ["b", "2"]], ["good", ""])
    assert '<tr class="good"><th scope="row">&lt;a&gt;</th><td>1</td></tr>' in html
    assert html.count("<tr") == 3
