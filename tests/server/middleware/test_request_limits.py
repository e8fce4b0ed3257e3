"""A body reaches the app whole, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from starlette.types import Message, Receive, Scope, Send

from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.middleware.request_limits import BodyLimitMiddleware

if TYPE_CHECKING:
    from tests.server.middleware.conftest import AsgiClient, TinyApp

SMALL = replace(RequestPolicy(), max_body_bytes=10, drain_bytes=0)
CHUNKED = {"transfer-encoding": "chunked"}


def test_one_that_fits_reaches_the_app(tiny: TinyApp, visitor: AsgiClient) -> None:
    app = BodyLimitMiddleware(tiny, SMALL)
    assert visitor.request(app, "POST", "/", {"content-length": "10"}, [b"01234", b"56789"]).status == 200
    assert visitor.request(app, "POST", "/", CHUNKED, [b"0", b"1"]).status == 200
    assert visitor.request(app, "GET", "/").status == 200
    assert tiny.bodies == [b"0123456789", b"01", b""]


@pytest.mark.parametrize("length", ["11", "1073741824", "9" * 30, "-1", "x", "0x5"])
def test_one_that_announces_too_much_is_not_even_read(tiny: TinyApp, visitor: AsgiClient, length: str) -> None:
    body = iter([b"0123456789"])
    said = visitor.request(BodyLimitMiddleware(tiny, SMALL), "POST", "/", {"content-length": length}, body)
    assert list(body) == [b"0123456789"]
    assert said.status == 413
    assert said.header("connection") == "close"
    assert said.json()["error"] == "the body is larger than 10 bytes"
    assert tiny.reached == []


def test_one_that_goes_on_for_ever_is_read_no_further_than_it_may_be(tiny: TinyApp, visitor: AsgiClient) -> None:
    read = []

    def endless() -> Iterator[bytes]:
        for _ in range(10_000):  # as good as endless
            read.append(4)
            yield b"abcd"

    assert visitor.request(BodyLimitMiddleware(tiny, SMALL), "POST", "/", CHUNKED, endless()).status == 413
    assert sum(read) == 12
    assert tiny.reached == []


def test_who_sends_too_much_is_heard_out_for_a_while_after_the_answer(tiny: TinyApp, visitor: AsgiClient) -> None:
    read = []

    def endless() -> Iterator[bytes]:
        for _ in range(10_000):
            read.append(4)
            yield b"abcd"

    said = visitor.request(BodyLimitMiddleware(tiny, replace(SMALL, drain_bytes=20)), "POST", "/", CHUNKED, endless())
    assert (said.status, said.header("connection")) == (413, "close")
    assert sum(read) == 12 + 20
    assert tiny.reached == []


def test_one_that_does_not_come_is_not_waited_for(tiny: TinyApp, visitor: AsgiClient) -> None:
    got: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        got.append(message)

    app = BodyLimitMiddleware(tiny, replace(RequestPolicy(), body_seconds=0.01))

    async def ask() -> None:
        async with asyncio.timeout(20):
            await app(visitor.scope("POST", "/", CHUNKED), receive, send)

    asyncio.run(ask())
    assert got[0]["status"] == 408
    assert (b"connection", b"close") in got[0]["headers"]
    assert tiny.reached == []


def test_of_one_whose_sender_leaves_the_app_never_hears(tiny: TinyApp, visitor: AsgiClient) -> None:
    said: list[Message] = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]
    messages = iter(said)

    async def receive() -> Message:
        return next(messages)

    async def send(_message: Message) -> None:
        pytest.fail("nobody is there")

    asyncio.run(BodyLimitMiddleware(tiny, RequestPolicy())(visitor.scope("POST", "/", CHUNKED), receive, send))
    assert tiny.reached == []


def test_after_the_body_the_app_hears_when_its_sender_leaves(visitor: AsgiClient) -> None:
    heard: list[str] = []

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        heard.extend([(await receive())["type"], (await receive())["type"]])

    said: list[Message] = [{"type": "http.request", "body": b"{}"}, {"type": "http.disconnect"}]
    messages = iter(said)

    async def receive() -> Message:
        return next(messages)

    async def send(_message: Message) -> None:
        return

    asyncio.run(
        BodyLimitMiddleware(app, RequestPolicy())(visitor.scope("POST", "/", {"content-length": "2"}), receive, send)
    )
    assert heard == ["http.request", "http.disconnect"]
