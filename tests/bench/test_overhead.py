"""The benchmark of overhead runs, whoever is installed; what it measures is not a test's business."""

from __future__ import annotations

from bench import overhead
from bench.peers import PEERS
from bench.timing import Effort


def test_it_covers_every_promise_and_every_peer() -> None:
    rows = overhead.run(Effort(rounds=1, round_s=1e-4, processes=1))
    promised = {row.case: row.promise for row in rows if row.promise not in ("", "≤ 1")}
    assert promised == {
        "success, all defaults / pass_through": "≤ 3",
        "success, deadline, budget and guard off / pass_through": "≤ 1.3",
        "async success, all defaults / apass_through": "≤ 2",
        "async success, deadline, budget and guard off / apass_through": "≤ 1.3",
        "one failure, all defaults / by_hand": "≤ 5",
        "one failure, sleep(0) left out, all defaults / by_hand": "≤ 5",
        "async one failure, all defaults / aby_hand": "≤ 5",
        "import / bare Python": "≤ peer + 15 ms",
    }
    for peer in PEERS:
        mine = [row for row in rows if row.case.endswith(f"/ {peer.name}")]
        kinds = 1 + 3 * (peer.sync is not None) + 2 * (peer.coroutine is not None)
        assert len(mine) == kinds
        assert all((row.peer is None) == (peer.version is None) for row in mine)
