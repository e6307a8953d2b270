"""Attempt and remaining time on the wire: what we send, what we read of others, and that nothing read can hurt."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.propagation import ATTEMPT, TIMEOUT_MS, Incoming, incoming, outgoing


@pytest.mark.parametrize(
    ("attempt", "remaining_s", "headers"),
    [
        (1, inf, [(ATTEMPT, "1")]),
        (3, 2.5, [(ATTEMPT, "3"), (TIMEOUT_MS, "2500")]),
        (1, 0.0001, [(ATTEMPT, "1"), (TIMEOUT_MS, "1")]),
        (1, 0.0, [(ATTEMPT, "1"), (TIMEOUT_MS, "1")]),
        (0, nan, [(ATTEMPT, "1")]),
        (1, 1e300, [(ATTEMPT, "1"), (TIMEOUT_MS, "1000000000000")]),
    ],
)
def test_what_is_sent(attempt: int, remaining_s: float, headers: list[tuple[str, str]]) -> None:
    assert outgoing(attempt, remaining_s) == headers


@given(st.integers(1, 10**8), st.floats(0.001, 1e9))
def test_what_is_sent_is_read_again(attempt: int, remaining_s: float) -> None:
    """To the millisecond, rounded up."""
    said = incoming(outgoing(attempt, remaining_s))
    assert said.attempt == attempt
    assert said.timeout_s is not None
    assert remaining_s <= said.timeout_s <= remaining_s + 0.001001


@pytest.mark.parametrize(
    ("name", "value", "attempt"),
    [
        ("seawall-attempt", "2", 2),
        ("Seawall-Attempt", " 2 ", 2),
        ("x-envoy-attempt-count", "3", 3),
        ("grpc-previous-rpc-attempts", "2", 3),
        ("grpc-previous-rpc-attempts", "0", 1),
        ("amz-sdk-request", "attempt=2; max=3", 2),
        ("amz-sdk-request", "ttl=20261201T000000Z; attempt=4; max=5", 4),
        ("amz-sdk-request", "max=3", None),
        ("amz-sdk-request", "noattempt=2", None),
        ("Seawall-Attempt", "0", None),
        ("Seawall-Attempt", "-1", None),
        ("Seawall-Attempt", "٢", None),
        ("Seawall-Attempt", "²", None),
        ("Seawall-Attempt", "9" * 5000, None),
        ("X-Retry-Count", "2", None),  # from 0 or from 1: nobody knows
    ],
)
def test_attempts_of_others(name: str, value: str, attempt: int | None) -> None:
    assert incoming([(name, value)]) == Incoming(attempt=attempt)


@pytest.mark.parametrize(
    ("name", "value", "timeout_s"),
    [
        ("seawall-timeout-ms", "1500", 1.5),
        ("x-envoy-expected-rq-timeout-ms", "250", 0.25),
        ("grpc-timeout", "2S", 2.0),
        ("grpc-timeout", "100m", 0.1),
        ("grpc-timeout", "3M", 180.0),
        ("grpc-timeout", "1H", 3600.0),
        ("grpc-timeout", "500u", 0.0005),
        ("grpc-timeout", "1000n", 1e-6),
        ("grpc-timeout", "123456789S", None),  # 8 digits at most
        ("grpc-timeout", "1 S", None),
        ("grpc-timeout", "1s", None),
        ("seawall-timeout-ms", "-1", None),
        ("seawall-timeout-ms", "1e3", None),
        ("seawall-timeout-ms", "9" * 5000, None),
        ("seawall-timeout-ms", "", None),
    ],
)
def test_deadlines_of_others(name: str, value: str, timeout_s: float | None) -> None:
    said = incoming([(name, value)])
    assert said.timeout_s == (None if timeout_s is None else pytest.approx(timeout_s))
    assert said.attempt is None


def test_own_headers_go_first_and_unreadable_ones_give_way() -> None:
    others = [("x-envoy-attempt-count", "7"), ("grpc-timeout", "9S")]
    own = [("seawall-attempt", "2"), ("seawall-timeout-ms", "1000")]
    assert incoming([*others, *own]) == Incoming(attempt=2, timeout_s=1.0)
    broken = [("seawall-attempt", "two"), ("seawall-timeout-ms", "soon")]
    assert incoming([*others, *broken]) == Incoming(attempt=7, timeout_s=9.0)


def test_only_a_later_attempt_is_a_repetition() -> None:
    assert not Incoming().repeated
    assert not Incoming(attempt=1).repeated
    assert Incoming(attempt=2).repeated


names = st.sampled_from(
    [
        ATTEMPT,
        TIMEOUT_MS,
        "amz-sdk-request",
        "grpc-previous-rpc-attempts",
        "grpc-timeout",
        "x-envoy-attempt-count",
        "x-envoy-expected-rq-timeout-ms",
    ]
)
values = (
    st.text(max_size=40)
    | st.binary(max_size=40).map(lambda b: b.decode("latin-1"))
    | st.from_regex(r"[0-9]{1,20}[HMSmun]?", fullmatch=True)
    | st.from_regex(r"attempt=[0-9]{1,20}; max=[0-9]+", fullmatch=True)
)


@given(st.lists(st.tuples(names, values), max_size=7))
def test_nothing_that_is_read_raises_or_is_beyond_bounds(headers: list[tuple[str, str]]) -> None:
    said = incoming(headers)
    assert said.attempt is None or 1 <= said.attempt <= 10**9
    assert said.timeout_s is None or 0.0 <= said.timeout_s <= 10**13
