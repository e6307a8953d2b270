"""The breaker's state machine: its table, an exact oracle, threads, late results, snapshots."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import threading
from collections.abc import Callable
from math import floor
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from seawall.backoff import Constant, Decorrelated, Exponential, PollyV2
from seawall.state.breaker import (
    STATES,
    TRANSITIONS,
    BreakerState,
    Cause,
    Change,
    Permit,
    Refusal,
    State,
)
from seawall.state.breaker_rules import BreakerRules
from seawall.state.window import LastCalls, LastSeconds

OPEN_10 = Constant(10.0, jitter="none")
TOUCHY = BreakerRules(
    failure_ratio=None, consecutive=1, open_backoff=OPEN_10, probes=2, probe_limit_s=30.0
)

TABLE: dict[tuple[str, str], State] = {
    (before, cause): after for before, cause, after in TRANSITIONS
}


def permit(state: BreakerState, now: float) -> Permit:
    given = state.admit(now)
    assert isinstance(given, Permit)
    return given


def refusal(state: BreakerState, now: float) -> Refusal:
    given = state.admit(now)
    assert isinstance(given, Refusal)
    return given


def expect_state(state: BreakerState, name: State) -> None:
    assert state.name == name


def call(
    state: BreakerState, now: float, ok: bool | None, took_s: float = 0.0, draw: float = 0.5
) -> Change | None:
    return state.settle(permit(state, now), now, ok, took_s, draw)


def told(change: Change | None) -> tuple[State, Cause, State] | None:
    return None if change is None else (change.before, change.cause, change.after)


# --- the table ---------------------------------------------------------------------------------------


def put_into(name: State, rules: BreakerRules) -> BreakerState:
    """A breaker in that state, entered at time 0."""
    state = BreakerState(rules)
    state.restore({**state.snapshot(0.0), "state": name, "open_s": 10.0}, 0.0)
    expect_state(state, name)
    return state


def provoke(state: BreakerState, cause: Cause) -> Change | None:
    """Do what the cause says, as far as the state lets it."""
    orders = {
        "isolate": state.isolate,
        "release": state.release,
        "disable": state.disable,
        "watch": state.watch,
    }
    if cause in orders:
        return orders[cause](0.0)
    if cause in ("open time over", "ramp over"):
        given = state.admit(100.0)
        return given.change if isinstance(given, Permit) else None
    change = None
    for _ in range(2):  # the ramp's first half admits one of two
        given = state.admit(4.0)
        if isinstance(given, Permit):
            change = change or state.settle(given, 4.0, cause == "probes passed")
    return change


@pytest.mark.parametrize("cause", sorted({cause for _, cause, _ in TRANSITIONS}))
@pytest.mark.parametrize("before", STATES)
def test_every_change_is_in_the_table_and_no_other(before: State, cause: Cause) -> None:
    state = put_into(before, TOUCHY.replace(ramp_s=6.0))
    change = provoke(state, cause)
    expected = [row for row in TRANSITIONS if row[:2] == (before, cause)]
    if (
        change is not None and change.cause != cause
    ):  # what is done is the same, its name is the state's
        assert {cause, change.cause} in ({"trip", "probes failed"}, {"open time over", "ramp over"})
        assert told(change) in TRANSITIONS
    elif expected:
        assert told(change) == expected[0]
        expect_state(state, expected[0][2])
    else:
        assert change is None
        expect_state(state, before)


def test_the_table_is_a_function_and_every_state_can_be_left_and_reached() -> None:
    assert len({row[:2] for row in TRANSITIONS}) == len(TRANSITIONS)
    for name in STATES:
        assert any(before == name != after for before, _, after in TRANSITIONS)
        assert any(after == name != before for before, _, after in TRANSITIONS)


# --- opening -----------------------------------------------------------------------------------------


def test_it_opens_when_the_share_is_reached_and_not_before_the_least_number() -> None:
    state = BreakerState(BreakerRules(failure_ratio=0.07, window=LastCalls(100), min_calls=100))
    changes = [call(state, 0.0, ok=k >= 7) for k in range(100)]
    assert changes[:99] == [None] * 99
    last = changes[99]
    assert last is not None
    assert (told(last), last.calls, last.failures) == (("closed", "trip", "open"), 100, 7)


def test_it_opens_after_failures_in_a_row() -> None:
    state = BreakerState(BreakerRules(failure_ratio=None, consecutive=3))
    for ok in (False, False, True, False, False):
        assert call(state, 0.0, ok) is None
    change = call(state, 0.0, ok=False)
    assert change is not None
    assert (change.calls, change.failures) == (3, 3)


def test_it_opens_when_too_many_calls_are_slow_though_none_fails() -> None:
    state = BreakerState(BreakerRules(slow_after_s=2.0, slow_ratio=0.5, min_calls=4))
    for took_s in (2.0, 1.99, 0.0):
        assert call(state, 0.0, ok=True, took_s=took_s) is None
    change = call(state, 0.0, ok=True, took_s=3.0)
    assert change is not None
    assert (change.calls, change.failures, change.slow) == (4, 0, 2)


def test_old_failures_are_forgotten() -> None:
    state = BreakerState(BreakerRules(min_calls=2, window=LastSeconds(10.0)))
    assert call(state, 0.0, ok=False) is None
    assert call(state, 15.0, ok=True) is None
    assert state.tally(15.0) == (1, 0, 0)
    assert state.tally(40.0) == (0, 0, 0)


@pytest.mark.parametrize(
    "backoff",
    [
        Exponential(5.0, 300.0, jitter="equal"),
        Exponential(1.0, 8.0, jitter="full"),
        Decorrelated(0.5, 60.0),
        PollyV2(1.0, 60.0),
    ],
    ids=lambda b: type(b).__name__,
)
def test_the_open_times_are_the_backoffs_own(backoff: Any) -> None:
    """Opening n in a row waits what the backoff says for retry n with the same draws; the clock decides, to the tick."""
    draws = [0.1, 0.9, 0.4, 0.75, 0.05, 0.33, 0.6, 0.99]
    state = BreakerState(TOUCHY.replace(open_backoff=backoff, probes=1))
    now, seen_s = 0.0, list[float]()
    for k, draw in enumerate(draws, 1):
        change = call(state, now, ok=False, draw=draw)
        assert change is not None
        assert (change.after, change.opening) == ("open", k)
        seen_s.append(change.open_s)
        refused = refusal(state, now)
        assert refused.retry_after_s == pytest.approx(change.open_s)
        now += change.open_s
    assert seen_s == backoff.delays_s(len(draws), draws)


def test_a_recovery_ends_the_row_of_openings() -> None:
    state = BreakerState(TOUCHY.replace(open_backoff=Exponential(1.0, 99.0, jitter="none")))
    opened_s: list[float] = []
    for now, ok in [(0.0, False), (10.0, False), (20.0, True), (20.0, True), (21.0, False)]:
        change = call(state, now, ok)
        if change is not None and change.after == "open":
            opened_s.append(change.open_s)
    assert opened_s == [1.0, 2.0, 1.0]


def test_an_open_breaker_says_when_to_come_back() -> None:
    state = BreakerState(TOUCHY)
    call(state, 100.0, ok=False)
    asked = [refusal(state, now).retry_after_s for now in (100.0, 104.0, 109.5, 99.0, -1e6)]
    assert asked == [10.0, 6.0, 0.5, 10.0, 10.0]  # a clock that went backwards adds nothing
    assert permit(state, 110.0).probe == 1


# --- half-open ---------------------------------------------------------------------------------------


def half_open(rules: BreakerRules, now: float = 10.0) -> BreakerState:
    state = BreakerState(rules)
    call(state, now - 10.0, ok=False)
    return state


def test_exactly_so_many_probes_in_total() -> None:
    state = half_open(TOUCHY.replace(probes=3))
    given = [state.admit(10.0) for _ in range(20)]
    probes = [each for each in given if isinstance(each, Permit)]
    assert [p.probe for p in probes] == [1, 2, 3]
    assert {repr(r) for r in given[3:]} == {"Refusal('half-open', None)"}
    assert told(probes[0].change) == ("open", "open time over", "half-open")
    assert [told(state.settle(p, 11.0, ok=True)) for p in probes[:2]] == [None, None]
    assert refusal(state, 11.0).state == "half-open"  # a verdict frees no place
    assert told(state.settle(probes[2], 11.0, ok=True)) == ("half-open", "probes passed", "closed")


@pytest.mark.parametrize(
    ("needed", "verdicts", "after"),
    [
        (None, [True, False], "open"),
        (2, [False, True, True], "closed"),
        (2, [False, False], "open"),
        (1, [True], "closed"),
        (1, [False, False, False], "open"),
    ],
)
def test_it_decides_as_soon_as_the_probes_can_decide(
    needed: int | None, verdicts: list[bool], after: State
) -> None:
    state = half_open(TOUCHY.replace(probes=3, probes_needed=needed))
    for ok in verdicts:
        assert state.name != after or ok is verdicts[0]
        call(state, 10.0, ok)
    expect_state(state, after)


def test_a_slow_probe_is_a_failed_one() -> None:
    state = half_open(TOUCHY.replace(slow_after_s=1.0))
    assert told(call(state, 10.0, ok=True, took_s=1.0)) == ("half-open", "probes failed", "open")


def test_a_probe_without_a_verdict_gives_its_place_back_once() -> None:
    state = half_open(TOUCHY.replace(probes=1))
    for _ in range(5):
        probe = permit(state, 10.0)
        refusal(state, 10.0)
        assert state.settle(probe, 10.0, None) is None
    first, second = permit(state, 10.0), None
    state.settle(first, 10.0, None)
    second = permit(state, 10.0)
    assert state.settle(first, 10.0, ok=True) is None  # a second word on the same probe is none
    expect_state(state, "half-open")
    assert told(state.settle(second, 10.0, ok=True)) == ("half-open", "probes passed", "closed")


def test_a_lost_probe_blocks_only_until_its_limit() -> None:
    state = half_open(TOUCHY.replace(probes=1))
    lost = permit(state, 10.0)
    assert refusal(state, 39.75).state == "half-open"
    assert (
        state.settle(lost, 40.0, ok=True) is None
    )  # too late, although nobody has taken its place
    expect_state(state, "half-open")
    assert told(call(state, 40.0, ok=True)) == ("half-open", "probes passed", "closed")


def test_results_of_an_older_generation_change_nothing() -> None:
    state = BreakerState(TOUCHY)
    late = [permit(state, 0.0) for _ in range(4)]
    state.settle(permit(state, 0.0), 0.0, ok=False)
    assert state.settle(late[0], 1.0, ok=False) is None  # open: not extended
    assert refusal(state, 1.0).retry_after_s == 9.0
    probe = permit(state, 10.0)
    assert [
        state.settle(each, 10.0, ok) for each, ok in zip(late, (True, False), strict=False)
    ] == [
        None,
        None,
    ]
    expect_state(state, "half-open")
    call(state, 10.0, ok=False)
    expect_state(state, "open")
    assert state.settle(probe, 11.0, ok=True) is None
    permit(state, 20.0)
    assert state.settle(probe, 20.0, ok=True) is None  # a probe of the half-open time before
    call(state, 20.0, ok=False)
    permit(state, 30.0)
    state.isolate(30.0)
    state.release(30.0)
    expect_state(state, "closed")
    assert state.settle(late[2], 31.0, ok=False) is None
    expect_state(state, "closed")


def test_failed_probes_keep_their_places() -> None:
    state = half_open(TOUCHY.replace(probes=3, probes_needed=1))
    for _ in range(2):
        assert call(state, 10.0, ok=False) is None
    permit(state, 10.0)
    assert refusal(state, 10.0).state == "half-open"


# --- the ramp ----------------------------------------------------------------------------------------


def recovering(ramp_s: float) -> BreakerState:
    state = half_open(TOUCHY.replace(probes=1, ramp_s=ramp_s))
    assert told(call(state, 10.0, ok=True)) == ("half-open", "probes passed", "recovering")
    return state


def test_the_admitted_share_grows_linearly_and_evenly() -> None:
    """Of 100 calls in each tenth of the ramp 5, 15, 25 ... are admitted, one more or less; at its end all."""
    state = recovering(10.0)
    admitted = [
        sum(isinstance(state.admit(10.0 + tenth + k / 100), Permit) for k in range(100))
        for tenth in range(10)
    ]
    assert admitted == pytest.approx([5 + 10 * tenth for tenth in range(10)], abs=1)
    expect_state(state, "recovering")
    assert told(permit(state, 20.0).change) == ("recovering", "ramp over", "closed")
    expect_state(state, "closed")


def test_at_a_fixed_share_no_run_is_longer_than_it_must_be() -> None:
    state = recovering(10.0)
    given = [isinstance(state.admit(12.5), Permit) for _ in range(16)]
    assert given == [False, False, False, True] * 4


def test_each_ramp_begins_anew_and_a_clock_that_went_backwards_takes_nothing() -> None:
    state = recovering(8.0)
    assert not isinstance(state.admit(16.0), Permit)  # three quarters of a call are left over
    state.isolate(20.0)
    state.release(20.0)
    assert not isinstance(state.admit(-1e6), Permit)
    given = [isinstance(state.admit(24.0), Permit) for _ in range(4)]
    assert given == [False, True, False, True]


def test_a_failure_on_the_ramp_opens_for_longer_than_before() -> None:
    state = half_open(
        TOUCHY.replace(probes=1, ramp_s=4.0, open_backoff=Exponential(10.0, 99.0, jitter="none"))
    )
    call(state, 10.0, ok=True)
    ramp = [state.admit(12.0) for _ in range(2)]
    assert isinstance(ramp[1], Permit)
    change = state.settle(ramp[1], 12.0, ok=False)
    assert change is not None
    assert (told(change), change.open_s) == (("recovering", "trip", "open"), 20.0)


def test_a_result_can_end_the_ramp_and_calls_of_the_ramp_count_afterwards() -> None:
    state = recovering(4.0)
    early = [state.admit(12.0) for _ in range(4)]
    admitted = [p for p in early if isinstance(p, Permit)]
    assert told(state.settle(admitted[0], 14.0, ok=True)) == ("recovering", "ramp over", "closed")
    assert told(state.settle(admitted[1], 15.0, ok=False)) == ("closed", "trip", "open")


# --- by hand -----------------------------------------------------------------------------------------


def test_isolation_refuses_everything_until_released() -> None:
    state = BreakerState(TOUCHY)
    late = permit(state, 0.0)
    assert told(state.isolate(0.0)) == ("closed", "isolate", "isolated")
    assert state.isolate(0.0) is None
    assert repr(refusal(state, 1e9)) == "Refusal('isolated', None)"
    assert state.settle(late, 1.0, ok=False) is None
    assert told(state.release(5.0)) == ("isolated", "release", "closed")
    assert state.release(5.0) is None
    permit(state, 5.0)


def test_out_of_isolation_over_the_ramp() -> None:
    state = BreakerState(TOUCHY.replace(ramp_s=4.0))
    state.isolate(0.0)
    state.release(0.0)
    assert [isinstance(state.admit(1.0), Permit) for _ in range(8)] == [
        False,
        False,
        False,
        True,
    ] * 2


def test_disabled_counts_nothing() -> None:
    state = BreakerState(TOUCHY)
    state.disable(0.0)
    for _ in range(50):
        assert call(state, 0.0, ok=False) is None
    assert (state.name, state.tally(0.0)) == ("disabled", (0, 0, 0))


def test_metrics_only_tells_but_does_not_open() -> None:
    state = BreakerState(TOUCHY.replace(consecutive=3))
    state.watch(0.0)
    changes = [told(call(state, 0.0, ok=False)) for _ in range(7)]
    would = ("metrics-only", "trip", "metrics-only")
    assert changes == [None, None, would, None, None, would, None]
    assert state.tally(0.0) == (1, 1, 0)


# --- an exact oracle ---------------------------------------------------------------------------------


class Oracle:
    """The same by lists of everything that has happened, nothing ever merged or kept in step."""

    def __init__(self, rules: BreakerRules) -> None:
        self.rules = rules
        self.state: State = "closed"
        self.epoch = 0
        self.since = 0.0
        self.draws: list[float] = []  # of the openings in a row
        self.fates: list[tuple[int, bool, bool]] = []  # (slice, failed, slow)
        self.slice: int | None = None
        self.probes: dict[int, float] = {}
        self.issued = 0
        self.verdicts: list[bool] = []
        self.shares: list[float] = []  # of the ramp

    def open_s(self) -> float:
        return self.rules.open_backoff.delays_s(len(self.draws), self.draws)[-1]

    def enter(self, state: State, now: float) -> None:
        if state == "recovering" and self.rules.ramp_s == 0.0:
            state = "closed"
        self.state, self.since = state, now
        self.epoch += 1
        self.fates, self.slice, self.probes = [], None, {}
        self.verdicts, self.shares = [], []
        if state == "closed":
            self.draws = []

    def live(self, now: float) -> None:
        self.probes = {n: until for n, until in self.probes.items() if now < until}

    def admit(self, now: float) -> tuple[int, int] | tuple[State, float | None]:
        """(epoch, probe) or (reason, retry_after_s)."""
        if self.state == "isolated":
            return ("isolated", None)
        if self.state == "open":
            left_s = self.since + self.open_s() - now
            if left_s > 0:
                return ("open", min(left_s, self.open_s()))
            self.enter("half-open", now)
        if self.state == "half-open":
            self.live(now)
            if len(self.probes) + len(self.verdicts) == self.rules.probes:
                return ("half-open", None)
            self.issued += 1
            self.probes[self.issued] = now + self.rules.probe_limit_s
            return (self.epoch, self.issued)
        if self.state == "recovering":
            share = (now - self.since) / self.rules.ramp_s
            if share >= 1.0:
                self.state, self.draws = "closed", []
            else:
                before = floor(sum(self.shares))
                self.shares.append(max(0.0, share))
                if floor(sum(self.shares)) == before:
                    return ("recovering", None)
        return (self.epoch, 0)

    def settle(
        self, given: tuple[int, int], now: float, ok: bool | None, took_s: float, draw: float
    ) -> None:
        epoch, probe = given
        slow = self.rules.slow_after_s is not None and took_s >= self.rules.slow_after_s
        if epoch != self.epoch or self.state == "disabled":
            return
        if probe:
            self.live(now)
            if probe in self.probes:
                del self.probes[probe]
                if ok is not None:
                    self.verdicts.append(ok and not slow)
                    self.judge_probes(now, draw)
        elif ok is not None:
            self.move(now)
            self.fates.append((self.slice or 0, not ok, slow))
            if self.reached():
                if self.state == "metrics-only":
                    self.enter("metrics-only", now)
                else:
                    self.draws.append(draw)
                    self.enter("open", now)
            elif self.state == "recovering" and now - self.since >= self.rules.ramp_s:
                self.state, self.draws = "closed", []

    def judge_probes(self, now: float, draw: float) -> None:
        if sum(self.verdicts) == self.rules.needed:
            self.enter("recovering", now)
        elif self.verdicts.count(False) + self.rules.needed > self.rules.probes:
            self.draws.append(draw)
            self.enter("open", now)

    def move(self, now: float) -> None:
        here = int(now // 1.0)
        self.slice = here if self.slice is None else max(self.slice, here)

    def recent(self) -> list[tuple[int, bool, bool]]:
        window = self.rules.window
        if isinstance(window, LastCalls):
            return self.fates[-window.size :]
        return [f for f in self.fates if f[0] > (self.slice or 0) - window.slices]

    def tally(self, now: float) -> tuple[int, int, int]:
        self.move(now)
        kept = self.recent()
        return len(kept), sum(f for _, f, _ in kept), sum(s for _, _, s in kept)

    def reached(self) -> bool:
        rules, kept = self.rules, self.recent()
        row = rules.consecutive
        if row is not None and len(self.fates) >= row and all(f for _, f, _ in self.fates[-row:]):
            return True
        if len(kept) < rules.min_calls:
            return False
        failed = sum(f for _, f, _ in kept) / len(kept)
        slow = sum(s for _, _, s in kept) / len(kept)
        return (rules.failure_ratio is not None and failed >= rules.failure_ratio) or (
            rules.slow_after_s is not None and slow >= rules.slow_ratio
        )


many_rules = st.builds(
    BreakerRules,
    failure_ratio=st.sampled_from([0.5, 0.75]),
    min_calls=st.integers(1, 4),
    window=st.sampled_from([LastCalls(4), LastCalls(6), LastSeconds(5.0, 5)]),
    consecutive=st.sampled_from([None, 2, 3]),
    slow_after_s=st.sampled_from([None, 2.0]),
    slow_ratio=st.sampled_from([0.5, 1.0]),
    open_backoff=st.sampled_from(
        [Exponential(2.0, 8.0, jitter="equal"), Decorrelated(1.0, 20.0), OPEN_10]
    ),
    probes=st.integers(2, 4),
    probes_needed=st.sampled_from([None, 1, 2]),
    probe_limit_s=st.sampled_from([4.0, 30.0]),
    ramp_s=st.sampled_from([0.0, 4.0, 16.0]),
)


class BreakerAgainstOracle(RuleBasedStateMachine):
    """Calls that begin and end at any time in any order, cancelled or not, while the clock steps both ways."""

    @initialize(rules=many_rules)
    def begin(self, rules: BreakerRules) -> None:
        self.state, self.oracle = BreakerState(rules), Oracle(rules)
        self.now = self.latest = 0.0
        self.running: list[tuple[Permit, tuple[int, int]]] = []

    @rule(seconds=st.sampled_from([0.25, 0.25, 1.0, 1.0, 2.5, 8.0, 100.0, -0.5, -3.0]))
    def let_time_pass(self, seconds: float) -> None:
        self.now += seconds
        self.latest = max(self.latest, self.now)

    @rule(calls=st.integers(1, 6))
    def start(self, calls: int) -> None:
        for _ in range(calls):
            given, expected = self.state.admit(self.now), self.oracle.admit(self.now)
            if isinstance(given, Permit):
                epoch, probe = expected
                assert isinstance(epoch, int)
                assert isinstance(probe, int)
                assert given.probe == probe
                self.running.append((given, (epoch, probe)))
            else:
                assert (given.state, given.retry_after_s) == expected

    @precondition(lambda self: self.running)
    @rule(
        which=st.integers(0, 99),
        ok=st.sampled_from([True, True, False, False, None]),
        took_s=st.sampled_from([0.0, 0.0, 2.0]),
        draw=st.sampled_from([0.0, 0.3, 0.9]),
    )
    def end(self, which: int, ok: bool | None, took_s: float, draw: float) -> None:
        given, expected = self.running.pop(which % len(self.running))
        before = self.state.name
        change = self.state.settle(given, self.now, ok, took_s, draw)
        self.oracle.settle(expected, self.now, ok, took_s, draw)
        if change is None:
            assert self.state.name == before
        else:
            assert (change.before, change.after) == (before, self.state.name)
            if change.after == "open":
                assert (change.open_s, change.opening) == (
                    self.oracle.open_s(),
                    len(self.oracle.draws),
                )

    @precondition(lambda self: len(self.running) > 3)
    @rule(ok=st.booleans())
    def end_all(self, ok: bool) -> None:
        while self.running:
            self.end(0, ok, 0.0, 0.5)

    # What chance alone would seldom come to:

    @rule()
    def let_what_is_due_fall_due(self) -> None:
        """The end of the open time, of the ramp, or the limit of a probe: to the tick."""
        oracle, due = self.oracle, self.now
        if oracle.state == "open":
            due = oracle.since + oracle.open_s()
        elif oracle.state == "recovering":
            due = oracle.since + oracle.rules.ramp_s
        elif oracle.probes:
            due = min(oracle.probes.values())
        if due > self.now:
            self.let_time_pass(due - self.now)

    @rule()
    def break_and_wait(self) -> None:
        self.running.clear()
        self.start(4)
        self.end_all(ok=False)
        self.let_what_is_due_fall_due()

    @precondition(lambda self: self.oracle.state in ("open", "half-open"))
    @rule(failing=st.integers(0, 2))
    def recover(self, failing: int) -> None:
        """Some probes fail, the others succeed."""
        if self.oracle.state == "open":
            self.let_what_is_due_fall_due()
        self.running.clear()
        self.start(5)
        for _ in range(min(failing, len(self.running))):
            self.end(0, ok=False, took_s=0.0, draw=0.3)
        self.end_all(ok=True)

    @rule(order=st.sampled_from(["isolate", "release", "release", "disable", "watch"]))
    def order(self, order: str) -> None:
        before = self.state.name
        change = getattr(self.state, order)(self.now)
        after = TABLE.get((before, order))
        assert (change is None) == (after is None)
        if after is not None:
            self.oracle.enter(after, self.now)

    @precondition(lambda self: self.now == self.latest)
    @rule(age_s=st.sampled_from([0.0, 0.0, 1.5]))
    def restart_the_process(self, age_s: float) -> None:
        """Another process goes on, `age_s` later, with another clock; calls under way are lost."""
        snapshot = json.loads(json.dumps(self.state.snapshot(self.now)))
        self.state = BreakerState(self.oracle.rules)
        self.now += age_s
        self.latest = self.now
        self.state.restore(snapshot, self.now, age_s)
        self.running.clear()
        self.oracle.probes = {}
        self.oracle.issued = 0

    @invariant()
    def they_agree(self) -> None:
        if hasattr(self, "state"):
            assert self.state.name == self.oracle.state
            assert self.state.tally(self.now) == self.oracle.tally(self.now)

    @invariant()
    def no_more_probes_than_there_are(self) -> None:
        if hasattr(self, "state") and self.state.name == "half-open":
            under_way = self.state._probes
            assert len(under_way) + len(self.oracle.verdicts) <= self.oracle.rules.probes


TestBreakerAgainstOracle = BreakerAgainstOracle.TestCase
TestBreakerAgainstOracle.settings = settings(max_examples=150, stateful_step_count=60)


# --- threads -----------------------------------------------------------------------------------------


def in_threads(count: int, work: Callable[[int], None]) -> None:
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)


def test_eight_threads_lose_no_count() -> None:
    state = BreakerState(BreakerRules(failure_ratio=1.0, window=LastCalls(20_000)))

    def work(number: int) -> None:
        for k in range(1000):
            call(state, 0.0, ok=k % 4 != 0, took_s=0.0)

    in_threads(8, work)
    assert state.tally(0.0) == (8000, 2000, 0)


def test_eight_threads_never_have_more_probes_than_there_are() -> None:
    """Open, half-open and back, over and over; each half-open time gives out its probes exactly once."""
    state = BreakerState(
        TOUCHY.replace(probes=3, open_backoff=Constant(0.0, jitter="none"), probe_limit_s=1e6)
    )
    state.settle(permit(state, 0.0), 0.0, ok=False)
    given: dict[int, int] = {}
    lock = threading.Lock()

    def work(number: int) -> None:
        for k in range(1000):
            asked = state.admit(0.0)
            if isinstance(asked, Refusal):
                continue
            if asked.probe:
                with lock:
                    given[asked.generation] = given.get(asked.generation, 0) + 1
            state.settle(asked, 0.0, (number + k) % 3 != 0)

    in_threads(8, work)
    assert len(given) > 10
    assert max(given.values()) <= 3


# --- copies and snapshots ----------------------------------------------------------------------------


def test_a_snapshot_goes_through_json_and_comes_back_the_same() -> None:
    rules = BreakerRules(min_calls=4, consecutive=9, slow_after_s=1.0, ramp_s=8.0)
    state = BreakerState(rules)
    call(state, 3.0, ok=True, took_s=2.0)
    call(state, 9.0, ok=False)
    snapshot = state.snapshot(10.0)
    twin = BreakerState(rules)
    twin.restore(json.loads(json.dumps(snapshot)), 10.0)
    assert twin.snapshot(10.0) == snapshot
    assert twin.tally(10.0) == (2, 1, 1)


def test_a_snapshot_keeps_the_rest_of_the_open_time_on_another_clock() -> None:
    state = BreakerState(TOUCHY)
    call(state, 1000.0, ok=False)
    twin = BreakerState(TOUCHY)
    twin.restore(state.snapshot(1004.0), 7.0, age_s=1.0)
    assert refusal(twin, 7.0).retry_after_s == 5.0
    assert permit(twin, 12.0).probe == 1


def test_what_a_window_holds_grows_older_between_snapshot_and_restore() -> None:
    rules = BreakerRules(window=LastSeconds(10.0))
    state, twin = BreakerState(rules), BreakerState(rules)
    call(state, 0.0, ok=False)
    call(state, 6.0, ok=True)
    twin.restore(state.snapshot(6.0), 1011.0, age_s=5.0)
    assert twin.tally(1011.0) == (1, 0, 0)


def test_another_window_begins_empty() -> None:
    state = BreakerState(BreakerRules(min_calls=4))
    call(state, 0.0, ok=False)
    twin = BreakerState(BreakerRules(min_calls=4, window=LastCalls(10)))
    twin.restore(state.snapshot(0.0), 0.0)
    assert twin.tally(0.0) == (0, 0, 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"version": 9}, "version must be 1, got 9"),
        ({"state": "ajar"}, "unknown state 'ajar'. Known are closed, open"),
        ({"age_s": "soon"}, "not a snapshot"),
        ({"age_s": float("nan")}, "not a finite number"),
        ({"window": [[1, 2]]}, "not a snapshot"),
        ({"window": [[1, -2, 0]]}, "not a finite number"),
        ({"passed": -1}, "not a finite number"),
    ],
)
def test_a_wrong_snapshot_changes_nothing(wrong: dict[str, Any], message: str) -> None:
    state = BreakerState(TOUCHY)
    call(state, 0.0, ok=False)
    before = state.snapshot(1.0)
    with pytest.raises(ValueError, match=message):
        state.restore({**before, **wrong}, 1.0)
    assert state.snapshot(1.0) == before


def test_copies_start_where_the_original_is_and_share_nothing() -> None:
    state = half_open(TOUCHY)
    permit(state, 10.0)
    for twin in (pickle.loads(pickle.dumps(state)), copy.copy(state), copy.deepcopy(state)):
        assert twin.snapshot(10.0) == state.snapshot(10.0)
        assert permit(twin, 10.0).generation == permit(twin, 10.0).generation  # both places free
        call_on_copy = twin.isolate(10.0)
        assert told(call_on_copy) == ("half-open", "isolate", "isolated")
        expect_state(state, "half-open")
    assert repr(state) == "BreakerState('half-open')"


# --- bad settings ------------------------------------------------------------------------------------

WORDS: Any = "half"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BreakerRules(failure_ratio=None), "nothing could open the breaker"),
        (lambda: BreakerRules(failure_ratio=0.0), r"failure_ratio must be in \(0, 1\], got 0\.0"),
        (lambda: BreakerRules(failure_ratio=50), "failure_ratio must be in"),
        (lambda: BreakerRules(failure_ratio=WORDS), "failure_ratio must be a number, got 'half'"),
        (lambda: BreakerRules(slow_ratio=float("nan")), "slow_ratio must be in"),
        (lambda: BreakerRules(window=LastCalls(5)), "min_calls=20, window=LastCalls"),
        (lambda: BreakerRules(min_calls=0), "min_calls must be at least 1"),
        (lambda: BreakerRules(consecutive=0), "consecutive must be at least 1"),
        (lambda: BreakerRules(slow_after_s=0.0), "slow_after_s must be a finite number"),
        (lambda: BreakerRules(probes=0), "probes must be at least 1"),
        (lambda: BreakerRules(probes_needed=4), "probes_needed=4, probes=3"),
        (lambda: BreakerRules(probe_limit_s=0.0), "probe_limit_s must be a finite number"),
        (lambda: BreakerRules(ramp_s=-1.0), "ramp_s must be a finite number"),
    ],
)
def test_bad_settings_are_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_what_is_shown_of_permits_and_changes() -> None:
    change = call(BreakerState(TOUCHY), 0.0, ok=False)
    assert repr(change) == "Change('closed', 'trip', 'open', open_s=10)"
    assert repr(permit(BreakerState(), 0.0)) == "Permit(1, 0)"
