"""One budget for each key: a tenant, a host."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from seawall.quantity import at_least
from seawall.state.budget.base import Budget

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any


class KeyedBudget:
    """Makes a budget for a key when the key is first seen; keeps the `capacity` most recently used. Default 1000.

    There is never more than one budget of a key in use: one that falls out while a call or a stack still holds it is found
    again by the next who asks for its key. One that nobody holds is forgotten, and its key starts afresh: choose the capacity
    above the number of keys in use at a time, or a flood of keys buys each of them new credit.

    `make` is called without a lock held and may itself use this object; of two budgets made at once for one key, one is
    dropped before anybody has seen it. Pickling needs a `make` that can be pickled.
    """

    def __init__(self, make: Callable[[], Budget], capacity: int = 1000) -> None:
        at_least("KeyedBudget", "capacity", capacity, 1)
        self._make = make
        self._capacity = capacity
        self._start(OrderedDict())

    def _start(self, recent: OrderedDict[Hashable, Budget]) -> None:
        from weakref import WeakValueDictionary  # costs 1 ms, which few need

        self._lock = Lock()
        self._recent = recent
        self._alive = WeakValueDictionary(recent)

    def of(self, key: Hashable) -> Budget:
        """The budget of this key."""
        with self._lock:
            if key in self._recent:
                self._recent.move_to_end(key)
                return self._recent[key]
            known = self._alive.get(key)
        made = self._make() if known is None else known
        with self._lock:
            budget = self._alive.setdefault(key, made)  # another thread may have been faster
            self._recent[key] = budget
            self._recent.move_to_end(key)
            if len(self._recent) > self._capacity:
                self._recent.popitem(last=False)
            return budget

    def __len__(self) -> int:
        return len(self._recent)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {
                "make": self._make,
                "capacity": self._capacity,
                "recent": [*self._recent.items()],
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._make = state["make"]
        self._capacity = state["capacity"]
        self._start(OrderedDict(state["recent"]))

    def __repr__(self) -> str:
        make = getattr(self._make, "__name__", repr(self._make))
        return f"KeyedBudget({make}, capacity={self._capacity}, keys={len(self)})"
