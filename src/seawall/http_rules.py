"""What HTTP says about trying again: methods, statuses, and the hints of servers. Pure: no client, no socket.

`Retry-After` and its many relatives become one `Hint`; `rule_for` says which answers may be repeated for which requests.
"""

from __future__ import annotations

from seawall.hint import NO_HINT, Hint
from seawall.record import Record
from seawall.retry_after import parse_decimal, parse_retry_after

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

#: RFC 9110 §9.2.2: safe methods, PUT and DELETE have the same effect however often they are made
IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})


class StatusRule(Record):
    """What a status means for another attempt.

    * `repeat`: "any" request may be repeated, only a "repeatable" one (idempotent, or carrying an Idempotency-Key), or "never".
    * `throttled`: the callee says it is overloaded.
    """

    repeat: str = "never"
    throttled: bool = False


NEVER = StatusRule()
REPEATABLE = StatusRule(repeat="repeatable")
OVERLOADED = StatusRule(repeat="repeatable", throttled=True)
ANY = StatusRule(repeat="any")

RULES: dict[int, StatusRule] = {
    408: REPEATABLE,  # the server gave up waiting for the request
    421: REPEATABLE,  # misdirected: another connection may be the right one (RFC 9110 would allow any method)
    425: REPEATABLE,  # too early: the replay risk is over on the next try
    429: OVERLOADED,
    502: REPEATABLE,
    503: OVERLOADED,
    504: REPEATABLE,
    # Cloudflare: whether the origin may have executed the request
    520: REPEATABLE,  # unknown answer of the origin: may have
    521: ANY,  # origin refused the connection: has not
    522: REPEATABLE,  # connection timed out: may have
    523: ANY,  # origin unreachable: has not
    524: REPEATABLE,  # origin answered too late: may have
    525: ANY,  # TLS handshake failed: has not
    526: NEVER,  # invalid certificate: will not mend itself
    530: REPEATABLE,  # an error of the edge, with a 1xxx code of its own
}


def rule_for(status: int) -> StatusRule:
    """The rule for a status: 429, 502, 503, 504 and the like may be repeated; any other is final.

    500 is final by default: it says that the request met a fault, not that another try would not.
    """
    return RULES.get(status, NEVER)


def is_idempotent(method: str) -> bool:
    """May the request be made twice by its method alone?"""
    return method.upper() in IDEMPOTENT


def may_repeat(status: int, *, repeatable: bool) -> bool:
    """May a request that was answered with `status` be made again?

    `repeatable`: its method is idempotent, or it carries an Idempotency-Key. Statuses that prove that nothing was executed
    (Cloudflare 521, 523, 525) allow any request.
    """
    repeat = rule_for(status).repeat
    return repeat == "any" or (repeat == "repeatable" and repeatable)


def read_hint(headers: Iterable[tuple[str, str]], now_unix_s: float) -> Hint:
    """What the response's headers say about the next try. Never raises; what cannot be understood is ignored.

    In order of precedence: `grpc-retry-pushback-ms` (exact; negative or unreadable: stop), `x-should-retry` (true or false,
    overrides the status), then the first readable of `retry-after-ms`, `x-ms-retry-after-ms`, `Retry-After`, and
    `x-amz-retry-after` (milliseconds, followed at most 5 s beyond the own delay). All other delays are minima. Of a repeated
    header the more cautious value counts: the longer delay, and false before true.
    """
    found: dict[str, list[str]] = {}
    for name, value in headers:
        lowered = name.lower()
        if lowered in _NAMES:
            found.setdefault(lowered, []).append(value)
    if not found:
        return NO_HINT
    pushback = found.get("grpc-retry-pushback-ms")
    if pushback is not None:
        return _pushback(pushback)
    retry = _should_retry(found.get("x-should-retry", []))
    delay_s = _delay_s(found, now_unix_s)
    clamp_s = None
    if delay_s is None:
        said = [_whole(value.strip(" \t")) for value in found.get("x-amz-retry-after", [])]
        longest_ms = max((each for each in said if each is not None), default=None)
        if longest_ms is not None:
            delay_s, clamp_s = longest_ms / 1000.0, 5.0
    if delay_s is None and retry is None:
        return NO_HINT
    return Hint(delay_s=delay_s, retry=retry, stop=retry is False, clamp_s=clamp_s)


_NAMES = frozenset(
    {
        "date",
        "grpc-retry-pushback-ms",
        "retry-after",
        "retry-after-ms",
        "x-amz-retry-after",
        "x-ms-retry-after-ms",
        "x-should-retry",
    }
)


def _should_retry(values: list[str]) -> bool | None:
    """Lower case only, as those who send it and those who read it have it."""
    said = {value.strip(" \t") for value in values}
    return False if "false" in said else (True if "true" in said else None)


def _delay_s(found: dict[str, list[str]], now_unix_s: float) -> float | None:
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        said = [parse_decimal(value.strip(" \t")) for value in found.get(name, [])]
        longest_ms = max((each for each in said if each is not None), default=None)
        if longest_ms is not None:  # else unreadable, or a date, which is no number of milliseconds
            return longest_ms / 1000.0
    if "retry-after" in found:
        return parse_retry_after(
            ", ".join(found["retry-after"]), now_unix_s, found.get("date", [""])[-1]
        )
    return None


def _pushback(values: list[str]) -> Hint:
    """Read as gRFC A6 says: one whole number of milliseconds below 2^31 is an exact delay; anything else means "do not retry"."""
    milliseconds = _whole(values[0].strip(" ")) if len(values) == 1 else None
    if milliseconds is None or milliseconds >= 2**31:
        return Hint(stop=True)
    return Hint(delay_s=milliseconds / 1000.0, exact=True)


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None
