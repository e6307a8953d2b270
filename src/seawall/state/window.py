"""Recent calls, counted: how many, how many failed, how many were slow.

Three ways to say what is recent, each told the time and without a lock of its own (whoever owns a window locks):

| window | remembers | costs |
|---|---|---|
| `CountWindow` | the last `size` calls | O(1) a call |
| `TimeWindow` | the calls of the last `length_s` seconds, in slices | O(1) a call, O(slices) when slices end |
| `RowWindow` | the calls since the last one that was good, for each kind of bad | O(1) a call |
"""

from __future__ import annotations

from math import floor

from seawall.quantity import at_least, positive_s
from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Dump: TypeAlias = list[list[int]]

_FAILED = 1
_SLOW = 2


class Window:
    """What is known of recent calls. `calls`, `failures` and `slow` are as of the last `add` or `move`."""

    __slots__ = ("calls", "failures", "slow")

    calls: int
    failures: int
    slow: int

    def __init__(self) -> None:
        self.clear()

    def add(self, now: float, failed: bool, slow: bool) -> None:
        """A call has ended `now`."""
        raise NotImplementedError(f"{type(self).__name__} must implement add()")

    def move(self, now: float) -> None:
        """Forget what is too old by `now`; a clock that has gone backwards forgets nothing."""

    def clear(self) -> None:
        """Forget everything."""
        self.calls = 0
        self.failures = 0
        self.slow = 0

    def dump(self, now: float) -> Dump:
        """The contents as lists of whole numbers, oldest first; `load` of the same kind of window reads them."""
        raise NotImplementedError(f"{type(self).__name__} must implement dump()")

    def load(self, rows: Sequence[Sequence[int]], now: float) -> None:
        """Replace the contents by dumped ones, as if `now` were the moment of the dump. What does not fit is left out."""
        raise NotImplementedError(f"{type(self).__name__} must implement load()")


class CountWindow(Window):
    """The last `size` calls, in a ring."""

    __slots__ = ("_at", "_ring", "size")

    def __init__(self, size: int) -> None:
        at_least("CountWindow", "size", size, 1)
        self.size = size
        self._ring = bytearray(size)
        self._at = 0
        super().__init__()

    def add(self, now: float, failed: bool, slow: bool) -> None:
        ring, at = self._ring, self._at
        old = ring[at]
        new = (_FAILED if failed else 0) | (_SLOW if slow else 0)
        if old != new:
            ring[at] = new
            self.failures += (new & _FAILED) - (old & _FAILED)
            self.slow += ((new & _SLOW) - (old & _SLOW)) // _SLOW
        at += 1
        self._at = at if at < self.size else 0
        if self.calls < self.size:
            self.calls += 1

    def clear(self) -> None:
        super().clear()
        self._ring = bytearray(self.size)
        self._at = 0

    def dump(self, now: float) -> Dump:
        first = self._at - self.calls
        codes = [self._ring[(first + k) % self.size] for k in range(self.calls)]
        return [[1, code & _FAILED, (code & _SLOW) // _SLOW] for code in codes]

    def load(self, rows: Sequence[Sequence[int]], now: float) -> None:
        self.clear()
        for _, failed, slow in rows:
            self.add(now, bool(failed), bool(slow))


class TimeWindow(Window):
    """The calls of the last `length_s` seconds, in `slices`: the running one and the ones before it.

    Slices begin at multiples of their length, and what is older leaves by whole slices: between `length_s` less one slice
    and `length_s` is remembered.
    """

    __slots__ = ("_ends_at", "_number", "_slice_s", "_table", "length_s", "slices")

    _ends_at: float
    _number: int | None
    _table: list[list[int]]

    def __init__(self, length_s: float, slices: int = 10) -> None:
        positive_s("TimeWindow", "length_s", length_s)
        at_least("TimeWindow", "slices", slices, 1)
        self.length_s = float(length_s)
        self.slices = slices
        self._slice_s = length_s / slices
        super().__init__()

    def add(self, now: float, failed: bool, slow: bool) -> None:
        if now >= self._ends_at:
            self.move(now)
        row = self._table[-1]
        row[0] += 1
        self.calls += 1
        if failed:
            row[1] += 1
            self.failures += 1
        if slow:
            row[2] += 1
            self.slow += 1

    def move(self, now: float) -> None:
        if now < self._ends_at:
            return
        number = floor(now / self._slice_s)
        if self._number is not None:
            for _ in range(min(number - self._number, self.slices)):
                calls, failures, slow = self._table.pop(0)
                self._table.append([0, 0, 0])
                self.calls -= calls
                self.failures -= failures
                self.slow -= slow
        self._number = number
        self._ends_at = (number + 1) * self._slice_s

    def clear(self) -> None:
        super().clear()
        self._table = [[0, 0, 0] for _ in range(self.slices)]
        self._number = None
        self._ends_at = float("-inf")  # the first call begins the first slice

    def dump(self, now: float) -> Dump:
        self.move(now)
        return [list(row) for row in self._table]

    def load(self, rows: Sequence[Sequence[int]], now: float) -> None:
        self.clear()
        self.move(now)
        for place, (calls, failures, slow) in enumerate(reversed(rows[-self.slices :]), 1):
            self._table[-place] = [calls, failures, slow]
            self.calls += calls
            self.failures += failures
            self.slow += slow


class RowWindow(Window):
    """Failures in a row, and slow calls in a row; `calls` is the longer of both. One good call ends a row."""

    __slots__ = ()

    def add(self, now: float, failed: bool, slow: bool) -> None:
        self.failures = self.failures + 1 if failed else 0
        self.slow = self.slow + 1 if slow else 0
        self.calls = max(self.failures, self.slow)

    def dump(self, now: float) -> Dump:
        return [[self.calls, self.failures, self.slow]]

    def load(self, rows: Sequence[Sequence[int]], now: float) -> None:
        self.clear()
        for calls, failures, slow in rows[-1:]:
            self.calls, self.failures, self.slow = calls, failures, slow


class LastCalls(Record):
    """The last `size` calls, however long ago. Right for steady traffic; at night it remembers the day before."""

    size: int

    def __post_init__(self) -> None:
        at_least("LastCalls", "size", self.size, 1)

    def window(self) -> CountWindow:
        """A new, empty window of this kind."""
        return CountWindow(self.size)


class LastSeconds(Record):
    """The calls of the last `length_s` seconds, forgotten by slices: a tenth of the length each unless told otherwise."""

    length_s: float
    slices: int = 10

    def __post_init__(self) -> None:
        positive_s("LastSeconds", "length_s", self.length_s)
        at_least("LastSeconds", "slices", self.slices, 1)

    def window(self) -> TimeWindow:
        """A new, empty window of this kind."""
        return TimeWindow(self.length_s, self.slices)
