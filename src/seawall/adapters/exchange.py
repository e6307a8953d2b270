"""What all HTTP adapters share: which answers and errors are repeated, with which key, and what the wire is told.

An adapter knows its client; this file knows HTTP. Two stacks with one budget serve one client: one for requests that may be
made twice, one for those that may not and are repeated only when nothing can have been executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from hashlib import blake2b
from math import inf
from typing import Any, TypedDict

from seawall.adapters.release import releasing
from seawall.backoff import Backoff
from seawall.classify import Classifier, On
from seawall.drivers.enclosing import enclosing, repeating
from seawall.hint import Hint
from seawall.http_rules import may_repeat, read_hint, rule_for
from seawall.idempotency import issue_key
from seawall.outcome import Outcome
from seawall.plan import DEFAULT_DEADLINE_S
from seawall.policies.retry import DEFAULT_BACKOFF
from seawall.propagation import outgoing
from seawall.quantity import positive_s
from seawall.record import Record
from seawall.retrying import retry
from seawall.stack import Stack
from seawall.state.budget import UNLIMITED, Budget, CostBudget, KeyedBudget
from seawall.world import REAL, Sink, World

Pairs = Iterable[tuple[str, str]]


class Client(Record):
    """How to read what one HTTP client library returns and raises.

    * `status`, `headers`: of a response. * `not_sent`: errors that prove that no server has seen the request.
    * `transport`: errors of the connection, `not_sent` among them, after which the request may have been executed.

    Errors are named by type, or by a predicate where one type means several things.
    """

    status: Callable[[Any], int]
    headers: Callable[[Any], Pairs]
    not_sent: On
    transport: On


class Settings(Record):
    """The settings that all HTTP adapters take; the defaults are those of `seawall.retry`.

    * `attempts`, `backoff`, `deadline_s`, `guard`, `sink`, `world`: as for `seawall.retry`.
    * `timeout_s`: limit on each attempt, handed to the client's sockets as the smaller of this and the time left. Default
      None: the client's own timeout, cut to the time left.
    * `budget`: shared by all requests. Default: a `CostBudget` of its own; `UNLIMITED` for none; a `KeyedBudget` for one budget
      for each host, so that a host that is down does not spend what the others need.
    * `issue_keys`: give requests with a non-idempotent method an `Idempotency-Key`, one for each logical call, and repeat
      them. Only for servers that honour it: a key that nobody reads makes no request safe. Default False. When a seawall
      function around the request is itself repeated, the key stays the same, if the request is made in that function's own task
      and the function's stack knows when it began (any but one with deadline, budget and guard all off). Elsewhere a repetition
      from outside gets a new key: give the request one of your own.
    * `tell_attempts`: send `Seawall-Attempt` and `Seawall-Timeout-Ms` with every attempt. Default False.
    """

    attempts: int | None = 5
    backoff: Backoff = DEFAULT_BACKOFF
    deadline_s: float | None = DEFAULT_DEADLINE_S
    timeout_s: float | None = None
    budget: Budget | KeyedBudget | None = None
    guard: bool = True
    issue_keys: bool = False
    tell_attempts: bool = False
    sink: Sink | None = None
    world: World = REAL

    def __post_init__(self) -> None:
        if self.timeout_s is not None:
            positive_s("Settings", "timeout_s", self.timeout_s)


class Changes(TypedDict, total=False):
    """The fields of `Settings` as keyword arguments; adapters take them beside or instead of a `Settings`."""

    attempts: int | None
    backoff: Backoff
    deadline_s: float | None
    timeout_s: float | None
    budget: Budget | KeyedBudget | None
    guard: bool
    issue_keys: bool
    tell_attempts: bool
    sink: Sink | None
    world: World


class Exchange:
    """The stacks of one client, and what to put into its requests."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self.settings = settings
        self._world = releasing(settings.world)
        self._repeats = _classifier(client, settings, repeatable=True)
        self._repeats_once = _classifier(client, settings, repeatable=False)
        budget = CostBudget() if settings.budget is None else settings.budget
        self._budgets = budget if isinstance(budget, KeyedBudget) else None
        shared = UNLIMITED if isinstance(budget, KeyedBudget) else budget
        self._repeatable = _stack(self._repeats, settings, shared, self._world)
        self._once = _stack(self._repeats_once, settings, shared, self._world)

    def stack(self, *, repeatable: bool, host: str) -> Stack:
        """The stack for a request to `host` that may be made twice, or for one that may not."""
        if self._budgets is None:
            return self._repeatable if repeatable else self._once
        on = self._repeats if repeatable else self._repeats_once
        return _stack(on, self.settings, self._budgets.of(host), self._world)

    def would_repeat(self, outcome: Outcome, *, repeatable: bool) -> bool:
        """Is this outcome one that the stack repeats, attempts, time and budget permitting?"""
        return (self._repeats if repeatable else self._repeats_once).judge(outcome).retry

    def headers(self) -> list[tuple[str, str]]:
        """What to add to the attempt that is being made; ask inside the attempt."""
        scope = enclosing() if self.settings.tell_attempts else None
        return [] if scope is None else outgoing(scope.attempt, scope.remaining_s())

    def limit_s(self, own_s: float | None) -> float | None:
        """The socket's timeout for the attempt that is being made; `own_s` is the client's own, None is none."""
        scope = enclosing()
        limits = [own_s, self.settings.timeout_s, None if scope is None else scope.remaining_s()]
        shortest = min((limit for limit in limits if limit is not None), default=inf)
        if shortest == inf:
            return None
        # to a socket 0 s means "do not block"; an attempt that could start has at least a moment
        return max(shortest, min(0.001, inf if own_s is None else own_s))

    def key_for(self, method: str, url: str, body: bytes) -> str:
        """A key for a logical call: the same again when a layer around the client repeats the whole call."""
        return _key_for(method, url, body)


