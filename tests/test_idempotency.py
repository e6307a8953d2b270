"""Idempotency keys: fresh, unguessable, well-formed, and recognised when the user brings one."""

from __future__ import annotations

from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.idempotency import as_header, carries_key, issue_key


@given(st.binary(min_size=16, max_size=16))
def test_a_key_is_a_version_4_uuid_whatever_the_bytes(raw: bytes) -> None:
    """RFC 9562 §5.4: version and variant are fixed, the other 122 bits are the random ones."""
    text = issue_key(lambda size: raw[:size])
    key = UUID(text)
    assert text == str(key)
    assert key.version == 4
    assert key.variant == RFC_4122
    fixed = (0xF << 76) | (0b11 << 62)
    assert key.int & ~fixed == int.from_bytes(raw) & ~fixed


def test_keys_do_not_repeat() -> None:
    assert len({issue_key() for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    ("key", "header"),
    [
        ("8e03978e-40d5-43dd-bc93-6894a57f9324", '"8e03978e-40d5-43dd-bc93-6894a57f9324"'),
        ('a"b', '"a\\"b"'),
        ("a\\b", '"a\\\\b"'),
        (" ", '" "'),
    ],
)
def test_as_a_structured_field_string(key: str, header: str) -> None:
    assert as_header(key) == header


@pytest.mark.parametrize("key", ["", "a\nb", "é", "\x7f", "a\r\nX-Injected: 1"])
def test_what_a_structured_field_cannot_hold_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"printable ASCII.*issue_key"):
        as_header(key)


@pytest.mark.parametrize(
    "name",
    [
        "Idempotency-Key",
        "IDEMPOTENCY-KEY",
        "x-idempotency-key",
        "PayPal-Request-Id",
        "I-Twilio-Idempotency-Token",
    ],
)
def test_the_users_own_key_counts(name: str) -> None:
    assert carries_key([("Accept", "*/*"), (name, "k")])


def test_an_empty_key_is_none() -> None:
    assert not carries_key([("Idempotency-Key", ""), ("Idempotency-Key", "  ")])
    assert not carries_key([("X-Request-Id", "k")])
    assert not carries_key([])
