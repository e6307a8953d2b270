"""Policies composed around a call. The order of writing is the order of nesting, the outermost first."""

from __future__ import annotations

from functools import partial, update_wrapper

from seawall.call_report import CallReport
from seawall.callables import kind_of, name_of
from seawall.describe import describe, draw
from seawall.effects import Flow, attempt_once
from seawall.errors import OrderWarning
from seawall.events import Event
from seawall.order import OrderProblem, check_order
from seawall.plan import Plan, plan_for
from seawall.policies.policy import Policy
from seawall.scope import nested, published
from seawall.world import REAL, Sink, World

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, ParamSpec, TypeVar

    from seawall.drivers.block import Attempts

    P = ParamSpec("P")
    R = TypeVar("R")
    F = TypeVar("F", bound=Callable[..., Any])


class Stack:
    """Policies around a call: `Stack(Deadline(10), Retry(...), Timeout(2))`.

    Use it as a decorator, or through `call`, `acall` and `attempts`. One stack serves any number of threads, tasks and
    functions at once; whatever belongs to a single call lives in that call. It is immutable and can be pickled (budgets are
    copied, not shared, by that).

    * `world`: clock, chance and sleep; the real ones by default. Tests and the simulator pass others.
    * `sink`: a function that receives the events of all calls; default None. It must not raise.

    Warns with `OrderWarning` when the order is known to be bad; `check()` explains the same without a warning.
    """

    __slots__ = ("flow", "plan", "policies", "sink", "world")

    policies: tuple[Policy, ...]
    world: World
    sink: Sink | None
    flow: Flow
    plan: Plan

    def __init__(self, *policies: Policy, world: World = REAL, sink: Sink | None = None) -> None:
        for policy in policies:
            if not isinstance(policy, Policy):
                raise TypeError(
                    f"Stack takes policies, got {policy!r}. Write Stack(Deadline(10), Retry(on=...)) "
                    "and hand functions to .call(), or decorate them with the stack."
                )
        flow: Flow = attempt_once
        for policy in reversed(policies):
            flow = partial(policy.run, flow)
        put = object.__setattr__
        put(self, "policies", policies)
        put(self, "world", world)
        put(self, "sink", sink)
        put(self, "flow", flow)
        put(self, "plan", plan_for(policies, flow, world.listening(sink) if sink else world))
        for problem in self.check():
            import warnings

            warnings.warn(str(problem), OrderWarning, stacklevel=2)

    def __call__(self, fn: F) -> F:
        """Decorate a function, coroutine function, method, partial or callable object.

        Generator functions are refused: repeating one would repeat items already taken; `restart` does so knowingly.
        """
        from seawall.drivers.wrap import awrap, wrap

        if isinstance(fn, (staticmethod, classmethod)):
            bound: Any = fn  # pyright: ignore[reportUnknownVariableType]
            rebound: F = type(bound)(self(bound.__func__))
            return rebound
        if not callable(fn):
            raise TypeError(f"a Stack decorates callables, got {fn!r}.")
        kind = kind_of(fn)
        if kind in ("generator", "async generator"):
            raise TypeError(
                f"{name_of(fn)} is a{'n' if kind[0] == 'a' else ''} {kind} function: after a failure it would have to start "
                "anew and yield the same items again. Collect the items inside a plain function and decorate that, or accept "
                "the repetition with @stack.restart."
            )
        wrapper: Any = (awrap if kind == "async" else wrap)(self.plan, fn)
        return _named(wrapper, fn)

    def restart(self, fn: F) -> F:
        """Decorate a generator function (sync or async): after a failure it starts from the beginning.

        Items that were taken before the failure are yielded again; the consumer must be able to bear that.
        """
        from seawall.drivers.generators import arestarting, restarting

        kind = kind_of(fn)
        if kind == "generator":
            return _named(restarting(self, fn), fn)
        if kind == "async generator":
            return _named(arestarting(self, fn), fn)
        raise TypeError(
            f"restart is for generator functions; {name_of(fn)} is {kind}. Decorate it with the stack itself."
        )

    def call(self, fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `fn(*args, **kwargs)` through the policies, in this thread."""
        from seawall.drivers.wrap import wrap

        value: R = wrap(self.plan, fn)(*args, **kwargs)
        return value

    async def acall(self, fn: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Await `fn(*args, **kwargs)` through the policies, in asyncio or trio."""
        from seawall.drivers.wrap import awrap

        value: R = await awrap(self.plan, fn)(*args, **kwargs)
        return value

    def attempts(self) -> Attempts:
        """The attempts of one call as a loop: `for attempt in stack.attempts(): with attempt: ...`.

        In coroutines `async for attempt in stack.attempts(): async with attempt: ...`. The block is repeated while it fails
        and the policies allow; a failure for good leaves it as the exception that it is.
        """
        from seawall.drivers.block import Attempts
        from seawall.drivers.enclosing import enclosing

        world = self.plan.world
        root = nested(world, published(), world.now(), enclosing)
        return Attempts(self.flow(world, root), root)

    def report(self, fn: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> CallReport:
        """Like `call`, but tell the outcome and what led to it instead of returning or raising."""
        from seawall.drivers.sync import run

        events: list[Event] = []
        outcome = run(self.plan.heard_by(events.append), partial(fn, *args, **kwargs))
        return CallReport(outcome, tuple(events))

    async def areport(
        self, fn: Callable[P, Awaitable[Any]], *args: P.args, **kwargs: P.kwargs
    ) -> CallReport:
        """Like `acall`, but tell the outcome and what led to it instead of returning or raising."""
        from seawall.drivers.aio import arun

        events: list[Event] = []
        outcome = await arun(self.plan.heard_by(events.append), partial(fn, *args, **kwargs))
        return CallReport(outcome, tuple(events))

    def describe(self) -> list[dict[str, Any]]:
        """The policies as plain dictionaries, outermost first; can be written as JSON."""
        return describe(self.policies)

    def check(self) -> list[OrderProblem]:
        """Known-bad orders in this stack, each with the reason and the way out; empty when there is none."""
        return check_order(self.policies)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Stack is immutable: cannot set {name!r}; compose another one.")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self.policies, self.world, self.sink))

    def __repr__(self) -> str:
        return f"Stack({', '.join(map(repr, self.policies))})"

    def __str__(self) -> str:
        return draw(self.policies)


def _rebuild(policies: tuple[Policy, ...], world: World, sink: Sink | None) -> Stack:
    return Stack(*policies, world=world, sink=sink)


def _named(wrapper: Any, fn: F) -> F:
    """The wrapper with the name, the documentation and, for type checkers, the type of what it wraps."""
    update_wrapper(wrapper, fn)
    named: F = wrapper
    return named
