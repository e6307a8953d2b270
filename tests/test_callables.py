"""What kind of callable it is, decided at decoration."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from functools import partial
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock

import pytest

from seawall.callables import kind_of, name_of


def sync() -> None: ...
async def coroutine() -> None: ...
def generator() -> Generator[int]:
    yield 1


async def async_generator() -> AsyncGenerator[int]:
    yield 1


class Callable:
    def __call__(self) -> None: ...
    def method(self) -> None: ...
    async def amethod(self) -> None: ...


class AsyncCallable:
    async def __call__(self) -> None: ...


class GeneratorCallable:
    def __call__(self) -> Generator[int]:
        yield 1


@pytest.mark.parametrize(
    ("fn", "kind"),
    [
        (sync, "sync"),
        (len, "sync"),
        (int, "sync"),
        (Callable, "sync"),
        (AsyncCallable, "sync"),  # the class itself makes an object
        (Callable(), "sync"),
        (Callable().method, "sync"),
        (lambda: 1, "sync"),
        (Mock(), "sync"),
        (MagicMock(), "sync"),
        (coroutine, "async"),
        (Callable().amethod, "async"),
        (AsyncCallable(), "async"),
        (AsyncMock(), "async"),
        (partial(coroutine), "async"),
        (partial(partial(AsyncCallable())), "async"),
        (generator, "generator"),
        (GeneratorCallable(), "generator"),
        (partial(generator), "generator"),
        (async_generator, "async generator"),
    ],
    ids=repr,
)
def test_kinds(fn: Any, kind: str) -> None:
    assert kind_of(fn) == kind


def test_everything_has_a_name() -> None:
    assert name_of(sync) == "sync"
    assert name_of(partial(sync)) == "partial"
    assert name_of(Callable()) == "Callable"
