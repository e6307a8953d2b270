"""What the other side says about the next try: wait this long, do not come back, start your series anew."""

from __future__ import annotations

from math import inf, isfinite

from seawall.record import Record


class Hint(Record):
    """A server's (or any callee's) advice on the next attempt.

    * `delay_s`: wait at least this long; None: nothing said; `inf`: longer than can be expressed.
    * `stop`: do not try again, whatever the failure looks like.
    * `retry`: try again, whatever the failure looks like (`x-should-retry: true`); None: nothing said.
    * `exact`: wait precisely `delay_s`, without backoff or jitter, and start the backoff series anew (gRPC push-back).
    * `clamp_s`: the advice is only followed up to this much above the own delay (`x-amz-retry-after`: 5 s); None: no clamp.
    """

    delay_s: float | None = None
    stop: bool = False
    retry: bool | None = None
    exact: bool = False
    clamp_s: float | None = None


NO_HINT = Hint()


def wait_after_hint(
    own_s: float, hint: Hint, draw: float, cap_s: float, spread: float = 0.1
) -> float | None:
    """Seconds to wait when the own backoff says `own_s`; None when the advice exceeds `cap_s`: give up and say so.

    An advice is a minimum. Jitter goes upward only: clients that were told the same second must not come back in the
    same instant, and none may come early. The added share is U(0, `spread`) of the advice. A clamped advice lies in
    [own, own + clamp] (AWS standard retry v2.1). An exact one is taken as it is (gRFC A6).
    """
    advised_s = hint.delay_s
    if advised_s is None:
        return own_s
    if hint.clamp_s is not None:
        return max(own_s, min(advised_s, own_s + hint.clamp_s))
    if not isfinite(advised_s) or advised_s > cap_s:
        return None
    if hint.exact:
        return advised_s
    return max(own_s, advised_s) + draw * spread * advised_s if advised_s > 0.0 else own_s


def as_hint(said: Hint | float | None) -> Hint:
    """What a user's hint function may return, made uniform: a `Hint`, seconds, or None. Negative and NaN are ignored."""
    if said is None:
        return NO_HINT
    if isinstance(said, Hint):
        return said
    return Hint(delay_s=float(said)) if 0.0 <= said <= inf else NO_HINT
