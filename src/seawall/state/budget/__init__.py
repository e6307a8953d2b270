"""Retry budgets: how many retries all calls together may make.

An attempt limit bounds one call; a budget bounds the load. When everything fails, three attempts are three times the load,
a budget of 10 % is 1.1 times.

| engine | a retry is allowed while | for |
|---|---|---|
| `CostBudget` | the bucket can pay its price; successes refill it (AWS v2.1) | the default: no clock, a price by kind |
| `TokenBudget` | more than half of the tokens are left (gRPC, gRFC A6) | services with gRPC's terms |
| `RatioBudget` | retries stay under a share of recent calls, plus a reserve (Finagle, tower) | steady traffic |
| `InflightBudget` | retries in flight stay under a share of calls in flight (Envoy) | slow calls, proxies |
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
