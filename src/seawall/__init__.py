"""Retries, backoff and jitter that do not turn small faults into outages.

`@seawall.retry(on=ConnectionError)` is the safe default. Everything else is composed in a `Stack`; more backoffs are in
`seawall.backoff`, HTTP clients in `seawall.adapters`.
"""

from seawall.backoff import Constant, Decorrelated, Exponential, PollyV2, Sequence
from seawall.classify import Classifier
from seawall.errors import AttemptTimeout, DeadlineExceeded, SeawallError, do_not_retry
from seawall.hint import Hint
from seawall.policies.deadline import Deadline
from seawall.policies.retry import Retry
from seawall.policies.timeout import Timeout
from seawall.retrying import retry
from seawall.stack import Stack
from seawall.state.budget import (
    UNLIMITED,
    CostBudget,
    InflightBudget,
    KeyedBudget,
    RatioBudget,
    TokenBudget,
)
from seawall.world import World

__all__ = [
    "UNLIMITED",
    "AttemptTimeout",
    "Classifier",
    "Constant",
    "CostBudget",
    "Deadline",
    "DeadlineExceeded",
    "Decorrelated",
    "Exponential",
    "Hint",
    "InflightBudget",
    "KeyedBudget",
    "PollyV2",
    "RatioBudget",
    "Retry",
    "SeawallError",
    "Sequence",
    "Stack",
    "Timeout",
    "TokenBudget",
    "World",
    "do_not_retry",
    "retry",
]
