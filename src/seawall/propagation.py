"""Attempt number and remaining time on the wire, so that the next service neither retries again nor works for nobody.

Sent as `Seawall-Attempt` (from 1) and `Seawall-Timeout-Ms` (what is left when it is sent: a duration, since clocks differ).
Read from these and from what others send: Envoy, gRPC, AWS SDKs.
"""

from __future__ import annotations

import re
from math import ceil, inf, isfinite

from seawall.record import Record

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

ATTEMPT = "Seawall-Attempt"
TIMEOUT_MS = "Seawall-Timeout-Ms"

_LONGEST_MS = 10**12
_GRPC_TIMEOUT = re.compile(r"([0-9]{1,8})([HMSmun])", re.ASCII)
_GRPC_UNITS_S = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_AWS_ATTEMPT = re.compile(r"(?:^|[; ])attempt=([0-9]{1,9})(?:$|[; ])", re.ASCII)


class Incoming(Record):
    """What a request says of the call it belongs to.

    * `attempt`: number of this attempt, from 1; None: not said.
    * `timeout_s`: seconds the caller will still wait; None: not said.
    """

    attempt: int | None = None
    timeout_s: float | None = None

    @property
    def repeated(self) -> bool:
        """Is this a retry? A service that is overloaded may refuse those first, and should not retry on its own."""
        return self.attempt is not None and self.attempt > 1


def outgoing(attempt: int, remaining_s: float = inf) -> list[tuple[str, str]]:
    """The headers to send with an attempt; the timeout is left out when there is no deadline, and is at least 1 ms."""
    headers = [(ATTEMPT, str(max(1, attempt)))]
    if isfinite(remaining_s):
        headers.append((TIMEOUT_MS, str(max(1, min(_LONGEST_MS, ceil(remaining_s * 1000.0))))))
    return headers


def incoming(headers: Iterable[tuple[str, str]]) -> Incoming:
    """Read what the caller sent. Never raises; what cannot be understood counts as not said.

    Own headers first, then `x-envoy-attempt-count`, `grpc-previous-rpc-attempts` (plus one), `amz-sdk-request: attempt=N`;
    `x-envoy-expected-rq-timeout-ms`, `grpc-timeout`.
    """
    found = {name.lower(): value.strip() for name, value in headers if name.lower() in _READ}
    attempts = (
        _whole(found.get(ATTEMPT.lower())),
        _whole(found.get("x-envoy-attempt-count")),
        _plus_one(_whole(found.get("grpc-previous-rpc-attempts"))),
        _aws_attempt(found.get("amz-sdk-request")),
    )
    timeouts = (
        _milliseconds(found.get(TIMEOUT_MS.lower())),
        _milliseconds(found.get("x-envoy-expected-rq-timeout-ms")),
        _grpc_timeout(found.get("grpc-timeout")),
    )
    return Incoming(
        next((a for a in attempts if a), None), next((t for t in timeouts if t is not None), None)
    )


_READ = frozenset(
    {
        ATTEMPT.lower(),
        TIMEOUT_MS.lower(),
        "amz-sdk-request",
        "grpc-previous-rpc-attempts",
        "grpc-timeout",
        "x-envoy-attempt-count",
        "x-envoy-expected-rq-timeout-ms",
    }
)


def _whole(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        return None
    return int(text)


def _plus_one(number: int | None) -> int | None:
    return None if number is None else number + 1


def _milliseconds(text: str | None) -> float | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 13:
        return None
    return int(text) / 1000.0


def _grpc_timeout(text: str | None) -> float | None:
    match = _GRPC_TIMEOUT.fullmatch(text) if text is not None else None
    return None if match is None else int(match[1]) * _GRPC_UNITS_S[match[2]]


def _aws_attempt(text: str | None) -> int | None:
    match = _AWS_ATTEMPT.search(text) if text is not None and len(text) < 200 else None
    return None if match is None else int(match[1])
