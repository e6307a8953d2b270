"""Both libraries' real clients against a real server on loopback; only the waits between attempts are virtual."""

from __future__ import annotations

import asyncio
import doctest
import gc
import ssl
import weakref
from collections.abc import Iterator
from io import BytesIO
from threading import Event as Gate
from typing import Any, get_type_hints

import httpx
import httpx2
import pytest
import trio

import seawall
from seawall.adapters.exchange import Changes, Settings
from seawall.adapters.httpx import AsyncTransport, Transport
from seawall.adapters.httpx2 import AsyncTransport as AsyncTransport2
from seawall.adapters.httpx2 import Transport as Transport2
from seawall.adapters.httpx_family import BodyReadError
from seawall.events import RetryScheduled
from seawall.world import REAL
from tests.adapters.kit import AnyClient, Kit
from tests.adapters.server import (
    Answer,
    Received,
    Server,
    close,
    half,
    hang,
    refusing,
    reset,
    respond,
)

pytestmark = pytest.mark.sockets

NAMES = ["httpx", "httpx2"]
MODES = ["sync", "asyncio", "trio"]


@pytest.fixture(params=[(n, m) for n in NAMES for m in MODES], ids=lambda p: "-".join(p))
def kit(request: pytest.FixtureRequest) -> Kit:
    return Kit(*request.param)


@pytest.fixture(params=NAMES)
def blocking(request: pytest.FixtureRequest) -> Kit:
    return Kit(request.param, "sync")


def ask(kit: Kit, server: Server, method: str = "GET", **options: Any) -> Any:
    """One request through a client with the default settings."""

    async def main() -> Any:
        async with kit.client() as client:
            return await client.request(method, server.url, **options)

    return kit.run(main)


# --- what is repeated -----------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [respond(503), respond(429), respond(504), reset(), close()])
def test_a_failure_is_repeated_and_the_success_says_how_often(kit: Kit, failure: Answer) -> None:
    with Server([failure, failure, respond(200, b"ok")]) as server:
        response = ask(kit, server)
    assert (response.status_code, response.content) == (200, b"ok")
    assert response.extensions["seawall_attempts"] == 3
    assert kit.world.sleeps == [0.05, 0.1]  # full jitter, drawn at one half


@pytest.mark.parametrize("status", [200, 204, 304, 400, 401, 403, 404, 409, 500, 501])
def test_a_final_status_is_returned_at_once(blocking: Kit, status: int) -> None:
    with Server([respond(status)]) as server:
        response = ask(blocking, server)
    assert response.status_code == status
    assert response.extensions["seawall_attempts"] == 1
    assert blocking.world.sleeps == []


def test_the_last_failed_response_is_returned_as_it_is(kit: Kit) -> None:
    async def main() -> None:
        async with (
            kit.client(attempts=3) as client,
            client.stream("GET", server.url) as response,
        ):
            assert response.status_code == 503
            assert response.extensions["seawall_attempts"] == 3
            assert not response.is_stream_consumed
            assert b"".join([c async for c in client.chunks(response)]) == b"busy 3"

    with Server([respond(503, f"busy {n}".encode()) for n in (1, 2, 3)]) as server:
        kit.run(main)


def test_a_connection_error_is_the_clients_own(kit: Kit) -> None:
    raised: list[Exception] = []

    async def main() -> None:
        async with kit.client(attempts=2) as client:
            try:
                await client.get(url)
            except kit.library.ConnectError as error:
                assert error.request.url == url
                raised.append(error)

    with refusing() as url:
        kit.run(main)
    (error,) = raised
    assert type(error.__cause__).__module__.startswith("httpcore")
    assert not hasattr(error, "__notes__")
    assert kit.gave_up().error is error
    assert kit.world.sleeps == [0.05]


def test_what_cannot_mend_itself_is_not_repeated(kit: Kit) -> None:
    async def main() -> None:
        async with kit.client() as client:
            with pytest.raises(kit.library.UnsupportedProtocol):
                await client.get("ftp://127.0.0.1/")
            with pytest.raises(kit.library.LocalProtocolError):
                await client.get(server.url, headers={"a": "b\nc"})

    with Server([]) as server:
        kit.run(main)
    assert kit.world.sleeps == []


@pytest.mark.parametrize("text", ["407 Proxy Authentication Required", "403 Forbidden"])
def test_a_proxys_refusal_is_an_answer(blocking: Kit, text: str) -> None:
    assert fails(blocking, blocking.library.ProxyError(text)) == 1


@pytest.mark.parametrize("text", ["503 Service Unavailable", "no reply"])
def test_a_proxys_trouble_is_not(blocking: Kit, text: str) -> None:
    assert fails(blocking, blocking.library.ProxyError(text)) == 5


