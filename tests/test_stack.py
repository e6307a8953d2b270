"""The stack: what can be decorated, and that the user's exception stays the user's."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle
import sys
import threading
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import suppress
from functools import partial
from typing import Any, assert_type
from unittest.mock import AsyncMock, Mock

import pytest
import trio

from seawall.backoff import Constant
from seawall.classify import Classifier
from seawall.events import Event, GaveUp
from seawall.policies.deadline import Deadline
from seawall.policies.retry import Retry
from seawall.policies.timeout import Timeout
from seawall.retrying import retry
from seawall.stack import Stack
from tests.fakes import FakeWorld, Flaky

NOW = Constant(0.0)
#: one stack for each way the drivers have of making a call
SETTINGS: dict[str, dict[str, Any]] = {
    "counted": {},
    "bare": {"deadline_s": None, "budget": None, "guard": False},
    "published": {"deadline_s": 5.0},
    "full": {"timeout_s": 5.0},
}


def without_budget(name: str) -> dict[str, Any]:
    return {**SETTINGS[name], "budget": None}


@pytest.fixture(params=SETTINGS, ids=str)
def stack(request: pytest.FixtureRequest) -> Stack:
    return retry(on=OSError, attempts=3, backoff=NOW, world=FakeWorld(), **SETTINGS[request.param])


class Service:
    def __init__(self, failures: int) -> None:
        self.flaky = Flaky(failures)

    def plain(self, key: str) -> str:
        return self.flaky() + key

    async def later(self, key: str) -> str:
        return self.flaky() + key


def test_functions_keep_their_name_signature_and_result(stack: Stack) -> None:
    flaky = Flaky(2)

    @stack
    def fetch(key: str, *, upper: bool = False) -> str:
        """Fetch it."""
        flaky()
        return key.upper() if upper else key

    assert_type(fetch("a"), str)
    assert fetch("a", upper=True) == "A"
    assert (fetch.__name__, fetch.__doc__) == ("fetch", "Fetch it.")
    assert flaky.calls == 4


def test_coroutine_functions_in_asyncio_and_trio(stack: Stack) -> None:
    flaky = Flaky(2)

    @stack
    async def fetch(key: str) -> str:
        return str(flaky()) + key

    async def main() -> str:
        return await fetch("!")

    assert asyncio.run(main()) == "ok!"
    assert flaky.calls == 3
    flaky.calls = 0
    assert trio.run(main) == "ok!"
    assert flaky.calls == 3


def test_methods_static_class_and_bound(stack: Stack) -> None:
    class Decorated:
        flaky = Flaky(1)

        @stack
        def method(self) -> Any:
            return self.flaky()

        @stack
        @staticmethod
        def static() -> Any:
            return Decorated.flaky()

        @stack
        @classmethod
        def klass(cls) -> Any:
            return cls.flaky()

    assert Decorated().method() == "ok"
    Decorated.flaky.calls = 0
    assert Decorated.static() == "ok"
    Decorated.flaky.calls = 0
    assert Decorated.klass() == "ok"
    service = Service(2)
    assert stack(service.plain)("!") == "ok!"


def test_partials_callable_objects_and_mocks(stack: Stack) -> None:
    assert stack(partial(Service(2).plain, "?"))() == "ok?"
    assert stack(Flaky(2))(1, k=2) == "ok"
    mock = Mock(side_effect=[ConnectionError, ConnectionError, 7])
    assert stack(mock)("x", y=1) == 7
    assert mock.call_args_list == [(("x",), {"y": 1})] * 3
    amock = AsyncMock(side_effect=[ConnectionError, 8])
    assert asyncio.run(stack(amock)()) == 8

    class Later:
        flaky = Flaky(2)

        async def __call__(self) -> str:
            return str(self.flaky())

    assert asyncio.run(stack(Later())()) == "ok"


@pytest.mark.parametrize("name", ["counted", "bare"])
def test_a_sync_function_that_returns_a_coroutine_is_awaited_and_retried(name: str) -> None:
    stack = retry(on=OSError, attempts=3, backoff=NOW, **SETTINGS[name])
    flaky = Flaky(2)

    @stack
    def fetch() -> Awaitable[Any]:
        return flaky.later()

    async def main() -> Any:
        return await fetch()

    assert asyncio.run(main()) == "ok"
    assert flaky.calls == 3


@pytest.mark.parametrize("name", ["published", "full"])
def test_or_it_is_refused_where_only_its_creation_would_be_watched(name: str) -> None:
    stack = retry(on=OSError, backoff=NOW, **SETTINGS[name])
    with pytest.raises(TypeError, match="not a coroutine function but returned an awaitable"):
        _ = stack(lambda: Flaky(0).later())()


def test_generators_are_refused_with_the_way_out(stack: Stack) -> None:
    def items() -> Generator[int]:
        yield 1

    async def aitems() -> AsyncGenerator[int]:
        yield 1

    for fn, article in ((items, "a generator"), (aitems, "an async generator")):
        with pytest.raises(TypeError, match=rf"is {article} function.*@stack\.restart"):
            stack(fn)


def test_restarted_generators_begin_anew(stack: Stack) -> None:
    flaky = Flaky(1)

    @stack.restart
    def items(n: int) -> Generator[int, str, str]:
        got = yield 1
        flaky()
        yield n
        return got

    def collect() -> Generator[int, str, list[str]]:
        return [(yield from items(2))]

    outer = collect()
    assert [next(outer), outer.send("a"), outer.send("b")] == [1, 1, 2]
    with pytest.raises(StopIteration) as stop:
        next(outer)
    assert stop.value.value == ["b"]


def test_restarted_async_generators_begin_anew_and_close(stack: Stack) -> None:
    flaky = Flaky(1)
    closed: list[bool] = []

    @stack.restart
    async def items() -> AsyncGenerator[int]:
        try:
            yield 1
            flaky()
            yield 2
        finally:
            closed.append(True)

    async def main() -> list[int]:
        return [item async for item in items()]

    assert asyncio.run(main()) == [1, 1, 2]
    assert closed == [True, True]


def test_restart_is_for_generators_only(stack: Stack) -> None:
    with pytest.raises(TypeError, match=r"restart is for generator functions; .* is sync"):
        stack.restart(lambda: 1)


def test_only_callables_and_policies() -> None:
    with pytest.raises(TypeError, match="decorates callables, got 3"):
        retry(on=OSError)(3)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="Stack takes policies"):
        Stack(len)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_an_empty_stack_is_a_plain_call() -> None:
    assert Stack().call(lambda: 5) == 5
    assert asyncio.run(Stack().acall(Flaky(0).later)) == "ok"


# --- the final exception -----------------------------------------------------------------------------


class Custom(ConnectionError):
    pass


def noted(error: Custom) -> Custom:
    error.add_note("a note")
    return error


def failing() -> None:
    try:
        raise KeyError("the cause")
    except KeyError as cause:
        raise noted(
            Custom("final")
        ) from cause  # no local name holds it: that would be a cycle of our own


async def afailing() -> None:
    failing()


def run_sync(stack: Stack) -> None:
    stack(failing)()


def run_async(stack: Stack) -> None:
    asyncio.run(stack(afailing)())


def run_block(stack: Stack) -> None:
    for attempt in stack.attempts():
        with attempt:
            failing()


def run_ablock(stack: Stack) -> None:
    async def main() -> None:
        async for attempt in stack.attempts():
            async with attempt:
                failing()

    asyncio.run(main())


def run_and_catch(run: Callable[[Stack], None], stack: Stack) -> None:
    """Catch inside the task: asyncio.run makes a cycle of its own around an exception that leaves it."""
    if run in (run_sync, run_block):
        with suppress(Custom):
            run(stack)
        return

    async def main() -> None:
        with suppress(Custom):
            if run is run_async:
                await stack(afailing)()
            async for attempt in stack.attempts():
                async with attempt:
                    failing()

    asyncio.run(main())


RUNS = [run_sync, run_async, run_block, run_ablock]


@pytest.mark.parametrize("run", RUNS)
def test_the_final_exception_is_the_users_own(stack: Stack, run: Callable[[Stack], None]) -> None:
    with pytest.raises(Custom, match="final") as caught:
        run(stack)
    error = caught.value
    assert isinstance(error.__cause__, KeyError)
    assert isinstance(error.__context__, KeyError)
    assert error.__context__.__context__ is None
    assert error.__notes__ == ["a note"]
    assert "seawall" not in " ".join(map(str, error.__dict__))


@pytest.mark.parametrize("run", RUNS)
def test_at_most_two_library_frames_in_the_traceback(
    stack: Stack, run: Callable[[Stack], None]
) -> None:
    with pytest.raises(Custom) as caught:
        run(stack)
    frames = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    assert sum("/seawall/" in f and "/tests/" not in f for f in frames) <= 2
    assert frames[-1] == __file__


@pytest.mark.parametrize("run", RUNS)
def test_no_reference_cycles(stack: Stack, run: Callable[[Stack], None]) -> None:
    def succeed_late() -> None:
        failures = iter([Custom, Custom])

        def late() -> None:
            for failure in failures:
                raise failure

        stack(late)()

    run_and_catch(run, stack)  # whatever is made once and kept
    succeed_late()
    gc.collect()
    gc.disable()
    try:
        run_and_catch(run, stack)
        succeed_late()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        ours = [o for o in gc.garbage if "seawall" in type(o).__module__ or isinstance(o, Custom)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert ours == [], ours


def test_earlier_attempts_are_told_beside_the_exception(stack: Stack) -> None:
    fn = Flaky(99)
    report = stack.report(fn)
    assert report.error is fn.raised[-1]
    assert report.earlier == tuple(fn.raised[:-1])
    assert (report.attempts, len(report.delays_s)) == (3, 2)
    assert isinstance(report.events[-1], GaveUp)
    fine = asyncio.run(stack.areport(Flaky(1).later))
    assert (fine.value, fine.error, fine.attempts) == ("ok", None, 2)


def test_the_context_of_a_caller_that_handles_something_is_kept(stack: Stack) -> None:
    def plain() -> None:
        raise Custom

    chains: list[list[type]] = []
    for fn in (plain, stack(plain)):
        try:
            try:
                raise LookupError("being handled")
            except LookupError:
                fn()
        except Custom as error:
            assert error.__context__ is not None
            chains.append([type(error.__context__), type(error.__context__.__context__)])
    assert chains[0] == chains[1] == [LookupError, type(None)]


def test_stop_iteration_raised_by_the_call_is_an_exception_like_others(stack: Stack) -> None:
    def exhausted() -> None:
        raise StopIteration(3)

    with pytest.raises(StopIteration):
        stack(exhausted)()
    with pytest.raises(StopIteration):
        retry(on=StopIteration, attempts=2, backoff=NOW).call(exhausted)


# --- interruption ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "interruption", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError]
)
def test_interruptions_are_never_retried_and_give_no_verdict(
    stack: Stack, interruption: type[BaseException]
) -> None:
    calls = 0
    events: list[Event] = []
    listening = Stack(*stack.policies, world=stack.world, sink=events.append)

    def interrupted() -> None:
        nonlocal calls
        calls += 1
        raise interruption

    with pytest.raises(interruption):
        listening(interrupted)()
    for attempt in listening.attempts():
        with pytest.raises(interruption), attempt:
            interrupted()
        break
    assert calls == 2
    assert events == []


def test_cancelling_a_task_ends_it_at_once(stack: Stack) -> None:
    async def main() -> int:
        calls = 0

        async def hangs() -> None:
            nonlocal calls
            calls += 1
            await asyncio.Event().wait()

        task = asyncio.create_task(stack.acall(hangs))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return calls

    assert asyncio.run(main()) == 1


# --- sharing -----------------------------------------------------------------------------------------


def test_stacks_are_frozen_and_picklable(stack: Stack) -> None:
    with pytest.raises(AttributeError, match="Stack is immutable"):
        stack.world = FakeWorld()
    real = Stack(Deadline(10.0), Retry(Classifier((OSError, ValueError))), Timeout(1.0))
    for again in (pickle.loads(pickle.dumps(real)), copy.deepcopy(real)):
        assert again.describe() == real.describe()
        assert again.call(Flaky(0)) == "ok"


@pytest.mark.parametrize("name", SETTINGS)
def test_one_stack_serves_many_threads(name: str) -> None:
    """Every call counts its own attempts, whatever the others do."""
    stack = retry(on=OSError, attempts=3, backoff=NOW, **without_budget(name))
    wrong: list[int] = []
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(failures: int) -> None:
        for _ in range(200):
            report = stack.report(Flaky(failures))
            if report.attempts != failures + 1:
                wrong.append(report.attempts)

    try:
        threads = [threading.Thread(target=work, args=(n % 3,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert wrong == []


@pytest.mark.parametrize("name", SETTINGS)
def test_one_stack_serves_many_tasks(name: str) -> None:
    stack = retry(on=OSError, attempts=3, backoff=NOW, **without_budget(name))

    async def main() -> list[int]:
        async def work(failures: int) -> int:
            fn = Flaky(failures)
            await stack.acall(fn.later)
            return fn.calls - failures

        return await asyncio.gather(*(work(n % 3) for n in range(100)))

    assert asyncio.run(main()) == [1] * 100


def test_describe_is_plain_data(stack: Stack) -> None:
    described = json.loads(json.dumps(stack.describe()))
    (settings,) = [policy for policy in described if policy["policy"] == "Retry"]
    assert settings["attempts"] == 3
    assert settings["backoff"]["kind"] == "Constant"
    assert settings["on"]["on"] == "OSError"
    assert str(stack).splitlines()[-1].strip() == "call"
