"""What every policy is: a frozen value with one generator."""

from __future__ import annotations

from seawall.effects import Flow, Steps
from seawall.record import Record
from seawall.scope import Scope
from seawall.world import World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar


class Policy(Record):
    """Base of the policies. A policy decides, it never acts: `run` yields effects and returns an outcome.

    `wrong_inside`: for each policy that must not stand outside this one, the reason why (the order checker prints it).
    """

    wrong_inside: ClassVar[Mapping[str, str]] = {}

    def run(self, inner: Flow, world: World, scope: Scope) -> Steps:
        """One call through this policy and everything inside it."""
        raise NotImplementedError(f"{type(self).__name__} must implement run()")
