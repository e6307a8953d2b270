"""Which backoff to take: what matters goes in, a strategy with its reasons comes out. Pure."""

from __future__ import annotations

from typing import Literal

from seawall.backoff import Backoff, Exponential
from seawall.choice import one_of
from seawall.record import Record
from seawall.strategies import strategy

Contention = Literal["low", "high"]


class Needs(Record):
    """What matters for the call that is retried.

    * `floor`: a wait near zero does harm, as after throttling. Default False.
    * `contention`: "high" where clients that retry at the same time make each other fail, as on one row or lock, or at a
      server without room; else "low". Default "high".
    * `predictable`: the wait must be known roughly beforehand, for a user who watches or a test that counts. Default False.
    * `server_hints`: the server says when to come back (Retry-After and the like). Default False.
    * `base_s`, `cap_s`: first and longest wait in seconds. Defaults 0.1 and 20.
    """

    floor: bool = False
    contention: Contention = "high"
    predictable: bool = False
    server_hints: bool = False
    base_s: float = 0.1
    cap_s: float = 20.0

    def __post_init__(self) -> None:
        one_of("Needs: contention", self.contention, ("low", "high"))


class Trait(Record):
    """One line of the comparison: a strategy as it behaves in the long run. `TRAITS` says where the figures come from.

    * `spread`: highest minus lowest wait at saturation, as a share of the cap.
    * `shortest`: the shortest wait for a level.
    * `calls`: calls that 100 clients need who contend for one row; None: not measured.
    * `herd_peak`: most retries within 20 ms when 1000 clients fail together.
    * `at_cap`: share of the waits that are exactly the cap.
    * `predictable`: how well the wait is known beforehand: exactly, well, fairly, little, hardly.
    * `memory`: whether each wait depends on the one before.
    """

    name: str
    spread: float
    shortest: str
    calls: int | None
    herd_peak: int
    at_cap: float
    predictable: str
    memory: bool


TRAITS: tuple[Trait, ...] = (
    Trait("none", 0.0, "level", 1856, 1000, 1.0, "exactly", False),
    Trait("full", 1.0, "0", 796, 43, 0.0, "little", False),
    Trait("equal", 0.5, "level/2", 812, 58, 0.0, "fairly", False),
    Trait("decorrelated", 0.9, "base", 1002, 23, 0.48, "hardly", True),
    Trait("decorrelated-clamped", 0.9, "base", None, 23, 0.0, "hardly", True),
    Trait("proportional", 0.25, "level·3/4", None, 58, 0.5, "well", False),
    Trait("grpc", 0.4, "level·4/5", None, 69, 0.0, "well", False),
    Trait("temporal", 0.2, "level·4/5", None, 123, 0.0, "well", False),
    Trait("additive", 0.0, "level", None, 34, 1.0, "well", False),
    Trait("polly-v2", 0.0, "0", None, 35, 1.0, "little", True),
)
"""The comparison table.

`calls`: the simulation of Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015): 100 clients, base 5 ms, cap
2 s, mean of 3000 runs. `herd_peak`: base 1 s, cap 10 s, 8 retries, mean of 40 runs. `spread` and `at_cap`: base 1 s, cap 10 s, in
the long run; 0.48 is Wright's figure (2024).
"""


class Advice(Record):
    """A recommendation.

    * `name`: its name for `seawall explain`; `backoff`: ready to use.
    * `reasons`: why this one, each a sentence.
    * `beside`: what to set beside the backoff.
    """

    name: str
    backoff: Backoff
    reasons: tuple[str, ...]
    beside: tuple[str, ...]


def advise(needs: Needs) -> Advice:
    """The strategy that fits, by these rules: first predictability, then a floor, then contention.

    * predictable: equal under contention, else temporal (0.8 to 1 of the level).
    * floor: full with `floor_s` = base under contention, else decorrelated-clamped, whose floor is the base.
    * otherwise: full.
    """
    name, reasons = _chosen(needs)
    backoff = strategy(name, needs.base_s, needs.cap_s)
    if name == "full" and needs.floor:
        backoff = Exponential(needs.base_s, needs.cap_s, jitter="full", floor_s=needs.base_s)
    return Advice(name, backoff, reasons, _beside(needs))


def _chosen(needs: Needs) -> tuple[str, tuple[str, ...]]:
    """The strategy's name and why."""
    if needs.predictable and needs.contention == "high":
        return "equal", (
            "Every wait lies between half the level and the level, so the waits grow steadily and none comes near 0.",
            "Under contention it needs hardly more calls than full jitter (812 against 796), though 35 % more time.",
            (
                "A narrower jitter would be easier to foresee but would keep a herd together: level × U(0.8, 1) peaks at "
                "123 of 1000 clients in 20 ms, equal at 58."
            ),
        )
    if needs.predictable:
        return "temporal", (
            "Every wait lies between 0.8 of the level and the level, and so does the sum of the waits.",
            "It never passes the cap; gRPC's ±20 % does, and Polly v8's ±25 % piles up at it.",
            (
                "A herd stays closer together than with equal jitter (123 against 58 of 1000 clients in 20 ms). You said "
                "that contention is low; if it is not, take equal."
            ),
        )
    if needs.floor and needs.contention == "high":
        return "full", (
            "Full jitter needs the fewest calls under contention (796; equal 812, decorrelated 1002).",
            (
                "Alone it draws waits near 0, so floor_s keeps every wait at or above the base. The floor lies under the "
                "draw, it does not cut it: the clients stay apart."
            ),
        )
    if needs.floor:
        return "decorrelated-clamped", (
            "No wait is shorter than the base.",
            "It takes a herd apart best: 23 of 1000 clients in the busiest 20 ms, full jitter 43.",
            "Clamped before the draw it does not pile up at the cap; the AWS form has 48 % of its waits there.",
            (
                "The price: each wait depends on the one before, and under contention it needs more calls than full "
                "jitter (1002 against 796, measured for the AWS form). You said that contention is low."
            ),
        )
    contended = (
        "Of the jitters measured it needs the fewest calls under contention (796; equal 812, decorrelated 1002, no jitter 1856)."
        if needs.contention == "high"
        else "With low contention and no floor nothing speaks against the default."
    )
    return "full", (
        contended,
        "The spread is the whole level and stays so at the cap: no two clients are kept together.",
        "No memory, and a mean of half the level: 100 contending clients were done in 4.9 s, with equal jitter in 6.6 s.",
        "The price: some waits are near 0. Where that does harm, say that a floor is needed.",
    )


def _beside(needs: Needs) -> tuple[str, ...]:
    """What a backoff cannot do alone."""
    hints = (
        "Server hints: the library waits the longer of hint and backoff and puts jitter only on top, so the base may "
        "stay small; check that the longest hint you want to wait for, hint_cap_s, fits (300 s)."
        if needs.server_hints
        else "No server hints: give throttling a slower backoff of its own, throttled_backoff with a base of about 1 s "
        "(AWS SDK standard v2.1: 50 ms for transient faults, 1 s for throttling)."
    )
    return (
        hints,
        "A retry budget and a deadline: jitter spreads a herd, it does not end an overload that feeds on retries.",
    )
