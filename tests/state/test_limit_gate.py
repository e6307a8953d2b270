"""The gate: never more in flight than the limit, and nothing held by calls that are over."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.state.limit import AimdLimit, Gate, GuardedLimit, Limit, Permit, VegasLimit
from tests.state.test_limit_windowed import Listening


def test_as_many_as_the_limit() -> None:
    gate = Gate(Limit(2))
    first, second = gate.admit(0.0), gate.admit(0.0)
    assert first is not None
    assert second is not None
    assert gate.admit(0.0) is None
    gate.settle(first, 1.0, ok=True)
    gate.settle(first, 1.0, ok=True)  # twice is once
    assert gate.inflight == 1
    assert gate.admit(1.0) is not None
    assert gate.admit(1.0) is None
    assert repr(second) == "Permit(since=0.0, inflight=2, settled=False)"
    assert repr(gate) == "Gate(inflight=2, limit=Limit(limit=2))"


def test_what_the_limit_is_told() -> None:
    inner = Listening()
    gate = Gate(inner)
    permits = [gate.admit(10.0 + n) for n in range(4)]
    for permit, now, ok in zip(
        permits, (15.0, 16.0, 17.0, 9.0), (True, False, None, True), strict=True
    ):
        assert permit is not None
        gate.settle(permit, now, ok, draw=0.75)
    assert inner.told == [
        (15.0, 5.0, 1, False, 0.75),
        (16.0, 5.0, 2, True, 0.75),
        (9.0, -4.0, 4, False, 0.75),
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from([True, False, None, "admit", "admit"]), st.integers(0, 99)),
        max_size=150,
    )
)
def test_against_a_list_of_permits(steps: list[tuple[bool | str | None, int]]) -> None:
    gate, model, now = Gate(AimdLimit(initial=4, least=1)), AimdLimit(initial=4, least=1), 0.0
    out: list[Permit] = []
    for what, choice in steps:
        now += choice - 20
        if isinstance(what, str):
            permit = gate.admit(now)
            assert (permit is None) == (len(out) >= model.limit)
            if permit is not None:
                out.append(permit)
                assert permit.inflight == len(out)
        elif out:
            permit = out.pop(choice % len(out))
            gate.settle(permit, now, what)
            if what is not None:
                model.on_sample(now, now - permit.since, permit.inflight, not what)
        assert gate.inflight == len(out)
        assert gate.limit.limit == model.limit


def test_nothing_is_held_after_a_hundred_thousand_random_ends() -> None:
    random, gate, out, now = Random(5), Gate(VegasLimit()), list[Permit](), 0.0
    for _ in range(100_000):
        now += random.random() / 100
        if random.random() < 0.6:
            permit = gate.admit(now)
            if permit is not None:
                out.append(permit)
        elif out:
            permit = out.pop(random.randrange(len(out)))
            gate.settle(permit, now, random.choice([True, False, None, None]))
    for permit in out:
        gate.settle(permit, now, ok=None)
    assert gate.inflight == 0


def test_a_lowered_limit_waits_for_calls_to_end() -> None:
    gate = Gate(AimdLimit(initial=10, least=1))
    permits = [permit for _ in range(10) if (permit := gate.admit(0.0))]
    assert len(permits) == 10
    gate.settle(permits.pop(), 1.0, ok=False)
    assert (gate.limit.limit, gate.inflight) == (9, 9)
    assert gate.admit(1.0) is None


@pytest.mark.parametrize("limit", [GuardedLimit(), VegasLimit(), Limit(3)], ids=repr)
def test_copies_have_no_calls_in_flight(limit: Limit) -> None:
    gate = Gate(limit)
    permits = [gate.admit(5.0) for _ in range(3)]
    for twin in (copy.copy(gate), copy.deepcopy(gate), pickle.loads(pickle.dumps(gate))):
        assert (twin.inflight, twin.limit.limit) == (0, limit.limit)
        assert twin.limit is not limit
        for permit in permits:
            assert permit is not None
            twin.settle(permit, 6.0, ok=True)  # another's
        assert twin.inflight == 0
    assert gate.inflight == 3


def test_eight_threads_never_pass_the_limit() -> None:
    gate, inside, most = Gate(Limit(3)), 0, 0
    counting = threading.Lock()

    def call() -> None:
        nonlocal inside, most
        for _ in range(500):
            permit = gate.admit(0.0)
            if permit is None:
                continue
            with counting:
                inside += 1
                most = max(most, inside)
            with counting:
                inside -= 1
            gate.settle(permit, 1.0, ok=True)

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval_s)
    assert gate.inflight == 0
    assert 1 <= most <= 3
