"""A drill as plain data: everything that is needed to draw and to judge it again."""

from __future__ import annotations

import platform
from typing import Any

from seawall.drill.desk import USEFUL
from seawall.drill.metrics import BIN_S, bins, ended_as
from seawall.drill.run import Result
from seawall.drill.strategies import CONTENDERS, mean_wait_s
from seawall.drill.verdict import verdict
from seawall.record import Record


def as_json(result: Result) -> dict[str, Any]:
    """Settings, machine, and for each strategy its figures and its counts per 20 ms; the verdict."""
    settings = result.settings
    return {
        "settings": settings.as_dict()
        | {"offered_per_s": settings.offered_per_s, "think_s": settings.think_s},
        "script": [{"from_s": at_s, "server": state} for at_s, state in settings.script()],
        "machine": _fields(result.machine)
        | {"system": platform.system(), "python": platform.python_version()},
        "bin_s": BIN_S,
        "runs": [
            _fields(metrics)
            | {
                "title": CONTENDERS[run.strategy].title,
                "mean_wait_s": round(
                    mean_wait_s(run.strategy, settings.attempts, settings.base_s, settings.cap_s),
                    4,
                ),
                "sent": run.sent,
                "arrivals_per_bin": bins(run.arrived_s, settings.run_s),
                "useful_per_bin": bins(ended_as(run, USEFUL), settings.run_s),
                "begun_per_bin": bins(run.begun_s, settings.run_s),
            }
            for run, metrics in zip(result.runs, result.metrics, strict=True)
        ],
        "verdict": verdict(settings, result.machine, result.metrics),
        "took_s": result.took_s,
    }


def _fields(record: Record) -> dict[str, Any]:
    return {field: getattr(record, field) for field in record.__fields__}
