"""Breaker: what counts, who is let through, and that nothing is held when a call is cut short."""

from __future__ import annotations

import asyncio
import json
import pickle
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from seawall.backoff import Constant
from seawall.classify import Classifier
from seawall.errors import (
    AttemptTimeout,
    BreakerOpen,
    DeadlineExceeded,
    OrderWarning,
    SeawallError,
    do_not_retry,
)
from seawall.events import Event
from seawall.order import check_order
from seawall.policies.breaker import Breaker, tell
from seawall.policies.deadline import Deadline
from seawall.policies.retry import Retry
from seawall.policies.timeout import Timeout
from seawall.stack import Stack
from seawall.state.breaker import BreakerState
from seawall.state.breaker_rules import BreakerRules
from seawall.state.window import LastSeconds
from seawall.world import World
from tests.fakes import FakeWorld, Flaky, run_virtual

ON = Classifier(ConnectionError)
TOUCHY = BreakerRules(
    failure_ratio=None,
    consecutive=1,
    probes=1,
    open_backoff=Constant(10.0, jitter="none"),
    probe_limit_s=30.0,
)


def refuse() -> None:
    raise ConnectionError("refused")


def expect_state(breaker: Breaker, name: str) -> None:
    assert breaker.circuit.name == name


def half_open(stack: Stack, world: FakeWorld) -> None:
    """Break it and let the open time pass: the next call is a probe."""
    with pytest.raises(ConnectionError):
        stack.call(refuse)
    world.advance(10.0)


# --- what counts -------------------------------------------------------------------------------------


class Unwell(SeawallError):
    """A refusal made on this side."""


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ConnectionError(), "open"),
        (do_not_retry(ConnectionError()), "open"),
        (AttemptTimeout("cut short"), "open"),
        (KeyError(), "closed"),
        (ConnectionResetError(), "half-open"),
        (Unwell("queue full"), "half-open"),
        (DeadlineExceeded("too late to begin"), "half-open"),
        (BreakerOpen("an inner one"), "half-open"),
        (CancelledError(), "half-open"),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, Exception) else v,
)
def test_what_a_probe_that_ends_so_says(error: Exception, state: str) -> None:
    """Failures of the callee; answers that show that it is well; and ends that say nothing, so that the place is free again."""
    world = FakeWorld()
    breaker = Breaker(ON, TOUCHY, uncounted=(ConnectionResetError,))
    stack = Stack(breaker, world=world)
    half_open(stack, world)

    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        stack.call(fail)
    assert caught.value is error
    expect_state(breaker, state)
    if state == "half-open":
        assert stack.call(lambda: "well") == "well"
        expect_state(breaker, "closed")


def test_results_can_be_failures() -> None:
    breaker = Breaker(Classifier(None, on_result=lambda v: v == 503), TOUCHY)
    stack = Stack(breaker, world=FakeWorld())
    assert stack.call(lambda: 200) == 200
    assert stack.call(lambda: 503) == 503
    with pytest.raises(BreakerOpen):
        stack.call(lambda: 200)


def test_slow_calls_count_by_the_worlds_clock() -> None:
    world = FakeWorld()
    rules = BreakerRules(failure_ratio=None, slow_after_s=2.0, slow_ratio=1.0, min_calls=2)
    breaker = Breaker(ON, rules)
    slow = Flaky(0, world=world, takes_s=2.0)
    stack = Stack(breaker, world=world)
    stack.call(slow)
    stack.call(slow)
    expect_state(breaker, "open")


def test_a_predicate_that_raises_is_the_users_and_holds_nothing() -> None:
    world = FakeWorld()

    def ask(error: Exception) -> bool:
        if world.time > 1005.0:
            raise LookupError("my predicate")
        return True

    breaker = Breaker(Classifier(ask), TOUCHY)
    stack = Stack(breaker, world=world)
    half_open(stack, world)
    for _ in range(3):
        with pytest.raises(LookupError):
            stack.call(refuse)
    assert stack.call(lambda: 1) == 1


# --- refusals and events -----------------------------------------------------------------------------


def test_a_refused_call_is_not_made_and_says_when_to_come_back() -> None:
    world = FakeWorld()
    callee = Flaky(1)
    stack = Stack(Breaker(ON, TOUCHY), world=world)
    with pytest.raises(ConnectionError):
        stack.call(callee)
    world.advance(4.0)
    with pytest.raises(
        BreakerOpen, match=r"not made, the breaker is open. It probes again in 6 s"
    ) as e:
        stack.call(callee)
    assert (e.value.policy, e.value.retry_after_s) == ("Breaker", 6.0)
    assert callee.calls == 1
    again = pickle.loads(pickle.dumps(e.value))
    assert again.retry_after_s == 6.0


