"""The adapter for requests, against a real server that breaks, in virtual time."""

from __future__ import annotations

import doctest
import gc
import io
import pickle
import ssl
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import (
    ClosedPoolError,
    MaxRetryError,
    NewConnectionError,
    ProxyError,
    SSLError,
)
from urllib3.util import Timeout

import seawall
import seawall.adapters.requests as module
from seawall.adapters.requests import Adapter, _broken, _Call, _cut, _not_sent
from seawall.events import Event, GaveUp
from tests.adapters.server import Answer, Server, close, half, hang, refusing, reset, respond
from tests.fakes import FakeWorld

pytestmark = pytest.mark.sockets

OK = respond(200, b"ok")


class Bench:
    """A session with our adapter, in a virtual world."""

    def __init__(self) -> None:
        self.world = FakeWorld()
        self.events: list[Event] = []
        self.session = requests.Session()
        self.session.trust_env = False
        self.mount()

    def mount(self, **changes: Any) -> Adapter:
        """Mount an adapter with other settings."""
        self.session.close()
        settings: Any = {"world": self.world, "sink": self.events.append, **changes}
        adapter = Adapter(**settings)
        self.session.mount("http://", adapter)
        return adapter

    @property
    def sleeps(self) -> list[float]:
        return self.world.sleeps

    def gave_up(self) -> GaveUp:
        (found,) = [event for event in self.events if isinstance(event, GaveUp)]
        return found


@pytest.fixture
def bench() -> Generator[Bench]:
    bench = Bench()
    yield bench
    bench.session.close()


def methods(server: Server) -> list[str]:
    return [request.method for request in server.requests]


def attempts(response: requests.Response) -> int:
    told: Any = response
    number: int = told.seawall_attempts
    return number


# --- what is repeated -----------------------------------------------------------------------------


def test_a_success_is_one_attempt(bench: Bench) -> None:
    with Server([OK]) as server:
        response = bench.session.get(server.url)
    assert (response.status_code, response.content, attempts(response)) == (200, b"ok", 1)
    assert bench.sleeps == []


@pytest.mark.parametrize("fault", [reset(), close(), half(), respond(503), respond(429)], ids=str)
def test_a_fault_is_repeated(bench: Bench, fault: Answer) -> None:
    with Server([fault, fault, OK]) as server:
        response = bench.session.get(server.url)
    assert (response.content, attempts(response)) == (b"ok", 3)
    assert bench.sleeps == [0.05, 0.1]  # full jitter, and every draw is a half


def test_the_last_answer_is_returned_as_it_is(bench: Bench) -> None:
    answers = [respond(503, b"no %d" % n, [("X-Nth", str(n))]) for n in range(1, 6)]
    with Server(answers) as server:
        response = bench.session.get(server.url)
    assert (response.status_code, response.content) == (503, b"no 5")
    assert response.headers["X-Nth"] == "5"
    assert attempts(response) == 5
    with pytest.raises(requests.HTTPError):
        response.raise_for_status()


def test_a_refused_connection_raises_what_requests_raises(bench: Bench) -> None:
    with refusing() as url, pytest.raises(requests.ConnectionError) as caught:
        bench.session.get(url)
    assert isinstance(caught.value.args[0], MaxRetryError)
    assert len(bench.sleeps) == 4
    assert bench.gave_up().error is caught.value


def test_a_server_that_comes_up_is_reached_even_by_post(bench: Bench) -> None:
    with Server([OK], listening=False) as server:

        def come_up(_event: Event) -> None:
            if bench.sleeps:
                server.listen()

        bench.mount(sink=come_up)
        response = bench.session.post(server.url, data=b"order")
    assert (response.content, attempts(response)) == (b"ok", 3)
    assert [request.body for request in server.requests] == [b"order"]


def test_a_hang_is_cut_by_the_timeout_of_the_attempt(bench: Bench) -> None:
    bench.mount(timeout_s=0.05)
    with Server([hang(), OK]) as server:
        assert attempts(bench.session.get(server.url)) == 2


def test_a_hang_is_cut_by_the_clients_own_timeout(bench: Bench) -> None:
    bench.mount(attempts=2)
    with Server([hang(), hang()]) as server, pytest.raises(requests.ReadTimeout):
        bench.session.get(server.url, timeout=(5, 0.05))
    assert len(server.requests) == 2


def test_a_hang_is_cut_by_the_deadline(bench: Bench) -> None:
    """The client itself would wait for ever."""
    bench.mount(deadline_s=0.05)
    with Server([hang()]) as server, pytest.raises(requests.ReadTimeout):
        bench.session.get(server.url)


def test_retry_after_is_a_minimum(bench: Bench) -> None:
    with Server([respond(429, headers=[("Retry-After", "7")]), OK]) as server:
        bench.session.get(server.url)
    assert bench.sleeps == [pytest.approx(7.35)]  # a tenth at most on top, half of it drawn


