"""The sentences follow from the numbers: other numbers, other sentences."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seawall.drill.metrics import Metrics
from seawall.drill.records import Machine
from seawall.drill.settings import Settings
from seawall.drill.strategies import CONTENDERS
from seawall.drill.verdict import verdict

SETTINGS = Settings()
MACHINE = Machine(2, 1, 500, 0.045, 230, 9000.0)
CALM: dict[str, Any] = {
    "calls": 2500,
    "succeeded": 2400,
    "failed": 100,
    "unfinished": 0,
    "arrivals": 2600,
    "amplification": 1.04,
    "peak": 20,
    "peak_at_s": 1.2,
    "peak_after": 15,
    "useful_before_per_s": 500.0,
    "useful_outage_per_s": 0.0,
    "useful_after_per_s": 490.0,
    "load_after_per_s": 500.0,
    "wasted": 0.0,
    "recovered_s": 0.0,
}
STUCK = {"recovered_s": None, "load_after_per_s": 1200.0, "wasted": 1.0, "amplification": 4.5}


def figures(name: str, **changed: Any) -> Metrics:
    return Metrics(strategy=name, **{**CALM, **changed})


def said(*metrics: Metrics, machine: Machine = MACHINE) -> str:
    return "\n".join(verdict(SETTINGS, machine, metrics))


def test_without_a_storm_none_is_claimed() -> None:
    text = said(figures("immediate"), figures("full"))
    assert "No storm: no strategy sent more than 1.04 requests for each call." in text
    assert "Every strategy had recovered 0 s after the outage." in text
    assert "Not recovered" not in text


def test_the_worst_storm_is_the_one_with_most_requests() -> None:
    text = said(
        figures("immediate", arrivals=9000, amplification=4.7, peak=180),
        figures("equal", arrivals=5000, amplification=4.8),
    )
    assert "Immediate retry made the worst storm: 9000 requests in all, 4.7 for each call" in text
    assert "up to 180 within 20 ms, where about 10 are usual" in text


def test_an_overload_that_feeds_itself_is_named_with_its_numbers() -> None:
    text = said(figures("immediate", **STUCK), figures("fixed", **STUCK), figures("decorrelated"))
    assert "Not recovered 3 s after the outage had ended: immediate retry and fixed delay." in text
    assert "They sent 1.60 times what the server can do, and 100 % of what it worked off" in text
    assert "Recovered after the outage: decorrelated jitter in 0 s." in text


def test_slow_is_not_called_self_feeding() -> None:
    slow = figures("full", recovered_s=None, load_after_per_s=400.0, wasted=0.9)
    assert "feeds itself" not in said(slow)
    some = said(figures("immediate", **STUCK), slow)
    assert "Immediate retry sent 1.60 times" in some


def test_nobody_survived() -> None:
    assert "No strategy recovered" in said(figures("full", **STUCK))


def test_jitter_is_praised_only_for_what_it_did() -> None:
    spread = said(figures("exponential", peak=130), figures("full", peak=55))
    assert "Jitter spread the herd: 130 within 20 ms without jitter, 55 with full jitter." in spread
    assert "Spreading is not ending" not in spread
    stuck = said(figures("exponential", peak=130), figures("full", peak=55, **STUCK))
    assert "Spreading is not ending: with full jitter the overload stayed." in stuck
    useless = said(figures("exponential", peak=50), figures("full", peak=55))
    assert "Jitter did not lower the peak here: 50 within 20 ms without jitter, 55" in useless
    partly = said(
        figures("exponential", peak=100), figures("full", peak=50), figures("equal", peak=99)
    )
    assert "Full jitter spread the herd" in partly


def test_when_no_jitter_ends_sooner_the_longer_wait_is_the_reason() -> None:
    text = said(figures("exponential", recovered_s=0.5), figures("full", **STUCK))
    assert "a call waits 1.50 s in all, with full jitter 0.75 s on average" in text
    other = said(figures("exponential", recovered_s=0.5), figures("full", recovered_s=0.4))
    assert "waits" not in other
    once = SETTINGS.replace(attempts=1)
    pair = (figures("exponential", recovered_s=0.5), figures("full", **STUCK))
    assert "waits" not in "".join(verdict(once, MACHINE, pair))


def test_the_budget_is_judged_by_its_own_run() -> None:
    without = figures("full", **STUCK)
    good = said(without, figures("full+budget", recovered_s=0.4, amplification=1.01, failed=50))
    assert "sent 1.01 requests for each call instead of 4.50, and recovered in 0.4 s where" in good
    assert "what it costs" not in good
    costly = said(without, figures("full+budget", recovered_s=0.4, succeeded=900, failed=600))
    assert "40 % of the calls failed with it, 4 % without; what it costs" in costly
    both = said(figures("full", recovered_s=1.5), figures("full+budget", recovered_s=0.4))
    assert "recovered in 0.4 s instead of 1.5 s" in both
    neither = said(without, figures("full+budget", **STUCK))
    assert "and did not recover either" in neither


def test_nothing_is_said_of_strategies_that_did_not_run() -> None:
    text = said(figures("fixed"))
    assert "itter" not in text.replace("is no jitter", "")
    assert "budget" not in text


def test_the_smear_is_told_and_peaks_near_it_are_doubted() -> None:
    text = said(figures("immediate", peak=200), figures("full", peak=50))
    assert (
        "arrive within 45 ms, at most 230 of them in 20 ms; so much spreading is no jitter" in text
    )
    assert "The peak of immediate retry may be cut off by that." in text
    assert "cut off" not in said(figures("full", peak=50))


def test_a_machine_that_cannot_carry_the_load_is_told() -> None:
    assert "Caution" not in said(figures("full"))
    alone = MACHINE.replace(clients=1, most_per_s=0.0)
    assert "aution" not in said(figures("full"), machine=alone)
    assert "smear" not in said(figures("full"), machine=alone)
    weak = MACHINE.replace(most_per_s=1500.0)
    assert "carries 1500 requests/s in all, less than 3 times" in said(
        figures("full"), machine=weak
    )


@given(
    st.lists(st.sampled_from(sorted(CONTENDERS)), min_size=1, unique=True).flatmap(
        lambda names: st.tuples(
            *(
                st.builds(
                    figures,
                    st.just(name),
                    recovered_s=st.none() | st.sampled_from([0.0, 0.5, 2.0]),
                    peak=st.integers(0, 500),
                    succeeded=st.integers(0, 3000),
                    failed=st.integers(0, 3000),
                    amplification=st.floats(0.0, 50.0),
                    load_after_per_s=st.floats(0.0, 5000.0),
                    wasted=st.floats(0.0, 1.0),
                )
                for name in names
            )
        )
    )
)
def test_whatever_the_numbers_the_sentences_are_sentences(metrics: tuple[Metrics, ...]) -> None:
    """Also: a strategy is called recovered or not recovered, never both."""
    sentences = verdict(SETTINGS, MACHINE, metrics)
    assert all(re.fullmatch(r"[A-Z].*\.", sentence) for sentence in sentences)
    for each in metrics:
        title = CONTENDERS[each.strategy].title
        stuck = [s for s in sentences if s.startswith("Not recovered") and f" {title}" in s]
        if each.recovered_s is None:
            assert stuck