def test_every_change_is_told_in_order() -> None:
    world = FakeWorld(draws=iter([0.0] * 50))
    heard: list[Event] = []
    rules = TOUCHY.replace(ramp_s=4.0)
    stack = Stack(Breaker(ON, rules), world=world, sink=heard.append)
    half_open(stack, world)
    assert stack.call(lambda: 1) == 1
    with pytest.raises(BreakerOpen, match="recovering"):
        stack.call(lambda: 1)
    world.advance(4.0)
    stack.call(lambda: 1)
    assert [repr(e) for e in heard] == [
        "BreakerOpened(at=1000.0, open_s=10.0, opening=1, calls=1, failures=1, slow=0, enforced=True)",
        "BreakerHalfOpened(at=1010.0)",
        "BreakerRecovering(at=1010.0)",
        "BreakerRefused(at=1010.0, state='recovering', retry_after_s=None)",
        "BreakerClosed(at=1014.0)",
    ]


def test_orders_are_told_by_whoever_gives_them_and_watching_tells_without_refusing() -> None:
    heard: list[Event] = []
    world = FakeWorld(emit=heard.append)
    breaker = Breaker(ON, TOUCHY)
    stack = Stack(breaker, world=world)
    change = breaker.circuit.watch(world.now())
    assert change is not None
    tell(world, world.now(), change)
    for _ in range(2):
        with pytest.raises(ConnectionError):
            stack.call(refuse)
    told = "BreakerOpened(at=1000.0, open_s=0.0, opening=0, calls=1, failures=1, slow=0, enforced=False)"
    assert [repr(e) for e in heard] == [
        "BreakerOrdered(at=1000.0, state='metrics-only')",
        told,
        told,
    ]


# --- in a stack --------------------------------------------------------------------------------------


def test_each_attempt_counts_and_an_open_breaker_ends_the_retries() -> None:
    world = FakeWorld()
    callee = Flaky(99)
    rules = BreakerRules(failure_ratio=None, consecutive=3)
    stack = Stack(Retry(ON, attempts=9), Breaker(ON, rules), world=world)
    with pytest.raises(BreakerOpen):
        stack.call(callee)
    assert callee.calls == 3


def test_a_retry_that_names_breaker_open_waits_for_its_probe() -> None:
    world = FakeWorld()
    callee = Flaky(1)
    retry = Retry(Classifier((ConnectionError, BreakerOpen)), backoff=Constant(1.0, jitter="none"))
    stack = Stack(retry, Breaker(ON, TOUCHY), world=world)
    assert stack.call(callee) == "ok"
    assert world.sleeps == [1.0, pytest.approx(9.45)]  # 9 s advised, jitter upward only


def test_the_order_checker_knows_the_bad_orders() -> None:
    breaker, retry, timeout = Breaker(ON), Retry(ON), Timeout(1.0)
    assert check_order((Deadline(9.0), retry, breaker, timeout)) == []
    (inside,) = check_order((breaker, retry))
    assert "the breaker sees only the last of several attempts" in inside.why
    (outside,) = check_order((timeout, breaker))
    assert "never hears of the slow ones" in outside.why
    with pytest.warns(OrderWarning, match="Put Breaker inside Retry"):
        Stack(breaker, retry)


def test_a_timeout_inside_is_a_failure() -> None:
    async def main(world: World) -> str:
        breaker = Breaker(ON, TOUCHY)
        with pytest.raises(AttemptTimeout):
            await Stack(breaker, Timeout(1.0), world=world).acall(asyncio.sleep, 100)
        return breaker.circuit.name

    assert run_virtual(main) == "open"


def test_stacks_can_share_a_breaker() -> None:
    state = BreakerState(TOUCHY)
    first, second = (Stack(Breaker(ON, state=state), world=FakeWorld()) for _ in range(2))
    with pytest.raises(ConnectionError):
        first.call(refuse)
    with pytest.raises(BreakerOpen):
        second.call(refuse)


def test_each_policy_has_a_breaker_of_its_own_and_a_copy_too() -> None:
    one, other = Breaker(ON, TOUCHY), Breaker(ON, TOUCHY)
    assert one.circuit is not other.circuit
    twin = pickle.loads(pickle.dumps(one))
    one.circuit.isolate(0.0)
    assert (twin.circuit.name, twin.rules) == ("closed", TOUCHY)
    assert one.replace(uncounted=(KeyError,)).circuit is one.circuit


def test_rules_beside_a_state_with_others_are_refused() -> None:
    with pytest.raises(ValueError, match="rules and state contradict each other"):
        Breaker(ON, TOUCHY, state=BreakerState())
    assert Breaker(ON, state=BreakerState(TOUCHY)).rules == TOUCHY


