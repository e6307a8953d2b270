"""What all HTTP adapters share, with a client made of plain objects: no socket, no library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import seawall
from seawall.adapters.exchange import Client, Exchange, Settings
from seawall.events import Event, GaveUp
from seawall.outcome import Outcome
from seawall.state.budget import UNLIMITED, CostBudget
from seawall.world import World
from tests.fakes import FakeWorld


@dataclass(frozen=True)
class Response:
    """An answer."""

    status: int = 200
    headers: Sequence[tuple[str, str]] = ()


class RefusedError(Exception):
    """No server has seen it."""


class BrokenError(Exception):
    """Perhaps one has."""


def exchange(world: FakeWorld, *, by_predicate: bool = False, **changes: Any) -> Exchange:
    not_sent: Any = RefusedError
    transport: Any = (RefusedError, BrokenError)
    if by_predicate:
        not_sent = _is(RefusedError)
        transport = _is(RefusedError, BrokenError)
    client = Client(lambda r: r.status, lambda r: r.headers, not_sent, transport)
    return Exchange(client, Settings(world=world).replace(**changes))


def _is(*kinds: type[Exception]) -> Callable[[Exception], bool]:
    return lambda error: isinstance(error, kinds)


class Script:
    """Answers or raises what it is given, one for each attempt; the last for ever."""

    def __init__(self, steps: Iterable[Response | Exception]) -> None:
        self._steps = list(steps)
        self.calls = 0

    def __call__(self) -> Response:
        step = self._steps[min(self.calls, len(self._steps) - 1)]
        self.calls += 1
        if isinstance(step, Exception):
            raise step
        return step


def made(ours: Exchange, *steps: Response | Exception, repeatable: bool = True) -> int:
    """How often a request is made that meets these, and then 200."""
    script = Script([*steps, Response()])
    try:
        ours.stack(repeatable=repeatable, host="x").call(script)
    except (RefusedError, BrokenError) as error:
        assert error in steps
    return script.calls


# --- what is repeated -----------------------------------------------------------------------------


@pytest.mark.parametrize("by_predicate", [False, True])
@pytest.mark.parametrize(
    ("step", "if_repeatable", "if_not"),
    [
        (Response(), 1, 1),
        (Response(404), 1, 1),
        (Response(500), 1, 1),
        (Response(429), 2, 1),
        (Response(503), 2, 1),
        (Response(408), 2, 1),
        (Response(521), 2, 2),
        (Response(522), 2, 1),
        (RefusedError(), 2, 2),
        (BrokenError(), 2, 1),
        (Response(500, [("x-should-retry", "true")]), 2, 1),
        (Response(403, [("X-Should-Retry", "true")]), 2, 1),
        (Response(200, [("x-should-retry", "true")]), 1, 1),
        (Response(302, [("x-should-retry", "true")]), 1, 1),
        (Response(503, [("x-should-retry", "false")]), 1, 1),
        (Response(521, [("x-should-retry", "false")]), 1, 1),
        (Response(503, [("grpc-retry-pushback-ms", "-1")]), 1, 1),
    ],
    ids=str,
)
def test_how_often_a_request_is_made(
    step: Response | Exception, if_repeatable: int, if_not: int, by_predicate: bool
) -> None:
    ours = exchange(FakeWorld(), by_predicate=by_predicate)
    assert made(ours, step) == if_repeatable
    assert made(ours, step, repeatable=False) == if_not
    outcome = Outcome(error=step) if isinstance(step, Exception) else Outcome(step)
    stops = not isinstance(step, Exception) and step.headers and if_repeatable == 1
    if not stops:
        assert ours.would_repeat(outcome, repeatable=True) is (if_repeatable == 2)
        assert ours.would_repeat(outcome, repeatable=False) is (if_not == 2)


def test_other_errors_are_the_callers() -> None:
    def fails() -> None:
        raise KeyError

    ours = exchange(FakeWorld())
    with pytest.raises(KeyError):
        ours.stack(repeatable=True, host="x").call(fails)


@pytest.mark.parametrize(
    ("headers", "sleeps"),
    [
        ([], [0.05]),
        ([("Retry-After", "2")], [pytest.approx(2.1)]),
        ([("Retry-After", "Wed, 31 Dec 2025 00:00:00 GMT")], [0.05]),  # in the past
        ([("retry-after-ms", "1000")], [pytest.approx(1.05)]),
        ([("x-amz-retry-after", "9000")], [pytest.approx(5.05)]),
        ([("grpc-retry-pushback-ms", "500")], [0.5]),
        ([("grpc-retry-pushback-ms", "0")], []),
        ([("Retry-After", "gibberish")], [0.05]),
    ],
    ids=str,
)
def test_how_long_a_server_is_waited_for(
    headers: list[tuple[str, str]], sleeps: list[float]
) -> None:
    world = FakeWorld(time=1_000_000.0)
    assert made(exchange(world), Response(503, headers)) == 2
    assert [each for each in world.sleeps if each] == sleeps


def test_a_date_is_read_by_the_clock_on_the_wall_of_the_same_world() -> None:
    world = FakeWorld(time=225_600.0)  # its wall clock: 2026-01-01T00:00:00Z
    date = "Thu, 01 Jan 2026 00:00:10 GMT"
    assert made(exchange(world), Response(503, [("Retry-After", date)])) == 2
    assert world.sleeps == [pytest.approx(10.5)]


def test_throttling_is_told_to_the_budget() -> None:
    """A retry after 429 or 503 costs 5 of an AWS budget, one after a fault 14."""
    left: list[float] = []
    for step in (Response(429), Response(503), Response(502), BrokenError()):
        budget = CostBudget()
        ours = exchange(FakeWorld(), budget=budget, attempts=2)
        made(ours, step, step)
        left.append(budget.balance(0.0))
    assert left[0] == left[1] > left[2] == left[3]


def test_requests_of_both_kinds_share_one_budget() -> None:
    budget = CostBudget()
    ours = exchange(FakeWorld(), budget=budget)
    assert (
        ours.stack(repeatable=True, host="x").policies
        != ours.stack(repeatable=False, host="x").policies
    )
    for repeatable in (True, False):
        before = budget.balance(0.0)
        with pytest.raises(RefusedError):
            ours.stack(repeatable=repeatable, host="x").call(Script([RefusedError()]))
        assert budget.balance(0.0) < before


def test_each_exchange_has_a_budget_of_its_own_unless_given_one() -> None:
    world = FakeWorld()
    first, second = exchange(world), exchange(world)
    for _ in range(20):
        made(first, *[RefusedError()] * 5)
    assert made(first, *[BrokenError()] * 5) == 1  # spent
    assert made(second, *[Response(503)] * 5) == 5
    unlimited = exchange(world, budget=UNLIMITED)
    assert all(made(unlimited, *[Response(503)] * 5) == 5 for _ in range(100))


def test_attempts_deadline_and_sink_are_the_settings() -> None:
    events: list[Event] = []
    world = FakeWorld()
    assert made(exchange(world, attempts=3, sink=events.append), *[Response(503)] * 9) == 3
    ours = exchange(world, deadline_s=0.01, sink=events.append)
    assert made(ours, *[Response(503)] * 9) == 1
    assert [e.reason for e in events if isinstance(e, GaveUp)] == ["attempts", "deadline"]


@pytest.mark.parametrize(("guard", "calls"), [(True, 3), (False, 15)])
def test_inside_a_retrying_layer_it_stands_back(guard: bool, calls: int) -> None:
    world = FakeWorld()
    ours = exchange(world, guard=guard)
    script = Script([BrokenError()])
    outer = seawall.retry(on=BrokenError, attempts=3, world=world)
    with pytest.raises(BrokenError):
        outer.call(ours.stack(repeatable=True, host="x").call, script)
    assert script.calls == calls


# --- what the wire is told ------------------------------------------------------------------------


def test_headers_tell_attempt_and_time_left() -> None:
    world = FakeWorld()
    ours = exchange(world, tell_attempts=True, deadline_s=8.0)
    told: list[list[tuple[str, str]]] = []

    def attempt() -> Response:
        told.append(ours.headers())
        world.advance(1.0)
        return Response(503 if len(told) < 2 else 200, [("grpc-retry-pushback-ms", "1000")])

    ours.stack(repeatable=True, host="x").call(attempt)
    assert told == [
        [("Seawall-Attempt", "1"), ("Seawall-Timeout-Ms", "8000")],
        [("Seawall-Attempt", "2"), ("Seawall-Timeout-Ms", "6000")],
    ]


def test_nothing_is_told_unasked_or_outside_an_attempt() -> None:
    world = FakeWorld()
    quiet = exchange(world)
    assert (
        quiet.stack(repeatable=True, host="x").call(lambda: quiet.headers() or Response())
        == Response()
    )
    assert exchange(world, tell_attempts=True).headers() == []


@pytest.mark.parametrize(
    ("own_s", "timeout_s", "deadline_s", "limit_s"),
    [
        (None, None, None, None),
        (5.0, None, None, 5.0),
        (5.0, 2.0, None, 2.0),
        (5.0, 2.0, 1.0, 1.0),
        (None, None, 1.0, 1.0),
        (None, 2.0, 60.0, 2.0),
        (0.5, 2.0, 1.0, 0.5),
        (0.0, None, 1.0, 0.0),  # the caller's own choice
    ],
)
def test_the_shortest_limit_holds(
    own_s: float | None, timeout_s: float | None, deadline_s: float | None, limit_s: float | None
) -> None:
    ours = exchange(FakeWorld(), timeout_s=timeout_s, deadline_s=deadline_s)
    limits: list[float | None] = []

    def attempt() -> Response:
        limits.append(ours.limit_s(own_s))
        return Response()

    ours.stack(repeatable=True, host="x").call(attempt)
    assert limits == [limit_s]


def test_a_limit_is_never_zero_unless_the_caller_wants_it() -> None:
    """To a socket 0 s means "do not block"; to urllib3 it is an error."""
    world = FakeWorld()
    ours = exchange(world, deadline_s=1.0)
    limits: list[float | None] = []

    def attempt() -> Response:
        world.advance(2.0)
        limits.append(ours.limit_s(None))
        return Response()

    ours.stack(repeatable=True, host="x").call(attempt)
    assert limits == [0.001]


def test_an_outer_deadline_cuts_too() -> None:
    world = FakeWorld()
    ours = exchange(world)
    limits: list[float | None] = []
    outer = seawall.Stack(seawall.Deadline(3.0), world=world)

    def attempt() -> Response:
        limits.append(ours.limit_s(None))
        return Response()

    outer.call(ours.stack(repeatable=True, host="x").call, attempt)
    assert limits == [3.0]


@pytest.mark.parametrize("timeout_s", [0.0, -1.0, float("nan")])
def test_a_timeout_must_be_positive(timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout_s"):
        exchange(FakeWorld(), timeout_s=timeout_s)


def test_a_budget_for_each_host() -> None:
    """A host that is down does not spend what the others need."""
    ours = exchange(FakeWorld(), budget=seawall.KeyedBudget(lambda: CostBudget(capacity=14)))

    def broken() -> None:
        raise BrokenError

    def calls(host: str) -> int:
        return ours.stack(repeatable=True, host=host).report(broken).attempts

    assert [calls("a"), calls("a"), calls("b"), calls("b")] == [2, 1, 2, 1]


# --- keys -----------------------------------------------------------------------------------------


def test_without_an_outer_layer_every_call_has_a_key_of_its_own() -> None:
    ours = exchange(FakeWorld())
    assert len({ours.key_for("POST", "http://x/", b"a") for _ in range(9)}) == 9


def test_an_outer_layer_that_repeats_gets_the_same_keys_in_the_same_order() -> None:
    world = FakeWorld()
    ours = exchange(world)
    seen: list[list[str]] = []

    def order() -> None:
        bodies = (b"a", b"a", b"b")
        seen.append([ours.key_for("POST", "http://x/", body) for body in bodies])
        if len(seen) < 3:
            raise BrokenError

    seawall.retry(on=BrokenError, world=world).call(order)
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen[0])) == 3  # two equal requests of one call are two requests


@pytest.mark.parametrize("middle", [{}, {"deadline_s": 20.0}, {"timeout_s": 20.0}], ids=str)
@pytest.mark.parametrize("outer", [{}, {"deadline_s": 30.0}, {"timeout_s": 30.0}], ids=str)
def test_guarded_layers_between_change_nothing(
    outer: dict[str, Any], middle: dict[str, Any]
) -> None:
    """Only the outermost layer repeats; each of its attempts makes new calls of the layers inside, with the same keys."""
    world = FakeWorld()
    ours = exchange(world)
    seen: list[list[str]] = []

    def request() -> None:
        seen[-1].append(ours.key_for("POST", "http://x/", b"1"))
        if len(seen) < 3:
            raise ConnectionError

    inside = seawall.retry(on=OSError, attempts=3, world=world, **middle)(request)

    def call() -> None:
        seen.append([])
        inside()
        inside()

    seawall.retry(on=OSError, attempts=3, world=world, **outer).call(call)
    assert [len(keys) for keys in seen] == [1, 1, 2]
    assert seen[0] == seen[1] == seen[2][:1]
    assert seen[2][1] != seen[2][0]


def test_the_same_in_a_coroutine() -> None:
    world = FakeWorld()
    ours = exchange(world)
    seen: list[str] = []

    async def request() -> None:
        seen.append(ours.key_for("POST", "http://x/", b"1"))
        raise ConnectionError

    inside = seawall.retry(on=OSError, attempts=3, world=world)(request)

    async def call() -> None:
        await inside()

    with pytest.raises(ConnectionError):
        asyncio.run(seawall.retry(on=OSError, attempts=3, world=world).acall(call))
    assert len(seen) == 3
    assert len(set(seen)) == 1


def test_the_next_call_through_the_outer_layer_gets_new_keys() -> None:
    world = FakeWorld()
    ours = exchange(world)
    keys: list[str] = []

    def order() -> None:
        keys.append(ours.key_for("POST", "http://x/", b"a"))
        if len(keys) % 2:
            world.advance(0.001)
            raise BrokenError

    outer = seawall.retry(on=BrokenError, world=world)
    for _ in range(3):
        outer.call(order)
    assert keys[0::2] == keys[1::2]
    assert len(set(keys)) == 3


def test_a_call_that_begins_at_the_same_tick_after_a_repeated_one_gets_a_new_key() -> None:
    """Some clocks tick every 16 ms."""
    world = FakeWorld()
    ours = exchange(world)
    keys: list[str] = []

    def order() -> None:
        keys.append(ours.key_for("POST", "http://x/", b"a"))
        if len(keys) == 1:
            raise BrokenError

    outer = seawall.retry(on=BrokenError, world=world, backoff=seawall.Sequence([0.0]))
    outer.call(order)
    outer.call(order)
    assert keys[0] == keys[1] != keys[2]


def test_nor_does_a_repetition_get_the_key_of_a_call_that_began_at_the_same_tick() -> None:
    """The first order succeeds at once, the second is repeated: with the first one's key it would never be executed."""
    stepping = World(lambda: float("1000"), lambda: 0.5, lambda _: None, asyncio.sleep)
    ours = exchange(FakeWorld())
    keys: list[str] = []

    def order() -> None:
        keys.append(ours.key_for("POST", "http://x/", b"a"))
        if len(keys) == 2:
            raise BrokenError

    outer = seawall.retry(on=BrokenError, world=stepping)
    outer.call(order)
    outer.call(order)
    assert keys[1] == keys[2] != keys[0]


@pytest.mark.parametrize(
    "other", [("PUT", "http://x/", b"a"), ("POST", "http://y/", b"a"), ("POST", "http://x/", b"b")]
)
def test_another_request_has_another_key(other: tuple[str, str, bytes]) -> None:
    world = FakeWorld()
    ours = exchange(world)
    keys: list[str] = []

    def order() -> None:
        first = not keys
        keys.append(ours.key_for(*(("POST", "http://x/", b"a") if first else other)))
        if first:
            raise BrokenError

    seawall.retry(on=BrokenError, world=world).call(order)
    assert keys[0] != keys[1]
