"""Connections: who says too much, too little or too slowly on a real socket. `tests/server/test_security.py` has the server as
it is; here its bounds are closer.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from plait.server.auth import Authenticator, UsedCodes
from plait.server.http.connections import UnauthenticatedConnections
from plait.server.http.middleware.request_checks import RequestPolicy
from plait.server.serve import create_uvicorn_config, wrap_with_middleware
from plait.store.server_tokens import TokenFiles, read_or_create_token
from tests.support.waiting import TIMEOUT_SECONDS

RULES = RequestPolicy()


@dataclass
class Ticker:
    """`/ticks` streams until the client disconnects; every other path returns the size of the body."""

    left: threading.Event = field(default_factory=threading.Event)
    reached: list[str] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        self.reached.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        if scope["path"] == "/ticks":
            await self._tick(receive, send)
        else:
            body = (await receive()).get("body", b"") if scope["method"] == "POST" else b"hello"
            await send({"type": "http.response.body", "body": b"%d" % len(body)})

    async def _tick(self, receive: Receive, send: Send) -> None:
        async def listen() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left.set()

        listening = asyncio.ensure_future(listen())
        while not listening.done():
            await send({"type": "http.response.body", "body": b"tick\n", "more_body": True})
            await asyncio.sleep(0.01)


@dataclass
class BoundServer:
    """A server that listens, and its tokens."""

    port: int
    app: Ticker
    files: TokenFiles

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {read_or_create_token(self.files.full)}"}

    def ask(self, target: str, headers: dict[str, str] | None = None) -> int:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)
        try:
            client.request("GET", target, headers=headers or {})
            return client.getresponse().status
        finally:
            client.close()

    def make_request(self, target: str) -> bytes:
        """A request with the token."""
        return f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {self.bearer['Authorization']}\r\n\r\n".encode()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_SECONDS)

    def say(self, data: bytes) -> bytes:
        """Send these bytes and read until the server closes the connection."""
        with self.connect() as client:
            client.sendall(data)
            return until_closed(client)

    def lives(self) -> bool:
        return self.ask("/health") == 200


def until_closed(client: socket.socket) -> bytes:
    received = b""
    with suppress(ConnectionResetError):
        while data := client.recv(65536):
            received += data
    return received


def parsed(received: bytes) -> tuple[int, dict[str, object]]:
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


StartServer = Callable[..., BoundServer]


@contextmanager
def run_server(folder: Path, rules: RequestPolicy, **how: object) -> Iterator[BoundServer]:
    app, files = Ticker(), TokenFiles(folder)
    keys = Authenticator(files.read, UsedCodes(folder / "spent-codes").redeem)
    listener = socket.create_server(("127.0.0.1", 0))  # already listening, so no client comes too early
    config = create_uvicorn_config(wrap_with_middleware(app, keys, rules), rules, **how)  # type: ignore[arg-type] # as the test says
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield BoundServer(listener.getsockname()[1], app, files)
    finally:
        server.should_exit = server.force_exit = True
        thread.join(TIMEOUT_SECONDS)
        assert not thread.is_alive()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[StartServer]:
    with ExitStack() as stack:
        yield lambda rules=RULES, **how: stack.enter_context(run_server(tmp_path, rules, **how))


@pytest.fixture
def server(start: StartServer) -> BoundServer:
    return start()


def test_a_token_rotation_ends_open_streams(start: StartServer) -> None:
    server = start(replace(RULES, recheck_seconds=0.0))
    with server.connect() as client:
        client.sendall(server.make_request("/ticks"))
        assert b"tick" in client.recv(4096) + client.recv(4096)
        server.files.rotate()
        assert server.app.left.wait(TIMEOUT_SECONDS)


def test_a_slow_body_is_rejected(start: StartServer) -> None:
    server = start(replace(RULES, body_seconds=0.2, drain_seconds=0.2))
    head = f"POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: {server.bearer['Authorization']}\r\n"
    status, body = parsed(server.say(f"{head}Content-Length: 9\r\n\r\nhalf".encode()))
    assert (status, body["error"]) == (408, "the body took longer than 0.2 s")


def test_forwarded_headers_are_ignored(server: BoundServer) -> None:
    """Wrong tokens count for who sends them."""
    statuses = [
        server.ask(
            "/", {"Authorization": "Bearer wrong", "X-Forwarded-For": f"10.0.0.{n}", "Forwarded": f"for=10.0.0.{n}"}
        )
        for n in range(11)
    ]
    assert statuses == [401] * 10 + [429]


@pytest.mark.parametrize("asked", [b"POST /", b"GET /health"])
def test_an_unauthenticated_body_is_not_read_as_another_request(server: BoundServer, asked: bytes) -> None:
    inner = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    received = server.say(
        b"%b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (asked, len(inner) + 1, inner)
    )
    assert received.count(b"HTTP/1.1 ") == 1
    assert received.startswith(b"HTTP/1.1 401")
    assert b"connection: close" in received  # nothing more is read of it


def dripped(client: socket.socket, drop: bytes) -> bool:
    """Send this again and again; whether the server hangs up before patience ends."""
    client.settimeout(0.02)
    for _ in range(int(TIMEOUT_SECONDS / 0.02)):
        try:
            if client.recv(4096) == b"":
                return True
        except TimeoutError:
            with suppress(ConnectionError):
                client.sendall(drop)
        except ConnectionError:
            return True
    return False


@pytest.mark.parametrize("drop", [b"", b"x"])
def test_silent_and_slow_connections_are_closed(start: StartServer, drop: bytes) -> None:
    server = start(header_seconds=0.3)
    with server.connect() as silent, server.connect() as slow, server.connect() as second:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        second.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert second.recv(4096).startswith(b"HTTP/1.1 200")
        assert dripped(second, b"G")
        assert dripped(slow, drop)
        assert dripped(silent, b"")
    assert server.lives()


def test_an_authenticated_stream_stays_open(start: StartServer) -> None:
    server = start(header_seconds=0.1, unauthenticated=UnauthenticatedConnections(2, grace_seconds=0.2))
    with server.connect() as client:
        client.sendall(server.make_request("/ticks"))
        received = client.recv(4096)
        while received.count(b"tick") < 30:
            data = client.recv(4096)
            assert data
            received += data


def test_unauthenticated_connections_never_displace_authenticated_ones(start: StartServer) -> None:
    server = start(unauthenticated=UnauthenticatedConnections(3, grace_seconds=0.2))
    known = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_SECONDS)
    with ExitStack() as stack:
        stack.callback(known.close)
        known.connect()
        kept = known.sock

        def asked() -> bytes:
            known.request("GET", "/", headers=server.bearer)
            return known.getresponse().read()

        assert asked() == b"5"
        silent = [stack.enter_context(server.connect()) for _ in range(20)]
        assert all(until_closed(client) == b"" for client in silent[:17])
        assert server.ask("/", server.bearer) == 200
        assert asked() == b"5"
        assert known.sock is kept


def test_many_simultaneous_clients_with_a_token_are_all_served(start: StartServer) -> None:
    server = start(unauthenticated=UnauthenticatedConnections(2, grace_seconds=TIMEOUT_SECONDS))
    with ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(100)]
        for client in clients:
            client.sendall(server.make_request("/ticks"))
        assert all(client.recv(4096).startswith(b"HTTP/1.1 200") for client in clients)


def test_unauthenticated_connections_above_the_hard_limit_are_closed_at_once(start: StartServer) -> None:
    server = start(
        header_seconds=TIMEOUT_SECONDS,
        unauthenticated=UnauthenticatedConnections(2, grace_seconds=TIMEOUT_SECONDS, hard_limit=5),
    )
    with ExitStack() as stack:
        silent = [stack.enter_context(server.connect()) for _ in range(20)]
        assert all(until_closed(client) == b"" for client in silent[:15])
        assert server.ask("/", server.bearer) == 200


HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "data",
    [
        b"GET /health\r\nX: y HTTP/1.1\r\nHost: localhost\r\n\r\n",
        HEAD + b"X: a\rb\r\n\r\n",
        HEAD + b"X: a\x00b\r\n\r\n",
        HEAD + b"X y: a\r\n\r\n",
        HEAD + b"Host: evil.example\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        HEAD + b"X: " + b"y" * 100_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\r\n\r\n\r\nno HTTP at all\r\n\r\n",
    ],
)
def test_a_malformed_request_gets_400_and_the_connection_is_closed(server: BoundServer, data: bytes) -> None:
    received = server.say(data)
    status, body = parsed(received)
    assert (status, sorted(body)) == (400, ["error", "field", "hint", "problems", "state"])
    assert b"x-content-type-options: nosniff" in received
    assert server.app.reached == []
    assert server.lives()


def test_urls_and_heads_are_limited_in_size(server: BoundServer) -> None:
    assert server.ask("/" + "a" * 20_000, server.bearer) == 414
    assert server.ask("/", server.bearer | {f"X-{n}": "y" for n in range(101)}) == 431
    whole = HEAD + b"".join(b"X-%d: %b\r\n" % (n, b"y" * 4000) for n in range(20)) + b"\r\n"
    assert server.say(whole).split(b"\r\n")[0].split()[1] in {b"400", b"431"}
    assert server.lives()