def test_it_is_described_as_plain_data() -> None:
    (told,) = json.loads(json.dumps(Stack(Breaker(ON, TOUCHY)).describe()))
    assert (told["policy"], told["rules"]["consecutive"]) == ("Breaker", 1)
    assert told["state"] == "BreakerState('closed')"


# --- one script, one trace --------------------------------------------------------------------------

scripts = st.lists(
    st.tuples(
        st.sampled_from(["ok", "fail", "fail", "other", "refused"]),
        st.sampled_from([0.0, 0.5, 3.0]),  # how long it takes
        st.sampled_from([0.0, 1.0, 12.0]),  # how long until the next call
    ),
    max_size=25,
)
Script = list[tuple[str, float, float]]


class Run:
    """A script's calls, one after the other, through a retry, a breaker and a time limit; and what is heard of them."""

    def __init__(self, script: Script) -> None:
        self.world = FakeWorld(draws=(k % 7 / 7 for k in range(10**6)))
        self.trace: list[str] = []
        self.script = iter(script)
        self.rest_s = 0.0
        rules = BreakerRules(
            consecutive=2,
            min_calls=4,
            window=LastSeconds(20.0),
            slow_after_s=2.0,
            probes=2,
            probes_needed=1,
            ramp_s=8.0,
        )
        retry = Retry(Classifier((ConnectionError, BreakerOpen)), attempts=3)
        self.stack = Stack(
            retry, Breaker(ON, rules), Timeout(60.0), world=self.world, sink=self.heard
        )

    def heard(self, event: Event) -> None:
        self.trace.append(repr(event.replace(error=None) if hasattr(event, "error") else event))

    def call(self) -> str:
        ends, takes_s, self.rest_s = next(self.script, ("done", 0.0, 0.0))
        self.world.advance(takes_s)
        if ends == "fail":
            raise ConnectionError
        if ends == "other":
            raise KeyError
        if ends == "refused":
            raise Unwell("here")
        return ends

    async def acall(self) -> str:
        return self.call()

    def ended(self, end: str) -> bool:
        self.trace.append(f"{end} at {self.world.time}")
        self.world.advance(self.rest_s)
        return end != "done" and len(self.trace) < 300


def wrapped(run: Run) -> str:
    return run.stack.call(run.call)


def in_blocks(run: Run) -> str:
    result = ""
    for attempt in run.stack.attempts():
        with attempt:
            result = run.call()
    return result


async def awrapped(run: Run) -> str:
    return await run.stack.acall(run.acall)


async def in_ablocks(run: Run) -> str:
    result = ""
    async for attempt in run.stack.attempts():
        async with attempt:
            result = run.call()
    return result


def trace(script: Script, drive: Callable[[Run], str]) -> list[str]:
    run, going = Run(script), True
    while going:
        try:
            end = drive(run)
        except Exception as error:
            end = type(error).__name__
        going = run.ended(end)
    return run.trace


async def atrace(script: Script, drive: Callable[[Run], Awaitable[str]]) -> list[str]:
    run, going = Run(script), True
    while going:
        try:
            end = await drive(run)
        except Exception as error:
            end = type(error).__name__
        going = run.ended(end)
    return run.trace


@given(scripts)
@settings(max_examples=60)
def test_one_script_one_trace(script: Script) -> None:
    """Threads, blocks, asyncio and trio: the same attempts, sleeps, changes and ends at the same times."""
    expected = trace(script, wrapped)
    assert trace(script, in_blocks) == expected
    for drive in (awrapped, in_ablocks):
        assert asyncio.run(atrace(script, drive)) == expected
        assert trio.run(atrace, script, drive) == expected


# --- many at once ------------------------------------------------------------------------------------


def test_twenty_threads_at_half_open_reach_the_backend_exactly_n_times() -> None:
    """The probes wait in the backend until every other caller has been refused."""
    world = FakeWorld()
    stack = Stack(Breaker(ON, TOUCHY.replace(probes=3)), world=world)
    half_open(stack, world)
    reached = 0
    lock = threading.Lock()
    refused = threading.Semaphore(0)
    all_refused = threading.Event()

    def backend() -> None:
        nonlocal reached
        with lock:
            reached += 1
        assert all_refused.wait(30)

    def caller() -> None:
        try:
            stack.call(backend)
        except BreakerOpen:
            refused.release()

    threads = [threading.Thread(target=caller) for _ in range(20)]
    for thread in threads:
        thread.start()
    for _ in range(17):
        assert refused.acquire(timeout=30)
    all_refused.set()
    for thread in threads:
        thread.join()
    assert reached == 3
    assert not refused.acquire(blocking=False)


