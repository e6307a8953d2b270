"""Answering on behalf of a caller: what its request says of attempt and deadline binds the calls made for it."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from math import inf

from seawall.propagation import Incoming, incoming
from seawall.scope import CURRENT, Scope
from seawall.world import REAL, World


@contextmanager
def serving(headers: Iterable[tuple[str, str]], world: World = REAL) -> Generator[Incoming]:
    """Read a request's headers and let the calls made inside the block see what they say.

    Nested calls stop at the caller's deadline. If the caller tells its attempts, it retries, so that nested layers do not: a
    fault at the bottom of three services is tried three times, not 27. Gives the `Incoming`, whose `repeated` tells a retry; a
    service that is overloaded may refuse those first. In a handler of any kind, sync or async:

        with serving(request.headers.items()) as said:
            ...
    """
    said = incoming(headers)
    now = world.now()
    deadline_at = inf if said.timeout_s is None else now + said.timeout_s
    scope = Scope(world, now, deadline_at, said.attempt or 0, said.attempt is not None)
    token = CURRENT.set(scope)
    try:
        yield said
    finally:
        scope.closed = True
        CURRENT.reset(token)
