"""The command line of the benchmarks, with a benchmark that measures nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.__main__
from bench.benchmark import Benchmark
from bench.row import Row
from bench.timing import QUICK, Effort

KEPT = Row(case="call / wrapper", ours=1234.5, peer=1000.0, goal=2)
BROKEN = Row(case="call / rival", ours=2.0, peer=1.0, goal=1, unit="ms")
ABSENT = Row(case="call / nobody", ours=2.0, peer=None, goal=1, unit="ms")


@pytest.fixture
def efforts(monkeypatch: pytest.MonkeyPatch) -> list[Effort]:
    """What the benchmark was asked for."""
    asked: list[Effort] = []

    def run(effort: Effort) -> list[Row]:
        asked.append(effort)
        return [KEPT, ABSENT] if effort == QUICK else [KEPT, ABSENT, BROKEN]

    only = Benchmark("sample", "what nothing costs", "Not at all.", run)
    monkeypatch.setattr(bench.__main__, "BENCHMARKS", (only,))
    return asked


def test_list_runs_nothing(efforts: list[Effort], capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.__main__.main(["list"]) == 0
    assert capsys.readouterr().out.split() == ["sample", "what", "nothing", "costs"]
    assert efforts == []


def test_a_table_for_people(efforts: list[Effort], capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.__main__.main(["sample", "--quick"]) == 0
    table = capsys.readouterr().out.splitlines()[2:]
    assert [line.split() for line in table if line] == [
        ["case", "ours", "peer", "ratio", "goal", "holds"],
        ["call", "/", "wrapper", "1,234", "ns", "1,000", "ns", "1.23", "≤", "2", "yes"],
        ["call", "/", "nobody", "2.0", "ms", "absent", "≤", "1"],
    ]


def test_json_for_programs(efforts: list[Effort], capsys: pytest.CaptureFixture[str]) -> None:
    """A promise that is not kept makes the status 1, and is named."""
    assert bench.__main__.main(["all", "--json"]) == 1
    out, err = capsys.readouterr()
    rows = json.loads(out)["benchmarks"]["sample"]
    assert [row["holds"] for row in rows] == [True, None, False]
    assert err == "not kept: call / rival\n"


def test_a_page_for_the_documentation(efforts: list[Effort], tmp_path: Path) -> None:
    page = tmp_path / "reference" / "benchmarks.md"
    bench.__main__.main(["all", "--quick", "--write", str(page)])
    text = page.read_text("utf-8")
    assert "## sample: what nothing costs" in text
    assert "| call / wrapper | 1,234 ns | 1,000 ns | 1.23 | ≤ 2 | yes |" in text
