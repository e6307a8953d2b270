"""Backoff: published numbers, bounds, spread at saturation, arithmetic at any attempt, messages for bad parameters."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seawall.backoff import (
    JITTERS,
    Backoff,
    ClientGo,
    Constant,
    Curve,
    Custom,
    Decorrelated,
    DecorrelatedClamped,
    DecorrelatedFinagle,
    DecorrelatedSmithy,
    Ethernet,
    Exponential,
    Fibonacci,
    Jitter,
    Linear,
    PollyV2,
    Polynomial,
    Resilience4j,
    Sequence,
)
from seawall.backoff import formulas as module
from seawall.backoff import jitter as jitter_module
from seawall.strategies import STRATEGIES, strategy

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "vectors" / "backoff.json").read_text(encoding="utf-8")
)
DRAWS: list[float] = VECTORS["draws"]
ALMOST_1 = math.nextafter(1.0, 0.0)
FAR = [1, 2, 70, 71, 1000, 1023, 1024, 1025, 1075, 1500, 10**6, 10**9]


def same(delays_s: list[float], expected: list[float], scale: float = 1.0) -> None:
    """Equal to the last published digit."""
    assert delays_s == pytest.approx([x * scale for x in expected], rel=2e-9, abs=1e-9)


def steady(backoff: Backoff, draw: float, attempts: int) -> list[float]:
    return backoff.delays_s(attempts, [draw] * attempts)


# --- Published numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["full", "equal"])
def test_aws_jitters_match_the_published_numbers(name: Jitter) -> None:
    row = VECTORS[f"aws_{name}"]
    same(steady(Exponential(row["base"], row["cap"], jitter=name), row["u"], 10), row["delays"])


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (Decorrelated, "aws_decorrelated"),
        (DecorrelatedClamped, "polly_contrib_decorrelated"),
        (DecorrelatedSmithy, "smithy_decorrelated"),
    ],
)
def test_decorrelated_family_matches_the_published_numbers(
    kind: type[Decorrelated], key: str
) -> None:
    same(kind(0.1, 10.0).delays_s(8, DRAWS), VECTORS[key])


def test_finagle_starts_with_base_whatever_the_first_draw() -> None:
    expected = VECTORS["finagle_decorrelated_incl_first"]
    for first in (0.0, 0.7):
        same(DecorrelatedFinagle(0.1, 10.0).delays_s(9, [first, *DRAWS]), expected)


def test_gcp_additive_matches_the_published_numbers() -> None:
    same(steady(Exponential(1, 64, jitter="additive"), 0.5, 9), VECTORS["gcp_additive_max64_u0.5"])


def test_polly_v2_gives_the_ticks_of_polly_and_cockatiel() -> None:
    """Base 7.8 s, .NET Random(0), truncated to 100 ns ticks."""
    delays_s = PollyV2(7.8, 1e6).delays_s(10, VECTORS["dotnet_random0"])
    assert [int(d * 1e7) for d in delays_s] == VECTORS["polly_v2_random0_base7.8_ticks_100ns"]


@pytest.mark.parametrize("u", ["0.0", "0.5", "0.999"])
def test_polly_v2_at_constant_draws(u: str) -> None:
    same(steady(PollyV2(1, 1e6), float(u), 8), VECTORS["polly_v2_base1"][u])


@pytest.mark.parametrize(("t", "f"), VECTORS["polly_v2_intrinsic"].items())
def test_polly_v2_remembers_the_intrinsic_function_unclamped(t: str, f: float) -> None:
    attempt, draw = int(float(t)) + 1, float(t) % 1
    assert PollyV2(1, 1).step(attempt, 0.0, draw)[1] == pytest.approx(f, abs=1e-12)


@given(attempt=st.integers(1, 40), draw=st.floats(0, ALMOST_1), before=st.floats(0, ALMOST_1))
def test_polly_v2_stays_under_pollys_own_bound(attempt: int, draw: float, before: float) -> None:
    """0 <= delay < base·2^n·4, the property test of Polly."""
    kind = PollyV2(1, 1e9)
    memory = kind.step(attempt - 1, 0.0, before)[1] if attempt > 1 else kind.start
    assert 0 <= kind.step(attempt, memory, draw)[0] <= min(1e9, 2.0 ** (attempt - 1) * 4)


@pytest.mark.parametrize(("u", "expected"), VECTORS["polly_v8_jitter_1s"].items())
def test_polly_v8_constant(u: str, expected: float) -> None:
    same(steady(Constant(1.0, jitter="proportional"), float(u), 3), [expected] * 3)


@pytest.mark.parametrize(("u", "expected"), VECTORS["polly_v8_linear_third"].items())
def test_polly_v8_linear(u: str, expected: float) -> None:
    assert steady(Linear(1.0, jitter="proportional"), float(u), 3)[2] == pytest.approx(expected)


@pytest.mark.parametrize("u", ["0.0", "0.5", "1.0"])
def test_grpc_a6(u: str) -> None:
    expected = VECTORS["grpc_a6_init0.1_max1"][u]
    same(steady(Exponential(0.1, 1.0, jitter="grpc"), float(u), 7), expected)


def test_grpc_connection_backoff() -> None:
    """1 s, x1.6, cap 120 s; printed to 6 digits."""
    delays_s = steady(Exponential(1, 120, multiplier=1.6, jitter="grpc"), 0.5, 12)
    assert delays_s == pytest.approx(VECTORS["grpc_connection"], abs=1e-6)


def test_client_go() -> None:
    same(steady(ClientGo(), 0.5, 5), VECTORS["client_go_default_u0.5"])
    assert steady(ClientGo(1, 6, 2, 10, 0), 0.5, 6) == VECTORS["client_go_1s_x2_steps10_cap6"]
    assert steady(ClientGo(1, 3, 2, 3, 0), 0.5, 3) == VECTORS["client_go_1s_x2_steps3_cap3"]
    assert steady(ClientGo(1, 99, 2, 6, 0), 0.5, 6) == VECTORS["client_go_1s_x2_steps6"]


@pytest.mark.parametrize("u", ["0.0", "0.5", "0.999"])
def test_resilience4j_in_whole_milliseconds(u: str) -> None:
    expected = VECTORS["resilience4j_500ms_1.5_0.5_ms"][u]
    same(steady(Resilience4j(0.5, 100), float(u), 8), expected, 1e-3)


@pytest.mark.parametrize("u", ["0.0", "0.5", "0.999"])
def test_temporal(u: str) -> None:
    expected = VECTORS["temporal_init1_max10"][u]
    same(steady(Exponential(1, 10, jitter="temporal"), float(u), 6), expected)


def test_envelopes_published_by_others() -> None:
    """Envoy, AWS standard v2.1, Finagle and Cockatiel: upper ends of the exponential and linear curves."""
    cases: list[tuple[Curve, str, float]] = [
        (Exponential(0.025, 0.25, jitter="none"), "envoy_upper_ms_b25_m250", 1e-3),
        (Exponential(0.05, 20, jitter="none"), "aws_v21_transient_u1", 1.0),
        (Exponential(1, 20, jitter="none"), "aws_v21_throttle_u1", 1.0),
        (Exponential(0.002, 0.015, jitter="none"), "finagle_exponential_2_2_15_ms", 1e-3),
        (Exponential(0.128, 30, jitter="none"), "cockatiel_exponential_ms", 1e-3),
        (Linear(0.009, 0.099, 0.03, jitter="none"), "finagle_linear_9_30_99_ms", 1e-3),
    ]
    for curve, key, scale in cases:
        same(steady(curve, 0.5, len(VECTORS[key])), VECTORS[key], scale)
    assert steady(Exponential(0.05, 20), ALMOST_1, 11) == pytest.approx(
        VECTORS["aws_v21_transient_u1"]
    )


def test_ethernet_draws_whole_slots_and_stops_growing_at_ten_doublings() -> None:
    slot_s = 51.2e-6
    highest = steady(Ethernet(slot_s), ALMOST_1, 15)
    assert [round(d / slot_s) for d in highest] == VECTORS["ethernet_slots_last_draw"]
    random = Random(1)
    for attempt in range(1, 16):
        slots = Ethernet(slot_s).step(attempt, 0.0, random.random())[0] / slot_s
        assert slots == pytest.approx(round(slots))
    assert {Ethernet(1, 99).step(1, 0.0, u)[0] for u in (0.0, 0.49, 0.5, ALMOST_1)} == {0.0, 1.0}


def test_ethernet_keeps_the_cap_by_drawing_from_fewer_slots() -> None:
    waits_s = {Ethernet(1, 3.5).step(16, 0.0, u / 400)[0] for u in range(400)}
    assert waits_s == {0.0, 1.0, 2.0, 3.0}


def test_growth_curves() -> None:
    assert steady(Constant(0.5, jitter="none"), 0.9, 3) == [0.5, 0.5, 0.5]
    assert steady(Linear(1, 4, jitter="none"), 0.9, 5) == [1, 2, 3, 4, 4]
    assert steady(Linear(0, 9, jitter="none"), 0.9, 3) == [0, 0, 0]
    assert steady(Fibonacci(1, 12, jitter="none"), 0.9, 8) == [1, 1, 2, 3, 5, 8, 12, 12]
    assert steady(Polynomial(1, 30, jitter="none"), 0.9, 6) == [1, 4, 9, 16, 25, 30]
    assert steady(Polynomial(1, 30, power=0, jitter="none"), 0.9, 3) == [1, 1, 1]
    assert steady(Exponential(1, 30, multiplier=1, jitter="none"), 0.9, 3) == [1, 1, 1]
    assert steady(Sequence((0.1, 3, 1)), 0.9, 5) == [0.1, 3, 1, 1, 1]


def test_fibonacci_is_exact_to_the_70th_number() -> None:
    a, b = 1, 1
    curve = Fibonacci(1e-9, 1e9, jitter="none")
    for attempt in range(1, 71):
        assert curve.step(attempt, 0.0, 0.0)[0] == min(1e9, 1e-9 * a)
        a, b = b, a + b


def test_decorrelated_gets_stuck_at_its_cap_as_wright_computed() -> None:
    """Base 1 s, cap 10 s: share of waits at the cap 0.4833, mean 0.7366 of the cap; the clamped one has no pile."""
    for kind, share, mean in ((Decorrelated(1, 10), 0.4833, 0.7366), (None, 0.0, None)):
        chosen = kind or DecorrelatedClamped(1, 10)
        random = Random(7)
        delays_s = chosen.delays_s(100_000, (random.random() for _ in range(100_000)))
        assert sum(d == 10.0 for d in delays_s) / 1e5 == pytest.approx(share, abs=0.006)
        if mean is not None:
            assert sum(delays_s) / 1e6 == pytest.approx(mean, abs=0.005)


# --- Rules that hold for every strategy -----------------------------------------------------------------------------


def _everything() -> st.SearchStrategy[Backoff]:
    """Any strategy with any sensible base, cap and floor."""
    base = st.one_of(st.just(0.0), st.floats(0.001, 50.0))

    def named(name: str, base_s: float, extra_s: float) -> Backoff:
        return strategy(name, base_s, base_s + extra_s)

    def curve(kind: type[Any], jitter: str, base_s: float, extra_s: float, share: float) -> Backoff:
        cap_s = base_s + extra_s
        if kind is Constant:
            return Constant(base_s, cast("Jitter", jitter), base_s * share)
        if kind is Sequence:
            return Sequence((base_s, cap_s, base_s), cast("Jitter", jitter), cap_s * share)
        return cast(
            "Backoff",
            kind(base_s=base_s, cap_s=cap_s, jitter=jitter, floor_s=cap_s * share),
        )

    names = st.builds(named, st.sampled_from(sorted(STRATEGIES)), base, st.floats(0.0, 100.0))
    curves = st.builds(
        curve,
        st.sampled_from([Constant, Linear, Exponential, Fibonacci, Polynomial, Sequence]),
        st.sampled_from(sorted(JITTERS)),
        base,
        st.floats(0.0, 100.0),
        st.floats(0.0, 1.0),
    )
    return st.one_of(names, curves)


@given(
    backoff=_everything(),
    attempt=st.one_of(st.integers(1, 2000), st.sampled_from(FAR)),
    memory=st.one_of(st.just(0.0), st.floats(0, 1e300)),
    draw=st.floats(0, ALMOST_1),
)
def test_every_wait_is_finite_and_within_its_bounds(
    backoff: Backoff, attempt: int, memory: float, draw: float
) -> None:
    """Whatever was remembered, even another strategy's memory."""
    delay_s, after = backoff.step(attempt, memory, draw)
    assert math.isfinite(delay_s)
    assert math.isfinite(after)
    assert backoff.lowest_s <= delay_s <= backoff.ceiling_s