def test_twenty_tasks_at_half_open_reach_the_backend_exactly_n_times() -> None:
    world = FakeWorld()
    stack = Stack(Breaker(ON, TOUCHY.replace(probes=3)), world=world)
    half_open(stack, world)

    async def main() -> tuple[int, int]:
        reached, refused = 0, 0
        all_refused = asyncio.Event()

        async def backend() -> None:
            nonlocal reached
            reached += 1
            await all_refused.wait()

        async def caller() -> None:
            nonlocal refused
            try:
                await stack.acall(backend)
            except BreakerOpen:
                refused += 1
                if refused == 17:
                    all_refused.set()

        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(caller())
        return reached, refused

    assert asyncio.run(main()) == (3, 17)


def test_no_lock_is_held_during_a_call() -> None:
    """Eight calls through one breaker are under way at once: each waits in the backend for the other seven."""
    stack = Stack(Breaker(ON))
    together = threading.Barrier(8)
    threads: list[threading.Thread] = []
    ended: list[int] = []

    def call() -> None:
        stack.call(together.wait, 30)
        ended.append(1)

    for _ in range(8):
        threads.append(threading.Thread(target=call))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert len(ended) == 8


def test_an_order_does_not_wait_for_calls() -> None:
    breaker = Breaker(ON, TOUCHY)
    stack = Stack(breaker, world=FakeWorld())

    def isolate() -> str:
        breaker.circuit.isolate(0.0)
        return breaker.circuit.name

    assert stack.call(isolate) == "isolated"


# --- cut short ---------------------------------------------------------------------------------------


def still_exactly_one_place(breaker: Breaker, stack: Stack) -> None:
    """No verdict was given, and the probe's place is free: the next call has it, and a success closes."""
    expect_state(breaker, "half-open")

    def probe() -> str:
        with pytest.raises(BreakerOpen):
            stack.call(lambda: "a second one")
        return "well"

    assert stack.call(probe) == "well"
    expect_state(breaker, "closed")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_gives_no_verdict_and_the_permit_back(error: type[BaseException]) -> None:
    world = FakeWorld()
    breaker = Breaker(Classifier(Exception), TOUCHY)
    stack = Stack(breaker, world=world)
    half_open(stack, world)

    def interrupted() -> None:
        raise error

    for _ in range(3):
        with pytest.raises(error):
            stack.call(interrupted)
    still_exactly_one_place(breaker, stack)


def test_an_interrupt_in_a_block_too() -> None:
    world = FakeWorld()
    breaker = Breaker(ON, TOUCHY)
    stack = Stack(breaker, world=world)
    half_open(stack, world)
    with pytest.raises(KeyboardInterrupt):
        for attempt in stack.attempts():
            with attempt:
                raise KeyboardInterrupt
    abandoned = stack.attempts()
    next(abandoned)
    abandoned.close()
    still_exactly_one_place(breaker, stack)


def test_a_cancelled_task_gives_no_verdict_and_the_permit_back() -> None:
    world = FakeWorld()
    breaker = Breaker(Classifier(Exception), TOUCHY)
    stack = Stack(breaker, world=world)
    half_open(stack, world)

    async def main() -> None:
        for _ in range(3):
            inside = asyncio.Event()

            async def backend(reached: asyncio.Event) -> None:
                reached.set()
                await asyncio.Event().wait()

            task = asyncio.create_task(stack.acall(backend, inside))
            await inside.wait()
            with pytest.raises(BreakerOpen):
                await stack.acall(backend, inside)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    still_exactly_one_place(breaker, stack)


def test_a_cancelled_trio_task_too() -> None:
    world = FakeWorld()
    breaker = Breaker(Classifier(Exception), TOUCHY)
    stack = Stack(breaker, world=world)
    half_open(stack, world)

    async def main() -> None:
        for _ in range(3):
            with trio.CancelScope() as scope:

                async def backend(mine: trio.CancelScope) -> None:
                    mine.cancel()
                    await trio.sleep_forever()

                await stack.acall(backend, scope)
            assert scope.cancelled_caught

    trio.run(main)
    still_exactly_one_place(breaker, stack)


def test_cancelled_calls_neither_break_nor_mend() -> None:
    """Two failures, any number of cancelled calls, one failure: three in a row, no more and no fewer."""
    breaker = Breaker(ON, BreakerRules(failure_ratio=None, consecutive=3))
    stack = Stack(breaker, world=FakeWorld())

    def interrupted() -> None:
        raise KeyboardInterrupt

    calls: list[Callable[[], Any]] = [refuse, refuse, *[interrupted] * 50]
    for each in calls:
        with pytest.raises((ConnectionError, KeyboardInterrupt)):
            stack.call(each)
    expect_state(breaker, "closed")
    with pytest.raises(ConnectionError):
        stack.call(refuse)
    expect_state(breaker, "open")
