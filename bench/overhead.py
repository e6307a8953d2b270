"""What a call costs when it is made through `seawall.retry`, and what the import costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import seawall
from bench.benchmark import Benchmark
from bench.peers import PEERS, Decorator, Fn, settled
from bench.row import Row
from bench.timing import Case, Effort, measure

DEFAULTS = "all defaults"
OFF = "deadline, budget and guard off"
PLAIN = "plain"


def answer() -> int:
    """The user's function."""
    return 1


async def aanswer() -> int:
    """The user's coroutine function."""
    return 1


def failing_once() -> Fn:
    """A function whose every second call succeeds."""
    failed = False

    def flaky() -> int:
        nonlocal failed
        failed = not failed
        if failed:
            raise ValueError("no")
        return 1

    return flaky


def afailing_once() -> Fn:
    """`failing_once` as a coroutine function."""
    flaky = failing_once()

    async def aflaky() -> Any:
        return flaky()

    return aflaky


def pass_through(fn: Fn) -> Fn:
    """The least that a decorator can do."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return wrapper


def apass_through(fn: Fn) -> Fn:
    """`pass_through` for coroutines."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await fn(*args, **kwargs)

    return wrapper


def by_hand(fn: Fn) -> Fn:
    """The loop that people write."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for number in range(3):
            try:
                return fn(*args, **kwargs)
            except ValueError:
                if number == 2:
                    raise
        raise AssertionError

    return wrapper


def aby_hand(fn: Fn) -> Fn:
    """`by_hand` for coroutines; between attempts it lets other tasks run, as a wait of any length does."""
    from asyncio import sleep

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        for number in range(3):
            try:
                return await fn(*args, **kwargs)
            except ValueError:
                if number == 2:
                    raise
                await sleep(0)
        raise AssertionError

    return wrapper


def with_defaults() -> Decorator:
    """As a user gets it; only the wait is taken out, as it is for the peers."""
    return seawall.retry(on=ValueError, attempts=3, backoff=seawall.Constant(0.0))


def with_all_off() -> Decorator:
    """Nothing but the repetition."""
    return seawall.retry(
        on=ValueError,
        attempts=3,
        backoff=seawall.Constant(0.0),
        deadline_s=None,
        budget=None,
        guard=False,
    )


def calls(
    title: str,
    effort: Effort,
    *,
    fresh: Callable[[], Fn],
    plain: Decorator,
    awaits: bool,
    goals: dict[str, float],
    peers_goal: float | None = 1,
    sleeps: bool = True,
) -> list[Row]:
    """One kind of call: ours against the plain wrapper, and ours with all defaults on against the peers."""
    with settled(sleeps=sleeps) as modules:
        made: dict[str, Fn] = {
            PLAIN: plain(fresh()),
            DEFAULTS: with_defaults()(fresh()),
            OFF: with_all_off()(fresh()),
        }
        asked = [(p, p.coroutine if awaits else p.sync) for p in PEERS]
        for peer, make in asked:
            if make is not None and peer.name in modules:
                made[peer.name] = make(modules[peer.name])(fresh())
        taken = measure([Case(name, call, awaits) for name, call in made.items()], effort)

    def row(name: str, other: str, shown: str, goal: float | None) -> Row:
        ours, peer = taken[name], taken.get(other)
        return Row(
            case=f"{title}, {name} / {shown}",
            ours=ours.least,
            peer=None if peer is None else peer.least,
            goal=goal,
            medians=None if peer is None else (ours.median, peer.median),
        )

    return [
        *(row(name, PLAIN, plain.__name__, goals.get(name)) for name in (DEFAULTS, OFF)),
        *(
            row(DEFAULTS, peer.name, peer.name, peers_goal)
            for peer, make in asked
            if make is not None
        ),
    ]


def frames(effort: Effort, depth: int = 50) -> Row:
    """What each frame above a failing call adds, by a call from the bottom of a recursion."""

    def under(frames_above: int, call: Fn) -> Any:
        return call() if frames_above == 0 else under(frames_above - 1, call)

    def growth(call: Fn) -> list[Case]:
        name = "ours" if call is ours else "plain"
        return [Case(f"{name} {n}", partial(under, n, call)) for n in (0, depth)]

    ours, plain = with_defaults()(failing_once()), by_hand(failing_once())
    taken = measure([*growth(ours), *growth(plain)], effort)
    each = {
        n: (taken[f"{n} {depth}"].least - taken[f"{n} 0"].least) / depth for n in ("ours", "plain")
    }
    return Row(
        case="one failure, each frame above it / by_hand", ours=each["ours"], peer=each["plain"]
    )


def imports(effort: Effort) -> list[Row]:
    """Milliseconds of a fresh interpreter that imports one thing and ends, against one that imports nothing."""
    least = dict.fromkeys(["pass", "import seawall"], float("inf"))
    for peer in PEERS:
        if peer.version is not None:
            least[f"import {peer.module}"] = float("inf")
    for _ in range(effort.processes):
        for code in least:
            start = perf_counter()
            subprocess.run([sys.executable, "-I", "-c", code], check=True)
            least[code] = min(least[code], (perf_counter() - start) * 1e3)
    bare, ours = least["pass"], least["import seawall"]
    rows = [Row(case="import / bare Python", ours=ours, peer=bare, unit="ms", limit=15)]
    for peer in PEERS:
        theirs = least.get(f"import {peer.module}")
        case = f"import, over bare Python / {peer.name}"
        over = None if theirs is None else theirs - bare
        rows.append(Row(case=case, ours=ours - bare, peer=over, unit="ms", goal=1))
    return rows


def run(effort: Effort) -> list[Row]:
    """All rows."""
    sync, coroutine = {"awaits": False}, {"awaits": True}
    return [
        *calls(
            "success",
            effort,
            fresh=lambda: answer,
            plain=pass_through,
            goals={DEFAULTS: 3, OFF: 1.3},
            **sync,
        ),
        *calls(
            "async success",
            effort,
            fresh=lambda: aanswer,
            plain=apass_through,
            goals={DEFAULTS: 2, OFF: 1.3},
            **coroutine,
        ),
        *calls(
            "one failure",
            effort,
            fresh=failing_once,
            plain=by_hand,
            goals={DEFAULTS: 5},
            **sync,
        ),
        *calls(
            "one failure, sleep(0) left out",
            effort,
            fresh=failing_once,
            plain=by_hand,
            goals={DEFAULTS: 5},
            peers_goal=None,
            sleeps=False,
            **sync,
        ),
        *calls(
            "async one failure",
            effort,
            fresh=afailing_once,
            plain=aby_hand,
            goals={DEFAULTS: 5},
            **coroutine,
        ),
        frames(effort),
        *imports(effort),
    ]


BENCHMARK = Benchmark(
    name="overhead",
    about="what a call through seawall.retry costs, and what the import costs",
    method=(
        "Nanoseconds for one call, the least of many short rounds in which all cases of a group take turns in one process; "
        "the peers do the same job: ValueError, three attempts, no wait, logging off. Some of them "
        "call time.sleep(0) all the same; the rows that say so show what remains without it. The async calls are awaited in one "
        "running loop. Imports are whole fresh interpreters, in turns with ones that import nothing."
    ),
    run=run,
)