def _classifier(client: Client, settings: Settings, *, repeatable: bool) -> Classifier:
    def failed(response: Any) -> bool:
        status = client.status(response)
        if status < 400:  # nothing that a server says makes a success worth repeating
            return False
        if may_repeat(status, repeatable=repeatable):
            return True
        # `x-should-retry: true` speaks of the status; it does not make a second execution harmless
        return repeatable and hint(Outcome(response)).retry is True

    def throttled(outcome: Outcome) -> bool:
        return outcome.error is None and rule_for(client.status(outcome.value)).throttled

    def hint(outcome: Outcome) -> Hint:
        if outcome.error is not None:
            return Hint()
        return read_hint(client.headers(outcome.value), settings.world.unix_now())

    return Classifier(
        client.transport if repeatable else client.not_sent,
        on_result=failed,
        throttled=throttled,
        hint=hint,
    )


def _stack(on: Classifier, settings: Settings, budget: Budget, world: World) -> Stack:
    return retry(
        on=on,
        attempts=settings.attempts,
        backoff=settings.backoff,
        deadline_s=settings.deadline_s,
        budget=budget,
        guard=settings.guard,
        sink=settings.sink,
        world=world,
    )


class _Keys:
    """The keys given out under one call that may be repeated: in each attempt, the n-th equal request gets the n-th key."""

    __slots__ = ("attempt", "call", "given", "used")

    def __init__(self, call: object) -> None:
        self.call = call
        self.attempt = 0
        self.given: dict[bytes, list[str]] = {}
        self.used: dict[bytes, int] = {}


_KEYS: ContextVar[_Keys | None] = ContextVar("seawall.idempotency_keys", default=None)


def _key_for(method: str, url: str, body: bytes) -> str:
    scope = repeating()
    if scope is None or not scope.attempt or not scope.started_at:
        return issue_key()
    keys = _KEYS.get()
    if (
        keys is None
        # the same object, not an equal one: where clocks move in steps, two calls may begin at equal times
        or keys.call is not scope.identity
        or scope.attempt < keys.attempt  # another call that began at the same tick of the clock
    ):
        keys = _Keys(scope.identity)
        _KEYS.set(keys)
    if keys.attempt != scope.attempt:
        keys.attempt = scope.attempt
        keys.used.clear()
    request = blake2b(f"{method} {url}\n".encode() + body, digest_size=16).digest()
    nth = keys.used.get(request, 0)
    keys.used[request] = nth + 1
    given = keys.given.setdefault(request, [])
    if nth == len(given):
        given.append(issue_key())
    return given[nth]
