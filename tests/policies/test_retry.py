"""Retry: what it decides, told as sequences of sleeps and events."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import seawall
from seawall.backoff import Constant, Exponential
from seawall.classify import Classifier
from seawall.errors import DeadlineExceeded, SeawallError, do_not_retry
from seawall.events import Event, GaveUp, Recovered, RetryScheduled
from seawall.hint import Hint
from seawall.policies.deadline import Deadline
from seawall.policies.retry import Retry
from seawall.retrying import retry
from seawall.stack import Stack
from seawall.state.budget import CostBudget, InflightBudget, TokenBudget
from tests.fakes import FakeWorld, Flaky

STEPS = Exponential(base_s=1.0, cap_s=4.0, jitter="none")


def reasons(events: list[Event]) -> list[str]:
    return [event.reason for event in events if isinstance(event, GaveUp)]


def test_defaults_five_attempts_full_jitter_after_the_cap() -> None:
    world = FakeWorld()
    fn = Flaky(99)
    with pytest.raises(ConnectionError):
        retry(on=ConnectionError, world=world).call(fn)
    assert fn.calls == 5
    assert world.sleeps == pytest.approx([0.05, 0.1, 0.2, 0.4])


def test_success_at_the_first_attempt_sleeps_nothing() -> None:
    world = FakeWorld()
    assert retry(on=ConnectionError, world=world).call(Flaky(0)) == "ok"
    assert world.sleeps == []


def test_what_on_does_not_name_is_raised_at_once() -> None:
    fn = Flaky(99, KeyError)
    with pytest.raises(KeyError):
        retry(on=ConnectionError, world=FakeWorld()).call(fn)
    assert fn.calls == 1


def test_results_can_be_failures_and_the_last_one_is_returned() -> None:
    answers = iter([503, 503, 503])
    world = FakeWorld()
    stack = retry(on=None, on_result=lambda v: v == 503, attempts=3, backoff=STEPS, world=world)
    assert stack.call(lambda: next(answers)) == 503
    assert world.sleeps == [1.0, 2.0]


def test_one_attempt_means_no_retry() -> None:
    fn = Flaky(9)
    with pytest.raises(ConnectionError):
        retry(on=ConnectionError, attempts=1, world=FakeWorld()).call(fn)
    assert fn.calls == 1


def test_no_attempt_limit_repeats_until_the_deadline() -> None:
    world = FakeWorld()
    fn = Flaky(10**9)
    stack = retry(
        on=ConnectionError,
        attempts=None,
        backoff=Constant(1.0, jitter="none"),
        deadline_s=10.0,
        budget=None,
        world=world,
    )
    with pytest.raises(ConnectionError):
        stack.call(fn)
    assert fn.calls == 10  # attempts at 0, 1 … 9; the one at 10 would start at the deadline
    assert sum(world.sleeps) == 9.0


@pytest.mark.parametrize(("takes_s", "calls"), [(0.6, 1), (0.2, 2), (0.1, 2)])
def test_a_slow_attempt_counts_against_the_deadline(takes_s: float, calls: int) -> None:
    """The clock is read after the attempt: one call of 0.6 s under a deadline of 0.5 s is exactly one call."""
    world = FakeWorld()
    fn = Flaky(99, world=world, takes_s=takes_s)
    stack = retry(
        on=ConnectionError, deadline_s=0.5, backoff=Constant(0.2, jitter="none"), world=world
    )
    with pytest.raises(ConnectionError):
        stack.call(fn)
    assert fn.calls == calls


def test_no_sleep_is_begun_that_would_pass_the_deadline() -> None:
    world = FakeWorld()
    events: list[Event] = []
    stack = retry(
        on=ConnectionError, deadline_s=3.5, backoff=STEPS, world=world, sink=events.append
    )
    with pytest.raises(ConnectionError):
        stack.call(Flaky(99))
    assert world.sleeps == [1.0, 2.0]
    assert reasons(events) == ["deadline"]


def test_a_deadline_that_has_passed_outside_allows_no_attempt() -> None:
    world = FakeWorld()
    inner = Flaky(0)
    nested = retry(on=OSError, world=world, guard=False)(inner)

    def outer() -> Any:
        world.advance(11.0)
        return nested()

    with pytest.raises(DeadlineExceeded, match=r"passed 1\.000 s before the first attempt"):
        retry(on=OSError, deadline_s=10.0, world=world).call(outer)
    assert inner.calls == 0


@pytest.mark.parametrize("outer_deadline_s", [60.0, 5.0], ids=["unpublished", "published"])
def test_a_nested_call_sees_the_outer_deadline(outer_deadline_s: float) -> None:
    world = FakeWorld()
    inner = Flaky(99)
    step = Constant(outer_deadline_s / 2.5, jitter="none")
    nested = retry(
        on=OSError, attempts=9, deadline_s=1000.0, backoff=step, guard=False, world=world
    )(inner)
    outer = retry(on=OSError, attempts=1, deadline_s=outer_deadline_s, world=world)
    with pytest.raises(ConnectionError):
        outer.call(lambda: nested())
    assert inner.calls == 3


# --- amplification guard ---------------------------------------------------------------------------


def call(fn: Any) -> Any:
    return fn()


def layers(depth: int, bottom: Any, world: FakeWorld, **settings: Any) -> Any:
    fn: Any = bottom
    for _ in range(depth):
        stack = retry(
            on=ConnectionError, attempts=3, backoff=Constant(0.0), world=world, **settings
        )
        fn = stack(partial(call, fn))
    return fn


@pytest.mark.parametrize(
    "settings", [{}, {"deadline_s": 5.0}, {"timeout_s": 5.0}, {"deadline_s": None, "budget": None}]
)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_layers_do_not_multiply(depth: int, settings: dict[str, Any]) -> None:
    """Three layers of three attempts are three calls at the bottom, not 27."""
    bottom = Flaky(10**6)
    with pytest.raises(ConnectionError):
        layers(depth, bottom, FakeWorld(), **settings)()
    assert bottom.calls == 3


@pytest.mark.parametrize(
    "settings", [{}, {"deadline_s": 5.0}, {"deadline_s": None, "budget": None}]
)
def test_layers_multiply_when_told_to(settings: dict[str, Any]) -> None:
    bottom = Flaky(10**6)
    with pytest.raises(ConnectionError):
        layers(3, bottom, FakeWorld(), guard=False, **settings)()
    assert bottom.calls == 27


def test_a_nested_layer_says_why_it_did_not_retry() -> None:
    events: list[Event] = []
    world = FakeWorld()
    inner = retry(on=ConnectionError, world=world, sink=events.append)(Flaky(99))
    with pytest.raises(ConnectionError):
        retry(on=ConnectionError, attempts=2, world=world).call(lambda: inner())
    assert reasons(events) == ["nested", "nested"]  # each time the outer layer comes by


def test_a_layer_that_does_not_repeat_does_not_silence_the_inner_one() -> None:
    inner = Flaky(99)
    world = FakeWorld()
    nested = retry(on=ConnectionError, attempts=4, world=world)(inner)
    with pytest.raises(ConnectionError):
        Stack(Deadline(60.0), world=world).call(lambda: nested())
    assert inner.calls == 4


def test_after_a_call_its_layer_binds_nobody() -> None:
    world = FakeWorld()
    retry(on=ConnectionError, deadline_s=5.0, world=world).call(Flaky(1))
    inner = Flaky(99)
    with pytest.raises(ConnectionError):
        retry(on=ConnectionError, world=world).call(inner)
    assert inner.calls == 5


def test_do_not_retry_stops_every_layer() -> None:
    bottom = Flaky(10**6, lambda: do_not_retry(ConnectionError("overloaded; don't retry")))
    events: list[Event] = []
    stack = retry(on=ConnectionError, world=FakeWorld(), sink=events.append)
    with pytest.raises(ConnectionError):
        stack.call(bottom)
    assert bottom.calls == 1
    assert reasons(events) == ["do not retry"]


# --- advice of the callee --------------------------------------------------------------------------


def test_advice_is_a_minimum_with_jitter_upward() -> None:
    world = FakeWorld()
    stack = retry(on=SeawallError, attempts=2, backoff=STEPS, world=world)
    with pytest.raises(SeawallError):
        stack.call(Flaky(9, lambda: SeawallError("busy", retry_after_s=10.0)))
    assert world.sleeps == pytest.approx([10.5])  # 10 s and U(0, 10 %) with a draw of 0.5


def test_advice_that_is_too_long_is_reported_not_waited_for() -> None:
    world = FakeWorld()
    events: list[Event] = []
    stack = retry(on=SeawallError, deadline_s=None, world=world, sink=events.append)
    with pytest.raises(SeawallError):
        stack.call(Flaky(9, lambda: SeawallError("busy", retry_after_s=3600.0)))
    assert world.sleeps == []
    assert isinstance(events[-1], GaveUp)
    assert (events[-1].reason, events[-1].wanted_s) == ("hint too long", 3600.0)


def test_push_back_stop_and_exact_delay_with_a_new_series() -> None:
    """gRFC A6: an exact delay is waited exactly and the backoff series starts anew; a negative one stops."""
    hints = iter([Hint(), Hint(), Hint(delay_s=0.5, exact=True), Hint(), Hint(stop=True)])
    world = FakeWorld()
    events: list[Event] = []
    stack = retry(
        on=OSError,
        attempts=None,
        deadline_s=60.0,
        backoff=STEPS,
        hint=lambda _: next(hints),
        world=world,
        sink=events.append,
    )
    with pytest.raises(ConnectionError):
        stack.call(Flaky(99))
    assert world.sleeps == [1.0, 2.0, 0.5, 1.0]
    assert reasons(events) == ["server said stop"]


# --- budgets ---------------------------------------------------------------------------------------


def test_an_empty_budget_ends_the_call_with_its_own_error() -> None:
    world = FakeWorld()
    events: list[Event] = []
    stack = retry(on=OSError, budget=CostBudget(capacity=28), world=world, sink=events.append)
    fn = Flaky(99)
    with pytest.raises(ConnectionError):
        stack.call(fn)
    assert fn.calls == 3
    assert reasons(events) == ["budget"]


def test_a_refused_budget_can_still_pace_the_caller() -> None:
    """A caller in a loop must not spin when the tokens are gone."""
    world = FakeWorld()
    policy = Retry(
        Classifier(OSError), backoff=STEPS, budget=CostBudget(capacity=0), paced_refusal=True
    )
    with pytest.raises(ConnectionError):
        Stack(policy, world=world).call(Flaky(99))
    assert world.sleeps == [1.0]


def test_each_stack_has_a_budget_of_its_own_shared_by_its_calls() -> None:
    one, two = retry(on=OSError, world=FakeWorld()), retry(on=OSError, world=FakeWorld())
    calls = 0
    for _ in range(100):
        fn = Flaky(99)
        with pytest.raises(ConnectionError):
            one.call(fn)
        calls += fn.calls
    assert calls == 100 + 500 // 14
    fn = Flaky(99)
    with pytest.raises(ConnectionError):
        two.call(fn)
    assert fn.calls == 5


def test_a_budget_that_counts_calls_in_flight_gets_everything_back() -> None:
    budget = InflightBudget(ratio=0.2, min_retries=3)
    world = FakeWorld()
    stack = retry(on=OSError, budget=budget, world=world)
    for failures in (0, 2, 99):
        fn = Flaky(failures)
        if failures == 99:
            with pytest.raises(ConnectionError):
                stack.call(fn)
        else:
            stack.call(fn)
    fresh = InflightBudget(ratio=0.2, min_retries=3)
    assert budget.balance(world.now()) == fresh.balance(0.0)


def test_interruption_returns_what_the_budget_holds() -> None:
    budget = InflightBudget(ratio=0.2, min_retries=1)
    world = FakeWorld()

    def interrupted() -> None:
        if world.sleeps:
            raise KeyboardInterrupt
        raise ConnectionError

    stack = retry(on=OSError, budget=budget, world=world)
    with pytest.raises(KeyboardInterrupt):
        stack.call(interrupted)
    assert budget.balance(world.now()) == 1.0


def test_the_token_budget_hears_of_final_failures() -> None:
    """grpc-go TestRetryThrottling: maxTokens 10, ratio 0.5, maxAttempts 4; codes and indices of twelve calls."""
    good = {0, 3, 6, 10, 11, 12, 13, 14, 16, 18}
    index = -1

    def rpc() -> int:
        nonlocal index
        index += 1
        if index in good:
            return index
        raise ConnectionError

    stack = retry(
        on=OSError,
        attempts=4,
        backoff=Constant(0.0),
        budget=TokenBudget(10, 0.5),
        world=FakeWorld(),
    )
    seen: list[tuple[str, int]] = []
    for _ in range(12):
        try:
            stack.call(rpc)
            seen.append(("OK", index))
        except ConnectionError:
            seen.append(("UNAVAILABLE", index))
    assert seen == [
        ("OK", 0), ("OK", 3), ("OK", 6), ("UNAVAILABLE", 8), ("UNAVAILABLE", 9), ("OK", 10),
        ("OK", 11), ("OK", 12), ("OK", 13), ("OK", 14), ("OK", 16), ("UNAVAILABLE", 17),
    ]  # fmt: skip


# --- AWS standard retry v2.1: the specification's cases, through the policy itself --------------------

FULL_DRAW = 1.0 - 2**-53


def aws(
    statuses: list[int],
    *,
    attempts: int = 3,
    base_s: float = 0.05,
    advice_ms: float | None = None,
    long_poll: bool = False,
    budget: CostBudget | None = None,
) -> tuple[list[float], int]:
    """Waits and tokens left after one call that meets these statuses in turn (200 = success, 400 = throttled)."""
    world = FakeWorld(draws=iter(lambda: FULL_DRAW, None))
    budget = CostBudget(capacity=500) if budget is None else budget
    answers = iter(statuses)

    def hint(_: object) -> Hint | None:
        return None if advice_ms is None else Hint(delay_s=advice_ms / 1000, clamp_s=5.0)

    policy = Retry(
        Classifier(
            None, on_result=lambda s: s != 200, throttled=lambda o: o.value == 400, hint=hint
        ),
        attempts=attempts,
        backoff=Exponential(base_s=base_s, cap_s=20.0),
        throttled_backoff=Exponential(base_s=1.0, cap_s=20.0),
        budget=budget,
        paced_refusal=long_poll,
    )
    Stack(policy, world=world).call(lambda: next(answers))
    return [round(s, 9) for s in world.sleeps], round(budget.tokens)


def with_tokens(tokens: int) -> CostBudget:
    budget = CostBudget(capacity=500)
    while budget.tokens - 5 >= tokens and (budget.tokens - tokens) % 14:
        budget.withdraw(0.0, True)
    while budget.tokens > tokens:
        budget.withdraw(0.0, False)
    assert budget.tokens == tokens
    return budget


@pytest.mark.parametrize(
    ("statuses", "settings", "waits", "left"),
    [
        ([500, 500, 200], {}, [0.05, 0.1], 486),
        ([502, 502, 502], {}, [0.05, 0.1], 472),
        ([500, 500], {"budget": with_tokens(14)}, [0.05], 0),
        ([500], {"budget": with_tokens(0)}, [], 0),
        ([500] * 5, {"attempts": 5}, [0.05, 0.1, 0.2, 0.4], 444),
        ([500, 502], {"attempts": 5, "budget": with_tokens(20)}, [0.05], 6),
        ([400, 200], {}, [1.0], 500),
        ([500] * 4, {"attempts": 4, "base_s": 0.025}, [0.025, 0.05, 0.1], 458),
        ([500, 200], {"advice_ms": 1500.0}, [1.5], 500),
        ([500, 200], {"advice_ms": 0.0}, [0.05], 500),
        ([500, 200], {"advice_ms": 10000.0}, [5.05], 500),
        ([500], {"budget": with_tokens(0), "long_poll": True}, [0.05], 0),
    ],
)
def test_aws_v21_specification_cases(
    statuses: list[int], settings: dict[str, Any], waits: list[float], left: int
) -> None:
    assert aws(statuses, **settings) == (waits, left)


def test_aws_v21_case_7_refunds_carry_over_to_the_next_call() -> None:
    budget = with_tokens(30)
    assert aws([500, 502, 200], attempts=5, budget=budget) == ([0.05, 0.1], 16)
    assert aws([500, 200], attempts=5, budget=budget) == ([0.05], 16)


def test_aws_v21_case_12_the_exponent_counts_attempts_not_classes() -> None:
    throttled_first, _ = aws([400, 400, 500, 500, 500, 500, 400, 200], attempts=8)
    assert throttled_first == [1.0, 2.0, 0.2, 0.4, 0.8, 1.6, 20.0]
    transient_first, _ = aws([500, 400, 400, 400, 400, 500, 400, 200], attempts=8)
    assert transient_first == [0.05, 2.0, 4.0, 8.0, 16.0, 1.6, 20.0]


# --- events ----------------------------------------------------------------------------------------


def test_events_tell_the_story() -> None:
    world = FakeWorld(time=0.0)
    events: list[Event] = []
    fn = Flaky(2)
    retry(on=OSError, backoff=STEPS, world=world, sink=events.append).call(fn)
    assert events == [
        RetryScheduled(0.0, 1, 1.0, fn.raised[0]),
        RetryScheduled(1.0, 2, 2.0, fn.raised[1]),
        Recovered(3.0, 3),
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attempts": 0}, "Retry: attempts must be at least 1, got 0"),
        ({"attempts": True}, "must be a whole number"),
        ({"attempts": None, "deadline_s": None}, "would repeat for ever"),
        (
            {"deadline_s": -1.0},
            "Deadline: limit_s must be a finite number of seconds above 0, got -1.0",
        ),
        ({"deadline_s": float("nan")}, "limit_s must be a finite"),
        ({"timeout_s": "2"}, "limit_s must be a number of seconds, got '2'"),
    ],
)
def test_settings_that_cannot_work(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        seawall.retry(on=OSError, **settings)


def test_a_classifier_brings_its_own_result_rule() -> None:
    with pytest.raises(TypeError, match="set them there, not beside it"):
        retry(on=Classifier(OSError), on_result=bool)
