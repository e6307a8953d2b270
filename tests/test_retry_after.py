"""Retry-After: the value table, and that nothing a server sends can raise or sleep for ever."""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.retry_after import parse_http_date, parse_retry_after

NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
DECEMBER = datetime(2026, 12, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("\t120", 120),
        ("0", 0),
        ("007", 7),
        ("-1", None),
        ("1.5", 1.5),
        ("2.0", 2.0),
        ("1.", None),
        (".5", None),
        ("1e3", None),
        ("+5", None),
        ("1_000", None),
        ("inf", None),
        ("nan", None),
        ("١٢", None),
        ("１２", None),  # noqa: RUF001
        ("9" * 30, inf),
        ("9" * 5000, inf),
        ("0" * 5000 + "5", 5),
        ("", None),
        ("soon", None),
        ("120;x=1", None),
        ("120, 60", 120),
        ("60, 120", 120),
        ("60, soon, 90", 90),
        ("60, Thu, 01 Jan 2026 00:02:00 GMT", 120),
        ("Thu, 01 Jan 2026 00:02:00 GMT, 60", 120),
        ("Thu, 01 Jan 2026 00:02:00 GMT", 120),
        ("Thu, 01 Jan 2015 00:02:00 GMT", 0),
        ("Thursday, 01-Jan-26 00:02:00 GMT", 120),
        ("Thu Jan  1 00:02:00 2026", 120),
        ("Thu, 01 Jan 2026 02:02:00 +0200", 120),
        ("Wed, 31 Dec 2025 19:02:00 -0500", 120),
        ("Thu, 01 Jan 2026 00:02:60 GMT", 180),
        ("Thu, 01 Jan 2026 00:02:61 GMT", None),
        ("Mon, 01 Jan 2026 00:02:00 GMT", 120),  # the wrong weekday
        ("thu, 01 jan 2026 00:02:00 gmt", 120),
        ("Thu, 32 Jan 2026 00:02:00 GMT", None),
        ("Thu, 29 Feb 2026 00:02:00 GMT", None),
        ("Thu, 01 Foo 2026 00:02:00 GMT", None),
        ("Thu, 01 Jan 2026 24:02:00 GMT", None),
        ("Thu, 01 Jan 2026 00:02:00", None),
        ("2026-01-01T00:02:00Z", None),
        ("1767225720", 1767225720),  # an epoch: far beyond any cap, so not waited for
    ],
)
def test_the_value_table(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW) == seconds


def test_the_end_of_time_is_finite_and_beyond_any_cap() -> None:
    wait = parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", NOW)
    assert wait is not None
    assert 2.5e11 < wait < inf


@pytest.mark.parametrize(
    ("value", "year"),
    [("01-Jan-76", 2076), ("31-Dec-76", 1976), ("01-Jan-26", 2026), ("01-Jan-99", 1999)],
)
def test_a_year_of_two_digits(value: str, year: int) -> None:
    """RFC 9110: more than 50 years ahead means the last century, where `email.utils` says 1976 for all."""
    at = parse_http_date(f"Thursday, {value} 00:00:00 GMT", DECEMBER)
    assert at is not None
    assert datetime.fromtimestamp(at, UTC).year == year


def test_a_wrong_clock_cancels_out() -> None:
    sent = "Thu, 01 Jan 2026 00:00:00 GMT"
    assert parse_retry_after("Thu, 01 Jan 2026 00:02:00 GMT", NOW + 3600, sent) == 120
    assert parse_retry_after("Thu, 01 Jan 2026 00:02:00 GMT", NOW, "nonsense") == 120
    assert parse_retry_after("30", NOW + 3600, sent) == 30


@given(
    st.text(max_size=100) | st.binary(max_size=100).map(lambda b: b.decode("latin-1")),
    st.floats(0, 4e9),
)
def test_nothing_raises_and_no_answer_is_negative(value: str, now: float) -> None:
    wait = parse_retry_after(value, now, value)
    assert wait is None or wait >= 0


@given(
    st.from_regex(
        r"[A-Za-z]{3}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} (GMT|[+-][0-9]{4})",
        fullmatch=True,
    )
)
def test_what_looks_like_a_date_never_raises(value: str) -> None:
    wait = parse_retry_after(value, NOW)
    assert wait is None or wait >= 0


@given(st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31)))  # noqa: DTZ001
def test_the_calendar_agrees_with_the_standard_library(date: datetime) -> None:
    at = date.replace(microsecond=0, tzinfo=UTC)
    assert (
        parse_http_date(
            at.strftime("%a, %d %b ") + f"{at.year:04d}" + at.strftime(" %H:%M:%S GMT"), 0.0
        )
        == at.timestamp()
    )
