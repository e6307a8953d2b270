"""A hard time limit for blocking code: a worker thread that is left behind when the time is up."""

from __future__ import annotations

import contextvars
import threading

from seawall.drivers.sync import Call, drive
from seawall.effects import Within
from seawall.outcome import Outcome
from seawall.world import World

_numbers = iter(range(1, 1 << 62))


def drive_in_thread(effect: Within, call: Call, world: World) -> Outcome:
    """Run the steps in a daemon thread, for `limit_s` seconds at most; then leave it behind and say so.

    The thread inherits the caller's context. What it is doing when the time is up cannot be stopped; the scope's deadline
    keeps it from beginning another attempt or another sleep. A `BaseException` in the thread is raised here.
    """
    done = threading.Event()
    results: list[Outcome] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            results.append(drive(effect.steps, call, world))
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()

    context = contextvars.copy_context()
    name = f"seawall-timeout-{next(_numbers)}"
    threading.Thread(target=context.run, args=(work,), name=name, daemon=True).start()
    if not world.wait(done, effect.limit_s):
        return effect.expired(f"Thread {name}")
    if raised:
        try:
            raise raised[0]
        finally:
            raised.clear()
    return results[0]
