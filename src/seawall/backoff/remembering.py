"""Strategies whose next wait depends on the last: what four different authors call "decorrelated", and Polly V2."""

from __future__ import annotations

from seawall.backoff.base import Backoff, Formula
from seawall.backoff.checks import check_base_and_cap
from seawall.backoff.formulas import (
    decorrelated,
    decorrelated_clamped,
    decorrelated_finagle,
    decorrelated_smithy,
    polly_v2,
)

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import ClassVar


class Remembering(Backoff):
    """Base of the four that are called decorrelated: each wait is drawn from the one before."""

    base_s: float = 0.1
    cap_s: float = 20.0

    formula: ClassVar[Formula]

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_base_and_cap(owner, self.base_s, self.cap_s)
        self._lower(type(self).formula, self.base_s, self.cap_s)

    @property
    def start(self) -> float:
        return float(self.base_s)

    @property
    def lowest_s(self) -> float:
        return float(self.base_s)

    @property
    def ceiling_s(self) -> float:
        return float(self.cap_s)


class Decorrelated(Remembering):
    """min(cap, U(base, 3·previous)): AWS, 2015. No wait under base.

    Piles up at the cap, as published: with base 1 s and cap 10 s 48 % of the waits in the long run are exactly the cap
    (T. Wright, 2024). `DecorrelatedClamped` is the same without the pile.
    Fields: `base_s` default 0.1 s, `cap_s` default 20 s.
    """

    formula: ClassVar[Formula] = staticmethod(decorrelated)


class DecorrelatedClamped(Remembering):
    """U(base, min(cap, 3·previous)): Polly.Contrib's AWS variant, clamped before the draw, so nobody piles up at the cap.

    Fields: `base_s` default 0.1 s, `cap_s` default 20 s.
    """

    formula: ClassVar[Formula] = staticmethod(decorrelated_clamped)


class DecorrelatedFinagle(Remembering):
    """base, then U(previous, min(3·previous, cap)): Finagle. A wait is never shorter than the one before.

    As published the first wait is exactly base for all clients, and the later ones close in on the cap, where the spread
    goes to nothing. Fields: `base_s` default 0.1 s, `cap_s` default 20 s.
    """

    formula: ClassVar[Formula] = staticmethod(decorrelated_finagle)

    @property
    def start(self) -> float:
        return 0.0  # nothing waited yet: the first wait is base


class DecorrelatedSmithy(Remembering):
    """min(cap, base + U(0, 3·previous)): smithy-python. No wait under base.

    Piles up at the cap, as published. Fields: `base_s` default 0.1 s, `cap_s` default 20 s.
    """

    formula: ClassVar[Formula] = staticmethod(decorrelated_smithy)


class PollyV2(Backoff):
    """Polly's DecorrelatedJitterBackoffV2: smooth, without peaks where the ranges of neighbouring attempts meet.

    * `base_s`: the median of the *cumulative* wait before retry k is about base·2^k; default 0.1 s.
    * `cap_s`: default 20 s. Longer results are exactly the cap: they pile up there, as published.
    """

    base_s: float = 0.1
    cap_s: float = 20.0

    def __post_init__(self) -> None:
        check_base_and_cap("PollyV2", self.base_s, self.cap_s)
        self._lower(polly_v2, self.base_s, self.cap_s)

    @property
    def ceiling_s(self) -> float:
        return float(self.cap_s)