def test_an_invalid_certificate_stays_invalid(blocking: Kit) -> None:
    error = blocking.library.ConnectError("certificate verify failed")
    error.__cause__ = OSError()
    error.__cause__.__context__ = ssl.SSLCertVerificationError()
    assert fails(blocking, error) == 1


def test_a_cycle_of_causes_is_survived(blocking: Kit) -> None:
    error = blocking.library.ConnectError("refused")
    error.__cause__ = OSError()
    error.__cause__.__cause__ = error
    assert fails(blocking, error) == 5
    error.__cause__ = None


def fails(kit: Kit, error: Exception) -> int:
    """How often a request that fails in this way is made."""
    made: list[object] = []

    def fail(request: object) -> Any:
        made.append(request)
        raise error

    with (
        kit.library.Client(transport=kit.transport(kit.library.MockTransport(fail))) as client,
        pytest.raises(type(error)),
    ):
        client.get("http://server/")
    return len(made)


def test_a_read_timeout_is_repeated(kit: Kit) -> None:
    with Server([hang(), respond(200)]) as server:
        response = ask(kit, server, timeout=kit.library.Timeout(5.0, read=0.02))
    assert response.extensions["seawall_attempts"] == 2


def test_a_body_that_breaks_off_is_the_readers_failure(kit: Kit) -> None:
    """The transport has returned by then; what has been read cannot be taken back."""
    with Server([half()]) as server, pytest.raises(kit.library.RemoteProtocolError):
        ask(kit, server)
    assert kit.world.sleeps == []


# --- requests that are not idempotent -------------------------------------------------------------


@pytest.mark.parametrize("method", ["POST", "PATCH", "CONNECT", "BREW"])
def test_without_a_key_only_what_was_not_executed_is_repeated(blocking: Kit, method: str) -> None:
    recorder = Recorder(blocking, 521, 523, 525, 503)

    async def main() -> Any:
        async with blocking.client(recorder.transport) as client:
            return await client.request(method, "http://server/")

    response = blocking.run(main)
    assert (response.status_code, response.extensions["seawall_attempts"]) == (503, 4)


@pytest.mark.parametrize("failure", [reset(), close()])
def test_a_post_that_may_have_been_executed_is_not_repeated(kit: Kit, failure: Answer) -> None:
    with Server([failure]) as server, pytest.raises(kit.library.TransportError):
        ask(kit, server, "POST", json={})
    assert kit.world.sleeps == []


def test_a_post_that_was_not_sent_is_repeated(kit: Kit) -> None:
    with Server([respond(200)], listening=False) as server:
        kit.on_retry(server.listen)
        response = ask(kit, server, "POST", json={"a": 1})
    assert response.extensions["seawall_attempts"] == 2
    assert [request.body for request in server.requests] == [b'{"a":1}']


def keys(server: Server) -> list[str | None]:
    return [request.header("Idempotency-Key") for request in server.requests]


def test_a_post_with_a_key_of_its_own_is_repeated_with_it(kit: Kit) -> None:
    with Server([respond(503), reset(), respond(201)]) as server:
        response = ask(kit, server, "POST", json={}, headers={"Idempotency-Key": "mine"})
    assert response.status_code == 201
    assert keys(server) == ["mine"] * 3


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_an_issued_key_is_one_for_each_call(kit: Kit, method: str) -> None:
    async def main() -> list[Any]:
        async with kit.client(issue_keys=True) as client:
            return [await client.request(method, server.url, json={}) for _ in range(2)]

    with Server([respond(503), reset(), respond(201), respond(503), respond(201)]) as server:
        first, second = kit.run(main)
    one, other = keys(server)[0], keys(server)[3]
    assert keys(server) == [one, one, one, other, other]
    assert None not in (one, other)
    assert one != other
    assert first.extensions["seawall_idempotency_key"] == one
    assert second.extensions["seawall_idempotency_key"] == other
    assert "Idempotency-Key" not in first.request.headers


def test_a_request_sent_twice_on_purpose_gets_two_keys(blocking: Kit) -> None:
    """The caller's object is left alone: with the key in it the second order would be taken for a repetition."""
    with (
        Server([respond(201)] * 2) as server,
        blocking.library.Client(transport=blocking.transport(issue_keys=True)) as client,
    ):
        order = client.build_request("POST", server.url, json={})
        client.send(order)
        client.send(order)
    assert len(set(keys(server))) == 2


