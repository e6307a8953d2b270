"""The drill itself: start the processes, measure the machine, run each strategy, end everything."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any, Self

from seawall.drill.errors import DrillError
from seawall.drill.limits import ensure_descriptors
from seawall.drill.metrics import Metrics, machine_from, measure
from seawall.drill.process import Process
from seawall.drill.records import Machine, RunRecord
from seawall.drill.settings import Settings
from seawall.record import Record

CLIENT = "aiohttp"
LEAD_S = 0.2  # between the order to start and the start, so that all processes are ready
TICK_S = 0.1
MOST_CLIENT_PROCESSES = 4
BURSTS = 3  # one alone says little; their median is told
MANY_CLIENTS = 2000  # whose bursts take seconds


class Progress(Record):
    """How far the drill is. `step`: what is being done. `done_s`, `total_s`: of the whole, in seconds."""

    step: str
    done_s: float
    total_s: float


class Result(Record):
    """A drill: its scenario, the machine, and for each strategy the record and the figures."""

    settings: Settings
    machine: Machine
    runs: tuple[RunRecord, ...]
    metrics: tuple[Metrics, ...]
    took_s: float


Tell = Callable[[Progress], None]


def drill(settings: Settings, tell: Tell = lambda progress: None) -> Result:
    """Run the whole drill; takes about (run + 0.3 s) × strategies + 2 s.

    `tell` is called about ten times a second. Raises `DrillError` if the drill cannot run here. Whatever ends it, the server
    and the clients end with it.
    """
    started_at = time.monotonic()
    if find_spec(CLIENT) is None:
        raise DrillError(
            f"the drill's clients need the package {CLIENT!r}: pip install {CLIENT}, or 'seawall[all]'."
        )
    ensure_descriptors(settings.clients)
    with _Crew(settings, tell) as crew:
        machine = crew.calibrate()
        runs = [crew.run(name) for name in settings.strategies]
    return Result(
        settings=settings,
        machine=machine,
        runs=tuple(runs),
        metrics=tuple(measure(run, settings) for run in runs),
        took_s=round(time.monotonic() - started_at, 3),
    )


class _Crew:
    """The server and the client processes of one drill."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self._settings = settings
        self._tell = tell
        self._open = ExitStack()
        self._processors = _processors()
        self._bursts = BURSTS if settings.clients <= MANY_CLIENTS else 1
        self._burst_s = (
            LEAD_S + settings.clients / 2000
        )  # time for all to connect, or to be answered
        runs_s = (settings.run_s + LEAD_S) * len(settings.strategies)
        self._total_s = (self._bursts + 1) * self._burst_s + runs_s
        self._done_s = 0.0

    def __enter__(self) -> Self:
        with self._open:  # ends what has been started if the rest cannot
            self._server = self._start("server")
            count = min(MOST_CLIENT_PROCESSES, max(1, self._processors - 1), self._settings.clients)
            self._clients = [self._start("clients") for _ in range(count)]
            self._server.ask({"do": "listen", "port": self._settings.port})
            self._prepare()
            self._open = self._open.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _start(self, part: str) -> Process:
        process = Process(f"seawall.drill.{part}")
        self._open.callback(process.close)
        return process

    def _prepare(self) -> None:
        """Tell each client process which clients are its own."""
        whole, count = self._settings.clients, len(self._clients)
        edges = [whole * place // count for place in range(count + 1)]
        for process, first, end in zip(self._clients, edges, edges[1:], strict=False):
            process.send(
                {
                    "do": "prepare",
                    "settings": self._settings.as_dict(),
                    "first": first,
                    "count": end - first,
                }
            )
        for process in self._clients:
            process.receive()

    def calibrate(self) -> Machine:
        """All clients fire in one instant at a server without limit: how far apart do they arrive?"""
        port = self._begin(time.monotonic(), None, [(0.0, "up")])
        first_at = time.monotonic() + self._burst_s
        moments = [first_at + place * self._burst_s for place in range(self._bursts)]
        with self._progress("calibration"):
            self._work({"do": "burst", "port": port, "moments": moments}, moments[-1])
        return machine_from(
            self._server.ask({"do": "report"})["arrived_s"],
            self._settings.clients,
            self._processors,
            len(self._clients),
        )

    def run(self, strategy: str) -> RunRecord:
        """One strategy through the scenario."""
        settings = self._settings
        start_at = time.monotonic() + LEAD_S
        port = self._begin(start_at, settings.capacity_per_s, settings.script())
        message = {"do": "run", "port": port, "strategy": strategy, "start_at": start_at}
        with self._progress(strategy):
            reports = self._work(message, start_at + settings.run_s)
        return RunRecord.merge(strategy, self._server.ask({"do": "report"}), reports)

    def _begin(
        self, start_at: float, capacity_per_s: float | None, script: list[tuple[float, str]]
    ) -> int:
        """A fresh socket and a fresh desk; the port."""
        port: int = self._server.ask({"do": "listen", "port": self._settings.port})["port"]
        self._server.ask(
            {
                "do": "begin",
                "start_at": start_at,
                "capacity_per_s": capacity_per_s,
                "script": script,
            }
        )
        return port

    def _work(self, message: dict[str, Any], until: float) -> list[dict[str, Any]]:
        """Let all client processes do this, tell of the progress meanwhile, and collect their reports."""
        for process in self._clients:
            process.send(message)
        began_at, before_s = time.monotonic(), self._done_s
        while (now := time.monotonic()) < until:
            self._say(before_s + now - began_at)
            for process in (self._server, *self._clients):
                process.check()
            time.sleep(min(TICK_S, until - now))
        reports = [process.receive() for process in self._clients]
        self._done_s = before_s + time.monotonic() - began_at
        return reports

    @contextmanager
    def _progress(self, step: str) -> Generator[None]:
        self._step = step
        self._say(self._done_s)
        yield
        self._say(self._done_s)

    def _say(self, done_s: float) -> None:
        self._tell(Progress(self._step, min(done_s, self._total_s), self._total_s))


def _processors() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
