"""aiohttp's real client against a real server on loopback; only the waits between attempts are virtual."""

from __future__ import annotations

import asyncio
import doctest
import gc
import ssl
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from io import BytesIO
from pathlib import Path
from threading import Event as Gate
from typing import Any, TypeVar

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

import seawall
import seawall.adapters.aiohttp as module
from seawall.adapters.aiohttp import _GIVEN_UP, Middleware, Settings, _broken, _not_sent
from seawall.adapters.httpx_family import BodyReadError
from seawall.events import Event, GaveUp, RetryScheduled
from tests.adapters.server import Answer, Server, close, hang, refusing, reset, respond
from tests.fakes import FakeWorld

pytestmark = pytest.mark.sockets

T = TypeVar("T")


class Bench:
    """A virtual world, what its middleware reports, and something to do during each wait."""

    def __init__(self) -> None:
        self.world = HookedWorld()
        self.events: list[Event] = []

    def middleware(self, **changes: Any) -> Middleware:
        settings: Any = {"world": self.world, "sink": self.events.append, **changes}
        return Middleware(**settings)

    @asynccontextmanager
    async def session(
        self, *, pool: int = 100, **changes: Any
    ) -> AsyncGenerator[aiohttp.ClientSession]:
        connector = aiohttp.TCPConnector(limit=pool)
        middlewares = (self.middleware(**changes),)
        async with aiohttp.ClientSession(connector=connector, middlewares=middlewares) as session:
            yield session

    def ask(self, server: Server, method: str = "GET", **options: Any) -> Asked:
        """One request with the default settings, its answer read."""

        async def main() -> Asked:
            async with self.session() as session:
                return await read(session, server.url, method, **options)

        return asyncio.run(main())

    def gave_up(self) -> GaveUp:
        (found,) = [event for event in self.events if isinstance(event, GaveUp)]
        return found


class HookedWorld(FakeWorld):
    """A virtual world in which something happens during each wait."""

    hook: Callable[[], Coroutine[Any, Any, object]] | None = None

    async def _asleep(self, delay_s: float) -> None:
        if self.hook is not None:
            await self.hook()
        await super()._asleep(delay_s)


class Asked:
    """What came back."""

    def __init__(self, response: Any, body: bytes) -> None:
        self.status: int = response.status
        self.attempts: int = response.seawall_attempts
        self.sent = response.request_info.headers
        self.body = body


async def read(
    session: aiohttp.ClientSession, url: str, method: str = "GET", **options: Any
) -> Asked:
    async with session.request(method, url, **options) as response:
        return Asked(response, await response.read())


@pytest.fixture
def bench() -> Bench:
    return Bench()


# --- what is repeated -----------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [respond(503), respond(429), respond(504), reset(), close()])
def test_a_failure_is_repeated_and_the_success_says_how_often(
    bench: Bench, failure: Answer
) -> None:
    with Server([failure, failure, respond(200, b"ok")]) as server:
        answer = bench.ask(server)
    assert (answer.status, answer.body, answer.attempts) == (200, b"ok", 3)
    assert bench.world.sleeps == [0.05, 0.1]  # full jitter, drawn at one half


@pytest.mark.parametrize("status", [200, 204, 304, 400, 401, 403, 404, 409, 500, 501])
def test_a_final_status_is_returned_at_once(bench: Bench, status: int) -> None:
    with Server([respond(status)]) as server:
        answer = bench.ask(server)
    assert (answer.status, answer.attempts) == (status, 1)
    assert bench.world.sleeps == []


def test_the_last_failed_response_is_returned_with_its_body(bench: Bench) -> None:
    async def main() -> Asked:
        async with bench.session(attempts=3) as session:
            return await read(session, server.url)

    with Server([respond(503, f"busy {n}".encode()) for n in (1, 2, 3)]) as server:
        answer = asyncio.run(main())
    assert (answer.status, answer.body, answer.attempts) == (503, b"busy 3", 3)