@pytest.mark.parametrize(("method", "own"), [("GET", None), ("PUT", None), ("POST", "mine")])
def test_no_key_is_issued_where_none_is_needed(blocking: Kit, method: str, own: str | None) -> None:
    headers = {} if own is None else {"Idempotency-Key": own}

    async def main() -> Any:
        async with blocking.client(issue_keys=True) as client:
            return await client.request(method, server.url, headers=headers)

    with Server([respond(200)]) as server:
        response = blocking.run(main)
    assert keys(server) == [own]
    assert "seawall_idempotency_key" not in response.extensions


# --- what the server says -------------------------------------------------------------------------


def test_retry_after_is_a_minimum(kit: Kit) -> None:
    with Server([respond(503, headers=[("Retry-After", "7")]), respond(200)]) as server:
        ask(kit, server)
    assert kit.world.sleeps == [7.0 + 0.5 * 0.1 * 7.0]


def test_a_server_can_ask_to_be_tried_again(blocking: Kit) -> None:
    asking = respond(409, headers=[("x-should-retry", "true")])
    with Server([asking, respond(200)]) as server:
        assert ask(blocking, server).status_code == 200


def test_but_not_for_a_second_execution(blocking: Kit) -> None:
    asking = respond(503, headers=[("x-should-retry", "true")])
    with Server([asking]) as server:
        assert ask(blocking, server, "POST").status_code == 503


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (("Retry-After", "301"), "hint too long"),
        (("x-should-retry", "false"), "server said stop"),
        (("grpc-retry-pushback-ms", "-1"), "server said stop"),
    ],
)
def test_a_server_can_stop_the_series(blocking: Kit, header: tuple[str, str], reason: str) -> None:
    with Server([respond(503, headers=[header])]) as server:
        assert ask(blocking, server).status_code == 503
    assert blocking.gave_up().reason == reason


def test_an_unreadable_retry_after_is_ignored(blocking: Kit) -> None:
    with Server([respond(503, headers=[("Retry-After", "soon")]), respond(200)]) as server:
        assert ask(blocking, server).status_code == 200
    assert blocking.world.sleeps == [0.05]


# --- bodies ---------------------------------------------------------------------------------------

REPLAYABLE: dict[str, Any] = {
    "bytes": lambda: {"content": b"body"},
    "text": lambda: {"content": "body"},
    "json": lambda: {"json": {"a": 1}},
    "form": lambda: {"data": {"a": "1"}},
    "parts": lambda: {"files": {"f": b"part"}, "data": {"a": "1"}},
    "file part": lambda: {"files": {"f": BytesIO(b"part" * 50_000)}},
}


@pytest.mark.parametrize("body", REPLAYABLE)
def test_a_kept_body_is_sent_again(kit: Kit, body: str) -> None:
    with Server([respond(503), reset(), respond(200)]) as server:
        ask(kit, server, "PUT", **REPLAYABLE[body]())
    first, second, third = (request.body for request in server.requests)
    assert first
    assert first == second == third


def test_a_file_is_sent_again_from_where_it_stood(blocking: Kit) -> None:
    file = BytesIO(b"skipped" + b"sent" * 50_000)
    file.seek(7)
    with Server([respond(503), respond(200)]) as server:
        ask(blocking, server, "PUT", content=file, headers={"Content-Length": "200000"})
    assert [request.body for request in server.requests] == [b"sent" * 50_000] * 2


def test_a_list_of_bytes_is_sent_again(blocking: Kit) -> None:
    with Server([respond(503), respond(200)]) as server:
        ask(blocking, server, "PUT", content=[b"a", b"b"])
    assert [request.body for request in server.requests] == [b"ab"] * 2


class Pipe(BytesIO):
    """A file that cannot be rewound."""

    def seekable(self) -> bool:
        return False


def streamed(kit: Kit) -> Any:
    """A body that can be read once."""
    if kit.blocking:
        return iter([b"a", b"b"])

    async def parts() -> Any:
        for part in (b"a", b"b"):
            yield part

    return parts()


def test_a_body_that_was_read_is_not_sent_again_after_a_bad_status(kit: Kit) -> None:
    with Server([respond(503, b"busy")]) as server:
        response = ask(kit, server, "PUT", content=streamed(kit))
    assert (response.status_code, response.content) == (503, b"busy")
    assert response.extensions["seawall_attempts"] == 1
    assert [request.body for request in server.requests] == [b"ab"]
    gave_up = kit.gave_up()
    assert isinstance(gave_up.error, BodyReadError)
    assert "Pass bytes" in str(gave_up.error)


