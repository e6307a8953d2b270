"""A stack told as data and as a drawing."""

from __future__ import annotations

from seawall.policies.policy import Policy
from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def describe(policies: Sequence[Policy]) -> list[dict[str, Any]]:
    """One plain dictionary for each policy, outermost first: `policy` is its name, the rest are its fields."""
    return [plain(policy) for policy in policies]


def plain(value: object) -> Any:
    """The value as dictionaries, lists, numbers and strings, so that it can be written as JSON."""
    if isinstance(value, Policy):
        return {"policy": type(value).__name__, **_fields(value)}
    if isinstance(value, Record):
        return {"kind": type(value).__name__, **_fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, type):
        return value.__name__
    return getattr(value, "__name__", None) or repr(value)


def _fields(record: Record) -> dict[str, Any]:
    return {name: plain(getattr(record, name)) for name in record.__fields__}


def draw(policies: Sequence[Policy]) -> str:
    """The nesting as indented text, one line for each policy, the user's call innermost."""
    lines = [f"{'  ' * depth}{policy!r}" for depth, policy in enumerate(policies)]
    return "\n".join([*lines, f"{'  ' * len(policies)}call"])
