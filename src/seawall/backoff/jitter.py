"""The jitters of a growth curve, by name."""

from __future__ import annotations

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from typing import Literal

    Jitter = Literal["none", "full", "equal", "proportional", "grpc", "temporal", "additive"]
else:  # annotations are never evaluated
    Jitter = object


JITTERS: dict[Jitter, tuple[float, float, float, float]] = {
    "none": (1.0, 0.0, 0.0, 1.0),
    "full": (0.0, 1.0, 0.0, 1.0),
    "equal": (0.5, 0.5, 0.0, 1.0),
    "proportional": (0.75, 0.5, 0.0, 1.0),
    "grpc": (0.8, 0.4, 0.0, 1.2),
    "temporal": (0.8, 0.2, 0.0, 1.0),
    "additive": (1.0, 0.0, 1.0, 1.0),
}
"""Per jitter: fixed share of the level, random share, random seconds on top, highest wait as a multiple of the cap.

* `none`: the level. All clients together.
* `full`: U(0, level) (AWS). Any wait down to 0, which needs the fewest calls under contention.
* `equal`: level/2 + U(0, level/2) (AWS; the Java SDK calls it half jitter). Never under half the level.
* `proportional`: level × U(0.75, 1.25), then at most the cap (Polly v8). Half of the clients pile up at the cap once the
  level has reached it, as published.
* `grpc`: level × U(0.8, 1.2) after the cap (gRPC A6), so up to 1.2 × the cap, as published.
* `temporal`: level × U(0.8, 1) (Temporal server). Never above the cap.
* `additive`: min(level + U(0, 1 s), cap) (Google Cloud). Everybody waits exactly the cap once the level has reached it,
  as published.
"""