@given(name=st.sampled_from(sorted(STRATEGIES)), seed=st.integers(0, 2**32))
def test_ceiling_is_the_cap_except_where_published_otherwise(name: str, seed: int) -> None:
    backoff = strategy(name, 0.1, 10.0)
    over = {"grpc": 12.0, "client-go": 11.0}
    assert backoff.ceiling_s <= over.get(name, 10.0) + 1e-12
    random = Random(seed)
    delays_s = backoff.delays_s(60, (random.random() for _ in range(60)))
    assert max(delays_s) <= over.get(name, 10.0)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_base_zero_stays_zero(name: str) -> None:
    backoff = strategy(name, 0.0, 10.0)
    for draw in (0.0, 0.5, ALMOST_1):
        assert steady(backoff, draw, 30) == [0.0] * 30
        assert backoff.step(10**9, backoff.start, draw)[0] == 0.0


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_a_far_attempt_costs_the_same_number_of_operations(name: str) -> None:
    """No loop over the attempts and no big integers: attempt 10**9 runs as few lines as attempt 5."""
    import sys

    backoff = strategy(name, 0.1, 10.0)

    def lines(attempt: int) -> int:
        count = 0

        def trace(frame: object, event: str, arg: object) -> Any:
            nonlocal count
            count += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            delay_s, memory = backoff.step(attempt, backoff.start, 0.5)
        finally:
            sys.settrace(before)
        assert type(delay_s) is float
        assert type(memory) is float
        return count

    assert abs(lines(10**9) - lines(5)) <= 4


