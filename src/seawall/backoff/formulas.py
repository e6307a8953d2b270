"""The formulas: pure functions of floats, `formula(attempt, memory, draw, *parameters) -> (delay_s, memory)`.

They call nothing but `math` and each other, so that a compiler can take these very function objects.
"""

from __future__ import annotations

from math import floor, log, sqrt, tanh

_FAR = 700.0  # e**700 is near the largest float; any level beyond it is the cap
_LOG_GOLDEN = log((1.0 + sqrt(5.0)) / 2.0)
_GOLDEN = (1.0 + sqrt(5.0)) / 2.0
_ROOT_5 = sqrt(5.0)
_EXACT_FIBONACCI = 70.0
_LONGEST_MS = 1e18  # Java stops at Long.MAX_VALUE, nine times that; both are beyond any cap


def jittered(
    level_s: float,
    draw: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> float:
    """What `draw` makes of a level: a fixed part, raised to the floor, and a random part on top.

    Raising the fixed part, rather than clipping the result, keeps the clients apart while the level is still under the
    floor. Jitters that never pass their level are squeezed under `top_s`; the others are clipped, as published.
    """
    if level_s <= 0.0:
        return floor_s
    lowest_s = max(floor_s, share * level_s)
    width_s = spread * level_s + added_s
    if share + spread <= 1.0 and added_s == 0.0:
        width_s = min(width_s, top_s - lowest_s)
    return min(lowest_s + draw * width_s, top_s)


def constant(
    attempt: float,
    memory: float,
    draw: float,
    delay_s: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: always `delay_s`."""
    return jittered(delay_s, draw, floor_s, top_s, share, spread, added_s), memory


def linear(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    step_s: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: min(cap, base + step·(attempt - 1))."""
    level_s = min(cap_s, base_s + step_s * (attempt - 1.0))
    return jittered(level_s, draw, floor_s, top_s, share, spread, added_s), memory


def exponential(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    multiplier: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: min(cap, base·multiplier^(attempt - 1))."""
    level_s = cap_s
    if base_s <= 0.0:
        level_s = 0.0
    elif (attempt - 1.0) * log(multiplier) <= _FAR:
        level_s = min(cap_s, base_s * multiplier ** (attempt - 1.0))
    return jittered(level_s, draw, floor_s, top_s, share, spread, added_s), memory


def fibonacci(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: min(cap, base·F(attempt)), F = 1, 1, 2, 3, 5 … by Binet's formula, exact up to F(70), then to 13 digits."""
    level_s = cap_s
    if base_s <= 0.0:
        level_s = 0.0
    elif attempt * _LOG_GOLDEN <= _FAR:
        number = _GOLDEN**attempt / _ROOT_5
        if attempt <= _EXACT_FIBONACCI:
            number = floor(number + 0.5) * 1.0
        level_s = min(cap_s, base_s * number)
    return jittered(level_s, draw, floor_s, top_s, share, spread, added_s), memory


def polynomial(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    power: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
) -> tuple[float, float]:
    """Level: min(cap, base·attempt^power)."""
    level_s = cap_s
    number = max(1.0, attempt * 1.0)
    if base_s <= 0.0:
        level_s = 0.0
    elif power * log(number) <= _FAR:
        level_s = min(cap_s, base_s * number**power)
    return jittered(level_s, draw, floor_s, top_s, share, spread, added_s), memory


def sequence(
    attempt: float,
    memory: float,
    draw: float,
    floor_s: float,
    top_s: float,
    share: float,
    spread: float,
    added_s: float,
    *delays_s: float,
) -> tuple[float, float]:
    """Level: the value at the attempt's place; the last one repeats."""
    place = int(min(max(attempt - 1.0, 0.0), len(delays_s) - 1.0))
    return jittered(delays_s[place], draw, floor_s, top_s, share, spread, added_s), memory


def decorrelated(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """min(cap, U(base, 3·previous)), previous starts at base. Brooker, AWS Architecture Blog, 2015."""
    previous_s = max(memory, base_s)
    delay_s = min(cap_s, base_s + draw * (3.0 * previous_s - base_s))
    return delay_s, delay_s


def decorrelated_clamped(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """U(base, min(cap, 3·previous)), previous starts at base. Polly.Contrib.WaitAndRetry, AwsDecorrelatedJitterBackoff."""
    previous_s = max(memory, base_s)
    delay_s = min(cap_s, base_s + draw * (min(cap_s, 3.0 * previous_s) - base_s))
    return delay_s, delay_s


def decorrelated_finagle(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """First base, then U(previous, min(3·previous, cap)): never shorter than the wait before. Finagle, Backoff.scala."""
    if memory <= 0.0:
        return base_s, base_s
    previous_s = min(cap_s, max(memory, base_s))
    delay_s = min(cap_s, previous_s + draw * (min(3.0 * previous_s, cap_s) - previous_s))
    return delay_s, delay_s


def decorrelated_smithy(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """min(cap, base + U(0, 3·previous)), previous starts at base. smithy-python, smithy_core/retries.py."""
    previous_s = max(memory, base_s)
    delay_s = min(cap_s, base_s + draw * 3.0 * previous_s)
    return delay_s, delay_s


def polly_v2(
    attempt: float, memory: float, draw: float, base_s: float, cap_s: float
) -> tuple[float, float]:
    """min(cap, (f(t) - f_before)·base/1.4), f(t) = 2^t·tanh(√(4t)), t = attempt - 1 + draw. Polly, RetryHelper.cs.

    The memory is f_before, kept without clamping.
    """
    if base_s <= 0.0:
        return 0.0, memory
    t = max(0.0, attempt - 1.0 + draw)
    if t > 1000.0:
        return cap_s, memory
    f = 2.0**t * tanh(sqrt(4.0 * t))
    return min(cap_s, max(0.0, (f - memory) * base_s / 1.4)), f


def client_go(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    factor: float,
    steps: float,
    spread: float,
) -> tuple[float, float]:
    """d·(1 + spread·draw), d = min(cap, base·factor^min(attempt - 1, steps)). apimachinery, wait.Backoff.Step."""
    grown = min(attempt - 1.0, steps)
    level_s = cap_s
    if base_s <= 0.0:
        level_s = 0.0
    elif grown * log(factor) <= _FAR:
        level_s = min(cap_s, base_s * factor**grown)
    return level_s * (1.0 + spread * draw), memory


def resilience4j(
    attempt: float,
    memory: float,
    draw: float,
    base_s: float,
    cap_s: float,
    multiplier: float,
    spread: float,
) -> tuple[float, float]:
    """x·(1 - f) + U(0, 2·f·x + 1) in whole milliseconds, at least 1, then at most the cap; x grows by the multiplier.

    resilience4j, IntervalFunction.ofExponentialRandomBackoff. The memory is the x of the next attempt, in ms.
    """
    if base_s <= 0.0:
        return 0.0, memory
    x_ms = memory
    if x_ms < 1.0:
        x_ms = floor(base_s * 1000.0 + 0.5) * 1.0
    half_ms = spread * x_ms
    delay_ms = max(1.0, floor(x_ms - half_ms + draw * (2.0 * half_ms + 1.0)) * 1.0)
    next_ms = floor(min(x_ms * multiplier, _LONGEST_MS)) * 1.0
    return min(cap_s, delay_ms / 1000.0), next_ms


def ethernet(
    attempt: float, memory: float, draw: float, slot_s: float, cap_s: float, doublings: float
) -> tuple[float, float]:
    """A whole number of slots out of U{0 … 2^min(attempt, doublings) - 1}, fewer where the cap leaves less room.

    Truncated binary exponential backoff, IEEE 802.3 §4.2.3.2.5; Metcalfe & Boggs, CACM 1976.
    """
    if slot_s <= 0.0:
        return 0.0, memory
    slots = 2.0 ** min(attempt * 1.0, doublings)
    room = cap_s / slot_s
    if room < slots:
        slots = floor(room) + 1.0
    return min(cap_s, floor(draw * slots) * slot_s), memory
