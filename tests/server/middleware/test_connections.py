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

from plait.client.server_tokens import TokenFiles, read_or_create_token
from plait.server.auth import Authenticator, UsedCodes
from plait.server.http.connections import UnauthenticatedConnections
from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.server_config import create_uvicorn_config, wrap_with_middleware

PATIENCE = 20.0  # seconds until a test gives up
RULES = RequestPolicy()


@dataclass
class Ticker:
    """`/ticks` goes on until its reader leaves; everything else says what it got."""

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
class Place:
    """A server that listens, and its tokens."""

    port: int
    app: Ticker
    files: TokenFiles

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {read_or_create_token(self.files.full)}"}

    def ask(self, target: str, headers: dict[str, str] | None = None) -> int:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            client.request("GET", target, headers=headers or {})
            return client.getresponse().status
        finally:
            client.close()

    def asking(self, target: str) -> bytes:
        """The head of somebody who may."""
        return f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {self.bearer['Authorization']}\r\n\r\n".encode()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def say(self, data: bytes) -> bytes:
        """These very bytes; all that comes back until the server hangs up."""
        with self.connect() as client:
            client.sendall(data)
            return until_closed(client)

    def lives(self) -> bool:
        return self.ask("/health") == 200


def until_closed(client: socket.socket) -> bytes:
    heard = b""
    with suppress(ConnectionResetError):
        while data := client.recv(65536):
            heard += data
    return heard


def parsed(heard: bytes) -> tuple[int, dict[str, object]]:
    head, _, body = heard.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


Open = Callable[..., Place]


@contextmanager
def opened(folder: Path, rules: RequestPolicy, **how: object) -> Iterator[Place]:
    app, files = Ticker(), TokenFiles(folder)
    keys = Authenticator(files.read, UsedCodes(folder / "spent-codes").redeem)
    listener = socket.create_server(("127.0.0.1", 0))  # it listens already: whoever comes early waits
    config = create_uvicorn_config(wrap_with_middleware(app, keys, rules), rules, **how)  # type: ignore[arg-type] # as the test says
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield Place(listener.getsockname()[1], app, files)
    finally:
        server.should_exit = server.force_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda rules=RULES, **how: stack.enter_context(opened(tmp_path, rules, **how))


@pytest.fixture
def place(start: Open) -> Place:
    return start()


def test_a_rotation_ends_the_stream_that_somebody_listens_to(start: Open) -> None:
    place = start(replace(RULES, recheck_seconds=0.0))
    with place.connect() as client:
        client.sendall(place.asking("/ticks"))
        assert b"tick" in client.recv(4096) + client.recv(4096)
        place.files.rotate()
        assert place.app.left.wait(PATIENCE)


def test_a_body_that_trickles_in_is_not_waited_for(start: Open) -> None:
    place = start(replace(RULES, body_seconds=0.2, drain_seconds=0.2))
    head = f"POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: {place.bearer['Authorization']}\r\n"
    status, said = parsed(place.say(f"{head}Content-Length: 9\r\n\r\nhalf".encode()))
    assert (status, said["error"]) == (408, "the body took longer than 0.2 s")


@pytest.mark.parametrize("asked", [b"POST /", b"GET /health"])
def test_what_a_stranger_sends_as_a_body_is_neither_read_nor_taken_for_a_request(place: Place, asked: bytes) -> None:
    inner = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    heard = place.say(
        b"%b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (asked, len(inner) + 1, inner)
    )
    assert heard.count(b"HTTP/1.1 ") == 1
    assert heard.startswith(b"HTTP/1.1 401")
    assert b"connection: close" in heard  # nothing more is read of it


def dripped(client: socket.socket, drop: bytes) -> bool:
    """Send this again and again; whether the server hangs up before patience ends."""
    client.settimeout(0.02)
    for _ in range(int(PATIENCE / 0.02)):
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
def test_who_says_nothing_or_says_it_slowly_does_not_stay(start: Open, drop: bytes) -> None:
    place = start(header_seconds=0.3)
    with place.connect() as silent, place.connect() as slow, place.connect() as second:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        second.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert second.recv(4096).startswith(b"HTTP/1.1 200")
        assert dripped(second, b"G")
        assert dripped(slow, drop)
        assert dripped(silent, b"")
    assert place.lives()


def test_who_was_let_in_and_listens_stays(start: Open) -> None:
    place = start(header_seconds=0.1, unauthenticated=UnauthenticatedConnections(2, grace_seconds=0.2))
    with place.connect() as client:
        client.sendall(place.asking("/ticks"))
        heard = client.recv(4096)
        while heard.count(b"tick") < 30:
            data = client.recv(4096)
            assert data
            heard += data


def test_strangers_make_room_for_each_other_and_never_shut_the_person_out(start: Open) -> None:
    place = start(unauthenticated=UnauthenticatedConnections(3, grace_seconds=0.2))
    known = http.client.HTTPConnection("127.0.0.1", place.port, timeout=PATIENCE)
    with ExitStack() as stack:
        stack.callback(known.close)
        known.connect()
        kept = known.sock

        def asked() -> bytes:
            known.request("GET", "/", headers=place.bearer)
            return known.getresponse().read()

        assert asked() == b"5"
        silent = [stack.enter_context(place.connect()) for _ in range(20)]
        assert all(until_closed(client) == b"" for client in silent[:17])
        assert place.ask("/", place.bearer) == 200
        assert asked() == b"5"
        assert known.sock is kept


def test_however_many_come_at_once_who_has_a_token_is_let_in(start: Open) -> None:
    place = start(unauthenticated=UnauthenticatedConnections(2, grace_seconds=PATIENCE))
    with ExitStack() as stack:
        clients = [stack.enter_context(place.connect()) for _ in range(100)]
        for client in clients:
            client.sendall(place.asking("/ticks"))
        assert all(client.recv(4096).startswith(b"HTTP/1.1 200") for client in clients)


def test_in_a_crowd_nobody_has_a_moment(start: Open) -> None:
    place = start(
        header_seconds=PATIENCE, unauthenticated=UnauthenticatedConnections(2, grace_seconds=PATIENCE, hard_limit=5)
    )
    with ExitStack() as stack:
        silent = [stack.enter_context(place.connect()) for _ in range(20)]
        assert all(until_closed(client) == b"" for client in silent[:15])
        assert place.ask("/", place.bearer) == 200


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
def test_what_is_no_sound_request_is_told_so_and_the_connection_ends(place: Place, data: bytes) -> None:
    heard = place.say(data)
    status, said = parsed(heard)
    assert (status, sorted(said)) == (400, ["error", "field", "hint", "problems", "state"])
    assert b"x-content-type-options: nosniff" in heard
    assert place.app.reached == []
    assert place.lives()


def test_addresses_and_heads_have_an_end(place: Place) -> None:
    assert place.ask("/" + "a" * 20_000, place.bearer) == 414
    assert place.ask("/", place.bearer | {f"X-{n}": "y" for n in range(101)}) == 431
    whole = HEAD + b"".join(b"X-%d: %b\r\n" % (n, b"y" * 4000) for n in range(20)) + b"\r\n"
    assert place.say(whole).split(b"\r\n")[0].split()[1] in {b"400", b"431"}
    assert place.lives()
