"""The scenario: what is derived from it, and what cannot work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.drill.settings import Settings
from seawall.drill.strategies import CONTENDERS


def test_the_default_is_five_hundred_clients_and_all_strategies() -> None:
    settings = Settings()
    assert settings.clients == 500
    assert settings.strategies == tuple(CONTENDERS)
    assert settings.offered_per_s == pytest.approx(500.0)
    assert settings.think_s == pytest.approx(1.0)
    assert settings.run_s == 6.0


def test_the_load_stays_when_there_are_more_clients() -> None:
    few, many = Settings(clients=100), Settings(clients=10_000)
    assert few.offered_per_s == many.offered_per_s
    assert many.clients / many.think_s == pytest.approx(many.offered_per_s)


def test_the_outage_is_a_hang_a_crash_and_a_cold_start() -> None:
    assert Settings().script() == [
        (0.0, "up"),
        (1.0, "hang"),
        (pytest.approx(1.18), "down"),
        (2.5, "cold"),
        (3.0, "up"),
    ]


@given(timeout_s=st.floats(0.01, 5.0), stretch=st.floats(1.21, 50.0), warm_s=st.floats(0.1, 9.0))
def test_the_script_is_in_order(timeout_s: float, stretch: float, warm_s: float) -> None:
    settings = Settings(timeout_s=timeout_s, outage_s=timeout_s * stretch, warm_s=warm_s)
    times = [at_s for at_s, _ in settings.script()]
    assert times == sorted(times)
    assert settings.crash_at_s - settings.warm_s < timeout_s


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"clients": 0}, "clients must be at least 1, got 0"),
        ({"clients": 1_000_000}, "at most 20000, got 1000000"),
        ({"attempts": 0}, "attempts must be at least 1"),
        ({"capacity_per_s": 0}, "capacity_per_s must be in [1, 1e+06], got 0"),
        ({"capacity_per_s": float("nan")}, "capacity_per_s must be in"),
        ({"load": 0.0}, "load must be in [0.01, 10], got 0.0"),
        ({"port": 70_000}, "port must be in [0, 65535], got 70000"),
        ({"timeout_s": 0.0}, "timeout_s must be a finite number of seconds above 0"),
        ({"cap_s": 0.05, "base_s": 0.1}, "cap_s=0.05, base_s=0.1. Raise cap_s or lower base_s"),
        ({"outage_s": 0.2}, "Raise outage_s or lower timeout_s"),
        ({"after_s": 1.0}, "after_s must be >= 1.5 s, got 1"),
        ({"strategies": ()}, "strategies is empty. Name some of: immediate, fixed"),
        ({"strategies": ("ful",)}, "Did you mean 'full'?"),
        ({"strategies": ("full", "full")}, "each strategy runs once, got full, full"),
    ],
)
def test_what_cannot_work_is_refused_with_the_way_out(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as caught:
        Settings(**wrong)
    assert words in str(caught.value)


def test_numbers_must_be_numbers() -> None:
    with pytest.raises(TypeError, match="capacity_per_s must be a number, got '750'"):
        Settings(capacity_per_s="750")  # type: ignore[arg-type]


def test_settings_survive_json() -> None:
    settings = Settings(clients=7, strategies=("full", "fixed"), seed=5)
    assert Settings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings
