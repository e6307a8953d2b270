"""Circuit breaker: stop calling what fails, look now and then whether it is well again, and come back slowly.

Told the time, the fate of calls and its random draws; without a clock, chance or thread of its own. A call is two steps:
`admit` before it and `settle` after it. The lock is held for the arithmetic of a step, never during the call.
"""

from __future__ import annotations

from math import inf
from threading import Lock

from seawall.state.breaker_rules import BreakerRules
from seawall.state.window import RowWindow, Window

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, Self

    State = Literal[
        "closed", "open", "half-open", "recovering", "isolated", "disabled", "metrics-only"
    ]
    Cause = Literal[
        "trip",
        "open time over",
        "probes passed",
        "probes failed",
        "ramp over",
        "isolate",
        "release",
        "disable",
        "watch",
    ]
else:  # annotations are never evaluated
    State = Cause = str

STATES: dict[State, str] = {
    "closed": "every call is admitted and counted",
    "open": "every call is refused until the open time is over",
    "half-open": "a fixed number of probes is admitted, everything else refused",
    "recovering": "a share of the calls is admitted, growing linearly to all of them; all admitted are counted",
    "isolated": "every call is refused until somebody releases the breaker",
    "disabled": "every call is admitted, nothing is counted",
    "metrics-only": "every call is admitted and counted; that it would have opened is told, not done",
}
"""What each state means for a call."""

TRANSITIONS: tuple[tuple[State, Cause, State], ...] = (
    ("closed", "trip", "open"),
    ("open", "open time over", "half-open"),
    ("half-open", "probes passed", "recovering"),
    ("half-open", "probes failed", "open"),
    ("recovering", "ramp over", "closed"),
    ("recovering", "trip", "open"),
    ("metrics-only", "trip", "metrics-only"),
    ("isolated", "release", "recovering"),
    ("disabled", "release", "closed"),
    ("metrics-only", "release", "closed"),
    *((state, "isolate", "isolated") for state in STATES if state != "isolated"),
    *((state, "disable", "disabled") for state in STATES if state != "disabled"),
    *((state, "watch", "metrics-only") for state in STATES if state != "metrics-only"),
)
"""(before, cause, after): every change of state there is. Without a ramp "recovering" is left in the moment it is entered."""

_NEXT: dict[tuple[State, Cause], State] = {(b, cause): after for b, cause, after in TRANSITIONS}
_ADMITS_ALL = ("closed", "disabled", "metrics-only")
_SNAPSHOT = 1  # version of the form of snapshots


class Change:
    """A change of state, from `before` to `after`, and its `cause`.

    `open_s`: length of the open time that begins, 0 otherwise. `opening`: its number in a row. `calls`, `failures`, `slow`:
    what the window, or the row if that was reached, held at the moment; of probes when those decided.
    """

    __slots__ = ("after", "before", "calls", "cause", "failures", "open_s", "opening", "slow")

    def __init__(self, before: State, cause: Cause, after: State) -> None:
        self.before: State = before
        self.cause: Cause = cause
        self.after: State = after
        self.open_s = 0.0
        self.opening = 0
        self.calls = 0
        self.failures = 0
        self.slow = 0

    def __repr__(self) -> str:
        return f"Change({self.before!r}, {self.cause!r}, {self.after!r}, open_s={self.open_s:g})"


class Permit:
    """Leave to make one call, to be settled exactly once.

    `generation`: of the breaker when it was given; a result of an older generation changes nothing. `probe`: number of the
    probe, 0 for an ordinary call. `change`: what asking has changed, None mostly. Ordinary permits are shared between calls.
    """

    __slots__ = ("change", "generation", "probe")

    def __init__(self, generation: int, probe: int = 0, change: Change | None = None) -> None:
        self.generation = generation
        self.probe = probe
        self.change = change

    def __repr__(self) -> str:
        return f"Permit({self.generation}, {self.probe})"


