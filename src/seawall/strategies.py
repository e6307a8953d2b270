"""The strategies by name, each from a base and a cap: for command lines, scenario files and tables."""

from __future__ import annotations

from collections.abc import Callable

from seawall.backoff import (
    Backoff,
    ClientGo,
    Constant,
    Decorrelated,
    DecorrelatedClamped,
    DecorrelatedFinagle,
    DecorrelatedSmithy,
    Ethernet,
    Exponential,
    Fibonacci,
    Jitter,
    Linear,
    PollyV2,
    Polynomial,
    Resilience4j,
)
from seawall.choice import one_of
from seawall.record import Record

Make = Callable[[float, float], Backoff]


class Strategy(Record):
    """A named strategy.

    * `summary`: its rule in one line.
    * `make`: (base_s, cap_s) -> Backoff.
    """

    summary: str
    make: Make


def _exponential(jitter: Jitter) -> Make:
    return lambda base_s, cap_s: Exponential(base_s, cap_s, jitter=jitter)


STRATEGIES: dict[str, Strategy] = {
    "none": Strategy("exponential, no jitter: all clients together", _exponential("none")),
    "full": Strategy("exponential, U(0, level); the default", _exponential("full")),
    "equal": Strategy("exponential, level/2 + U(0, level/2)", _exponential("equal")),
    "proportional": Strategy("exponential, level × U(0.75, 1.25)", _exponential("proportional")),
    "grpc": Strategy("exponential, level × U(0.8, 1.2), gRPC A6", _exponential("grpc")),
    "temporal": Strategy("exponential, level × U(0.8, 1), Temporal", _exponential("temporal")),
    "additive": Strategy("exponential, level + U(0, 1 s), Google Cloud", _exponential("additive")),
    "decorrelated": Strategy("min(cap, U(base, 3·previous)), AWS", Decorrelated),
    "decorrelated-clamped": Strategy(
        "U(base, min(cap, 3·previous)), Polly.Contrib", DecorrelatedClamped
    ),
    "decorrelated-finagle": Strategy(
        "U(previous, min(cap, 3·previous)), Finagle", DecorrelatedFinagle
    ),
    "decorrelated-smithy": Strategy(
        "min(cap, base + U(0, 3·previous)), smithy-python", DecorrelatedSmithy
    ),
    "polly-v2": Strategy("smoothed exponential, Polly's jitter V2", PollyV2),
    "polly-v8": Strategy(
        "linear, level × U(0.75, 1.25), Polly v8",
        lambda base_s, cap_s: Linear(base_s, cap_s, jitter="proportional"),
    ),
    "client-go": Strategy("exponential × 5, 4 steps, level × U(1, 1.1), Kubernetes", ClientGo),
    "resilience4j": Strategy("exponential × 1.5, x × U(0.5, 1.5), resilience4j", Resilience4j),
    "ethernet": Strategy("U{0 … 2^k - 1} slots of base, IEEE 802.3", Ethernet),
    "constant": Strategy(
        "always base, no jitter",
        lambda base_s, cap_s: Constant(base_s, jitter="none", cap_s=cap_s),
    ),
    "linear": Strategy(
        "base × 1, 2, 3 …, no jitter",
        lambda base_s, cap_s: Linear(base_s, cap_s, jitter="none"),
    ),
    "fibonacci": Strategy(
        "base × 1, 1, 2, 3, 5 …, no jitter",
        lambda base_s, cap_s: Fibonacci(base_s, cap_s, jitter="none"),
    ),
    "polynomial": Strategy(
        "base × 1, 4, 9, 16 …, no jitter",
        lambda base_s, cap_s: Polynomial(base_s, cap_s, jitter="none"),
    ),
}


def strategy(name: str, base_s: float, cap_s: float) -> Backoff:
    """The strategy of that name; `ValueError` with the nearest name and the whole list if there is none."""
    one_of("strategy", name, STRATEGIES)
    return STRATEGIES[name].make(base_s, cap_s)
