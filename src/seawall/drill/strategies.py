"""Who takes part: each a stack of the same policies that users write, the bad habits included."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from seawall.backoff import Backoff, Constant, Decorrelated, Exponential
from seawall.classify import Classifier
from seawall.policies.retry import Retry
from seawall.policies.timeout import Timeout
from seawall.record import Record
from seawall.stack import Stack
from seawall.state.budget import UNLIMITED, CostBudget
from seawall.world import World


class Contender(Record):
    """A strategy under test.

    * `title`: its name in tables. * `backoff`: (base_s, cap_s) -> Backoff.
    * `budgeted`: all calls of a process share a `CostBudget`, the library's default. Default: retries without limit but attempts.
    """

    title: str
    backoff: Callable[[float, float], Backoff]
    budgeted: bool = False


CONTENDERS: dict[str, Contender] = {
    "immediate": Contender("immediate retry", lambda base_s, cap_s: Constant(0.0, jitter="none")),
    "fixed": Contender("fixed delay", lambda base_s, cap_s: Constant(base_s, jitter="none")),
    "exponential": Contender(
        "unjittered exponential", lambda base_s, cap_s: Exponential(base_s, cap_s, jitter="none")
    ),
    "full": Contender("full jitter", Exponential),
    "equal": Contender(
        "equal jitter", lambda base_s, cap_s: Exponential(base_s, cap_s, jitter="equal")
    ),
    "decorrelated": Contender("decorrelated jitter", Decorrelated),
    "full+budget": Contender("full jitter + budget", Exponential, budgeted=True),
}
"""By the names that `--strategies` takes, in the order in which they run."""


def stack_for(
    name: str,
    on: Classifier,
    world: World,
    *,
    attempts: int,
    base_s: float,
    cap_s: float,
    timeout_s: float,
) -> Stack:
    """The stack of a contender, fresh budget included; one is shared by all clients of a process."""
    contender = CONTENDERS[name]
    return Stack(
        Retry(
            on,
            attempts,
            contender.backoff(base_s, cap_s),
            CostBudget() if contender.budgeted else UNLIMITED,
        ),
        Timeout(timeout_s),
        world=world,
    )


def mean_wait_s(name: str, attempts: int, base_s: float, cap_s: float, series: int = 4000) -> float:
    """All waits of a call that uses up its attempts, on average over `series` drawn ones."""
    backoff = CONTENDERS[name].backoff(base_s, cap_s)
    draw = Random(0).random
    retries = attempts - 1
    total_s = sum(
        sum(backoff.delays_s(retries, [draw() for _ in range(retries)])) for _ in range(series)
    )
    return total_s / series
