"""Samples by windows: what the limit inside is told, and when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seawall.state.limit import Limit, WindowedLimit

Told = tuple[float, float, int, bool, float]


class Listening(Limit):
    """Writes down what it is told, and counts up."""

    __slots__ = ("told",)

    def __init__(self) -> None:
        super().__init__(20)
        self.told: list[Told] = []

    def on_sample(
        self, now: float, rtt_s: float, inflight: int, dropped: bool, draw: float = 0.5
    ) -> None:
        self.told.append((now, rtt_s, inflight, dropped, draw))
        self.limit += 1


def test_the_mean_the_most_in_flight_and_any_drop() -> None:
    inner = Listening()
    limit = WindowedLimit(inner)
    assert limit.limit == 20
    for number in range(10):
        limit.on_sample(number / 10, 0.5 + number, 10 - number, dropped=number == 3)
    assert inner.told == []
    limit.on_sample(1.001, 5.0, 1, dropped=False, draw=0.25)
    assert inner.told == [(1.001, 5.0, 10, True, 0.25)]
    assert limit.limit == 21


def test_published_defaults() -> None:
    limit = WindowedLimit(Limit())
    assert (limit.window_s, limit.longest_s, limit.min_samples, limit.min_rtt_s) == (1, 1, 10, 1e-4)


def test_a_window_lasts_twice_the_shortest_time_within_bounds() -> None:
    inner = Listening()
    limit = WindowedLimit(inner, window_s=1.0, longest_s=5.0, min_samples=1)
    for now, rtt_s in (
        (0.0, 2.0),
        (1.5, 3.0),
        (5.4, 9.0),
        (5.6, 8.0),
        (10.5, 0.1),
        (10.7, 0.1),
        (11.6, 0.1),
        (11.8, 0.1),
    ):
        limit.on_sample(now, rtt_s, 1, dropped=False)
    # [0, 1], then 2 x 2 s, then at most 5 s, then at least 1 s
    assert [now for now, *_ in inner.told] == [1.5, 5.6, 10.7, 11.8]


def test_too_few_are_forgotten() -> None:
    inner = Listening()
    limit = WindowedLimit(inner)
    for number in range(9):
        limit.on_sample(0.1 * number, 1.0, 1, dropped=False)
    limit.on_sample(5.0, 1.0, 1, dropped=False)
    assert len(inner.told) == 1
    for number in range(9):
        limit.on_sample(7.0 + number, 1.0, 1, dropped=False)
    assert len(inner.told) == 1


def test_calls_too_quick_to_have_been_there_count_only_as_drops() -> None:
    inner = Listening()
    limit = WindowedLimit(inner, min_samples=2)
    for _ in range(5):
        limit.on_sample(0.0, 99e-6, 50, dropped=False)
    limit.on_sample(0.0, 1.0, 7, dropped=False)
    limit.on_sample(2.0, 1e-6, 8, dropped=True)
    assert inner.told == [(2.0, 1.0, 8, True, 0.5)]
    limit.on_sample(2.0, 0.0, 8, dropped=True)
    limit.on_sample(4.0, 0.0, 8, dropped=True)
    assert inner.told[1:] == [(4.0, 0.0, 8, True, 0.5)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.125, 0.25, 0.5, 2.0, -0.25, -50.0]),
            st.sampled_from([0.125, 1.0, 0.0, 4.0]),
            st.integers(1, 9),
            st.booleans(),
        ),
        max_size=60,
    )
)
def test_against_a_list_of_the_window(steps: list[tuple[float, float, int, bool]]) -> None:
    inner = Listening()
    limit = WindowedLimit(inner, min_samples=3)
    now, began, kept, expected = 100.0, None, list[tuple[float, int, bool]](), list[Told]()
    for passed_s, rtt_s, inflight, dropped in steps:
        now += passed_s
        limit.on_sample(now, rtt_s, inflight, dropped)
        if rtt_s or dropped:
            if began is None or now < began:
                began = now
            kept.append((rtt_s, inflight, dropped))
            if now > began + 1.0:
                timed = [r for r, _, _ in kept if r]
                if len(kept) >= 3:
                    mean_s = sum(timed) / len(timed) if timed else 0.0
                    expected.append(
                        (now, mean_s, max(i for _, i, _ in kept), any(d for _, _, d in kept), 0.5)
                    )
                began, kept = now, []
        assert inner.told == expected
