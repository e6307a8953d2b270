"""Rate limits: so many a second, and so many at once.

| machine | a call that is too early | remembers |
|---|---|---|
| `TokenBucket` | is refused, and told when to ask again | tokens, and when they were counted |
| `Gcra` | is refused, and told when to ask again | the theoretical arrival time; the same answers as the bucket |
| `Pacer` | is given a slot in time and waits for it | until when the road is taken |

A refused call consumes nothing. A clock that steps back grants nothing, and one that leaps grants no more than `burst`.
"""

from __future__ import annotations

from bisect import bisect
from math import inf, ulp

from seawall.backoff.checks import check_number
from seawall.state.machine import Machine

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST_PER_S = 1e-9  # one in thirty years
_MOST = 1e12


class RateMeter(Machine):
    """At most `burst` at once, refilled with `rate_per_s`: what `TokenBucket` and `Gcra` have in common.

    * `rate_per_s`: cost units a second that may be had in the long run.
    * `burst`: cost units that may be had at one instant after a rest, at least 1. Default: a second's worth.

    Over any stretch of t seconds at most burst + rate_per_s x t are granted.
    """

    __slots__ = ("_at", "burst", "rate_per_s")

    def __init__(self, rate_per_s: float, burst: float | None = None) -> None:
        super().__init__()
        self._at = inf  # the last time that counts; inf: no time was told yet
        self.rate_per_s, self.burst = self._checked(rate_per_s, burst)

    def take(self, now: float, cost: float = 1.0) -> float:
        """Have `cost` units now: 0.0. Or else nothing is taken, and these are the seconds after which to ask again.

        If nobody else comes in between, asking at `now` plus that wait is granted. inf: `cost` is above `burst`, so no time
        will ever help; `refusal` says so in words. ValueError for a cost that is negative or not a number.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement take()")

    def refusal(self, cost: float, wait_s: float) -> str:
        """Why `take` answered with this wait, in a sentence."""
        name = type(self).__name__
        if wait_s == inf:
            return (
                f"{name}: cost must be <= burst: cost={cost:g}, burst={self.burst:g}. "
                "It can never be granted: split the call, lower its cost or raise burst."
            )
        return (
            f"{name}: over {self.rate_per_s:g}/s with a burst of {self.burst:g}; "
            f"a cost of {cost:g} can be had in {wait_s:.3g} s."
        )

    def _checked(self, rate_per_s: float, burst: float | None) -> tuple[float, float]:
        name = type(self).__name__
        check_number(name, "rate_per_s", rate_per_s, _LEAST_PER_S, _MOST, " a second")
        if burst is None:
            burst = max(1.0, rate_per_s)
        check_number(name, "burst", burst, 1.0, _MOST, "")
        return float(rate_per_s), float(burst)

    def _hopeless(self, cost: float) -> bool:
        """Whether the cost can never be had; an error if it is none."""
        if cost >= 0.0:
            return cost > self.burst
        raise _no_cost(type(self).__name__, cost)


class TokenBucket(RateMeter):
    """`burst` tokens at most; a call takes its cost in tokens; `rate_per_s` tokens flow back.

    `now` behind the last grant counts as that: the tokens are those of then.
    """

    __slots__ = ("_tokens",)

    def __init__(self, rate_per_s: float, burst: float | None = None) -> None:
        super().__init__(rate_per_s, burst)
        self._tokens = (
            self.burst
        )  # at _at; written by grants alone, so that no refusal adds a rounding

    def take(self, now: float, cost: float = 1.0) -> float:
        with self._lock:
            at = self._at
            tokens = self._tokens
            if now > at:
                tokens += (now - at) * self.rate_per_s
                if tokens > self.burst:  # noqa: PLR1730 - min() costs 60 ns
                    tokens = self.burst
                at = now
            elif at == inf:
                self._at = at = now
            if 0.0 <= cost <= tokens:
                self._tokens = tokens - cost
                self._at = at
                return 0.0
            if self._hopeless(cost):
                return inf
            due = self._at + (cost - self._tokens) / self.rate_per_s
            if self._tokens + (now + (due - now) - self._at) * self.rate_per_s >= cost:
                return due - now
            return exact_wait(now, due, lambda then: self._counted(then) >= cost)

    def tokens(self, now: float) -> float:
        """What could be had now."""
        with self._lock:
            return self._counted(now)

    def give_back(self, now: float, cost: float = 1.0) -> None:
        """Undo a `take` whose call was not made after all; never to more than `burst`."""
        with self._lock:
            self._tokens = min(self.burst, self._counted(now) + cost)
            self._at = now if self._at == inf else max(self._at, now)

    def change(self, now: float, rate_per_s: float, burst: float | None = None) -> None:
        """Go on at another rate; what has flowed back until now did so at the old one. Tokens above `burst` are lost."""
        rate_per_s, burst = self._checked(rate_per_s, burst)
        with self._lock:
            self._tokens = min(burst, self._counted(now))
            self._at = now if self._at == inf else max(self._at, now)
            self.rate_per_s, self.burst = rate_per_s, burst

    def _counted(self, now: float) -> float:
        if now <= self._at:
            return self._tokens
        return min(self.burst, self._tokens + (now - self._at) * self.rate_per_s)

    def _resume(self) -> None:
        self._at = inf


class Gcra(RateMeter):
    """Generic cell rate algorithm: a call may come `burst` early against an even stream of `rate_per_s`.

    `arrival_s` is the theoretical arrival time, when the stream that was granted so far would be over: a call is granted
    if it moves that to no more than burst / rate_per_s after now. That one number is all the state, which is why stores
    like it. It is kept here as the time at which the stream began and the cost since, because adding thousands of small
    times to a large one loses the last call of a burst to rounding.

    Source: ITU-T I.371, ATM Forum Traffic Management 4.1, "virtual scheduling".
    """

    __slots__ = ("_began", "_spent")

    def __init__(self, rate_per_s: float, burst: float | None = None) -> None:
        super().__init__(rate_per_s, burst)
        self._began = inf
        self._spent = 0.0

    def take(self, now: float, cost: float = 1.0) -> float:
        with self._lock:
            at = self._at
            if now > at:
                at = now
            elif at == inf:
                self._at = self._began = at = now
            flowed = (at - self._began) * self.rate_per_s
            spent = self._spent
            if spent <= flowed:  # the stream was over: another begins
                if 0.0 <= cost <= self.burst:
                    self._at = self._began = at
                    self._spent = cost
                    return 0.0
            elif cost >= 0.0 and spent + cost - self.burst <= flowed:
                self._at = at
                self._spent = spent + cost
                return 0.0
            if self._hopeless(cost):
                return inf
            early = spent + cost - self.burst
            due = self._began + early / self.rate_per_s
            if early <= (now + (due - now) - self._began) * self.rate_per_s:
                return due - now
            return exact_wait(
                now, due, lambda then: early <= (max(then, at) - self._began) * self.rate_per_s
            )

    @property
    def arrival_s(self) -> float:
        """The theoretical arrival time; -inf before the first call."""
        with self._lock:
            if self._began == inf:
                return -inf
            return self._began + self._spent / self.rate_per_s

    def _resume(self) -> None:
        if self._began != inf:
            self._spent = max(0.0, self._spent - (self._at - self._began) * self.rate_per_s)
        self._at = self._began = inf


class Pacer(Machine):
    """The ramp meter: callers go one after another, each at its own time, instead of all at once or not at all.

    * `rate_per_s`: cost units a second. A call of cost c has the road to itself for c / rate_per_s seconds.
    * `max_wait_s`: whoever would have to wait longer is refused. Default 60 s; 0 makes it a limit without a burst.
    * `max_cost`: what costs more is refused for ever, since it would close the road to everybody else. Default: what fills
      the road for `max_wait_s`, but at least 1.

    After a rest the first caller goes at once and the next 1 / rate_per_s later: there is no burst.
    A slot that is given back is given to the next caller that it is wide enough for; those who wait keep their times.
    The slots of a copy are its own: it begins with an empty road.
    """

    __slots__ = ("_free_at", "_gaps", "max_cost", "max_wait_s", "rate_per_s")

    def __init__(
        self, rate_per_s: float, max_wait_s: float = 60.0, max_cost: float | None = None
    ) -> None:
        super().__init__()
        check_number("Pacer", "rate_per_s", rate_per_s, _LEAST_PER_S, _MOST, " a second")
        check_number("Pacer", "max_wait_s", max_wait_s, 0.0, 1e9, " s")
        if max_cost is None:
            max_cost = max(1.0, rate_per_s * max_wait_s)
        else:
            check_number("Pacer", "max_cost", max_cost, 1.0, _MOST, "")
        self.rate_per_s = float(rate_per_s)
        self.max_wait_s = float(max_wait_s)
        self.max_cost = float(max_cost)
        self._free_at = -inf  # nobody goes from then on
        self._gaps: list[
            tuple[float, float]
        ] = []  # slots before that given back: (from, to), sorted

    def reserve(self, now: float, cost: float = 1.0) -> float:
        """Seconds to wait before going: a slot is reserved from `now` plus that.

        More than `max_wait_s` is a refusal and reserves nothing: asking again makes sense after as long as it is more. inf:
        `cost` is above `max_cost`. ValueError for a cost that is negative or not a number.
        """
        with self._lock:
            if not 0.0 <= cost <= self.max_cost:
                if cost > 0.0:
                    return inf
                raise _no_cost("Pacer", cost)
            length_s = cost / self.rate_per_s
            if self._gaps:
                wait_s = self._fill_gap(now, length_s)
                if wait_s is not None:
                    return wait_s
            free_at = self._free_at
            if free_at <= now:
                self._free_at = now + length_s
                return 0.0
            wait_s = _until(now, free_at)
            if wait_s <= self.max_wait_s:
                self._free_at = now + wait_s + length_s
            return wait_s

    def give_back(self, now: float, reserved_at: float, wait_s: float, cost: float = 1.0) -> None:
        """The call for which `reserve(reserved_at, cost)` said `wait_s` will not be made. Exactly once, and not if refused."""
        with self._lock:
            start = reserved_at + wait_s
            end = start + cost / self.rate_per_s
            gaps = self._gaps
            if (
                end == self._free_at
            ):  # the last one: the road is free from its start, or from that of a gap before it
                while gaps and gaps[-1][1] == start:
                    start = gaps.pop()[0]
                self._free_at = start
            elif max(start, now) < end < self._free_at:
                place = bisect(gaps, (start, end))
                if place < len(gaps) and gaps[place][0] == end:
                    end = gaps.pop(place)[1]
                if place and gaps[place - 1][1] == start:
                    place -= 1
                    start = gaps.pop(place)[0]
                gaps.insert(place, (start, end))

    def refusal(self, cost: float, wait_s: float) -> str:
        """Why `reserve` refused, in a sentence."""
        if wait_s == inf:
            return (
                f"Pacer: cost must be <= max_cost: cost={cost:g}, max_cost={self.max_cost:g}. "
                "It can never be granted: split the call, lower its cost or raise max_cost."
            )
        return (
            f"Pacer: the next slot at {self.rate_per_s:g}/s is in {wait_s:.3g} s, "
            f"more than max_wait_s={self.max_wait_s:g}; ask again in {wait_s - self.max_wait_s:.3g} s."
        )

    def _fill_gap(self, now: float, length_s: float) -> float | None:
        """The first gap that is wide enough and soon enough. Gaps that have passed are forgotten."""
        gaps = self._gaps
        passed = 0
        while passed < len(gaps) and gaps[passed][1] <= now:
            passed += 1
        del gaps[:passed]
        for place, (start, end) in enumerate(gaps):
            wait_s = _until(now, start) if start > now else 0.0
            if wait_s > self.max_wait_s:
                return None
            taken_to = now + wait_s + length_s
            if taken_to <= end + 4 * ulp(end):  # a slot must fit where one as long was
                gaps[place : place + 1] = [(taken_to, end)] if taken_to < end else []
                return wait_s
        return None

    def _resume(self) -> None:
        self._free_at = -inf
        self._gaps = []


def _until(now: float, then: float) -> float:
    """The wait that leads from `now` to `then`, in spite of rounding not to earlier."""
    wait_s = then - now
    return wait_s if now + wait_s >= then else wait_s + max(ulp(then), ulp(wait_s))


def exact_wait(now: float, due: float, granted: Callable[[float], bool]) -> float:
    """The wait until about `due`, long enough that asking after exactly this time is granted.

    Without this a caller could be sent away for a time too short to be added to `now`, again and again.
    """
    wait_s = due - now
    more_s = max(ulp(due), ulp(now))
    while not granted(now + wait_s):
        wait_s += more_s
        more_s *= 2
    return wait_s


def _no_cost(owner: str, cost: object) -> ValueError:
    return ValueError(f"{owner}: cost must be a number >= 0, got {cost!r}. Leave it out for 1.")
