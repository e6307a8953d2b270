"""Other retry libraries, each set to the same job: on ValueError, three attempts, no wait, logging off.

They are installed by `make bench` (bench/requirements.txt). One that is missing is shown as absent.
"""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from unittest.mock import patch

Fn = Callable[..., Any]
Decorator = Callable[[Fn], Fn]


@dataclass(frozen=True)
class Peer:
    """`sync` and `coroutine` make a decorator from the imported module; None where the library has no such thing."""

    name: str
    module: str
    sync: Callable[[Any], Decorator] | None
    coroutine: Callable[[Any], Decorator] | None
    settle: Callable[[Any, ExitStack], object] | None = None  #: no logging, no waits

    @property
    def version(self) -> str | None:
        """What is installed, or None."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None


def _tenacity(m: Any) -> Any:
    return m.retry(stop=m.stop_after_attempt(3), retry=m.retry_if_exception_type(ValueError))


def _stamina(m: Any) -> Any:
    return m.retry(on=ValueError, attempts=3, wait_initial=0, wait_max=0, wait_jitter=0)


def _backoff(m: Any) -> Any:
    wait = {"interval": 0, "jitter": None}
    return m.on_exception(m.constant, ValueError, max_tries=3, logger=None, **wait)


def _opnieuw(retry: Callable[..., Decorator]) -> Decorator:
    window = {"retry_window_after_first_call_in_seconds": 1}
    return retry(retry_on_exceptions=ValueError, max_calls_total=3, **window)


def _google(retry: Callable[..., Decorator]) -> Decorator:
    def worth(error: Exception) -> bool:
        return isinstance(error, ValueError)

    return retry(predicate=worth, initial=0, maximum=0, timeout=60)


def _hyx(m: Any) -> Any:
    return m.retry(on=ValueError, attempts=3, backoff=0)


def _stamina_silent(m: Any, stack: ExitStack) -> None:
    before = m.instrumentation.get_on_retry_hooks()
    stack.callback(m.instrumentation.set_on_retry_hooks, before)
    m.instrumentation.set_on_retry_hooks(())


def _opnieuw_at_once(_: Any, stack: ExitStack) -> None:
    stack.enter_context(importlib.import_module("opnieuw.test_util").retry_immediately())


def _no_sleep(_: float) -> None:
    pass


PEERS = (
    Peer("tenacity", "tenacity", _tenacity, _tenacity),
    Peer("stamina", "stamina", _stamina, _stamina, _stamina_silent),
    Peer("backoff", "backoff", _backoff, _backoff),
    Peer("backon", "backon", _backoff, _backoff),
    Peer(
        "opnieuw",
        "opnieuw",
        lambda m: _opnieuw(m.retry),
        lambda m: _opnieuw(m.retry_async),
        _opnieuw_at_once,
    ),
    Peer(
        "google-api-core",
        "google.api_core.retry",
        lambda m: _google(m.Retry),
        lambda m: _google(m.AsyncRetry),
    ),
    Peer("hyx", "hyx.retry", None, _hyx),
)


@contextmanager
def settled(*, sleeps: bool = True) -> Generator[dict[str, Any]]:
    """The modules of the installed peers by name, set to neither log nor wait.

    Some of them call `time.sleep(0)` even so, which on many systems costs more than all the rest; without `sleeps` it
    does nothing, for them and for us.
    """
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings(action="ignore"))  # theirs, not ours
        if not sleeps:
            stack.enter_context(patch.object(time, "sleep", _no_sleep))
        modules: dict[str, Any] = {}
        for peer in PEERS:
            if peer.version is None:
                continue
            module = modules[peer.name] = importlib.import_module(peer.module)
            if peer.settle is not None:
                peer.settle(module, stack)
        yield modules
