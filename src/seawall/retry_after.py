"""`Retry-After`, read without ever raising (RFC 9110 §10.2.3, §5.6.7).

A server's header is outside our control: whatever it holds, the answer is a number of seconds or None, never an exception and
never a sleep of infinity. What Python's own number parsing would accept beyond the grammar (`1e3`, `+5`, `1_000`, `inf`,
Arabic digits) is not a delay.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import inf

_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)
_MONTHS = {m: n for n, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}  # noqa: SIM905
_ZONE = r"(?:gmt|utc|(?P<zone>[+-][0-9]{4}))"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_DATES = [
    # IMF-fixdate, and with a numeric zone: Thu, 01 Jan 2026 00:02:00 GMT
    re.compile(
        rf"[a-z]+, (?P<day>[0-9]{{2}}) (?P<month>[a-z]{{3}}) (?P<year>[0-9]{{4}}) {_TIME} {_ZONE}",
        re.ASCII,
    ),
    # rfc850-date: Thursday, 01-Jan-26 00:02:00 GMT
    re.compile(
        rf"[a-z]+, (?P<day>[0-9]{{2}})-(?P<month>[a-z]{{3}})-(?P<year>[0-9]{{2}}) {_TIME} {_ZONE}",
        re.ASCII,
    ),
    # asctime-date: Thu Jan  1 00:02:00 2026
    re.compile(
        rf"[a-z]+ (?P<month>[a-z]{{3}}) +(?P<day>[0-9]{{1,2}}) {_TIME} (?P<year>[0-9]{{4}})",
        re.ASCII,
    ),
]
_LONGEST_DIGITS = 12  # more seconds than 30 000 years: too long, whatever they are


def parse_retry_after(
    value: str, now_unix_s: float, response_date: str | None = None
) -> float | None:
    """Seconds to wait, at least 0; `inf` for "longer than can be expressed"; None when the value says nothing.

    * `now_unix_s`: the own wall clock. `response_date`: the response's `Date` header; a date is then counted from it, so that
      a clock that is wrong on either side cancels out.
    * Decimal fractions are taken (some vendors send them); a date in the past is 0.
    * Several lines that were joined by a comma: the longest of the valid ones, to be on the safe side.
    """
    text = value.strip(" \t")
    sent_s = None if response_date is None else parse_http_date(response_date, now_unix_s)
    from_s = now_unix_s if sent_s is None else sent_s
    wait_s = _one(text, from_s)
    if wait_s is not None or "," not in text or len(text) > 1000:
        return wait_s
    members = text.split(",")
    dates = (f"{a},{b}" for a, b in pairwise(members))
    waits = [_one(each.strip(" \t"), from_s) for each in (*members, *dates)]
    return max((w for w in waits if w is not None), default=None)


def parse_decimal(text: str) -> float | None:
    """A delay in digits, perhaps with a decimal fraction; `inf` when it is too long to be meant; None for anything else."""
    if not _SECONDS.fullmatch(text):
        return None
    whole = text.partition(".")[0].lstrip("0")
    return inf if len(whole) > _LONGEST_DIGITS else float(text)


def _one(text: str, from_s: float) -> float | None:
    seconds = parse_decimal(text)
    if seconds is not None:
        return seconds
    at_s = parse_http_date(text, from_s)
    return None if at_s is None else max(0.0, at_s - from_s)


def parse_http_date(value: str, now_unix_s: float) -> float | None:
    """Seconds since 1970 of an HTTP date in any of its three forms, or None.

    The weekday is not checked, a numeric zone and second 60 are taken. A year of two digits is in this century, unless that is
    more than 50 years ahead of `now_unix_s`: then in the last.
    """
    text = value.strip(" \t").lower()
    if len(text) > 64:
        return None
    for form in _DATES:
        match = form.fullmatch(text)
        if match is not None:
            return _seconds_of(match.groupdict(), now_unix_s)
    return None


def _seconds_of(date: dict[str, str], now_unix_s: float) -> float | None:
    year, month, day = int(date["year"]), _MONTHS.get(date["month"], 0), int(date["day"])
    hour, minute, second = int(date["hour"]), int(date["minute"]), int(date["second"])
    if len(date["year"]) == 2:
        this_year, this_month, this_day = _civil(int(now_unix_s // 86400))
        year += this_year - this_year % 100
        if (year - 50, month, day) > (this_year, this_month, this_day):
            year -= 100
    if not (month and 1 <= day <= _days_in(year, month) and hour < 24 and minute < 60):
        return None
    if second > 60:
        return None
    zone = date.get("zone") or "+0000"
    shift_s = (int(zone[1:3]) * 60 + int(zone[3:5])) * (60 if zone[0] == "+" else -60)
    return _days(year, month, day) * 86400.0 + hour * 3600 + minute * 60 + second - shift_s


def _days_in(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-compatible date algorithms")."""
    year -= month <= 2
    era_year = year % 400
    day_of_year = (153 * (month + (9 if month <= 2 else -3)) + 2) // 5 + day - 1
    day_of_era = era_year * 365 + era_year // 4 - era_year // 100 + day_of_year
    return year // 400 * 146097 + day_of_era - 719468


def _civil(days: int) -> tuple[int, int, int]:
    """The inverse of `_days`."""
    days += 719468
    day_of_era = days % 146097
    era_year = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * era_year + era_year // 4 - era_year // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    year = era_year + days // 146097 * 400 + (month <= 2)
    return year, month, day_of_year - (153 * shifted + 2) // 5 + 1
