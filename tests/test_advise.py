"""The advice, and the figures of its comparison table."""

from __future__ import annotations

from random import Random
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.advise import TRAITS, Advice, Contention, Needs, Trait, advise
from seawall.backoff import DecorrelatedClamped, Exponential
from seawall.explain import herd
from seawall.strategies import STRATEGIES, strategy

CASES: list[tuple[Needs, str]] = [
    (Needs(), "full"),
    (Needs(contention="low"), "full"),
    (Needs(floor=True), "full"),
    (Needs(floor=True, contention="low"), "decorrelated-clamped"),
    (Needs(predictable=True), "equal"),
    (Needs(predictable=True, contention="low"), "temporal"),
    (Needs(predictable=True, floor=True), "equal"),
    (Needs(predictable=True, floor=True, contention="low"), "temporal"),
]


@pytest.mark.parametrize(("needs", "name"), CASES)
def test_each_need_has_its_strategy_and_reasons(needs: Needs, name: str) -> None:
    advice = advise(needs)
    assert advice.name == name
    assert name in STRATEGIES
    assert len(advice.reasons) >= 2


def test_the_default_advice_is_the_library_default() -> None:
    assert advise(Needs()).backoff == Exponential()


def test_a_needed_floor_holds_and_the_clients_stay_apart() -> None:
    backoff = advise(Needs(floor=True)).backoff
    assert backoff.lowest_s == 0.1
    assert backoff.step(1, backoff.start, 0.9)[0] > backoff.step(1, backoff.start, 0.1)[0]


def test_base_and_cap_arrive() -> None:
    needs = Needs(floor=True, contention="low", base_s=1, cap_s=7)
    assert advise(needs).backoff == DecorrelatedClamped(1, 7)


def test_server_hints_change_what_to_set_beside() -> None:
    assert advise(Needs(server_hints=True)).beside[0].startswith("Server hints: ")
    assert "throttled_backoff" in advise(Needs()).beside[0]
    assert any("retry budget" in line for line in advise(Needs()).beside)


def test_contention_is_low_or_high() -> None:
    with pytest.raises(ValueError, match=r"contention 'medium' is unknown.* Use one of: high, low"):
        Needs(contention=cast("Contention", "medium"))


@given(
    floor=st.booleans(),
    contention=st.sampled_from(["low", "high"]),
    predictable=st.booleans(),
    base_s=st.floats(0.001, 5),
)
def test_the_advice_keeps_its_word(
    floor: bool, contention: Contention, predictable: bool, base_s: float
) -> None:
    """A floor is a floor, a predictable wait stays within a factor of two, and nothing piles up at the cap."""
    needs = Needs(floor, contention, predictable, base_s=base_s, cap_s=20)
    backoff = advise(needs).backoff
    lowest_s, highest_s = (backoff.step(40, 20.0, u)[0] for u in (0.0, 0.999))
    if floor:
        assert lowest_s > 0
        assert backoff.step(1, backoff.start, 0.0)[0] >= base_s / 2
    if predictable:
        assert highest_s <= 2 * lowest_s
    assert lowest_s < highest_s < 20


# --- The comparison table -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trait", TRAITS, ids=[trait.name for trait in TRAITS])
def test_spread_pile_and_memory_are_what_the_formula_does(trait: Trait) -> None:
    """Base 1 s, cap 10 s, after a long run-in."""
    backoff = strategy(trait.name, 1, 10)
    random = Random(5)
    delays_s = backoff.delays_s(20_000, (random.random() for _ in range(20_000)))[1000:]
    assert (max(delays_s) - min(delays_s)) / 10 == pytest.approx(trait.spread, abs=0.01)
    at_cap = sum(d == 10.0 for d in delays_s) / len(delays_s)
    assert at_cap == pytest.approx(trait.at_cap, abs=0.015)
    assert (backoff.step(1, backoff.start, 0.3)[1] != backoff.start) == trait.memory


@pytest.mark.parametrize("trait", TRAITS, ids=[trait.name for trait in TRAITS])
def test_the_herd_peak_is_what_a_herd_does(trait: Trait) -> None:
    """Mean of 10 runs; the table has the mean of 40."""
    peaks = [
        herd(strategy(trait.name, 1, 10), 8, 1000, Random(seed).random).peak for seed in range(10)
    ]
    assert sum(peaks) / 10 == pytest.approx(trait.herd_peak, rel=0.06)


LEVELS = {"level": 1.0, "level/2": 0.5, "level·3/4": 0.75, "level·4/5": 0.8, "0": 0.0, "base": 0.25}


@pytest.mark.parametrize("trait", TRAITS, ids=[trait.name for trait in TRAITS])
def test_the_shortest_wait_is_the_one_of_draw_zero(trait: Trait) -> None:
    """At the third retry the level is 4 s with base 1 s."""
    backoff = strategy(trait.name, 1, 100)
    shortest_s = backoff.step(3, 4.0, 0.0)[0]
    assert shortest_s == pytest.approx(4.0 * LEVELS[trait.shortest])


def test_the_figures_in_the_reasons_are_those_of_the_table() -> None:
    """A figure that changes in the table must change in the sentences."""
    table = {trait.name: trait for trait in TRAITS}
    sentences = " ".join(line for needs, _ in CASES for line in advise(needs).reasons)
    for name in ("none", "full", "equal", "decorrelated"):
        assert f"{table[name].calls}" in sentences
    for name in ("full", "equal", "temporal", "decorrelated-clamped"):
        assert f"{table[name].herd_peak}" in sentences
    assert type(advise(Needs())) is Advice
