"""What every response carries, whoever made it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from starlette.types import Message, Receive, Scope, Send

from plait.server.http.middleware.security_headers import SecurityHeadersMiddleware

if TYPE_CHECKING:
    from tests.server.middleware.conftest import AsgiClient, TinyApp

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def test_every_response_is_kept_from_other_pages(tiny: TinyApp, visitor: AsgiClient) -> None:
    said = visitor.request(SecurityHeadersMiddleware(tiny), "GET", "/")
    assert said.header("content-security-policy") == POLICY
    assert said.header("x-content-type-options") == "nosniff"
    assert said.header("referrer-policy") == "no-referrer"
    assert said.header("x-frame-options") == "DENY"
    assert said.header("cross-origin-opener-policy") == "same-origin"
    assert said.header("cross-origin-resource-policy") == "same-origin"
    assert "camera=()" in (said.header("permissions-policy") or "")


def test_no_route_can_weaken_that_or_let_another_origin_in(tiny: TinyApp, visitor: AsgiClient) -> None:
    tiny.headers = [
        (b"Content-Security-Policy", b"default-src *"),
        (b"x-frame-options", b"ALLOWALL"),
        (b"Access-Control-Allow-Origin", b"*"),
        (b"x-own", b"kept"),
    ]
    said = visitor.request(SecurityHeadersMiddleware(tiny), "GET", "/")
    assert said.header("content-security-policy") == POLICY
    assert said.header("x-frame-options") == "DENY"
    assert said.header("x-own") == "kept"
    assert not any(name.lower().startswith("access-control") for name, _ in said.headers)


def test_nothing_of_the_api_is_stored_unless_its_route_says_so(tiny: TinyApp, visitor: AsgiClient) -> None:
    assert visitor.request(SecurityHeadersMiddleware(tiny), "GET", "/api/batches").header("cache-control") == "no-store"
    assert visitor.request(SecurityHeadersMiddleware(tiny), "GET", "/app.js").header("cache-control") is None
    tiny.headers = [(b"Cache-Control", b"no-cache")]
    said = visitor.request(SecurityHeadersMiddleware(tiny), "GET", "/api/batches")
    assert [value for name, value in said.headers if name.lower() == "cache-control"] == ["no-cache"]


def test_what_breaks_is_told_in_the_shape_of_all_errors_and_nothing_of_it_leaks(visitor: AsgiClient) -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("a secret")

    got: list[Message] = []

    async def send(message: Message) -> None:
        got.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    with pytest.raises(RuntimeError):  # for the server's own log
        asyncio.run(SecurityHeadersMiddleware(broken)(visitor.scope("GET", "/api/batches"), receive, send))
    assert got[0]["status"] == 500
    assert got[1]["body"].startswith(b'{"error":"this is a bug in plait')
    assert b"secret" not in got[1]["body"]
