"""Checks on numbers that users give: the message names the rule, the value and the way out."""

from __future__ import annotations

from math import isfinite


def positive_s(owner: str, field: str, value: object) -> None:
    """A finite number of seconds above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{owner}: {field} must be a number of seconds, got {value!r}.")
    if not isfinite(value) or value <= 0:
        raise ValueError(
            f"{owner}: {field} must be a finite number of seconds above 0, got {value!r}. "
            "Leave the policy out to have no limit."
        )


def at_least(owner: str, field: str, value: object, least: int) -> None:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{owner}: {field} must be a whole number, got {value!r}.")
    if value < least:
        raise ValueError(f"{owner}: {field} must be at least {least}, got {value}.")
