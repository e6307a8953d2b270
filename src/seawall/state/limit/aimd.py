"""Additive increase, multiplicative decrease: the limit that looks at losses alone."""

from __future__ import annotations

from seawall.backoff.checks import check_number
from seawall.quantity import positive_s
from seawall.state.limit.base import Limit, check_bounds


class AimdLimit(Limit):
    """One more for each good call while at least half of the limit is in use; `backoff_ratio` of it for each drop.

    * `initial` 20, `least` 20, `most` 200: where it begins and stays.
    * `backoff_ratio`: default 0.9. `timeout_s`: a slower call counts as dropped; default 5 s.

    Source: Netflix concurrency-limits `AIMDLimit.java`.
    """

    __slots__ = ("backoff_ratio", "least", "most", "timeout_s")

    def __init__(
        self,
        initial: int = 20,
        least: int = 20,
        most: int = 200,
        backoff_ratio: float = 0.9,
        timeout_s: float = 5.0,
    ) -> None:
        check_bounds("AimdLimit", initial, least, most)
        check_number("AimdLimit", "backoff_ratio", backoff_ratio, 0.0, 1.0, "")
        positive_s("AimdLimit", "timeout_s", timeout_s)
        super().__init__(initial)
        self.least = least
        self.most = most
        self.backoff_ratio = backoff_ratio
        self.timeout_s = timeout_s

    def on_sample(
        self, now: float, rtt_s: float, inflight: int, dropped: bool, draw: float = 0.5
    ) -> None:
        if dropped or rtt_s > self.timeout_s:
            self.limit = max(self.least, int(self.limit * self.backoff_ratio))
        elif rtt_s > 0.0 and inflight * 2 >= self.limit:
            self.limit = min(self.most, self.limit + 1)
