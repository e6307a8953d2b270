"""One budget for each key: a tenant, a host."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from seawall.quantity import at_least
from seawall.state.budget.base import Budget

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class KeyedBudget:
    """Makes a budget for a key when the key is first seen; keeps the `capacity` most recently used. Default 1000.

    A budget that falls out is forgotten: calls that still hold it finish with it, the key's next call starts with a fresh one.
    Choose the capacity above the number of keys in use at a time, or a flood of keys buys each of them new credit.
    """

    def __init__(self, make: Callable[[], Budget], capacity: int = 1000) -> None:
        at_least("KeyedBudget", "capacity", capacity, 1)
        self._make = make
        self._capacity = capacity
        self._budgets: OrderedDict[Hashable, Budget] = OrderedDict()
        self._lock = Lock()

    def of(self, key: Hashable) -> Budget:
        """The budget of this key."""
        with self._lock:
            budget = self._budgets.get(key)
            if budget is None:
                budget = self._budgets[key] = self._make()
                if len(self._budgets) > self._capacity:
                    self._budgets.popitem(last=False)
            else:
                self._budgets.move_to_end(key)
            return budget

    def __len__(self) -> int:
        return len(self._budgets)
