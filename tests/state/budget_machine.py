"""Calls as drivers make them, in any order, against a budget and an exact model of it side by side."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from seawall.state.budget import Budget


class Model:
    """What a budget should do, by the letter of its source, in whole numbers and fractions. Time in milliseconds."""

    def begin(self, now_ms: int) -> None: ...

    def end(self) -> None: ...

    def succeed(self, charge: int) -> None: ...

    def fail(self) -> None: ...

    def withdraw(self, now_ms: int, throttled: bool) -> int | None:
        raise NotImplementedError

    def release(self) -> None: ...

    def balance(self, now_ms: int) -> int:
        raise NotImplementedError

    def copied(self) -> None:
        """The budget has been copied, while no call was in flight."""

    def idle(self) -> bool:
        """Would a success at the first attempt change nothing?"""
        return False


class Call:
    """A call in flight."""

    def __init__(self) -> None:
        self.charge = 0
        self.granted = False


def through_a_pickle(budget: Budget) -> Budget:
    twin = pickle.loads(pickle.dumps(budget))
    assert isinstance(twin, Budget)
    return twin


class BudgetMachine(RuleBasedStateMachine):
    """Subclasses make `budget` and `model` in an `@initialize` rule."""

    budget: Budget
    model: Model

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 100_000
        self.calls: list[Call] = []

    @property
    def now(self) -> float:
        return self.now_ms / 1000

    def taken(self, which: int) -> Call:
        """One of the calls in flight, whose attempt is over now."""
        call = self.calls[which % len(self.calls)]
        if call.granted:
            call.granted = False
            self.budget.release(self.now)
            self.model.release()
        return call

    def over(self, call: Call) -> None:
        self.calls.remove(call)
        self.budget.end(self.now)
        self.model.end()

    @rule()
    def begin(self) -> None:
        self.calls.append(Call())
        self.budget.begin(self.now)
        self.model.begin(self.now_ms)

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 99), throttled=st.booleans())
    def ask_for_a_retry(self, which: int, throttled: bool) -> None:
        call = self.taken(which)
        answer = self.budget.withdraw(self.now, throttled)
        assert answer == self.model.withdraw(self.now_ms, throttled)
        if answer is None:
            self.over(call)
        else:
            call.granted, call.charge = True, int(answer)

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 99))
    def succeed(self, which: int) -> None:
        call = self.taken(which)
        if call.charge or not self.budget.idle:  # as drivers do
            self.budget.succeed(self.now, float(call.charge))
        self.model.succeed(call.charge)
        self.over(call)

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 99), throttled=st.booleans())
    def fail_for_good(self, which: int, throttled: bool) -> None:
        call = self.taken(which)
        self.budget.fail(self.now, throttled)
        self.model.fail()
        self.over(call)

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 99))
    def cancel(self, which: int) -> None:
        self.over(self.taken(which))

    @rule(passed_ms=st.sampled_from([1, 99, 100, 101, 250, 1000, 5999, 60_000]))
    def time_passes(self, passed_ms: int) -> None:
        self.now_ms += passed_ms

    @rule(back_ms=st.sampled_from([1, 500, 90_000]))
    def the_clock_steps_back(self, back_ms: int) -> None:
        self.now_ms -= back_ms

    @precondition(lambda self: not self.calls)
    @rule(how=st.sampled_from([copy.copy, copy.deepcopy, through_a_pickle]))
    def go_on_with_a_copy(self, how: Callable[[Budget], Budget]) -> None:
        self.budget = how(self.budget)
        self.model.copied()

    @invariant()
    def balances_agree(self) -> None:
        assert self.budget.balance(self.now) == self.model.balance(self.now_ms)

    @invariant()
    def idle_is_right(self) -> None:
        assert self.budget.idle is self.model.idle()


def hammer(work: Callable[[], None], threads: int = 8) -> None:
    """The same work in many threads that take turns as often as the interpreter can.

    Left alone, it lets threads take turns at calls and loops only, so that a forgotten lock would not show. Traced opcode by
    opcode, the code of budgets can be interrupted anywhere.
    """
    failures: list[BaseException] = []
    start = threading.Barrier(threads)

    def interruptible(frame: FrameType, event: str, arg: object) -> Any:
        if "seawall/state/budget/" not in frame.f_code.co_filename.replace("\\", "/"):
            return None
        frame.f_trace_opcodes = True
        return interruptible

    def guarded() -> None:
        start.wait()
        sys.settrace(interruptible)  # of this thread, which ends soon
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        crew = [threading.Thread(target=guarded) for _ in range(threads)]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    if failures:
        raise failures[0]
