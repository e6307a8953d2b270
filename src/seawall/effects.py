"""All that a policy may ask for. A policy is a generator that yields effects and is sent outcomes; only drivers act."""

from __future__ import annotations

from seawall.outcome import Outcome
from seawall.scope import Scope
from seawall.world import World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Union

    Effect = Union["Attempt", "Sleep", "Within"]  # noqa: UP007 - the names come later
    Steps = Generator[Effect, Outcome, Outcome]
    Flow = Callable[[World, Scope], Steps]
else:  # annotations are never evaluated
    Effect = Steps = Flow = object


class Attempt:
    """Run the user's call once, with `scope` visible to what it calls. Answered by its `Outcome`."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class Sleep:
    """Let `delay_s` seconds pass. Answered by an empty outcome."""

    __slots__ = ("delay_s",)

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s


class Within:
    """Run `steps`, but for no longer than `limit_s` seconds. Answered by their outcome, or by `expired`.

    asyncio and trio cancel what runs too long. A thread cannot be interrupted: there the limit is only visible as the
    scope's deadline (adapters hand it to their sockets), unless `hard` asks for a worker thread that is left behind.
    """

    __slots__ = ("expired", "hard", "limit_s", "steps")

    def __init__(
        self, limit_s: float, steps: Steps, expired: Callable[[str], Outcome], hard: bool = False
    ) -> None:
        self.limit_s = limit_s
        self.steps = steps
        self.expired = expired
        self.hard = hard


def attempt_once(_world: World, scope: Scope) -> Steps:
    """The innermost flow: one attempt."""
    return (yield Attempt(scope))