@pytest.mark.parametrize("attempt", FAR)
@pytest.mark.parametrize("kind", [Exponential, Fibonacci, Polynomial, Linear])
def test_levels_never_fall_and_end_at_the_cap(kind: type[Exponential], attempt: int) -> None:
    curve = kind(0.1, 20.0, jitter="none")
    assert curve.step(attempt, 0.0, 0.0)[0] <= curve.step(attempt + 1, 0.0, 0.0)[0] <= 20.0
    assert curve.step(10**9, 0.0, 0.0)[0] == 20.0


def test_extreme_parameters_saturate() -> None:
    assert Exponential(5e-324, 1e9, 1e9, "none").step(10**9, 0.0, 0.5)[0] == 1e9
    assert Exponential(1e-300, 1e9, 10, "none").step(400, 0.0, 0.5)[0] == 1e9
    assert Polynomial(1e-300, 1e9, 1e9, "none").step(10**9, 0.0, 0.5)[0] == 1e9
    assert Fibonacci(5e-324, 1e9, "none").step(10**9, 0.0, 0.5)[0] == 1e9
    assert Ethernet(5e-324, 1e9, 52).step(10**9, 0.0, ALMOST_1)[0] <= 1e9


SPREAD = {"full": 1.0, "equal": 0.5, "temporal": 0.2, "grpc": 0.4, "proportional": 0.25}


