"""What the state machines of limits share: one lock, and copies that share nothing."""

from __future__ import annotations

from threading import Lock

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Any, cast
else:

    def cast(_: str, value: object) -> object:
        """What `typing` has: a mark for type checkers."""
        return value


class Machine:
    """State that persists between calls and is told the time (`now`, monotonic seconds) and its random draws.

    One lock, held for arithmetic only, never during a call. Can be copied and pickled: the copy shares nothing with the
    original, has its settings and its credit, and may wake up under another clock: it takes the first time that it is told
    for the moment at which it was copied.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = Lock()

    def _resume(self) -> None:
        """Make the times that were copied independent of the clock; called on a new copy."""

    def __getstate__(self) -> dict[str, Any]:
        """Settings and contents, taken at one instant; without the lock."""
        from copy import deepcopy

        with self._lock:
            plain, slots = cast(
                "tuple[dict[str, Any] | None, dict[str, Any]]", super().__getstate__()
            )
            state = {**(plain or {}), **slots}
            del state["_lock"]
            return deepcopy(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = Lock()
        for name, value in state.items():
            setattr(self, name, value)
        self._resume()

    def __repr__(self) -> str:
        shown = {n: v for n, v in self.__getstate__().items() if not n.startswith("_")}
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in sorted(shown.items()))})"
