"""A name out of a fixed list: the error lists the choices and the nearest one."""

from __future__ import annotations

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Iterable


def one_of(subject: str, value: object, choices: Iterable[str]) -> None:
    """Raise `TypeError` or `ValueError` unless `value` is one of `choices`; `subject` says what was chosen."""
    names = sorted(choices)
    if not isinstance(value, str):
        raise TypeError(f"{subject} must be a name, got {value!r}. Use one of: {', '.join(names)}.")
    if value not in names:
        raise ValueError(
            f"{subject} {value!r} is unknown.{did_you_mean(value, names)} Use one of: {', '.join(names)}."
        )


def did_you_mean(value: str, choices: Iterable[str]) -> str:
    """` Did you mean 'full'?` when one of the choices is near, else nothing."""
    from difflib import get_close_matches  # only mistakes pay for it

    near = get_close_matches(value.lower().replace("_", "-"), list(choices), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