@pytest.mark.parametrize(("jitter", "share"), SPREAD.items())
def test_the_spread_stays_at_saturation(jitter: Jitter, share: float) -> None:
    """Long after the cap is reached, different draws give different waits (jd/tenacity#703)."""
    curve = Exponential(0.1, 10.0, jitter=jitter)
    waits_s = [curve.step(50, 0.0, (i + 0.5) / 200)[0] for i in range(200)]
    assert max(waits_s) - min(waits_s) == pytest.approx(share * 10.0, rel=0.01)
    if jitter != "proportional":
        assert len(set(waits_s)) == 200


@pytest.mark.parametrize(("kind", "distinct"), [(Decorrelated, 68), (DecorrelatedClamped, 200)])
def test_decorrelated_spread_stays_at_saturation(kind: type[Decorrelated], distinct: int) -> None:
    waits_s = [kind(0.1, 10.0).step(50, 10.0, i / 200)[0] for i in range(200)]
    assert max(waits_s) - min(waits_s) > 9.8
    assert len(set(waits_s)) == distinct


@pytest.mark.parametrize("jitter", ["additive", "proportional"])
def test_the_published_pile_ups_are_there_and_documented(jitter: Jitter) -> None:
    curve = Exponential(0.1, 10.0, jitter=jitter)
    at_cap = sum(curve.step(50, 0.0, i / 200)[0] == 10.0 for i in range(200))
    assert at_cap == {"additive": 200, "proportional": 100}[jitter]
    source = Path(jitter_module.__file__).read_text(encoding="utf-8")
    line = source.split(f"* `{jitter}`:")[1].split("* `")[0]
    assert "as published" in line.replace("\n", " ")


@given(
    jitter=st.sampled_from(["full", "equal"]),
    attempt=st.integers(1, 12),
    floor_s=st.floats(0.0, 8.0),
)
def test_a_floor_does_not_pull_the_clients_together(
    jitter: Jitter, attempt: int, floor_s: float
) -> None:
    """With the floor above the level, clipping would make everybody wait exactly the floor."""
    curve = Exponential(0.1, 10.0, jitter=jitter, floor_s=floor_s)
    lowest, highest = (curve.step(attempt, 0.0, u)[0] for u in (0.0, ALMOST_1))
    level_s = min(10.0, 0.1 * 2 ** (attempt - 1))
    assert lowest >= floor_s
    assert highest - lowest >= min(0.4999 * level_s, 0.9999 * (10.0 - lowest))


