"""How long to wait before each retry: growth curves, jitter, and the published strategies that have a memory.

Two families, and one way to write each wait:

* **Curve × jitter.** `Constant`, `Linear`, `Exponential`, `Fibonacci`, `Polynomial`, `Sequence` and `Custom` say how the
  *level* grows; their field `jitter` says what a draw makes of it. The level is capped first, the jitter comes after, so
  the spread stays when the level has reached the cap.
* **Strategies with their own rule.** `Decorrelated`, `DecorrelatedClamped`, `DecorrelatedFinagle`, `DecorrelatedSmithy`,
  `PollyV2`, `ClientGo`, `Resilience4j`, `Ethernet`: each as its authors published it, since four different formulas are
  called "decorrelated".

The formulas are pure functions of floats in `backoff.formulas`; `Backoff.lowered` names the function and its parameters.
"""

from seawall.backoff.base import Backoff, Curve
from seawall.backoff.checks import LONGEST_S
from seawall.backoff.curves import (
    Constant,
    Custom,
    Exponential,
    Fibonacci,
    Linear,
    Polynomial,
    Sequence,
)
from seawall.backoff.jitter import JITTERS, Jitter
from seawall.backoff.published import ClientGo, Ethernet, Resilience4j
from seawall.backoff.remembering import (
    Decorrelated,
    DecorrelatedClamped,
    DecorrelatedFinagle,
    DecorrelatedSmithy,
    PollyV2,
)

__all__ = [
    "JITTERS",
    "LONGEST_S",
    "Backoff",
    "ClientGo",
    "Constant",
    "Curve",
    "Custom",
    "Decorrelated",
    "DecorrelatedClamped",
    "DecorrelatedFinagle",
    "DecorrelatedSmithy",
    "Ethernet",
    "Exponential",
    "Fibonacci",
    "Jitter",
    "Linear",
    "PollyV2",
    "Polynomial",
    "Resilience4j",
    "Sequence",
]
