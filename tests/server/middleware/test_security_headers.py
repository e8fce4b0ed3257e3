"""Every response has the security headers, whichever layer made it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from starlette.types import Message, Receive, Scope, Send

from plait.server.http.middleware.security_headers import SecurityHeadersMiddleware

if TYPE_CHECKING:
    from tests.server.middleware.conftest import AsgiClient, EchoApp

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def test_every_response_has_the_security_headers(echo_app: EchoApp, client: AsgiClient) -> None:
    response = client.request(SecurityHeadersMiddleware(echo_app), "GET", "/")
    assert response.header("content-security-policy") == POLICY
    assert response.header("x-content-type-options") == "nosniff"
    assert response.header("referrer-policy") == "no-referrer"
    assert response.header("x-frame-options") == "DENY"
    assert response.header("cross-origin-opener-policy") == "same-origin"
    assert response.header("cross-origin-resource-policy") == "same-origin"
    assert "camera=()" in (response.header("permissions-policy") or "")


def test_routes_can_t_weaken_the_security_headers(echo_app: EchoApp, client: AsgiClient) -> None:
    echo_app.headers = [
        (b"Content-Security-Policy", b"default-src *"),
        (b"x-frame-options", b"ALLOWALL"),
        (b"Access-Control-Allow-Origin", b"*"),
        (b"x-own", b"kept"),
    ]
    response = client.request(SecurityHeadersMiddleware(echo_app), "GET", "/")
    assert response.header("content-security-policy") == POLICY
    assert response.header("x-frame-options") == "DENY"
    assert response.header("x-own") == "kept"
    assert not any(name.lower().startswith("access-control") for name, _ in response.headers)


def test_api_responses_are_not_cached_by_default(echo_app: EchoApp, client: AsgiClient) -> None:
    assert (
        client.request(SecurityHeadersMiddleware(echo_app), "GET", "/api/batches").header("cache-control") == "no-store"
    )
    assert client.request(SecurityHeadersMiddleware(echo_app), "GET", "/app.js").header("cache-control") is None
    echo_app.headers = [(b"Cache-Control", b"no-cache")]
    response = client.request(SecurityHeadersMiddleware(echo_app), "GET", "/api/batches")
    assert [value for name, value in response.headers if name.lower() == "cache-control"] == ["no-cache"]


def test_an_exception_becomes_a_json_error_without_details(client: AsgiClient) -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("a secret")

    got: list[Message] = []

    async def send(message: Message) -> None:
        got.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    with pytest.raises(RuntimeError):  # for the server's own log
        asyncio.run(SecurityHeadersMiddleware(broken)(client.scope("GET", "/api/batches"), receive, send))
    assert got[0]["status"] == 500
    assert got[1]["body"].startswith(b'{"error":"this is a bug in plait')
    assert b"secret" not in got[1]["body"]


def test_web_sockets_are_closed(echo_app: EchoApp) -> None:
    got: list[Message] = []

    async def send(message: Message) -> None:
        got.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    asyncio.run(SecurityHeadersMiddleware(echo_app)({"type": "websocket", "path": "/api/events"}, receive, send))
    assert [message["type"] for message in got] == ["websocket.close"]
    assert echo_app.reached == []