class Refusal:
    """No leave. `state`: the reason. `retry_after_s`: when asking again may help; None where time does not decide it.

    Only "open" ends by time. A half-open breaker waits for its probes, a recovering one has asked this caller to stand back
    and may admit the next, an isolated one waits for somebody.
    """

    __slots__ = ("retry_after_s", "state")

    def __init__(self, state: State, retry_after_s: float | None = None) -> None:
        self.state: State = state
        self.retry_after_s = retry_after_s

    def __repr__(self) -> str:
        return f"Refusal({self.state!r}, {self.retry_after_s})"


class BreakerState:
    """One circuit breaker, shared by all calls to one callee; safe in threads.

    `admit`, call, `settle`; besides `isolate`, `disable`, `watch` (metrics-only) and `release` for whoever operates it. Times
    are monotonic seconds; one that is earlier than the last is no harm, it lets nothing end early. Can be copied and pickled:
    a copy starts where the original is, but its probes under way belong to nobody and give their places back.
    """

    __slots__ = (
        "_all",
        "_credit",
        "_failed",
        "_generation",
        "_limits",
        "_lock",
        "_memory",
        "_number",
        "_open_s",
        "_openings",
        "_passed",
        "_probes",
        "_row",
        "_since",
        "_slow_after_s",
        "_state",
        "_window",
        "rules",
    )

    def __init__(self, rules: BreakerRules | None = None) -> None:
        self.rules = BreakerRules() if rules is None else rules
        self._lock = Lock()
        rules = self.rules
        self._slow_after_s = inf if rules.slow_after_s is None else rules.slow_after_s
        self._limits = (
            inf if rules.consecutive is None else rules.consecutive,
            rules.min_calls,
            inf if rules.failure_ratio is None else rules.failure_ratio,
            rules.slow_ratio,
        )
        self._window: Window = rules.window.window()
        self._row = RowWindow()
        self._state: State = "closed"
        self._generation = 1
        self._all: Permit | None = Permit(1)  # what everybody gets in a state that admits all
        self._since = 0.0  # when the state was entered; matters in "open" and "recovering"
        self._open_s = 0.0
        self._openings = 0  # in a row
        self._memory = rules.open_backoff.start
        self._probes: dict[int, float] = {}  # under way: number -> when its time is up
        self._number = 0  # of the last probe
        self._passed = 0
        self._failed = 0
        self._credit = 0.0  # of the ramp

    @property
    def name(self) -> State:
        """The state by name. Time alone changes nothing: an open breaker whose time is over stays so until asked."""
        return self._state

    def tally(self, now: float) -> tuple[int, int, int]:
        """(calls, failures, slow) in the window."""
        with self._lock:
            self._window.move(now)
            return self._window.calls, self._window.failures, self._window.slow

    # --- a call ---------------------------------------------------------------------------------------

    def admit(self, now: float) -> Permit | Refusal:
        """May a call be made `now`? A permit must be settled, whatever becomes of the call."""
        permit = self._all  # one read, so that no lock is needed where everybody is admitted
        if permit is not None:
            return permit
        with self._lock:
            state = self._state
            change = None
            if state == "open":
                left_s = self._since + self._open_s - now
                if left_s > 0.0:
                    return Refusal(state, min(left_s, self._open_s))
                change = self._go("open time over", now)
                return self._probe(now, change)
            if state == "half-open":
                return self._probe(now, None)
            if state == "recovering":
                return self._ramp(now)
            return self._all or Refusal(state)  # isolated; or somebody was quicker than the lock

    def settle(
        self, permit: Permit, now: float, ok: bool | None, took_s: float = 0.0, draw: float = 0.5
    ) -> Change | None:
        """The call of this permit is over: good, bad, or without a verdict (None: cancelled, or its end says nothing).

        `took_s`: how long it took. `draw` in [0, 1): for the open time, should this open the breaker. What has changed, if
        anything.
        """
        if ok is None and permit.probe == 0:
            return None
        with self._lock:
            if permit.generation != self._generation:
                return None  # the breaker has moved on: what was true then says nothing about now
            slow = took_s >= self._slow_after_s
            if permit.probe:
                return self._probed(permit.probe, now, ok, slow, draw)
            if self._state == "disabled":
                return None
            window = self._window
            window.add(now, not ok, slow)
            row = self._row
            if not ok or slow or row.calls:
                row.add(now, not ok, slow)
            if window.failures or window.slow or not ok:
                tripped = self._tripped()
                if tripped is not None:
                    return self._trip(tripped, now, draw)
            if self._state == "recovering" and now - self._since >= self.rules.ramp_s:
                return self._go("ramp over", now)
            return None

    # --- for whoever operates it ---------------------------------------------------------------------

    def isolate(self, now: float) -> Change | None:
        """Refuse every call until `release`; None if it does so already."""
        return self._order("isolate", now)

    def disable(self, now: float) -> Change | None:
        """Admit every call and count nothing until `release`."""
        return self._order("disable", now)

    def watch(self, now: float) -> Change | None:
        """Metrics-only: admit every call and count, but never open, until `release`."""
        return self._order("watch", now)

    def release(self, now: float) -> Change | None:
        """End `isolate`, `disable` or `watch`, with an empty window; out of isolation over the ramp. None if there is none."""
        return self._order("release", now)

    def snapshot(self, now: float) -> dict[str, Any]:
        """Everything but the probes under way, as a dictionary that can be written as JSON; times are relative to `now`."""
        with self._lock:
            return {
                "version": _SNAPSHOT,
                "state": self._state,
                "age_s": max(0.0, now - self._since),
                "open_s": self._open_s,
                "openings": self._openings,
                "memory": self._memory,
                "passed": self._passed,
                "failed": self._failed,
                "credit": self._credit,
                "window_of": repr(self.rules.window),
                "window": self._window.dump(now),
                "row": self._row.dump(now),
            }

    def restore(self, snapshot: Mapping[str, Any], now: float, age_s: float = 0.0) -> None:
        """Go on from a snapshot that was taken `age_s` seconds ago; calls under way here are of an older generation then.

        The rules stay this breaker's own; if its window is another than the snapshot's, it begins empty. ValueError for
        anything that is not a snapshot; nothing has changed then.
        """
        known = _checked(snapshot)
        with self._lock:
            self._enter(known["state"], now - age_s - known["age_s"])
            if known["window_of"] == repr(self.rules.window):
                self._window.load(known["window"], now - age_s)
                self._window.move(now)
            self._row.load(known["row"], now)
            self._open_s = known["open_s"]
            self._openings = known["openings"]
            self._memory = known["memory"]
            self._passed = min(known["passed"], self.rules.needed - 1)
            self._failed = min(known["failed"], self.rules.probes - self.rules.needed)
            self._credit = known["credit"]

    # --- the steps; all under the lock ---------------------------------------------------------------

    def _tripped(self) -> Window | None:
        """The window, or the row, that has reached its limit."""
        consecutive, min_calls, failure_ratio, slow_ratio = self._limits
        if self._row.failures >= consecutive:
            return self._row
        window = self._window
        calls = window.calls
        if calls >= min_calls and (
            window.failures / calls >= failure_ratio
            or (window.slow and window.slow / calls >= slow_ratio)
        ):
            return window
        return None

    def _trip(self, seen: Window, now: float, draw: float) -> Change:
        calls, failures, slow = seen.calls, seen.failures, seen.slow
        change = self._go("trip", now, draw)
        change.calls, change.failures, change.slow = calls, failures, slow
        return change

    def _probe(self, now: float, change: Change | None) -> Permit | Refusal:
        """A probe, if there is a place; places of probes whose time is up are taken back."""
        self._expire(now)
        if len(self._probes) + self._passed + self._failed >= self.rules.probes:
            return Refusal("half-open")
        self._number += 1
        self._probes[self._number] = now + self.rules.probe_limit_s
        return Permit(self._generation, self._number, change)

    def _probed(
        self, number: int, now: float, ok: bool | None, slow: bool, draw: float
    ) -> Change | None:
        self._expire(now)
        if self._probes.pop(number, None) is None or ok is None:
            return None
        if ok and not slow:
            self._passed += 1
            cause: Cause = "probes passed"
        else:
            self._failed += 1
            cause = "probes failed"
        passed, failed = self._passed, self._failed
        needed = self.rules.needed
        if passed < needed and failed <= self.rules.probes - needed:
            return None
        change = self._go(cause, now, draw)
        change.calls, change.failures = passed + failed, failed
        return change

    def _expire(self, now: float) -> None:
        for number in [n for n, until in self._probes.items() if until <= now]:
            del self._probes[number]

    def _ramp(self, now: float) -> Permit | Refusal:
        """Admit a share, evenly spread: each call adds the share to a credit, and a whole one admits.

        As even as a sequence can be (error diffusion), without a draw: no run of luck lets a crowd through.
        """
        ramp_s = self.rules.ramp_s
        share = (now - self._since) / ramp_s if ramp_s else 1.0
        if share >= 1.0:
            change = self._go("ramp over", now)
            return Permit(self._generation, 0, change)
        self._credit += max(0.0, share)
        if self._credit < 1.0:
            return Refusal("recovering")
        self._credit -= 1.0
        return Permit(self._generation)

    def _order(self, cause: Cause, now: float) -> Change | None:
        with self._lock:
            return self._go(cause, now) if (self._state, cause) in _NEXT else None

    def _go(self, cause: Cause, now: float, draw: float = 0.5) -> Change:
        """Change the state by the table."""
        before = self._state
        after = _NEXT[before, cause]
        change = Change(before, cause, after)
        if after == "open":
            self._openings += 1
            self._open_s, self._memory = self.rules.open_backoff.step(
                self._openings, self._memory, draw
            )
            change.open_s, change.opening = self._open_s, self._openings
        if after == "closed":
            self._openings, self._memory = 0, self.rules.open_backoff.start
        if cause == "ramp over":  # the calls go on being counted together
            self._state = after
            self._all = Permit(self._generation)
            return change
        self._enter(after, now)
        if after == "recovering" and self.rules.ramp_s == 0:
            change.after = self._go("ramp over", now).after
        return change

    def _enter(self, state: State, now: float) -> None:
        """Begin a state: a new generation with nothing counted."""
        self._state = state
        self._since = now
        self._generation += 1
        self._all = Permit(self._generation) if state in _ADMITS_ALL else None
        self._window.clear()
        self._row.clear()
        self._probes.clear()
        self._passed = self._failed = 0
        self._credit = 0.0

    # --- copies -------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        from copy import deepcopy

        with self._lock:
            names = [name for name in self.__slots__ if name not in ("_lock", "_probes")]
            return deepcopy({name: getattr(self, name) for name in names})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = Lock()
        self._probes = {}
        for name, value in state.items():
            setattr(self, name, value)

    def __copy__(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    def __repr__(self) -> str:
        return f"BreakerState({self._state!r})"


def _checked(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a snapshot, each of the kind that it must be."""
    if snapshot.get("version") != _SNAPSHOT:
        raise ValueError(
            f"BreakerState.restore: version must be {_SNAPSHOT}, got {snapshot.get('version')!r}. "
            "Start with a fresh breaker instead."
        )
    if snapshot.get("state") not in STATES:
        raise ValueError(
            f"BreakerState.restore: unknown state {snapshot.get('state')!r}. "
            f"Known are {', '.join(STATES)}."
        )
    try:
        known: dict[str, Any] = {
            "state": snapshot["state"],
            "window_of": str(snapshot["window_of"]),
        }
        for name in ("age_s", "open_s", "memory", "credit"):
            known[name] = _not_negative(float(snapshot[name]))
        for name in ("openings", "passed", "failed"):
            known[name] = int(_not_negative(snapshot[name]))
        for name in ("window", "row"):
            known[name] = [[int(_not_negative(n)) for n in (a, b, c)] for a, b, c in snapshot[name]]
    except (KeyError, TypeError, ValueError) as fault:
        raise ValueError(
            f"BreakerState.restore: not a snapshot: {fault!r}. Pass what BreakerState.snapshot() returned."
        ) from fault
    return known


def _not_negative(value: float) -> float:
    if not 0.0 <= value < inf:
        raise ValueError(f"{value!r} is not a finite number >= 0")
    return value
