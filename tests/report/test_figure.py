"""The picture is well-formed, complete and to scale."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from seawall.report.figure import LEFT, RIGHT, WIDTH, Band, Panel, Strip, small_multiples

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*strips: Strip, title: str = "a") -> ET.Element:
    panel = Panel(title, "note", strips)
    band = Band(1.0, 2.0, "out <&>", "down")
    return ET.fromstring(small_multiples([panel], [band], 0.5, 4.0, "what it shows"))


def test_names_are_escaped_and_told_to_screen_readers() -> None:
    figure = drawn(Strip("sent", [1, 2], 2, 40, "sent"), title="<b> & c")
    assert figure.get("aria-label") == "what it shows"
    texts = ["".join(text.itertext()) for text in figure.iter(f"{SVG}text")]
    assert "<b> & cnote" in texts
    assert "out <&>" in texts


def test_a_value_at_the_top_fills_the_strip_and_more_is_cut() -> None:
    figure = drawn(Strip("sent", [0, 4, 9, 1], 4, 40, "sent"))
    path = figure.findall(f"{SVG}path")[0].get("d")
    foot = 22 + 24 + 40
    step = (WIDTH - LEFT - RIGHT) / 8
    left = [f"{LEFT + step * n:.1f}" for n in range(9)]
    assert path == (
        f"M{LEFT} {foot}H{left[1]}V{foot - 40:.1f}H{left[2]}V{foot - 40:.1f}"
        f"H{left[3]}V{foot - 10:.1f}H{left[4]}V{foot}Z"
    )


def test_an_empty_strip_is_a_line() -> None:
    figure = drawn(Strip("sent", [0, 0], 0, 40, "sent", 0.0))
    assert len(figure.findall(f"{SVG}path")) == 1
    assert [line.get("class") for line in figure.iter(f"{SVG}line")][:2] == ["rule", "mark"]


def test_the_axis_has_not_too_many_labels() -> None:
    for run_s in (1.0, 6.0, 60.0, 600.0):
        svg = small_multiples([], [], 0.5, run_s, "t")
        assert 1 <= svg.count(" s</text>") <= 14