@pytest.mark.parametrize("failure", [reset(), close()])
def test_nor_after_an_error_which_is_the_clients_own(kit: Kit, failure: Answer) -> None:
    with Server([failure]) as server, pytest.raises(kit.library.TransportError) as raised:
        ask(kit, server, "PUT", content=streamed(kit))
    seen: BaseException | None = raised.value
    while seen is not None:
        assert not isinstance(seen, BodyReadError)
        seen = seen.__cause__ or seen.__context__
    assert isinstance(kit.gave_up().error, BodyReadError)
    assert kit.world.sleeps == []


@pytest.mark.parametrize(
    "options", [{"content": Pipe(b"ab")}, {"files": {"f": Pipe(b"ab")}}], ids=["file", "part"]
)
def test_nor_is_a_file_that_cannot_be_rewound(blocking: Kit, options: Any) -> None:
    with Server([respond(503)]) as server:
        assert ask(blocking, server, "PUT", **options).status_code == 503
    assert isinstance(blocking.gave_up().error, BodyReadError)


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_body_that_nobody_has_read_may_still_be_sent(kit: Kit, method: str) -> None:
    with Server([respond(200)], listening=False) as server:
        kit.on_retry(server.listen)
        response = ask(kit, server, method, content=streamed(kit))
    assert response.extensions["seawall_attempts"] == 2
    assert [request.body for request in server.requests] == [b"ab"]


def test_a_streamed_body_does_not_make_a_final_failure_a_refusal(kit: Kit) -> None:
    """A POST would not have been repeated anyway; the reason is its method, not its body."""
    with Server([respond(503)]) as server:
        ask(kit, server, "POST", content=streamed(kit))
    assert kit.events == []


# --- connections ----------------------------------------------------------------------------------


def test_a_failed_response_frees_its_connection_before_the_wait(kit: Kit) -> None:
    """With a pool of one connection the waiting call must not starve others, nor itself."""

    async def main() -> Any:
        wrapped = kit.socket_transport(pool=1)
        async with kit.opened(wrapped) as other, kit.client(wrapped) as client:

            async def meanwhile() -> None:
                response = await other.get(server.url + "other", timeout=impatient)
                assert response.status_code == 204

            kit.world.hook = meanwhile
            return await client.get(server.url, timeout=impatient)

    impatient = kit.library.Timeout(5.0, pool=0.01)
    unread = b"x" * 300_000
    script = [respond(503, unread), respond(204), respond(503, unread), respond(204), respond(200)]
    with Server(script) as server:
        assert kit.run(main).status_code == 200
    assert [request.path for request in server.requests] == ["/", "/other", "/", "/other", "/"]


def test_also_when_there_is_no_wait(kit: Kit) -> None:
    async def main() -> Any:
        async with kit.client(pool=1, backoff=seawall.Constant(0.0)) as client:
            return await client.get(server.url, timeout=kit.library.Timeout(5.0, pool=0.01))

    with Server([respond(503, b"x" * 300_000)] * 3 + [respond(200)]) as server:
        assert kit.run(main).extensions["seawall_attempts"] == 4


def test_a_good_response_is_streamed(kit: Kit) -> None:
    taken = Gate()

    def body() -> Iterator[bytes]:
        yield b"first"
        assert taken.wait(5.0)  # the rest comes only when the first part has reached the caller
        yield b"second"

    async def main() -> list[bytes]:
        parts: list[bytes] = []
        async with kit.client() as client, client.stream("GET", server.url) as response:
            async for chunk in client.chunks(response):
                parts.append(chunk)
                taken.set()
        return parts

    with Server([respond(503), respond(200, body())]) as server:
        assert kit.run(main) == [b"first", b"second"]


def works(kit: Kit, client: AnyClient, server: Server) -> Any:
    """The only connection of the pool is free."""
    return client.get(server.url, timeout=kit.library.Timeout(5.0, pool=0.01))


@pytest.mark.parametrize("name", NAMES)
def test_a_cancelled_task_gives_its_connection_back(name: str) -> None:
    kit = Kit(name, "asyncio")
    tasks: list[asyncio.Task[Any]] = []

    def cancel() -> None:
        tasks[0].get_loop().call_soon_threadsafe(tasks[0].cancel)

    async def main() -> None:
        async with kit.client(pool=1) as client:
            tasks.append(asyncio.create_task(client.get(server.url)))
            with pytest.raises(asyncio.CancelledError):
                await tasks[0]
            assert (await works(kit, client, server)).status_code == 200

    with Server([hang(before=cancel), respond(200)]) as server:
        kit.run(main)
    assert kit.events == []


