"""Idempotency keys: one for each logical call, the same on every attempt."""

from __future__ import annotations

TYPE_CHECKING = False  # the name that type checkers take for true; importing `typing` costs 9 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HEADER = "Idempotency-Key"

#: headers that mean the same to some vendors; a request that carries one is safe to repeat
KEY_HEADERS = frozenset(
    {"idempotency-key", "x-idempotency-key", "paypal-request-id", "i-twilio-idempotency-token"}
)


def issue_key(random_bytes: Callable[[int], bytes] | None = None) -> str:
    """A new key: a random UUID (RFC 9562, version 4) as text.

    `random_bytes` gives that many random bytes; default: the operating system's. Keys must not be guessable or repeat in forked
    children, so they do not come from the generator that makes jitter.
    """
    if random_bytes is None:
        from os import urandom

        random_bytes = urandom
    raw = bytearray(random_bytes(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def as_header(key: str) -> str:
    """The key as a quoted structured-field string, as draft-ietf-httpapi-idempotency-key-header-07 has it.

    Many servers expect it bare (Stripe and nearly all SDKs send it so); adapters send it bare unless asked.
    Raises `ValueError` for characters that a structured field cannot hold.
    """
    if not key or not all(" " <= c <= "~" for c in key):
        raise ValueError(
            f"an Idempotency-Key must be printable ASCII and not empty, got {key!r}. Use issue_key()."
        )
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def carries_key(headers: Iterable[tuple[str, str]]) -> bool:
    """Does the request already carry a key of its own, under any of the usual names?"""
    return any(name.lower() in KEY_HEADERS and value.strip() for name, value in headers)
