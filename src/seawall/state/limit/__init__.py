"""Concurrency limits that find themselves: as many calls in flight as the server bears, learnt from how long they take.

| limit | looks at | default bounds |
|---|---|---|
| `AimdLimit` | drops | 20 to 200 |
| `VegasLimit` | the latest time against the shortest | 1 to 1000 |
| `Gradient2Limit` | the latest time against a long average; drifts | 20 to 200 |
| `GuardedLimit` | a percentile against a moving baseline, throughput, and an absolute ceiling | 1 to 200 |

`WindowedLimit(inner)` tells any of the first three of averages over windows instead of every call. `Gate(limit)` counts the
calls. `Limit(n)` stays n.
"""

from __future__ import annotations

from seawall.state.limit.aimd import AimdLimit
from seawall.state.limit.base import Limit
from seawall.state.limit.gate import Gate, Permit
from seawall.state.limit.gradient2 import Gradient2Limit
from seawall.state.limit.guarded import GuardedLimit
from seawall.state.limit.vegas import VegasLimit
from seawall.state.limit.windowed import WindowedLimit

__all__ = [
    "AimdLimit",
    "Gate",
    "Gradient2Limit",
    "GuardedLimit",
    "Limit",
    "Permit",
    "VegasLimit",
    "WindowedLimit",
]