@pytest.mark.parametrize("name", NAMES)
def test_a_cancelled_scope_gives_its_connection_back(name: str) -> None:
    kit = Kit(name, "trio")
    cancels: list[Any] = []

    async def main() -> None:
        token = trio.lowlevel.current_trio_token()
        async with kit.client(pool=1) as client:
            with trio.CancelScope() as scope:
                cancels.append(lambda: token.run_sync_soon(scope.cancel))
                await client.get(server.url)
            assert scope.cancelled_caught
            assert (await works(kit, client, server)).status_code == 200

    with Server([hang(before=lambda: cancels[0]()), respond(200)]) as server:
        kit.run(main)
    assert kit.events == []


def test_a_call_that_ends_in_its_wait_holds_nothing(kit: Kit) -> None:
    async def interrupt() -> None:
        raise KeyboardInterrupt

    async def main() -> None:
        async with kit.client(pool=1) as client:
            kit.world.hook = interrupt
            with pytest.raises(KeyboardInterrupt):
                await client.get(server.url)
            kit.world.hook = None
            assert (await works(kit, client, server)).status_code == 200

    with Server([respond(503, b"x" * 300_000), respond(200)]) as server:
        kit.run(main)


def test_an_exception_out_of_the_policies_leaves_no_response_open(kit: Kit) -> None:
    """A sink must not raise; if it does, the connection is not lost besides."""

    def fail() -> None:
        kit.sinks.clear()
        raise ZeroDivisionError

    async def main() -> None:
        async with kit.client(pool=1) as client:
            kit.on_retry(fail)
            with pytest.raises(ZeroDivisionError):
                await client.get(server.url)
            assert (await works(kit, client, server)).status_code == 200

    with Server([respond(503, b"x" * 300_000), respond(200)]) as server:
        kit.run(main)


def test_an_interrupt_is_not_repeated_and_gives_the_connection_back(blocking: Kit) -> None:
    def interrupt(step: str, _: object) -> None:
        if step == "http11.receive_response_headers.started":
            server.wait_for_requests(1)  # or the next request could overtake it
            raise KeyboardInterrupt

    async def main() -> None:
        async with blocking.client(pool=1) as client:
            with pytest.raises(KeyboardInterrupt):
                await client.get(server.url, extensions={"trace": interrupt})
            assert (await works(blocking, client, server)).status_code == 200

    with Server([hang(), respond(200)]) as server:
        blocking.run(main)
    assert blocking.world.sleeps == []


@pytest.mark.parametrize(
    "mode", ["sync", "asyncio"]
)  # trio warns of the generators of httpx itself
@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_while_streaming_gives_the_connection_back(name: str, mode: str) -> None:
    kit = Kit(name, mode)

    async def main() -> None:
        async with kit.client(pool=1) as client:
            with pytest.raises(KeyboardInterrupt):
                async with client.stream("GET", server.url) as response:
                    async for _ in client.chunks(response):
                        raise KeyboardInterrupt
            assert (await works(kit, client, server)).status_code == 200

    with Server([respond(503), respond(200, b"x" * 300_000), respond(200)]) as server:
        kit.run(main)


# --- timeouts, headers ----------------------------------------------------------------------------


class Recorder:
    """Answers from a list of statuses and keeps what it was asked."""

    def __init__(self, kit: Kit, *statuses: int, takes_s: float = 0.0) -> None:
        self.kit = kit
        self.statuses = iter(statuses)
        self.takes_s = takes_s
        self.requests: list[Any] = []
        self.transport: Any = kit.library.MockTransport(self.answer)

    def answer(self, request: Any) -> Any:
        self.requests.append(request)
        self.kit.world.advance(self.takes_s)
        return self.kit.library.Response(next(self.statuses))

    @property
    def timeouts(self) -> list[dict[str, float | None]]:
        return [request.extensions["timeout"] for request in self.requests]


def four(limit_s: float | None) -> dict[str, float | None]:
    return dict.fromkeys(("connect", "read", "write", "pool"), limit_s)


def test_timeouts_are_cut_to_the_time_left(kit: Kit) -> None:
    recorder = Recorder(kit, 503, 503, 200, takes_s=4.0)

    async def main() -> None:
        backoff = seawall.Constant(0.0)
        async with kit.client(recorder.transport, deadline_s=10.0, backoff=backoff) as client:
            await client.get("http://server/", timeout=5.0)

    kit.run(main)
    assert recorder.timeouts == [four(5.0), four(5.0), four(2.0)]


