"""`python -m bench list`, `python -m bench overhead --json`, `python -m bench all --write page.md`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import overhead
from bench.benchmark import Benchmark
from bench.output import as_json, as_markdown, as_text
from bench.row import Row
from bench.timing import QUICK, Effort

BENCHMARKS: tuple[Benchmark, ...] = (overhead.BENCHMARK,)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 1 if a promise is not kept."""
    names = [b.name for b in BENCHMARKS]
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", choices=["list", "all", *names])
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--quick", action="store_true", help="fewer rounds; noisier")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write a Markdown page")
    asked = parser.parse_args(argv)
    if asked.name == "list":
        for benchmark in BENCHMARKS:
            print(f"{benchmark.name:12}  {benchmark.about}")
        return 0
    results: list[tuple[Benchmark, list[Row]]] = []
    for benchmark in BENCHMARKS:
        if asked.name in ("all", benchmark.name):
            rows = benchmark.run(QUICK if asked.quick else Effort())
            results.append((benchmark, rows))
            if not asked.json:
                print(f"{benchmark.name}: {benchmark.about}\n\n{as_text(rows)}\n", flush=True)
    if asked.json:
        print(as_json(results))
    if asked.write is not None:
        asked.write.parent.mkdir(parents=True, exist_ok=True)
        asked.write.write_text(as_markdown(results), "utf-8")
    broken = [row.case for _, rows in results for row in rows if row.holds is False]
    if broken:
        print(f"not kept: {'; '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
