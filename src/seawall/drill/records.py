"""What a run leaves behind: plain records, times in seconds from the start of the run."""

from __future__ import annotations

from typing import Any

from seawall.record import Record


class RunRecord(Record):
    """One run of one strategy.

    At the server, for each request in the order of arrival: `arrived_s`, `ended_s` (None: never) and `fate`, one of
    `desk.WAITING` … `desk.CRASHED`. At the clients: when calls were `begun_s`, when they succeeded or failed for good, and
    how many requests were `sent`.
    """

    strategy: str
    arrived_s: list[float]
    ended_s: list[float | None]
    fate: list[int]
    begun_s: list[float]
    succeeded_s: list[float]
    failed_s: list[float]
    sent: int

    @classmethod
    def merge(
        cls, strategy: str, server: dict[str, Any], clients: list[dict[str, Any]]
    ) -> RunRecord:
        """From the reports of the server and of all client processes."""
        times: dict[str, list[float]] = {
            field: sorted(at_s for report in clients for at_s in report[field])
            for field in ("begun_s", "succeeded_s", "failed_s")
        }
        return cls(
            strategy=strategy,
            arrived_s=server["arrived_s"],
            ended_s=server["ended_s"],
            fate=server["fate"],
            sent=sum(report["sent"] for report in clients),
            **times,
        )


class Machine(Record):
    """What the machine itself does to a burst, measured before the runs: all clients fire in one instant. Medians of a few.

    * `processors`: cores that we may use. * `client_processes`: of the drill.
    * `smear_s`: time in which the middle 90 % of the burst arrived. * `burst_peak`: most arrivals within 20 ms.
    * `most_per_s`: requests per second that the clients carry.
    """

    processors: int
    client_processes: int
    clients: int
    smear_s: float
    burst_peak: int
    most_per_s: float