@pytest.mark.parametrize(
    ("own_s", "timeout_s", "deadline_s", "used_s"),
    [
        (5.0, 1.0, 60.0, 1.0),
        (0.5, 1.0, 60.0, 0.5),  # never lengthened
        (None, 1.0, None, 1.0),
        (None, None, 30.0, 30.0),
        (None, None, None, None),
        (0.0001, None, 60.0, 0.0001),
    ],
)
def test_the_shortest_limit_holds(
    blocking: Kit,
    own_s: float | None,
    timeout_s: float | None,
    deadline_s: float | None,
    used_s: float | None,
) -> None:
    recorder = Recorder(blocking, 200)
    transport = blocking.transport(recorder.transport, timeout_s=timeout_s, deadline_s=deadline_s)
    with blocking.library.Client(transport=transport, timeout=own_s) as client:
        response = client.get("http://server/")
    assert recorder.timeouts == [four(used_s)]
    assert response.request.extensions["timeout"] == four(
        own_s
    )  # the caller's request is left alone


def test_each_kind_of_timeout_is_cut_on_its_own(blocking: Kit) -> None:
    recorder = Recorder(blocking, 200)
    timeout = blocking.library.Timeout(connect=0.3, read=9.0, write=None, pool=2.0)
    transport = blocking.transport(recorder.transport, timeout_s=1.0)
    with blocking.library.Client(transport=transport, timeout=timeout) as client:
        client.get("http://server/")
    assert recorder.timeouts == [{"connect": 0.3, "read": 1.0, "write": 1.0, "pool": 1.0}]


def test_a_timeout_is_never_cut_to_nothing(blocking: Kit) -> None:
    """To a socket 0 means: do not block."""
    recorder = Recorder(blocking, 503, 200, takes_s=9.9999)
    transport = blocking.transport(
        recorder.transport, deadline_s=10.0, backoff=seawall.Constant(0.0)
    )
    with blocking.library.Client(transport=transport) as client:
        client.get("http://server/")
    assert recorder.timeouts == [four(5.0), four(0.001)]


def test_a_request_without_timeouts_gets_those_that_apply(blocking: Kit) -> None:
    recorder = Recorder(blocking, 200)
    request = blocking.library.Request("GET", "http://server/")
    blocking.transport(recorder.transport).handle_request(request)
    assert recorder.timeouts == [four(60.0)]
    assert request.extensions == {}


def test_the_callers_request_is_passed_on_when_nothing_must_change(blocking: Kit) -> None:
    recorder = Recorder(blocking, 503, 200)
    with blocking.library.Client(transport=blocking.transport(recorder.transport)) as client:
        request = client.build_request("PUT", "http://server/", json={})
        client.send(request)
    assert all(each is request for each in recorder.requests)


def test_a_changed_request_keeps_its_content(blocking: Kit) -> None:
    recorder = Recorder(blocking, 200)
    transport = blocking.transport(recorder.transport, tell_attempts=True)
    with blocking.library.Client(transport=transport) as client:
        client.put("http://server/a?b=c", json={"a": 1}, extensions={"mine": 1})
    (request,) = recorder.requests
    assert request.content == b'{"a":1}'
    assert str(request.url) == "http://server/a?b=c"
    assert request.headers["content-type"] == "application/json"
    assert request.extensions["mine"] == 1


def test_attempts_are_told_when_asked_for(kit: Kit) -> None:
    async def main() -> None:
        settings: dict[str, Any] = {"deadline_s": 10.0, "backoff": seawall.Constant(0.5)}
        async with kit.client(tell_attempts=True, **settings) as client:
            await client.get(server.url, headers={"Seawall-Attempt": "99"})

    with Server([respond(503), respond(200)]) as server:
        kit.run(main)
    told = [(r.header("Seawall-Attempt"), r.header("Seawall-Timeout-Ms")) for r in server.requests]
    assert told == [("1", "10000"), ("2", "9750")]


def test_nothing_is_told_by_default(blocking: Kit) -> None:
    def sent(request: Received) -> list[str]:
        return [name for name, _ in request.headers if name.lower().startswith("seawall")]

    with Server([respond(503), respond(200)]) as server:
        ask(blocking, server)
    assert [sent(request) for request in server.requests] == [[], []]


# --- around and inside ----------------------------------------------------------------------------


def test_each_hop_of_a_redirect_is_a_request_of_its_own(kit: Kit) -> None:
    async def main() -> Any:
        async with kit.client(attempts=3) as client:
            return await client.get(server.url, follow_redirects=True)

    there = ("Location", "/there")
    script = [respond(503), reset(), respond(302, headers=[there]), respond(503), respond(200)]
    with Server(script) as server:
        response = kit.run(main)
    assert [hop.extensions["seawall_attempts"] for hop in response.history] == [3]
    assert response.extensions["seawall_attempts"] == 2
    assert [request.path for request in server.requests] == ["/"] * 3 + ["/there"] * 2


