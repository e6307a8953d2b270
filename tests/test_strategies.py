"""The registry of strategies by name."""

from __future__ import annotations

import pytest

from seawall.backoff import Decorrelated, Exponential
from seawall.strategies import STRATEGIES, strategy


def test_every_name_takes_base_and_cap_and_has_a_summary() -> None:
    for name, entry in STRATEGIES.items():
        assert strategy(name, 0.1, 10.0) == entry.make(0.1, 10.0)
        assert entry.summary


def test_names_mean_what_they_say() -> None:
    assert strategy("full", 0.1, 20.0) == Exponential()
    assert strategy("decorrelated", 1, 2) == Decorrelated(1, 2)


def test_an_unknown_name_lists_the_nearest_and_all() -> None:
    with pytest.raises(ValueError, match=r"Did you mean 'decorrelated'\? Use one of: additive, "):
        strategy("Decorelated", 0.1, 1)