def test_a_connection_error_is_the_clients_own(bench: Bench) -> None:
    async def main() -> None:
        async with bench.session(attempts=2) as session:
            await session.get(url)

    with refusing() as url, pytest.raises(aiohttp.ClientConnectorError) as raised:
        asyncio.run(main())
    assert isinstance(raised.value.__cause__, ConnectionRefusedError)
    assert not hasattr(raised.value, "__notes__")
    assert bench.gave_up().error is raised.value
    assert bench.world.sleeps == [0.05]


# --- the repetition of aiohttp's own --------------------------------------------------------------


@pytest.mark.parametrize("failure", [close(), reset()])
def test_aiohttp_does_not_begin_the_series_anew(bench: Bench, failure: Answer) -> None:
    """It makes an idempotent request once more when a connection breaks: 2 x 3 attempts, if it were let."""

    async def main() -> None:
        async with bench.session(attempts=3) as session:
            for _ in range(2):
                with pytest.raises(aiohttp.ClientConnectionError) as raised:
                    await session.get(server.url)
                assert bench.events[-1] == GaveUp(
                    bench.world.time, 3, "attempts", raised.value, None
                )

    with Server([failure] * 6) as server:
        asyncio.run(main())
    assert len(server.requests) == 6


def test_an_error_that_was_given_up_on_does_not_answer_the_next_call(bench: Bench) -> None:
    async def main() -> int:
        async with bench.session(attempts=1) as session:
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await session.get(server.url)
            return (await read(session, server.url)).status

    with Server([close(), respond(200)]) as server:
        assert asyncio.run(main()) == 200


def test_also_with_a_body_and_a_key(bench: Bench) -> None:
    """A PUT is made once more by aiohttp, a POST with a key is not."""

    async def main() -> None:
        async with bench.session(attempts=2) as session:
            for method, headers in (("PUT", {}), ("POST", {"Idempotency-Key": "k"})):
                with pytest.raises(aiohttp.ServerDisconnectedError):
                    await session.request(method, server.url, data=b"x", headers=headers)
            assert (await read(session, server.url)).status == 200

    with Server([*[close()] * 4, respond(200)]) as server:
        asyncio.run(main())
    assert [request.body for request in server.requests] == [b"x"] * 4 + [b""]


