"""A body reaches the app whole, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from starlette.types import Message, Receive, Scope, Send

from plait.server.http.middleware.request_checks import BodyLimitMiddleware, RequestPolicy

if TYPE_CHECKING:
    from tests.server.middleware.conftest import AsgiClient, EchoApp

SMALL = replace(RequestPolicy(), max_body_bytes=10, drain_bytes=0)
CHUNKED = {"transfer-encoding": "chunked"}


def test_a_body_within_the_limit_reaches_the_app(echo_app: EchoApp, client: AsgiClient) -> None:
    app = BodyLimitMiddleware(echo_app, SMALL)
    assert client.request(app, "POST", "/", {"content-length": "10"}, [b"01234", b"56789"]).status == 200
    assert client.request(app, "POST", "/", CHUNKED, [b"0", b"1"]).status == 200
    assert client.request(app, "GET", "/").status == 200
    assert echo_app.bodies == [b"0123456789", b"01", b""]


@pytest.mark.parametrize("length", ["11", "1073741824", "9" * 30, "-1", "x", "0x5"])
def test_a_body_with_a_large_content_length_is_not_read(echo_app: EchoApp, client: AsgiClient, length: str) -> None:
    body = iter([b"0123456789"])
    response = client.request(BodyLimitMiddleware(echo_app, SMALL), "POST", "/", {"content-length": length}, body)
    assert list(body) == [b"0123456789"]
    assert response.status == 413
    assert response.header("connection") == "close"
    assert response.json()["error"] == "the body is larger than 10 bytes"
    assert echo_app.reached == []


def test_an_endless_body_is_read_only_up_to_the_limit(echo_app: EchoApp, client: AsgiClient) -> None:
    read = []

    def endless() -> Iterator[bytes]:
        for _ in range(10_000):  # as good as endless
            read.append(4)
            yield b"abcd"

    assert client.request(BodyLimitMiddleware(echo_app, SMALL), "POST", "/", CHUNKED, endless()).status == 413
    assert sum(read) == 12
    assert echo_app.reached == []


def test_a_rejected_body_is_drained_for_a_while(echo_app: EchoApp, client: AsgiClient) -> None:
    read = []

    def endless() -> Iterator[bytes]:
        for _ in range(10_000):
            read.append(4)
            yield b"abcd"

    response = client.request(
        BodyLimitMiddleware(echo_app, replace(SMALL, drain_bytes=20)), "POST", "/", CHUNKED, endless()
    )
    assert (response.status, response.header("connection")) == (413, "close")
    assert sum(read) == 12 + 20
    assert echo_app.reached == []


def test_a_body_that_does_not_arrive_times_out(echo_app: EchoApp, client: AsgiClient) -> None:
    got: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        got.append(message)

    app = BodyLimitMiddleware(echo_app, replace(RequestPolicy(), body_seconds=0.01))

    async def ask() -> None:
        async with asyncio.timeout(20):
            await app(client.scope("POST", "/", CHUNKED), receive, send)

    asyncio.run(ask())
    assert got[0]["status"] == 408
    assert (b"connection", b"close") in got[0]["headers"]
    assert echo_app.reached == []


def test_a_body_whose_client_disconnects_never_reaches_the_app(echo_app: EchoApp, client: AsgiClient) -> None:
    incoming: list[Message] = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]
    messages = iter(incoming)

    async def receive() -> Message:
        return next(messages)

    async def send(_message: Message) -> None:
        pytest.fail("nobody is there")

    asyncio.run(BodyLimitMiddleware(echo_app, RequestPolicy())(client.scope("POST", "/", CHUNKED), receive, send))
    assert echo_app.reached == []


def test_the_app_receives_a_disconnect_after_the_body(client: AsgiClient) -> None:
    received: list[str] = []

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        received.extend([(await receive())["type"], (await receive())["type"]])

    incoming: list[Message] = [{"type": "http.request", "body": b"{}"}, {"type": "http.disconnect"}]
    messages = iter(incoming)

    async def receive() -> Message:
        return next(messages)

    async def send(_message: Message) -> None:
        return

    asyncio.run(
        BodyLimitMiddleware(app, RequestPolicy())(client.scope("POST", "/", {"content-length": "2"}), receive, send)
    )
    assert received == ["http.request", "http.disconnect"]