def test_full_jitter_with_a_floor_is_the_floor_plus_the_draw() -> None:
    curve = Exponential(1.0, 20.0, floor_s=2.0)
    assert curve.delays_s(6, [0.5] * 6) == [2.5, 3.0, 4.0, 6.0, 10.0, 11.0]


@given(backoff=_everything(), draw=st.floats(0, ALMOST_1))
def test_every_strategy_survives_pickle_and_deepcopy(backoff: Backoff, draw: float) -> None:
    for twin in (pickle.loads(pickle.dumps(backoff)), copy.deepcopy(backoff)):
        assert twin == backoff
        assert hash(twin) == hash(backoff)
        assert twin.step(3, twin.start, draw) == backoff.step(3, backoff.start, draw)


def test_the_default_has_jitter_after_the_cap_and_a_first_wait() -> None:
    """urllib3's default hammers at once; ours does not."""
    default = Exponential()
    assert (default.base_s, default.cap_s, default.multiplier) == (0.1, 20.0, 2.0)
    assert (default.jitter, default.floor_s) == ("full", 0.0)
    assert default.step(1, default.start, ALMOST_1)[0] == pytest.approx(0.1)
    assert default.step(30, default.start, 0.5)[0] == 10.0


def test_lowered_names_the_formula_and_its_parameters() -> None:
    curve = Exponential(0.1, 10.0)
    assert curve.lowered is not None
    formula, parameters = curve.lowered
    assert formula is module.exponential
    assert all(type(p) is float for p in parameters)
    assert formula(3.0, 0.0, 0.5, *parameters) == curve.step(3, 0.0, 0.5)
    assert Custom(float).lowered is None


def test_delays_wants_a_draw_per_attempt() -> None:
    with pytest.raises(ValueError, match=r"attempts=3, draws=2\. Give more draws"):
        Exponential().delays_s(3, [0.1, 0.2])


# --- Your own function ----------------------------------------------------------------------------------------------


def three(attempt: int, draw: float, more: int) -> float:
    return attempt * draw * more


def squares(attempt: int) -> float:
    return attempt * attempt


def test_custom_function_of_the_attempt_is_capped_and_jittered() -> None:
    assert steady(Custom(squares, cap_s=10), 0.5, 4) == [1, 4, 9, 10]
    assert steady(Custom(squares, cap_s=10, jitter="full", floor_s=0.5), 0.5, 3) == [1.0, 2.5, 5.0]
    assert pickle.loads(pickle.dumps(Custom(squares))) == Custom(squares)


def test_custom_function_of_the_draw_makes_its_own_jitter() -> None:
    own = Custom(lambda attempt, draw: attempt * draw, cap_s=1.2)
    assert steady(own, 0.5, 3) == [0.5, 1.0, 1.2]
    with pytest.raises(ValueError, match="makes its own jitter, got jitter='full'"):
        Custom(lambda attempt, draw: attempt * draw, jitter="full")


def test_custom_accepts_builtins_without_signature_and_defaults() -> None:
    def with_default(attempt: int, scale: float = 2.0) -> float:
        return attempt * scale

    assert steady(Custom(float), 0.5, 2) == [1.0, 2.0]
    assert steady(Custom(with_default), 0.5, 2) == [2.0, 4.0]


@pytest.mark.parametrize("given_s", [math.nan, math.inf, -math.inf, -0.1])
def test_custom_results_that_are_no_wait_are_refused(given_s: float) -> None:
    with pytest.raises(ValueError, match=r"waits\(3\) must give a finite number"):
        Custom(lambda attempt: given_s).step(3, 0.0, 0.5)


@pytest.mark.parametrize("given_s", ["1", None, True])
def test_custom_results_that_are_no_number_are_refused(given_s: Any) -> None:
    with pytest.raises(TypeError, match=r"waits\(3\) must give a number of seconds"):
        Custom(lambda attempt: cast("float", given_s)).step(3, 0.0, 0.5)


