"""What a drill prints: it fits, it is aligned, and it is plain where it has to be."""

from __future__ import annotations

from random import Random

import pytest

from seawall.cli._drill_page import page_for
from seawall.cli._drill_text import print_result
from seawall.cli._terminal import Terminal
from seawall.drill.desk import LATE, REFUSED, USEFUL
from seawall.drill.metrics import measure
from seawall.drill.records import Machine, RunRecord
from seawall.drill.run import Result
from seawall.drill.settings import Settings
from seawall.drill.strategies import CONTENDERS


def result() -> Result:
    """All strategies, with made-up arrivals."""
    settings = Settings()
    random = Random(1)
    runs: list[RunRecord] = []
    for name in CONTENDERS:
        arrived_s = sorted(random.uniform(0, settings.run_s) for _ in range(3000))
        runs.append(
            RunRecord(
                strategy=name,
                arrived_s=arrived_s,
                ended_s=[at_s + 0.01 for at_s in arrived_s],
                fate=[random.choice([USEFUL, LATE, REFUSED]) for _ in arrived_s],
                begun_s=arrived_s[::2],
                succeeded_s=arrived_s[::4],
                failed_s=arrived_s[::5],
                sent=3000,
            )
        )
    metrics = tuple(measure(run, settings) for run in runs)
    return Result(settings, Machine(2, 1, 500, 0.04, 250, 9000.0), tuple(runs), metrics, 45.0)


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("blocks", [True, False])
def test_everything_fits(width: int, blocks: bool, capsys: pytest.CaptureFixture[str]) -> None:
    print_result(result(), Terminal(width, colour=False, blocks=blocks))
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert max(map(len, lines)) <= width
    assert "\x1b" not in shown
    assert "Verdict" in lines
    for entry in CONTENDERS.values():
        assert sum(line.startswith(entry.title) for line in lines) >= 1
    assert blocks or shown.isascii()


def test_all_panels_have_one_time_axis(capsys: pytest.CaptureFixture[str]) -> None:
    """The ruler under each panel is the same line."""
    print_result(result(), Terminal(80, colour=False, blocks=True))
    rulers = [line for line in capsys.readouterr().out.splitlines() if "hhxxx" in line]
    assert len(rulers) == len(CONTENDERS)
    assert len(set(rulers)) == 1
    assert len(rulers[0]) == 80


def test_the_page_shows_every_strategy_twice() -> None:
    page = page_for(result())
    for entry in CONTENDERS.values():
        assert f">{entry.title}</th>" in page
        assert f">{entry.title}<tspan" in page
