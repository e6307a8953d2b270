"""`seawall.retry`: the safe defaults in one call."""

from __future__ import annotations

from seawall.backoff import Backoff
from seawall.classify import Classifier, On
from seawall.hint import Hint
from seawall.outcome import Outcome
from seawall.plan import DEFAULT_DEADLINE_S
from seawall.policies.deadline import Deadline
from seawall.policies.policy import Policy
from seawall.policies.retry import DEFAULT_BACKOFF, Retry
from seawall.policies.timeout import Timeout
from seawall.stack import Stack
from seawall.state.budget import UNLIMITED, Budget, CostBudget
from seawall.world import REAL, Sink, World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Own:
    def __repr__(self) -> str:
        return "<a CostBudget of its own>"


_OWN = _Own()


def retry(
    *,
    on: On | Classifier | None,
    on_result: Callable[[Any], bool] | None = None,
    attempts: int | None = 5,
    backoff: Backoff = DEFAULT_BACKOFF,
    deadline_s: float | None = DEFAULT_DEADLINE_S,
    timeout_s: float | None = None,
    budget: Budget | _Own | None = _OWN,
    guard: bool = True,
    hint: Callable[[Outcome], Hint | float | None] | None = None,
    sink: Sink | None = None,
    world: World = REAL,
) -> Stack:
    """A stack that retries safely: `@seawall.retry(on=ConnectionError)`.

    * `on`: which exceptions to retry: a type, a tuple of types, a predicate, or a `Classifier`. Required: no default can
      be right. `None` only together with `on_result`. A `BaseException` that is not an `Exception` is never retried.
    * `on_result`: a predicate on the returned value; True means failure. Default None: every result is a success.
    * `attempts`: attempts in all, the first included. Default 5. None: as many as the deadline allows (needs one).
    * `backoff`: default exponential, base 0.1 s, cap 20 s, full jitter applied after the cap.
    * `deadline_s`: no attempt starts and no sleep is begun past this many seconds. Default 60. None: no deadline.
    * `timeout_s`: limit on each attempt, see `Timeout`. Default None.
    * `budget`: default a `CostBudget` of this stack's own (35 retries in a burst, then one for every 14 clean successes),
      shared by all its calls. None: no budget.
    * `guard`: inside another retrying layer do not retry again. Default True.
    * `hint`: reads the callee's advice (a Retry-After) from an outcome; obeyed as a minimum, with jitter only upward.
      Default: the exception's own numeric `retry_after_s`, if any.
    * `sink`: receives the events. `world`: clock, chance and sleep.

    Raises `TypeError` or `ValueError` for settings that cannot work. A call that fails for good raises its own last exception.
    """
    if isinstance(on, Classifier):
        if on_result is not None or hint is not None:
            raise TypeError(
                "on is a Classifier, which has its own on_result and hint; set them there, not beside it."
            )
        classifier = on
    else:
        classifier = Classifier(on, on_result=on_result, hint=hint)
    if attempts is None and deadline_s is None:
        raise ValueError(
            "retry without a limit: attempts=None and deadline_s=None would repeat for ever. Set at least one of them."
        )
    spent: Budget
    if isinstance(budget, _Own):
        spent = CostBudget()
    else:
        spent = UNLIMITED if budget is None else budget
    policies: list[Policy] = [] if deadline_s is None else [Deadline(deadline_s)]
    policies.append(Retry(classifier, attempts, backoff, spent, guard))
    if timeout_s is not None:
        policies.append(Timeout(timeout_s))
    return Stack(*policies, world=world, sink=sink)
