"""What HTTP says about trying again: the table of statuses, and every server's way to ask for time."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.hint import NO_HINT, Hint, wait_after_hint
from seawall.http_rules import is_idempotent, may_repeat, read_hint, rule_for

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@pytest.mark.parametrize("status", [408, 421, 425, 429, 502, 503, 504, 520, 522, 524, 530])
def test_repeated_when_twice_is_as_good_as_once(status: int) -> None:
    assert may_repeat(status, repeatable=True)
    assert not may_repeat(status, repeatable=False)


@pytest.mark.parametrize("status", [521, 523, 525])
def test_what_never_reached_the_origin_is_repeated_for_any_method(status: int) -> None:
    """Cloudflare: connection refused, unreachable, TLS handshake failed."""
    assert may_repeat(status, repeatable=True)
    assert may_repeat(status, repeatable=False)


def test_every_other_status_is_final() -> None:
    """No success, no redirect, no other 4xx, not 500, 501, 505 and up, not 526 (a certificate that will not mend itself)."""
    repeated = {408, 421, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 525, 530}
    for status in set(range(100, 1000)) - repeated:
        assert not may_repeat(status, repeatable=True), status


def test_overload_is_what_429_and_503_say() -> None:
    """It costs a budget less than a fault, and nothing else says it."""
    assert {status for status in range(100, 600) if rule_for(status).throttled} == {429, 503}


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "get"])
def test_methods_that_may_be_made_twice(method: str) -> None:
    assert is_idempotent(method)


@pytest.mark.parametrize("method", ["POST", "PATCH", "CONNECT", "LOCK", "", "get "])
def test_methods_that_may_not(method: str) -> None:
    assert not is_idempotent(method)


@pytest.mark.parametrize(
    ("name", "value", "delay_s"),
    [
        ("Retry-After", "120", 120.0),
        ("retry-after", "Thu, 01 Jan 2026 00:02:00 GMT", 120.0),
        ("RETRY-AFTER-MS", "250", 0.25),
        ("retry-after-ms", "1.5", 0.0015),
        ("x-ms-retry-after-ms", "33", 0.033),
        ("retry-after-ms", "9" * 5000, inf),
        # a date or a list is not a number of milliseconds
        ("retry-after-ms", "Thu, 01 Jan 2026 00:02:00 GMT", None),
        ("retry-after-ms", "Thu Jan  1 00:02:00 2026", None),
        ("retry-after-ms", "100, 200", None),
        ("x-ms-retry-after-ms", "00:00:00.033", None),
        ("retry-after-ms", "-1", None),
        ("Retry-After", "soon", None),
    ],
)
def test_one_header(name: str, value: str, delay_s: float | None) -> None:
    hint = read_hint([(name, value)], NOW)
    assert hint.delay_s == delay_s
    assert not hint.stop
    assert not hint.exact


@pytest.mark.parametrize(
    ("headers", "delay_s"),
    [
        ([("Retry-After", "9"), ("retry-after-ms", "250")], 0.25),
        ([("x-ms-retry-after-ms", "30"), ("retry-after-ms", "250")], 0.25),
        ([("retry-after-ms", "soon"), ("x-ms-retry-after-ms", "30"), ("Retry-After", "9")], 0.03),
        ([("retry-after-ms", "soon"), ("Retry-After", "9")], 9.0),
        ([("x-amz-retry-after", "1500"), ("Retry-After", "9")], 9.0),
    ],
)
def test_the_finer_header_goes_first_and_an_unreadable_one_gives_way(
    headers: list[tuple[str, str]], delay_s: float
) -> None:
    assert read_hint(headers, NOW).delay_s == delay_s


def test_two_lines_of_retry_after_are_read_to_be_on_the_safe_side() -> None:
    assert read_hint([("Retry-After", "10"), ("retry-after", "20")], NOW).delay_s == 20.0


@pytest.mark.parametrize(
    ("name", "values", "hint"),
    [
        ("Retry-After", ["60", "Thu, 01 Jan 2026 00:02:00 GMT"], Hint(delay_s=120.0)),
        ("Retry-After", ["soon", "60"], Hint(delay_s=60.0)),
        ("retry-after-ms", ["2000", "1000", "x"], Hint(delay_s=2.0)),
        ("x-ms-retry-after-ms", ["x", "1000"], Hint(delay_s=1.0)),
        ("x-amz-retry-after", ["100", "3000", "-1"], Hint(delay_s=3.0, clamp_s=5.0)),
        ("x-should-retry", ["true", "false"], Hint(retry=False, stop=True)),
        ("x-should-retry", ["false", "true"], Hint(retry=False, stop=True)),
        ("x-should-retry", ["yes", "true"], Hint(retry=True)),
    ],
)
def test_of_a_repeated_header_the_more_cautious_value_counts(
    name: str, values: list[str], hint: Hint
) -> None:
    assert read_hint([(name, value) for value in values], NOW) == hint


@pytest.mark.parametrize(
    ("value", "waits_s"), [("1500", 1.5), ("0", 0.05), ("10000", 5.05), ("-1", 0.05), ("1.5", 0.05)]
)
def test_what_x_amz_retry_after_makes_of_a_delay(value: str, waits_s: float) -> None:
    """AWS standard retry v2.1, case 10: between the own delay and five seconds more."""
    hint = read_hint([("x-amz-retry-after", value)], NOW)
    assert wait_after_hint(0.05, hint, 0.5, cap_s=300.0) == pytest.approx(waits_s)


def test_a_date_is_counted_from_the_responses_own_date() -> None:
    """So that a wrong clock on either side cancels out."""
    headers = [
        ("Date", "Thu, 01 Jan 2026 01:00:00 GMT"),
        ("Retry-After", "Thu, 01 Jan 2026 01:02:00 GMT"),
    ]
    assert read_hint(headers, NOW).delay_s == 120.0


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("1500", Hint(delay_s=1.5, clamp_s=5.0)),
        ("-5", NO_HINT),
        ("1.5", NO_HINT),
        ("", NO_HINT),
    ],
)
def test_x_amz_retry_after_is_followed_at_most_five_seconds_beyond_the_own_delay(
    value: str, hint: Hint
) -> None:
    """AWS standard retry v2.1."""
    assert read_hint([("x-amz-retry-after", value)], NOW) == hint


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("true", Hint(retry=True)),
        ("false", Hint(retry=False, stop=True)),
        ("True", NO_HINT),  # exactly lower case: that is how it is sent
        ("FALSE", NO_HINT),
        ("1", NO_HINT),
        ("", NO_HINT),
    ],
)
def test_x_should_retry_overrides_the_status(value: str, hint: Hint) -> None:
    assert read_hint([("x-should-retry", value)], NOW) == hint


def test_x_should_retry_does_not_hide_how_long_to_wait() -> None:
    headers = [("x-should-retry", "true"), ("retry-after", "3")]
    assert read_hint(headers, NOW) == Hint(delay_s=3.0, retry=True)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("500", Hint(delay_s=0.5, exact=True)),
        ("0", Hint(delay_s=0.0, exact=True)),
        ("2147483647", Hint(delay_s=2147483.647, exact=True)),
        ("2147483648", Hint(stop=True)),
        ("-1", Hint(stop=True)),
        ("abc", Hint(stop=True)),
        ("", Hint(stop=True)),
        ("1.5", Hint(stop=True)),
        ("٥", Hint(stop=True)),  # noqa: RUF001
        ("²", Hint(stop=True)),  # isdigit, but not a number
    ],
)
def test_grpc_push_back(value: str, hint: Hint) -> None:
    """gRFC A6: an exact delay, or "do not retry"."""
    assert read_hint([("grpc-retry-pushback-ms", value)], NOW) == hint


def test_grpc_push_back_goes_before_everything_and_must_be_said_once() -> None:
    pushback = ("grpc-retry-pushback-ms", "500")
    others = [("Retry-After", "9"), ("x-should-retry", "false")]
    assert read_hint([*others, pushback], NOW) == Hint(delay_s=0.5, exact=True)
    assert read_hint([pushback, pushback], NOW) == Hint(stop=True)


def test_without_any_of_them_nothing_is_made() -> None:
    assert read_hint([("Content-Type", "text/plain"), ("Date", "nonsense")], NOW) is NO_HINT


names = st.sampled_from(
    [
        "Retry-After",
        "retry-after-ms",
        "X-Ms-Retry-After-Ms",
        "x-amz-retry-after",
        "x-should-retry",
        "grpc-retry-pushback-ms",
        "Date",
    ]
)
values = (
    st.text(max_size=40)
    | st.binary(max_size=40).map(lambda b: b.decode("latin-1"))
    | st.from_regex(r"-?[0-9]{1,20}(\.[0-9]+)?", fullmatch=True)
)


@given(st.lists(st.tuples(names, values), max_size=6))
def test_nothing_that_a_server_sends_raises_or_makes_a_wait_endless(
    headers: list[tuple[str, str]],
) -> None:
    hint = read_hint(headers, NOW)
    assert hint.delay_s is None or hint.delay_s >= 0.0
    assert not (hint.stop and hint.retry)
    wait_s = wait_after_hint(0.1, hint, 0.5, cap_s=300.0)
    assert wait_s is None or 0.0 <= wait_s <= 330.0