def test_repeated_retry_after_lines_are_read_one_by_one(bench: Bench) -> None:
    lines = [("x-should-retry", "true"), ("x-should-retry", "false")]
    with Server([respond(503, headers=lines)]) as server:
        response = bench.session.get(server.url)
    assert response.status_code == 503
    assert bench.gave_up().reason == "server said stop"


def test_too_long_an_advice_is_left_to_the_caller(bench: Bench) -> None:
    with Server([respond(503, headers=[("Retry-After", "86400")])]) as server:
        response = bench.session.get(server.url)
    assert (response.status_code, bench.sleeps) == (503, [])
    assert bench.gave_up().reason == "hint too long"


@pytest.mark.parametrize("status", [200, 304, 400, 401, 403, 404, 409, 413, 422, 500, 501, 526])
def test_final_answers_are_final(bench: Bench, status: int) -> None:
    headers = [("x-should-retry", "true")] if status < 400 else []
    with Server([respond(status, headers=headers)]) as server:
        assert attempts(bench.session.get(server.url)) == 1


@pytest.mark.parametrize("fault", [reset(), close(), half(), respond(503), respond(429)], ids=str)
def test_a_post_that_may_have_been_executed_is_made_once(bench: Bench, fault: Answer) -> None:
    with Server([fault]) as server:
        if fault.kind == "respond":
            assert attempts(bench.session.post(server.url, data=b"x")) == 1
        else:
            with pytest.raises(requests.RequestException):
                bench.session.post(server.url, data=b"x")
    assert len(server.requests) == 1


def test_a_servers_word_makes_no_post_safe(bench: Bench) -> None:
    with Server([respond(503, headers=[("x-should-retry", "true")])]) as server:
        assert attempts(bench.session.post(server.url, data=b"x")) == 1


def test_a_post_that_no_origin_has_seen_is_repeated(bench: Bench) -> None:
    with Server([respond(521), respond(523), OK]) as server:
        assert attempts(bench.session.post(server.url, data=b"x")) == 3


# --- keys and headers -----------------------------------------------------------------------------


def test_a_post_with_a_key_of_its_own_is_repeated_with_it(bench: Bench) -> None:
    with Server([reset(), respond(503), OK]) as server:
        bench.session.post(server.url, data=b"x", headers={"Idempotency-Key": "mine"})
    assert [request.header("Idempotency-Key") for request in server.requests] == ["mine"] * 3


def test_an_issued_key_is_the_same_on_all_attempts_and_new_for_each_call(bench: Bench) -> None:
    bench.mount(issue_keys=True)
    prepared = bench.session.prepare_request(requests.Request("POST", "http://x/", data=b"x"))
    with Server([reset(), OK, OK, OK]) as server:
        prepared.url = server.url
        first = bench.session.send(prepared)
        bench.session.send(prepared)
        bench.session.get(server.url)
    keys = [request.header("Idempotency-Key") for request in server.requests]
    assert keys[0] == keys[1] == first.request.headers["Idempotency-Key"]
    assert keys[2] not in (None, keys[0])
    assert keys[3] is None  # a GET needs none
    assert "Idempotency-Key" not in prepared.headers


def test_an_outer_layer_that_repeats_the_call_repeats_its_key(bench: Bench) -> None:
    bench.mount(issue_keys=True)
    outer = seawall.retry(on=requests.ConnectionError, attempts=3, world=bench.world)
    with Server([reset(), reset(), OK]) as server:
        outer.call(bench.session.post, server.url, data="x")
    assert len({request.header("Idempotency-Key") for request in server.requests}) == 1


def test_inside_a_retrying_layer_it_does_not_multiply(bench: Bench) -> None:
    outer = seawall.retry(on=requests.ConnectionError, attempts=3, world=bench.world)
    with Server([reset()] * 3) as server, pytest.raises(requests.ConnectionError):
        outer.call(bench.session.get, server.url)
    assert len(server.requests) == 3


def test_attempt_and_time_left_are_told(bench: Bench) -> None:
    bench.mount(tell_attempts=True, deadline_s=10.0, backoff=seawall.Constant(0.5))
    with Server([respond(503), OK]) as server:
        bench.session.get(server.url)
    told = [(r.header("Seawall-Attempt"), r.header("Seawall-Timeout-Ms")) for r in server.requests]
    assert told == [("1", "10000"), ("2", "9750")]


