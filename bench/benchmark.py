"""A benchmark has a name, says what it measures, and makes rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.row import Row
from bench.timing import Effort


@dataclass(frozen=True)
class Benchmark:
    """`about` is one sentence for `list`; `method` goes under the documentation's table."""

    name: str
    about: str
    method: str
    run: Callable[[Effort], list[Row]]
