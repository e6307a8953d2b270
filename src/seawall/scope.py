"""What a call can see of the calls around it: deadline, attempt number, and whether somebody outside will retry.

A scope ends with its call. A task that was started inside a call and outlives it inherits the scope by context, finds it
closed, and is bound by nothing.
"""

from __future__ import annotations

from contextvars import ContextVar
from math import inf

from seawall.world import World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable


class Scope:
    """The surroundings of one attempt. Policies derive narrower scopes; drivers publish them to nested calls.

    * `started_at`: when the whole call began; `deadline_at`: when it must be over (`inf` without a deadline); both on
      the clock of `world`.
    * `attempt`: number of the attempt under the nearest retrying layer, from 1; 0 outside any.
    * `retrying`: a layer of this very call, or around it, will retry a failure.
    * `root`: the scope of the whole call, None for that scope itself (it must not refer to itself: that would be a cycle);
      the driver sets its `closed` when the call is over.
    * `guarded`: this layer would leave the repeating to a retrying layer around it.
    * `call`: what tells this call from others, if not the root scope itself; see `identity`.
    * `find`: how to look for a call around this one when a policy first needs to know (`drivers.enclosing` says why late).
    """

    __slots__ = (
        "attempt",
        "call",
        "closed",
        "deadline_at",
        "find",
        "guarded",
        "retrying",
        "root",
        "started_at",
        "world",
    )

    def __init__(
        self,
        world: World,
        started_at: float,
        deadline_at: float = inf,
        attempt: int = 0,
        retrying: bool = False,
        root: Scope | None = None,
        find: Callable[[], Scope | None] | None = None,
        call: object = None,
    ) -> None:
        self.world = world
        self.started_at = started_at
        self.deadline_at = deadline_at
        self.attempt = attempt
        self.retrying = retrying
        self.root = root
        self.find = find
        self.call = call
        self.guarded = False
        self.closed = False

    def attempting(self, number: int, retrying: bool) -> Scope:
        """The scope of attempt `number` of a retrying layer."""
        return Scope(
            self.world,
            self.started_at,
            self.deadline_at,
            number,
            retrying,
            self.root or self,
            self.find,
            self.call,
        )

    @property
    def identity(self) -> object:
        """The same object for all attempts of the call that will be repeated, and for what is left to it by guarded layers."""
        return self.call or self.root or self

    def itself(self) -> Scope:
        """This scope; for where a way to find a scope is asked for and it is known already."""
        return self

    def until(self, deadline_at: float) -> Scope:
        """The same surroundings with an earlier end."""
        scope = self.attempting(self.attempt, self.retrying)
        scope.deadline_at = deadline_at
        scope.guarded = self.guarded
        return scope

    def deadline_on(self, world: World) -> float:
        """The deadline on another world's clock."""
        if world is self.world or self.deadline_at == inf:
            return self.deadline_at
        return world.now() + (self.deadline_at - self.world.now())

    def remaining_s(self) -> float:
        """Seconds until the deadline, at least 0; `inf` without one."""
        return max(0.0, self.deadline_at - self.world.now())


CURRENT: ContextVar[Scope | None] = ContextVar("seawall.scope", default=None)


def published() -> Scope | None:
    """The innermost open scope that a driver has published in this context.

    A closed one was inherited by a task that outlived the call; it is forgotten, so that the next call is fast again.
    """
    scope = CURRENT.get()
    if scope is not None and (scope.root or scope).closed:
        CURRENT.set(None)
        return None
    return scope


def nested(
    world: World, outer: Scope | None, now: float, find: Callable[[], Scope | None] | None = None
) -> Scope:
    """The root scope of a call that begins `now` inside `outer`; without one, `find` looks for it when it matters."""
    if outer is None:
        return Scope(world, now, find=find)
    call = outer.identity if outer.retrying else None
    return Scope(world, now, outer.deadline_on(world), outer.attempt, outer.retrying, call=call)