# --- bodies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {"data": b"bytes"},
        {"data": "text é"},
        {"json": {"a": 1}},
        {"data": {"a": "b c"}},
        {"files": {"f": io.BytesIO(b"part")}},
        {"data": io.BytesIO(b"file")},
        {},
    ],
    ids=str,
)
def test_bodies_are_sent_again(bench: Bench, body: dict[str, Any]) -> None:
    with Server([reset(), respond(503), OK]) as server:
        bench.session.put(server.url, **body)
    first, second, third = (request.body for request in server.requests)
    assert first == second == third
    assert bool(first) is bool(body)


def test_a_file_is_sent_again_from_where_it_stood(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "body"
    path.write_bytes(b"head" + b"tail" * 1000)
    with path.open("rb") as file, Server([respond(503), OK]) as server:
        file.seek(4)
        bench.session.put(server.url, data=file)
    assert [request.body for request in server.requests] == [b"tail" * 1000] * 2


def test_a_generator_is_sent_once(bench: Bench) -> None:
    def body() -> Iterator[bytes]:
        yield from (b"a", b"b")

    with Server([respond(503)]) as server:
        response = bench.session.put(server.url, data=body())
    assert (response.status_code, attempts(response)) == (503, 1)
    assert server.requests[0].body == b"ab"
    assert bench.gave_up().reason == "attempts"


def test_a_file_that_cannot_be_rewound_is_sent_once(bench: Bench) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with Server([respond(503)]) as server:
        assert attempts(bench.session.put(server.url, data=Pipe(b"x"))) == 1


# --- connections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"x" * 1000, b"x" * 1_000_000, [b"x" * 1000] * 3], ids=len)
@pytest.mark.parametrize("stream", [False, True])
def test_a_pool_of_one_does_not_starve(bench: Bench, body: Any, stream: bool) -> None:
    """Neither between the attempts nor after them."""
    bench.mount(pool_maxsize=1, pool_block=True)
    failed = respond(503, body)
    with Server([failed, failed, OK, failed, OK]) as server:
        for _ in range(2):
            with bench.session.get(server.url, stream=stream) as response:
                assert response.content == b"ok"


def test_a_small_failed_answer_keeps_its_connection(bench: Bench) -> None:
    with (
        Server([respond(503, b"sorry"), OK]) as server,
        bench.session.get(server.url, stream=True) as response,
    ):
        assert response.content == b"ok"
    assert {request.connection for request in server.requests} == {1}


def test_the_connection_is_free_during_the_wait(bench: Bench) -> None:
    """Another thread could use it while this call waits."""
    seen: list[bytes] = []

    def meanwhile(delay_s: float) -> None:
        if not seen:
            seen.append(b"")
            seen.append(bench.session.get(server.url).content)

    adapter = bench.mount(pool_maxsize=1, pool_block=True)
    world = FakeWorld()
    world.sleep = meanwhile
    adapter._use(adapter._settings.replace(world=world))
    with (
        Server([respond(503, b"x" * 1000), respond(200, b"other"), OK]) as server,
        bench.session.get(server.url, stream=True) as response,
    ):
        assert response.content == b"ok"
    assert seen == [b"", b"other"]


def test_a_stream_is_handed_over_unread(bench: Bench) -> None:
    sent: list[int] = []

    def body() -> Iterator[bytes]:
        for n in range(3):
            sent.append(n)
            yield b"%d" % n

    with (
        Server([respond(503), respond(200, body())]) as server,
        bench.session.get(server.url, stream=True) as response,
    ):
        assert attempts(response) == 2
        assert not vars(response)["_content_consumed"]
        assert b"".join(response.iter_content(None)) == b"012"


def test_a_stream_that_breaks_while_the_caller_reads_is_the_callers(bench: Bench) -> None:
    with (
        Server([half()]) as server,
        bench.session.get(server.url, stream=True) as response,
        pytest.raises(requests.exceptions.ChunkedEncodingError),
    ):
        response.content  # noqa: B018
    assert len(server.requests) == 1


def test_each_hop_of_a_redirect_has_its_own_attempts(bench: Bench) -> None:
    bench.mount(attempts=2)
    moved = respond(307, headers=[("Location", "/there")])
    with Server([respond(503), moved, respond(503), OK]) as server:
        response = bench.session.get(server.url)
    assert [request.path for request in server.requests] == ["/", "/", "/there", "/there"]
    assert [attempts(each) for each in (*response.history, response)] == [2, 2]


def test_an_interrupt_during_the_wait_leaves_no_connection_behind(bench: Bench) -> None:
    adapter = bench.mount(pool_maxsize=1, pool_block=True)
    world = FakeWorld()

    def interrupted(delay_s: float) -> None:
        raise KeyboardInterrupt

    world.sleep = interrupted
    adapter._use(adapter._settings.replace(world=world))
    with Server([respond(503, b"x" * 1000), OK]) as server:
        with pytest.raises(KeyboardInterrupt):
            bench.session.get(server.url, stream=True)
        assert bench.session.get(server.url).content == b"ok"


def test_a_failure_leaves_no_cycle_of_ours_behind(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """urllib3 leaves some of its own after a refused connection, so a simpler failure stands in for it."""

    def fail(*_: object) -> None:
        raise requests.ConnectionError("reset")

    monkeypatch.setattr(HTTPAdapter, "send", fail)
    bench.mount(sink=None)
    gc.collect()
    gc.disable()
    try:
        for method in ("GET", "POST"):
            with pytest.raises(requests.ConnectionError):
                bench.session.request(method, "http://x/")
        ours = [each for each in gc.get_objects() if type(each) is _Call]
    finally:
        gc.enable()
    assert ours == []


# --- errors, timeouts, settings -------------------------------------------------------------------


def test_what_is_no_fault_of_the_connection_is_not_repeated(bench: Bench) -> None:
    pool: Any = None
    unverified = SSLError(ssl.SSLCertVerificationError("self-signed"))
    handshake = SSLError(ssl.SSLEOFError("eof"))
    wrapped = requests.exceptions.SSLError(MaxRetryError(pool, "/", unverified))
    assert not _broken(wrapped)
    assert _broken(requests.exceptions.SSLError(MaxRetryError(pool, "/", handshake)))
    assert not _broken(requests.ConnectionError(ClosedPoolError(pool, "closed")))
    for status, again in (("407 Who?", False), ("503 Busy", True)):
        tunnel = ProxyError("proxy", OSError(f"Tunnel connection failed: {status}"))
        wrapped_tunnel = requests.exceptions.ProxyError(MaxRetryError(pool, "/", tunnel))
        assert _broken(wrapped_tunnel) is again
        assert not _not_sent(wrapped_tunnel)
    nobody = ProxyError("proxy", NewConnectionError(pool, "refused"))
    assert _not_sent(requests.exceptions.ProxyError(MaxRetryError(pool, "/", nobody)))
    assert not _broken(requests.exceptions.InvalidURL("x"))
    assert not _broken(ValueError("x"))


def test_what_proves_that_nothing_was_sent() -> None:
    pool: Any = None
    refused = MaxRetryError(pool, "/", NewConnectionError(pool, "refused"))
    assert _not_sent(requests.ConnectionError(refused))
    assert _not_sent(requests.ConnectTimeout("late"))
    assert not _not_sent(requests.ReadTimeout("late"))
    assert not _not_sent(requests.ConnectionError("reset"))
    assert not _not_sent(requests.ConnectionError())


def test_an_unknown_name_is_not_sent(bench: Bench) -> None:
    with pytest.raises(requests.ConnectionError) as caught:
        bench.session.post("http://name.invalid/", data=b"x")
    assert _not_sent(caught.value)
    assert len(bench.sleeps) == 4


@pytest.mark.parametrize(
    ("timeout", "connect", "read"),
    [
        (None, 3.0, 3.0),
        (1.0, 1.0, 1.0),
        (9.0, 3.0, 3.0),
        ((1.0, 9.0), 1.0, 3.0),
        ((9.0, None), 3.0, 3.0),
        (Timeout(2.0), 2.0, 2.0),
        (Timeout(total=2.0), 2.0, 2.0),
        (Timeout(total=9.0, connect=1.0), 1.0, 3.0),
    ],
    ids=str,
)
def test_timeouts_are_cut_to_what_is_left(timeout: Any, connect: float, read: float) -> None:
    cut = _cut(timeout, lambda own_s: 3.0 if own_s is None else min(own_s, 3.0))
    assert cut.connect_timeout == connect
    cut.start_connect()
    assert cut.read_timeout == pytest.approx(read, abs=1e-2)


def test_without_any_limit_there_is_none() -> None:
    cut = _cut(None, lambda own_s: own_s)
    assert (cut.total, cut.connect_timeout, cut.read_timeout) == (None, None, None)


def test_a_timeout_that_is_none_is_requests_to_refuse(bench: Bench) -> None:
    triple: Any = (1, 2, 3)
    with pytest.raises(ValueError, match="Pass a"):
        bench.session.get("http://127.0.0.1:1/", timeout=triple)


def test_urllib3_retries_nothing_itself_and_settings_survive_pickling() -> None:
    adapter = Adapter(attempts=3, issue_keys=True, pool_maxsize=7)
    again: Adapter = pickle.loads(pickle.dumps(adapter))
    for each in (adapter, again):
        assert each.max_retries.total == 0
        assert (each._settings.attempts, each._settings.issue_keys) == (3, True)
        assert vars(each)["_pool_maxsize"] == 7


def test_an_unknown_setting_is_refused() -> None:
    unknown: Any = {"max_retries": 3}
    with pytest.raises(TypeError, match="max_retries"):
        Adapter(**unknown)


def test_the_example() -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