def test_a_redirect_loop_is_followed_as_often_as_the_client_says_and_not_repeated(
    blocking: Kit,
) -> None:
    loop = respond(302, headers=[("Location", "/")])
    transport = blocking.transport()
    with (
        Server([loop] * 3) as server,
        blocking.library.Client(transport=transport, max_redirects=2) as client,
        pytest.raises(blocking.library.TooManyRedirects),
    ):
        client.get(server.url, follow_redirects=True)
    assert blocking.events == []


def around(kit: Kit, client: AnyClient, url: str, posts: int = 1, **settings: Any) -> Any:
    """Requests inside a retrying function, blocking or awaited like the client."""
    on = kit.library.HTTPStatusError
    stack = seawall.retry(on=on, world=kit.world, **settings)

    async def send() -> None:
        for _ in range(posts):
            (await client.request("POST", url, json={"same": 1})).raise_for_status()

    if kit.blocking:

        def blocking_send() -> None:
            for _ in range(posts):
                client.client.post(url, json={"same": 1}).raise_for_status()

        stack(blocking_send)()
        return None
    return stack(send)()


async def settled(awaitable: Any) -> None:
    if awaitable is not None:
        await awaitable


def test_inside_a_retrying_function_the_transport_does_not_multiply(kit: Kit) -> None:
    async def main() -> None:
        async with kit.client(issue_keys=True) as client:
            with pytest.raises(kit.library.HTTPStatusError):
                await settled(around(kit, client, server.url, attempts=3))

    with Server([respond(503)] * 3) as server:
        kit.run(main)
    assert len(server.requests) == 3
    assert len(set(keys(server))) == 1  # and the whole call keeps its key
    assert None not in keys(server)


def test_without_the_guard_it_does(kit: Kit) -> None:
    async def main() -> None:
        async with kit.client(issue_keys=True, guard=False, attempts=2) as client:
            with pytest.raises(kit.library.HTTPStatusError):
                await settled(around(kit, client, server.url, attempts=2))

    with Server([respond(503)] * 4) as server:
        kit.run(main)
    assert len(set(keys(server))) == 1


def test_equal_requests_of_one_call_keep_different_keys(kit: Kit) -> None:
    async def main() -> None:
        async with kit.client(issue_keys=True) as client:
            await settled(around(kit, client, server.url, posts=2, deadline_s=30.0))

    with Server([respond(201), respond(503), respond(201), respond(201)]) as server:
        kit.run(main)
    one, other = keys(server)[:2]
    assert one != other
    assert keys(server) == [one, other, one, other]


def test_calls_that_begin_in_the_same_instant_get_keys_of_their_own(kit: Kit) -> None:
    """Some clocks move in steps of 16 ms; a second order must not be taken for a repetition of the first."""

    async def main() -> None:
        async with kit.client(issue_keys=True) as client:
            for _ in range(2):
                backoff = seawall.Constant(0.0)
                await settled(around(kit, client, server.url, backoff=backoff))

    with Server([respond(503), respond(201), respond(201)]) as server:
        kit.run(main)
    first, again, other = keys(server)
    assert first == again
    assert other != first


def test_the_deadline_around_it_bounds_the_transport(kit: Kit) -> None:
    recorder = Recorder(kit, 503, 503, 503, 503, 503, takes_s=1.0)

    async def main() -> Any:
        stack = seawall.Stack(seawall.Deadline(2.5), world=kit.world)
        async with kit.client(recorder.transport, backoff=seawall.Constant(0.0)) as client:
            if kit.blocking:
                return stack.call(client.client.get, "http://server/")
            return await stack.acall(client.get, "http://server/")

    assert kit.run(main).extensions["seawall_attempts"] == 3
    assert recorder.timeouts[0] == pytest.approx(four(2.5))
    assert recorder.timeouts[2] == pytest.approx(four(0.5))


def test_a_spent_budget_ends_the_retries_of_all_requests(kit: Kit) -> None:
    async def main() -> list[int]:
        async with kit.client(budget=seawall.CostBudget(capacity=10)) as client:
            got = [await client.get(server.url) for _ in range(2)]
            return [response.extensions["seawall_attempts"] for response in got]

    with Server([respond(503)] * 4) as server:
        assert kit.run(main) == [3, 1]  # throttling costs 5


