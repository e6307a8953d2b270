"""Checks on what users give a backoff: the message names the rule, the value and the way out."""

from __future__ import annotations

from math import isfinite

LONGEST_S = 1e9
"""Longest cap that is accepted, about 31 years: operating system timers overflow not far above."""


def check_number(
    owner: str, field: str, value: object, least: float, most: float, unit: str
) -> None:
    """A finite number from `least` to `most`; not a bool, not a string."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            f"{owner}: {field} must be a number{unit}, got {value!r}. Give it as an int or a float."
        )
    if not isfinite(value):
        raise ValueError(f"{owner}: {field} must be finite, got {value!r}. Give a number{unit}.")
    if value < least:
        raise ValueError(
            f"{owner}: {field} must be >= {least:g}{unit}, got {value!r}. Raise {field}."
        )
    if value > most:
        raise ValueError(
            f"{owner}: {field} must be <= {most:g}{unit}, got {value!r}. Lower {field}."
        )


def check_seconds(owner: str, field: str, value: object) -> None:
    """Seconds that an operating system's timer can hold."""
    check_number(owner, field, value, 0.0, LONGEST_S, " s")


def check_not_above(owner: str, low: str, low_s: float, high: str, high_s: float) -> None:
    """`low` must not be above `high`."""
    if low_s > high_s:
        raise ValueError(
            f"{owner}: {high} must be >= {low}: {high}={high_s!r}, {low}={low_s!r}. "
            f"Raise {high} or lower {low}."
        )


def check_base_and_cap(owner: str, base_s: float, cap_s: float) -> None:
    """Both in seconds, the base not above the cap."""
    check_seconds(owner, "base_s", base_s)
    check_seconds(owner, "cap_s", cap_s)
    check_not_above(owner, "base_s", base_s, "cap_s", cap_s)
