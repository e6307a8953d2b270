"""Rows: what is promised and whether it holds."""

from __future__ import annotations

from bench.row import Row


def test_a_ratio_within_the_goal_holds() -> None:
    row = Row(case="call", ours=30.0, peer=10.0, goal=3)
    assert (row.ratio, row.holds, row.promise) == (3.0, True, "≤ 3")


def test_a_ratio_above_the_goal_does_not() -> None:
    assert Row(case="call", ours=31.0, peer=10.0, goal=3).holds is False


def test_a_limit_counts_the_difference() -> None:
    row = Row(case="import", ours=26.0, peer=12.0, unit="ms", limit=15)
    assert (row.holds, row.promise) == (True, "≤ peer + 15 ms")
    assert Row(case="import", ours=28.0, peer=12.0, unit="ms", limit=15).holds is False


def test_an_absent_peer_proves_nothing() -> None:
    row = Row(case="call", ours=30.0, peer=None, goal=3)
    assert (row.ratio, row.holds) == (None, None)


def test_without_a_goal_nothing_is_promised() -> None:
    assert Row(case="call", ours=30.0, peer=10.0).holds is None


def test_json_has_the_agreed_columns() -> None:
    row = Row(case="call", ours=30.04, peer=10.0, goal=3, medians=(31.26, 11.0)).as_dict()
    assert row == {
        "case": "call",
        "ours": 30.0,
        "peer": 10.0,
        "unit": "ns",
        "ratio": 3.004,
        "goal": "≤ 3",
        "holds": False,
        "medians": [31.3, 11.0],
    }
