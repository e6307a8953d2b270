"""Rows as text, JSON and Markdown."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.benchmark import Benchmark
from bench.peers import PEERS
from bench.row import Row

Results = Sequence[tuple[Benchmark, Sequence[Row]]]
HEAD = ("case", "ours", "peer", "ratio", "goal", "holds")
HOLDS = {True: "yes", False: "NO", None: ""}

PREAMBLE = """\
# Benchmarks

Written by `make bench`; do not edit. Every row compares two things measured in the same run, smaller is better. On another
machine the times differ and the ratios hardly do: run it yourself.

"""


def cells(row: Row) -> tuple[str, ...]:
    """What a reader sees of a row."""
    return (
        row.case,
        _number(row.ours, row.unit),
        "absent" if row.peer is None else _number(row.peer, row.unit),
        "" if row.ratio is None else f"{row.ratio:.2f}",
        row.promise,
        HOLDS[row.holds],
    )


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if unit == "ns" else f"{value:.1f} {unit}"


def as_text(rows: Iterable[Row]) -> str:
    """A table with aligned columns."""
    lines = [HEAD, *map(cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def as_json(results: Results) -> str:
    """Everything, with what it was measured on."""
    return json.dumps(
        {
            "machine": machine(),
            "peers": {peer.name: peer.version for peer in PEERS},
            "benchmarks": {b.name: [row.as_dict() for row in rows] for b, rows in results},
        },
        indent=2,
        ensure_ascii=False,
    )


def as_markdown(results: Results) -> str:
    """The page of the documentation."""
    on, peers = machine(), [f"{p.name} {p.version}" for p in PEERS if p.version is not None]
    where = f"{on['processor']}, {on['cores']} cores, {on['system']}, {on['python']}"
    parts = [PREAMBLE, f"Measured on {where}; with {', '.join(peers)}.\n"]
    for benchmark, rows in results:
        parts.append(f"\n## {benchmark.name}: {benchmark.about}\n\n{benchmark.method}\n\n")
        parts.append(f"| {' | '.join(HEAD)} |\n|---|---:|---:|---:|---:|---|\n")
        parts.extend(f"| {' | '.join(cells(row))} |\n" for row in rows)
    return "".join(parts)


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
