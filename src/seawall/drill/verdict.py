"""What the figures say, in plain sentences. Every sentence follows from the numbers; none is known beforehand. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from seawall.drill.metrics import BIN_S, Metrics
from seawall.drill.records import Machine
from seawall.drill.settings import Settings
from seawall.drill.strategies import CONTENDERS, mean_wait_s

STORM = 1.5  # requests for each call
WINDOW = f"{BIN_S * 1000:g} ms"
JITTERED = ("full", "equal", "decorrelated")
CUT_OFF = 0.8  # of the burst that the machine carries: such a peak might have been higher elsewhere
FEW = 50  # clients whose burst is too short to tell a rate
EASE = 3.0  # times the capacity that clients and server should carry


def verdict(settings: Settings, machine: Machine, metrics: Sequence[Metrics]) -> list[str]:
    """The sentences, the most important first."""
    by_name = {each.strategy: each for each in metrics}
    sentences = [
        _storm(settings, metrics),
        _stuck(settings, metrics),
        _recovered(settings, metrics),
        _herd(by_name),
        _waits(settings, by_name),
        _budget(settings, by_name),
        _smear(machine, metrics),
        _machine(settings, machine),
    ]
    return [sentence for sentence in sentences if sentence]


def _title(each: Metrics) -> str:
    return CONTENDERS[each.strategy].title


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _storm(settings: Settings, metrics: Sequence[Metrics]) -> str:
    worst = max(metrics, key=lambda each: each.arrivals)
    most = max(each.amplification for each in metrics)
    if most < STORM:
        return f"No storm: no strategy sent more than {most:.2f} requests for each call."
    return _sentence(
        f"{_title(worst)} made the worst storm: {worst.arrivals} requests in all, {worst.amplification:.1f} for each call, up "
        f"to {worst.peak} within {WINDOW}, where about {settings.offered_per_s * BIN_S:.0f} are usual."
    )


def _stuck(settings: Settings, metrics: Sequence[Metrics]) -> str:
    stuck = [each for each in metrics if each.recovered_s is None]
    if not stuck:
        return ""
    text = (
        f"Not recovered {settings.after_s:g} s after the outage had ended: "
        f"{_listed([_title(each) for each in stuck])}."
    )
    fed = [
        each
        for each in stuck
        if each.wasted >= 0.5 and each.load_after_per_s > settings.capacity_per_s
    ]
    if fed:
        loads = [each.load_after_per_s / settings.capacity_per_s for each in fed]
        wasted = [each.wasted for each in fed]
        whose = "They" if len(stuck) > 1 else "It"
        if len(fed) < len(stuck):
            whose = _sentence(_listed([*map(_title, fed)]))
        text += (
            f" {whose} sent {_range(loads, 2)} times what the server can do, and {_range([100 * w for w in wasted], 0)} % of "
            "what it worked off was for clients who had given up: the overload feeds itself."
        )
    return text


def _recovered(settings: Settings, metrics: Sequence[Metrics]) -> str:
    well = [(each.recovered_s, each) for each in metrics if each.recovered_s is not None]
    if not well:
        return "No strategy recovered while it was watched."
    well.sort(key=lambda pair: pair[0])
    if len(well) == len(metrics) and well[-1][0] <= 0.1:
        return f"Every strategy had recovered {well[-1][0]:g} s after the outage."
    return f"Recovered after the outage: {_listed([f'{_title(e)} in {s:g} s' for s, e in well])}."


def _herd(by_name: dict[str, Metrics]) -> str:
    """Jitter against the same growth without it: the peak, and whether it also ended the overload."""
    plain = by_name.get("exponential")
    jittered = [by_name[name] for name in JITTERED if name in by_name]
    if plain is None or not jittered:
        return ""
    peaks = _listed([f"{each.peak} with {_title(each)}" for each in jittered])
    compared = f"{plain.peak} within {WINDOW} without jitter, {peaks}"
    lower = [each for each in jittered if each.peak < 0.9 * plain.peak]
    if not lower:
        return f"Jitter did not lower the peak here: {compared}."
    which = "Jitter" if len(lower) == len(jittered) else _sentence(_listed([*map(_title, lower)]))
    text = f"{which} spread the herd: {compared}."
    stuck = [each for each in jittered if each.recovered_s is None]
    if stuck:
        text += (
            f" Spreading is not ending: with {_listed([*map(_title, stuck)])} the overload stayed."
        )
    return text


def _waits(settings: Settings, by_name: dict[str, Metrics]) -> str:
    """Why less jitter may end an overload sooner: it waits longer, and so sends less."""
    plain, full = by_name.get("exponential"), by_name.get("full")
    if plain is None or full is None or plain.recovered_s is None:
        return ""
    if full.recovered_s is not None and full.recovered_s <= plain.recovered_s:
        return ""
    plain_s, full_s = (
        mean_wait_s(name, settings.attempts, settings.base_s, settings.cap_s)
        for name in ("exponential", "full")
    )
    if plain_s <= full_s:
        return ""
    return (
        f"Without jitter the overload ended sooner because a call waits {plain_s:.2f} s in all, with full jitter "
        f"{full_s:.2f} s on average: what counts then is how much is sent, not how evenly."
    )


def _budget(settings: Settings, by_name: dict[str, Metrics]) -> str:
    without, budget = by_name.get("full"), by_name.get("full+budget")
    if without is None or budget is None:
        return ""
    text = (
        f"The same full jitter with a budget sent {budget.amplification:.2f} requests for each call instead of "
        f"{without.amplification:.2f}"
    )
    if budget.recovered_s is None:
        text += ", and did not recover either."
    elif without.recovered_s is None:
        text += f", and recovered in {budget.recovered_s:g} s where it did not without."
    else:
        text += f", and recovered in {budget.recovered_s:g} s instead of {without.recovered_s:g} s."
    shares = [
        100 * each.failed / max(1, each.succeeded + each.failed) for each in (budget, without)
    ]
    text += f" {shares[0]:.0f} % of the calls failed with it, {shares[1]:.0f} % without"
    if budget.failed > without.failed:
        return f"{text}; what it costs is that calls fail at once while the server is away, instead of waiting for it."
    return f"{text}."


def _smear(machine: Machine, metrics: Sequence[Metrics]) -> str:
    if machine.clients < 2:
        return ""
    text = (
        f"Measured smear of this machine: {machine.clients} clients that fire in one instant arrive within "
        f"{machine.smear_s * 1000:.0f} ms, at most {machine.burst_peak} of them in {WINDOW}; so much spreading is no jitter."
    )
    cut = [each for each in metrics if each.peak >= CUT_OFF * machine.burst_peak]
    if cut and machine.clients > machine.burst_peak:
        text += f" The peak of {_listed([*map(_title, cut)])} may be cut off by that."
    return text


def _machine(settings: Settings, machine: Machine) -> str:
    if machine.clients < FEW or machine.most_per_s >= EASE * settings.capacity_per_s:
        return ""
    return (
        f"Caution: this machine carries {machine.most_per_s:.0f} requests/s in all, less than {EASE:g} times the server's "
        f"capacity of {settings.capacity_per_s:g}/s, so part of what is shown is the machine's own overload. Lower --capacity."
    )


def _range(values: Sequence[float], digits: int) -> str:
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"