def test_custom_refuses_what_is_not_a_fitting_function() -> None:
    with pytest.raises(TypeError, match="waits must be a function, got 5"):
        Custom(cast("Any", 5))
    with pytest.raises(TypeError, match=r"must take \(attempt\) or \(attempt, draw\)"):
        Custom(cast("Any", three))
    with pytest.raises(TypeError, match=r"must take \(attempt\) or \(attempt, draw\)"):
        Custom(cast("Any", lambda: 1.0))


# --- Bad parameters -------------------------------------------------------------------------------------------------

BASED = [
    Linear,
    Exponential,
    Fibonacci,
    Polynomial,
    Decorrelated,
    DecorrelatedClamped,
    DecorrelatedFinagle,
    DecorrelatedSmithy,
    PollyV2,
    ClientGo,
    Resilience4j,
]


@pytest.mark.parametrize("kind", BASED)
@pytest.mark.parametrize("field", ["base_s", "cap_s"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1, 2e9])
def test_bad_numbers_raise_value_error(kind: type[Any], field: str, bad: float) -> None:
    with pytest.raises(ValueError, match=f"{kind.__name__}: {field} must be .*, got "):
        kind(**{field: bad})


@pytest.mark.parametrize("kind", BASED)
@pytest.mark.parametrize("bad", [True, "1", None, 1j])
def test_what_is_no_number_raises_type_error(kind: type[Any], bad: object) -> None:
    with pytest.raises(TypeError, match=f"{kind.__name__}: base_s must be a number s, got|number"):
        kind(base_s=bad)


@pytest.mark.parametrize("kind", BASED)
def test_a_cap_under_the_base_names_both_and_the_way_out(kind: type[Any]) -> None:
    with pytest.raises(ValueError) as caught:
        kind(base_s=0.1, cap_s=0.05)
    assert str(caught.value) == (
        f"{kind.__name__}: cap_s must be >= base_s: cap_s=0.05, base_s=0.1. "
        "Raise cap_s or lower base_s."
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Exponential(floor_s=21), "cap_s must be >= floor_s: cap_s=20.0, floor_s=21"),
        (lambda: Exponential(floor_s=-1), "floor_s must be >= 0 s, got -1"),
        (lambda: Exponential(multiplier=0.5), "multiplier must be >= 1, got 0.5"),
        (lambda: Exponential(multiplier=math.nan), "multiplier must be finite, got nan"),
        (lambda: Polynomial(power=-1), "power must be >= 0, got -1"),
        (lambda: Linear(step_s=-1), "step_s must be >= 0 s, got -1"),
        (lambda: Constant(-1), "delay_s must be >= 0 s, got -1"),
        (lambda: Constant(5, cap_s=1), "cap_s must be >= delay_s: cap_s=1, delay_s=5"),
        (lambda: Constant(1, floor_s=2), "delay_s must be >= floor_s: delay_s=1, floor_s=2"),
        (lambda: Sequence(()), "waits_s must hold at least one wait"),
        (lambda: Sequence((1, -1)), r"waits_s\[1\] must be >= 0 s, got -1"),
        (lambda: Sequence((1, 2), floor_s=3), "the longest of waits_s must be >= floor_s"),
        (lambda: Resilience4j(0.0005), "base_s must be 0 or >= 0.001 s, got 0.0005"),
        (lambda: Resilience4j(spread=1.5), "spread must be <= 1, got 1.5"),
        (lambda: Ethernet(doublings=0), "doublings must be >= 1, got 0"),
        (lambda: Ethernet(2, 1), "cap_s must be >= slot_s: cap_s=1, slot_s=2"),
        (lambda: ClientGo(factor=0.1), "factor must be >= 1, got 0.1"),
    ],
)
def test_every_bad_parameter_names_rule_and_value(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("bad", ["123", 5, None])
def test_sequence_wants_a_list(bad: Any) -> None:
    with pytest.raises(TypeError, match="waits_s must be a list of seconds"):
        Sequence(bad)


def test_an_unknown_jitter_lists_the_choices_and_the_nearest() -> None:
    with pytest.raises(ValueError) as caught:
        Exponential(jitter=cast("Jitter", "fulll"))
    assert str(caught.value) == (
        "Exponential: jitter 'fulll' is unknown. Did you mean 'full'? "
        "Use one of: additive, equal, full, grpc, none, proportional, temporal."
    )
    with pytest.raises(TypeError, match="Exponential: jitter must be a name, got True"):
        Exponential(jitter=cast("Jitter", True))


def test_the_bare_base_class_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match=r"Backoff needs a method step\(\)"):
        Backoff().step(1, 0.0, 0.5)
    with pytest.raises(NotImplementedError):
        _ = Backoff().ceiling_s