def test_closing_and_entering_reach_the_wrapped_transport(kit: Kit) -> None:
    done: list[str] = []
    base: Any = kit.library.BaseTransport if kit.blocking else kit.library.AsyncBaseTransport

    class Wrapped(base):  # type: ignore[misc]
        def __enter__(self) -> Any:
            done.append("enter")
            return self

        def __exit__(self, *_: object) -> None:
            done.append("exit")

        def close(self) -> None:
            done.append("close")

        async def __aenter__(self) -> Any:
            return self.__enter__()

        async def __aexit__(self, *_: object) -> None:
            self.__exit__()

        async def aclose(self) -> None:
            self.close()

    async def main() -> None:
        async with kit.client(Wrapped()):
            pass
        if kit.blocking:
            kit.library.Client(transport=kit.transport(Wrapped())).close()
        else:
            await kit.library.AsyncClient(transport=kit.transport(Wrapped())).aclose()

    kit.run(main)
    assert done == ["enter", "exit", "close"]


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_failure_leaves_no_cycle_behind(blocking: Kit, method: str) -> None:
    """The exception, with all that its traceback holds, goes when the caller lets go of it."""

    def fail(request: Any) -> Any:
        raise blocking.library.ReadError("gone")

    transport = blocking.transport(blocking.library.MockTransport(fail), sink=None)
    body = iter([b"a"]) if method == "PUT" else None  # read once: the other way out
    request = blocking.library.Request(method, "http://server/", content=body)
    gc.collect()
    gc.disable()
    try:
        error: Exception | None = None
        try:
            transport.handle_request(request)
        except blocking.library.ReadError as caught:
            error = caught
        assert error is not None
        gone = weakref.ref(error)
        del error
        assert gone() is None
    finally:
        gc.enable()


def test_a_response_that_cannot_be_closed_does_not_end_the_series(kit: Kit) -> None:
    stream: Any = kit.library.SyncByteStream
    astream: Any = kit.library.AsyncByteStream

    class Stuck(stream, astream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield b""

        def close(self) -> None:
            raise kit.library.CloseError("stuck")

        async def aclose(self) -> None:
            self.close()

    def answer(_: object) -> Any:
        return next(answers)

    answers = iter([kit.library.Response(503, stream=Stuck()), kit.library.Response(200)])

    async def main() -> Any:
        async with kit.client(kit.library.MockTransport(answer)) as client:
            return await client.get("http://server/")

    assert kit.run(main).status_code == 200


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", ["sync", "asyncio"])
def test_no_configuration_is_needed(name: str, mode: str) -> None:
    kit = Kit(name, mode)

    async def main() -> Any:
        make = kit.adapter.Transport if kit.blocking else kit.adapter.AsyncTransport
        async with kit.opened(make()) as client:
            return await client.get(server.url)

    with Server([respond(200)]) as server:
        assert kit.run(main).extensions["seawall_attempts"] == 1


def test_keywords_take_precedence_over_a_record_of_settings(blocking: Kit) -> None:
    settings = Settings(attempts=2, tell_attempts=True, world=blocking.world)
    recorder = Recorder(blocking, 503, 503, 503)
    transport = blocking.adapter.Transport(recorder.transport, settings, attempts=3)
    with blocking.library.Client(transport=transport) as client:
        client.get("http://server/")
    told = [request.headers["Seawall-Attempt"] for request in recorder.requests]
    assert told == ["1", "2", "3"]


def test_type_checkers_take_them_for_the_libraries_own() -> None:
    httpx.Client(transport=Transport(attempts=3)).close()
    httpx2.Client(transport=Transport2(settings=Settings(attempts=3))).close()
    httpx.AsyncClient(transport=AsyncTransport(httpx.MockTransport(lambda _: httpx.Response(200))))
    httpx2.AsyncClient(transport=AsyncTransport2(deadline_s=None))


def test_an_unknown_setting_is_named(blocking: Kit) -> None:
    with pytest.raises(TypeError, match="no field 'retries'; its fields are attempts, "):
        blocking.adapter.Transport(retries=3)


def test_a_limit_of_nothing_is_refused(blocking: Kit) -> None:
    with pytest.raises(ValueError, match="timeout_s must be a finite number of seconds above 0"):
        blocking.adapter.Transport(timeout_s=0.0)


def test_the_keywords_are_the_settings() -> None:
    names = {"Budget": object, "Backoff": object, "Sink": object, "World": object}
    assert list(get_type_hints(Changes, localns=names)) == list(Settings.__fields__)


def test_events_are_told(blocking: Kit) -> None:
    with Server([respond(503), respond(200)]) as server:
        ask(blocking, server)
    scheduled = blocking.events[0]
    assert isinstance(scheduled, RetryScheduled)
    assert (scheduled.attempt, scheduled.delay_s) == (1, 0.05)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_in_the_documentation_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(REAL, "random", lambda: 0.0)  # full jitter may be no wait at all
    result = doctest.testmod(Kit(name, "sync").adapter)
    assert result.attempted >= 10
    assert result.failed == 0