def test_an_error_that_aiohttp_does_not_ask_about_is_forgotten(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept for ever it would keep alive all that its frames hold."""
    monkeypatch.setattr("seawall.adapters.aiohttp._FORGOTTEN_AFTER_S", 0.0)

    async def main() -> None:
        async with bench.session() as session:
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await session.put(server.url, data=streamed())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not _GIVEN_UP.get()

    with Server([close()]) as server:
        asyncio.run(main())


# --- requests that are not idempotent -------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 502, 503, 504, 520])
def test_a_post_without_a_key_is_not_repeated_after_an_answer(bench: Bench, status: int) -> None:
    with Server([respond(status)]) as server:
        assert bench.ask(server, "POST", json={}).status == status
    assert bench.world.sleeps == []


@pytest.mark.parametrize("status", [521, 523, 525])
def test_but_after_one_that_proves_it_was_not_executed(bench: Bench, status: int) -> None:
    with Server([respond(status), respond(200)]) as server:
        assert bench.ask(server, "POST", json={}).attempts == 2


@pytest.mark.parametrize("failure", [reset(), close()])
def test_a_post_that_may_have_been_executed_is_not_repeated(bench: Bench, failure: Answer) -> None:
    with Server([failure]) as server, pytest.raises(aiohttp.ClientConnectionError):
        bench.ask(server, "POST", json={})
    assert bench.world.sleeps == []


def listen_on_retry(bench: Bench, server: Server) -> None:
    async def listen() -> None:
        server.listen()

    bench.world.hook = listen


def test_a_post_that_was_not_sent_is_repeated(bench: Bench) -> None:
    with Server([respond(200)], listening=False) as server:
        listen_on_retry(bench, server)
        assert bench.ask(server, "POST", json={"a": 1}).attempts == 2
    assert [request.body for request in server.requests] == [b'{"a": 1}']


def keys(server: Server) -> list[str | None]:
    return [request.header("Idempotency-Key") for request in server.requests]


def test_a_post_with_a_key_of_its_own_is_repeated_with_it(bench: Bench) -> None:
    with Server([respond(503), reset(), respond(201)]) as server:
        answer = bench.ask(server, "POST", json={}, headers={"Idempotency-Key": "mine"})
    assert answer.status == 201
    assert keys(server) == ["mine"] * 3


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_an_issued_key_is_one_for_each_call(bench: Bench, method: str) -> None:
    async def main() -> list[Asked]:
        async with bench.session(issue_keys=True) as session:
            return [await read(session, server.url, method, json={}) for _ in range(2)]

    with Server([respond(503), reset(), respond(201), respond(503), respond(201)]) as server:
        first, second = asyncio.run(main())
    one, other = keys(server)[0], keys(server)[3]
    assert keys(server) == [one, one, one, other, other]
    assert None not in (one, other)
    assert one != other
    assert first.sent["Idempotency-Key"] == one
    assert second.sent["Idempotency-Key"] == other


def test_an_issued_key_outlives_the_attempts_of_a_layer_outside(bench: Bench) -> None:
    """The inner layer stands back; what the outer one repeats is still the same order."""

    async def main() -> None:
        async with bench.session(issue_keys=True) as session:

            async def order() -> None:
                async with session.post(server.url, json={"n": 1}) as response:
                    response.raise_for_status()

            await seawall.retry(on=aiohttp.ClientResponseError, world=bench.world).acall(order)

    with Server([respond(503), respond(503), respond(201)]) as server:
        asyncio.run(main())
    assert len(server.requests) == 3
    assert len(set(keys(server))) == 1


# --- what the server says -------------------------------------------------------------------------


def test_retry_after_is_a_minimum(bench: Bench) -> None:
    with Server([respond(503, headers=[("Retry-After", "7")]), respond(200)]) as server:
        bench.ask(server)
    assert bench.world.sleeps == [7.0 + 0.5 * 0.1 * 7.0]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (("Retry-After", "301"), "hint too long"),
        (("x-should-retry", "false"), "server said stop"),
        (("grpc-retry-pushback-ms", "-1"), "server said stop"),
    ],
)
def test_a_server_can_stop_the_series(bench: Bench, header: tuple[str, str], reason: str) -> None:
    with Server([respond(503, headers=[header])]) as server:
        assert bench.ask(server).status == 503
    assert bench.gave_up().reason == reason


def test_attempt_and_time_left_are_told_when_asked(bench: Bench) -> None:
    async def main() -> None:
        changes: Any = {"deadline_s": 10.0, "backoff": seawall.Constant(0.5)}
        async with bench.session(tell_attempts=True, **changes) as session:
            await read(session, server.url)

    with Server([respond(503), respond(200)]) as server:
        asyncio.run(main())
    assert [request.header("Seawall-Attempt") for request in server.requests] == ["1", "2"]
    assert [request.header("Seawall-Timeout-Ms") for request in server.requests] == [
        "10000",
        "9750",
    ]


# --- bodies ---------------------------------------------------------------------------------------


def form_with_file() -> aiohttp.FormData:
    form = aiohttp.FormData()
    form.add_field("a", "1")
    form.add_field("f", BytesIO(b"part" * 50_000), filename="f")
    return form


REPLAYABLE: dict[str, Any] = {
    "bytes": lambda: {"data": b"body"},
    "text": lambda: {"data": "body"},
    "json": lambda: {"json": {"a": 1}},
    "form": lambda: {"data": {"a": "1"}},
    "parts": lambda: {"data": form_with_file()},
    "file": lambda: {"data": BytesIO(b"file" * 50_000)},
}


@pytest.mark.parametrize("body", REPLAYABLE)
def test_a_kept_body_is_sent_again(bench: Bench, body: str) -> None:
    with Server([respond(503), reset(), respond(200)]) as server:
        bench.ask(server, "PUT", **REPLAYABLE[body]())
    first, second, third = (request.body for request in server.requests)
    assert first
    assert first == second == third


def test_a_file_is_sent_again_from_where_it_stood(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"skipped" + b"sent" * 50_000)
    with Server([respond(503), reset(), respond(200)]) as server, path.open("rb") as file:
        file.seek(7)
        bench.ask(server, "PUT", data=file)
    assert [request.body for request in server.requests] == [b"sent" * 50_000] * 3


async def streamed() -> AsyncGenerator[bytes]:
    """A body that can be read once."""
    yield b"a"
    yield b"b"


def test_a_body_that_was_read_is_not_sent_again_after_a_bad_status(bench: Bench) -> None:
    with Server([respond(503, b"busy")]) as server:
        answer = bench.ask(server, "PUT", data=streamed())
    assert (answer.status, answer.body, answer.attempts) == (503, b"busy", 1)
    assert [request.body for request in server.requests] == [b"ab"]
    error = bench.gave_up().error
    assert isinstance(error, BodyReadError)
    assert "Pass bytes" in str(error)


@pytest.mark.parametrize("failure", [reset(), close()])
def test_nor_after_an_error_which_is_the_clients_own(bench: Bench, failure: Answer) -> None:
    with Server([failure]) as server, pytest.raises(aiohttp.ClientConnectionError) as raised:
        bench.ask(server, "PUT", data=streamed())
    seen: BaseException | None = raised.value
    while seen is not None:
        assert not isinstance(seen, BodyReadError)
        seen = seen.__cause__ or seen.__context__
    assert isinstance(bench.gave_up().error, BodyReadError)
    assert bench.world.sleeps == []


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_body_that_nobody_has_read_may_still_be_sent(bench: Bench, method: str) -> None:
    with Server([respond(200)], listening=False) as server:
        listen_on_retry(bench, server)
        assert bench.ask(server, method, data=streamed()).attempts == 2
    assert [request.body for request in server.requests] == [b"ab"]


def test_an_upload_that_was_answered_too_early_is_begun_anew(bench: Bench) -> None:
    """The server answers after the headers; what was still writing the body must not write into the next attempt."""
    body = b"x" * 3_000_000
    with Server([respond(503), reset(), respond(200)]) as server:
        bench.ask(server, "PUT", data=BytesIO(body))
    assert [len(request.body) for request in server.requests] == [len(body)] * 3


# --- connections ----------------------------------------------------------------------------------


def test_a_failed_response_frees_its_connection_before_the_wait(bench: Bench) -> None:
    """With a pool of one connection the waiting call must not starve others, nor itself."""

    async def main() -> Asked:
        impatient = aiohttp.ClientTimeout(connect=0.5)
        async with bench.session(pool=1) as session:

            async def meanwhile() -> None:
                other = session.get(server.url + "other", timeout=impatient, middlewares=())
                async with other as response:
                    assert response.status == 204

            bench.world.hook = meanwhile
            return await read(session, server.url, timeout=impatient)

    unread = b"x" * 3_000_000
    script = [respond(503, unread), respond(204), respond(503, unread), respond(204), respond(200)]
    with Server(script) as server:
        assert asyncio.run(main()).status == 200
    assert [request.path for request in server.requests] == ["/", "/other", "/", "/other", "/"]


def test_also_when_there_is_no_wait(bench: Bench) -> None:
    async def main() -> Asked:
        async with bench.session(pool=1, backoff=seawall.Constant(0.0)) as session:
            return await read(session, server.url, timeout=aiohttp.ClientTimeout(connect=0.5))

    with Server([respond(503, b"x" * 3_000_000)] * 3 + [respond(200)]) as server:
        assert asyncio.run(main()).attempts == 4


def test_a_complete_answer_keeps_its_connection(bench: Bench) -> None:
    """An overloaded server need not shake hands again for every attempt."""
    with Server([respond(503), respond(503), respond(200)]) as server:
        bench.ask(server)
    assert server.connections == 1


def test_a_good_response_is_streamed(bench: Bench) -> None:
    taken = Gate()

    def body() -> Iterator[bytes]:
        yield b"first"
        assert taken.wait(5.0)  # the rest comes only when the first part has reached the caller
        yield b"second"

    async def main() -> list[bytes]:
        parts: list[bytes] = []
        async with bench.session() as session, session.get(server.url) as response:
            async for chunk in response.content.iter_any():
                parts.append(chunk)
                taken.set()
        return parts

    with Server([respond(503), respond(200, body())]) as server:
        assert asyncio.run(main()) == [b"first", b"second"]


def test_hundreds_of_tasks_share_a_few_connections(bench: Bench) -> None:
    """Each has attempts of its own; none starves, and every failed response has been given back."""

    async def main() -> list[Asked]:
        async with bench.session(pool=5, budget=seawall.UNLIMITED, attempts=20) as session:
            return await asyncio.gather(*(read(session, server.url) for _ in range(200)))

    failed = [respond(503, b"busy")] * 25 + [respond(503)] * 125
    with Server([*failed, *[respond(200)] * 200]) as server:
        answers = asyncio.run(main())
        assert server.connections <= 5
    assert {answer.status for answer in answers} == {200}
    assert sum(answer.attempts for answer in answers) == 350


# --- time -----------------------------------------------------------------------------------------


def test_an_attempt_that_takes_too_long_is_cancelled_and_repeated(bench: Bench) -> None:
    async def main() -> Asked:
        async with bench.session(pool=1, timeout_s=0.05) as session:
            return await read(session, server.url)

    with Server([hang(), respond(200)]) as server:
        assert asyncio.run(main()).attempts == 2
    (event,) = [e for e in bench.events if isinstance(e, RetryScheduled)]
    assert isinstance(event.error, aiohttp.SocketTimeoutError)
    assert isinstance(event.error, TimeoutError)


def test_the_sessions_total_ends_the_call(bench: Bench) -> None:
    async def main() -> None:
        async with bench.session(pool=1) as session:
            with pytest.raises(TimeoutError):
                await session.get(server.url, timeout=aiohttp.ClientTimeout(total=0.05))
            assert (await read(session, server.url)).status == 200

    with Server([hang(), respond(200)]) as server:
        asyncio.run(main())
    assert bench.world.sleeps == []


def test_a_cancelled_attempt_frees_its_connection(bench: Bench) -> None:
    async def main() -> None:
        async with bench.session(pool=1) as session:
            task = asyncio.ensure_future(session.get(server.url))
            await asyncio.to_thread(server.wait_for_requests, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await read(session, server.url)).status == 200

    with Server([hang(), respond(200)]) as server:
        asyncio.run(main())
    assert bench.events == []


def test_a_call_cancelled_while_it_waits_holds_nothing(bench: Bench) -> None:
    waiting = asyncio.Event()

    async def wait() -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def main() -> None:
        async with bench.session(pool=1) as session:
            bench.world.hook = wait
            task = asyncio.ensure_future(session.get(server.url))
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await read(session, server.url)).status == 200

    with Server([respond(503, b"x" * 3_000_000), respond(200)]) as server:
        asyncio.run(main())


# --- redirects, layers, settings ------------------------------------------------------------------


def test_each_hop_is_a_request_of_its_own(bench: Bench) -> None:
    async def main() -> Asked:
        async with bench.session(attempts=2) as session:
            return await read(session, server.url)

    there = respond(307, headers=[("Location", "/there")])
    with Server([respond(503), there, respond(503), respond(200)]) as server:
        answer = asyncio.run(main())
    assert (answer.status, answer.attempts) == (200, 2)
    assert [request.path for request in server.requests] == ["/", "/", "/there", "/there"]


def test_a_body_is_carried_over_a_redirect_and_a_failure(bench: Bench) -> None:
    there = respond(307, headers=[("Location", "/there")])
    with Server([respond(503), there, respond(503), respond(200)]) as server:
        bench.ask(server, "PUT", data=BytesIO(b"body"))
    assert [request.body for request in server.requests] == [b"body"] * 4


def test_inside_a_retrying_layer_it_does_not_repeat(bench: Bench) -> None:
    """Three layers of three attempts would be 27 calls."""

    async def main() -> None:
        async with bench.session() as session:
            outer = seawall.retry(on=aiohttp.ClientError, attempts=3, world=bench.world)
            with pytest.raises(aiohttp.ClientConnectionError):
                await outer.acall(session.get, server.url)

    with Server([close()] * 3) as server:
        asyncio.run(main())
    assert len(server.requests) == 3


def test_sessions_share_the_budget_of_their_middleware(bench: Bench) -> None:
    async def main() -> list[int]:
        shared = bench.middleware(budget=seawall.TokenBudget(2))
        attempts: list[int] = []
        for _ in range(2):
            async with aiohttp.ClientSession(middlewares=[shared]) as session:
                attempts.append((await read(session, server.url)).attempts)
        return attempts

    with Server([respond(503)] * 3) as server, suppress(AssertionError):
        assert sum(asyncio.run(main())) == 3


def test_settings_come_whole_or_by_keyword() -> None:
    whole = Middleware(Settings(attempts=3, issue_keys=True), attempts=2)
    assert whole._exchange.settings == Settings(attempts=2, issue_keys=True)
    unknown: Any = {"tries": 3}
    with pytest.raises(TypeError, match="tries"):
        Middleware(**unknown)


def test_a_final_error_leaves_nothing_behind(bench: Bench) -> None:
    """No cycle keeps the exception, and with it the frames of the call."""

    async def main() -> weakref.ref[Exception]:
        async with bench.session(attempts=2, sink=None) as session:
            try:
                await session.get(server.url)
            except aiohttp.ClientConnectionError as error:
                return weakref.ref(error)
        raise AssertionError

    with Server([close()] * 2) as server:
        gc.collect()
        gc.disable()
        try:
            assert asyncio.run(main())() is None
        finally:
            gc.enable()


# --- errors that no server can be made to cause here ----------------------------------------------

KEY = ConnectionKey("host", 443, True, True, None, None, None)


@pytest.mark.parametrize(
    ("error", "broken", "not_sent"),
    [
        (aiohttp.ClientConnectorError(KEY, OSError(111, "refused")), True, True),
        (aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "unknown")), True, True),
        (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "handshake")), True, True),
        (
            aiohttp.ClientConnectorCertificateError(KEY, ssl.SSLCertVerificationError()),
            False,
            False,
        ),
        (aiohttp.ServerFingerprintMismatch(b"a", b"b", "host", 443), False, False),
        (aiohttp.ConnectionTimeoutError("slow"), True, True),
        (aiohttp.SocketTimeoutError("slow"), True, False),
        (aiohttp.ServerDisconnectedError(), True, False),
        (aiohttp.ClientOSError(104, "reset"), True, False),
        (TimeoutError(), False, False),  # of the whole call
        (aiohttp.ClientConnectionError("Connector is closed."), False, False),
        (aiohttp.InvalidURL("no"), False, False),
        (aiohttp.ClientPayloadError("cut"), True, False),
        (ValueError(), False, False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_what_errors_mean(error: Exception, broken: bool, not_sent: bool) -> None:
    assert _broken(error) is broken
    assert _not_sent(error) is not_sent


def test_the_example() -> None:
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.attempted
    assert not result.failed
