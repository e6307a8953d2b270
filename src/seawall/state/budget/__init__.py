"""Retry budgets: how many retries all calls together may make.

An attempt limit bounds one call; a budget bounds the load. When everything fails, three attempts are three times the load,
a budget of 10 % is 1.1 times (Google SRE book, "Handling overload").

| engine | a retry is allowed while | when everything fails | for |
|---|---|---|---|
| `CostBudget` | points are left (AWS v2.1) | at most 35, then none | the default: throttling priced apart |
| `TokenBudget` | over half of the tokens are left (gRPC) | at most 49, then none | what has a gRPC config to match |
| `RatioBudget` | under a share of recent calls (Finagle) | 20 % and 10/s | long outages of a part |
| `InflightBudget` | under a share of calls in flight (Envoy) | 20 % or 3 at a time | slow calls, many at once |

The third column holds for the defaults. The first two engines need successes to come back; the others go on at a
bounded rate, but have to hear of every call, which takes drivers the longer way; the first two are left alone while they are
full. `KeyedBudget` makes one of any kind for each tenant or host; `UNLIMITED` is the null object.
"""

from seawall.state.budget.base import UNLIMITED, Budget
from seawall.state.budget.cost import CostBudget
from seawall.state.budget.inflight import InflightBudget
from seawall.state.budget.keyed import KeyedBudget
from seawall.state.budget.ratio import RatioBudget
from seawall.state.budget.token import TokenBudget

__all__ = [
    "UNLIMITED",
    "Budget",
    "CostBudget",
    "InflightBudget",
    "KeyedBudget",
    "RatioBudget",
    "TokenBudget",
]
