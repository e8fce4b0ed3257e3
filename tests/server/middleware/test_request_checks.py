"""Checks of a request's path, headers, host and origin."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import UserError
from plait.server.auth import Access, AuthMethod, Caller
from plait.server.http.middleware.request_checks import (
    LOOPBACK_HOSTS,
    CheckMiddleware,
    RequestPolicy,
    check_csrf,
    check_head,
    check_host,
    check_origin,
    create_policy,
)

if TYPE_CHECKING:
    from tests.server.middleware.conftest import AsgiClient, EchoApp

OWN = "http://127.0.0.1:3001"


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/" + "a" * 8191, 200),
        ("/" + "a" * (16 << 10), 414),
        ("/?" + "a" * (16 << 10), 414),
        ("/a\r\nset-cookie: x", 400),
        ("/a\0", 400),
        ("/\x9b2J", 400),
        ("http://elsewhere/", 400),
        ("*", 400),
        ("/straße 1", 200),
    ],
)
def test_invalid_and_long_urls_are_rejected(echo_app: EchoApp, client: AsgiClient, target: str, status: int) -> None:
    response = client.request(CheckMiddleware(echo_app, RequestPolicy(), check_head), "GET", target)
    assert (response.status, len(echo_app.reached)) == (status, int(status == 200))


def test_too_many_or_too_long_headers_are_rejected(echo_app: EchoApp, client: AsgiClient) -> None:
    app = CheckMiddleware(echo_app, RequestPolicy(), check_head)
    assert client.request(app, "GET", "/", [(f"x-{n}", "") for n in range(100)]).status == 431
    assert client.request(app, "GET", "/", {"x": "y" * (32 << 10)}).status == 431
    assert client.request(app, "GET", "/", [(f"x-{n}", "") for n in range(99)]).status == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:3001", "localhost:8080", "LocalHost", "[::1]", "[::1]:3001"])
def test_loopback_names_are_accepted(echo_app: EchoApp, client: AsgiClient, host: str) -> None:
    assert (
        client.request(CheckMiddleware(echo_app, RequestPolicy(), check_host), "GET", "/health", {"host": host}).status
        == 200
    )


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:3001",
        "127.0.0.1.evil.example",
        "localhost.evil.example:3001",
        "localhost.",
        "localhost@evil.example",
        "evil.example#localhost",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:99999",
        "[::1",
        "::1",
        "2130706433",
        "192.168.1.2:3001",
        "",
        "localhost, evil.example",
        "localhost\x00",
    ],
)
def test_other_host_names_are_rejected(echo_app: EchoApp, client: AsgiClient, host: str) -> None:
    response = client.request(CheckMiddleware(echo_app, RequestPolicy(), check_host), "GET", "/health", {"host": host})
    assert response.status == 421
    assert response.json() | {"hint": ""} == {
        "error": "this server is not known by that name",
        "hint": "",
        "field": None,
        "state": None,
        "problems": None,
    }
    assert echo_app.reached == []


def test_two_host_headers_are_rejected(echo_app: EchoApp, client: AsgiClient) -> None:
    app = CheckMiddleware(echo_app, RequestPolicy(), check_host)
    assert client.request(app, "GET", "/", [("host", "localhost"), ("host", "localhost")]).status == 421


@pytest.mark.parametrize(
    ("host", "allowed", "asked", "status"),
    [
        ("192.168.1.2", [], "192.168.1.2:3001", 200),
        ("192.168.1.2", [], "192.168.1.3:3001", 421),
        ("192.168.1.2", [], "localhost", 200),
        ("0.0.0.0", [], "192.168.1.3:3001", 200),
        ("0.0.0.0", [], "[fe80::1]:3001", 200),
        ("0.0.0.0", [], "evil.example", 421),
        ("::", ["box.lan"], "box.lan:3001", 200),
        ("::1", [], "[::1]:3001", 200),
        ("127.0.0.1", ["https://plait.example.org"], "plait.example.org", 200),
        ("127.0.0.1", ["plait.example.org"], "sub.plait.example.org", 421),
    ],
)
def test_allowed_host_names_are_accepted(  # noqa: PLR0913, PLR0917 - a row of the table
    echo_app: EchoApp, client: AsgiClient, host: str, allowed: list[str], asked: str, status: int
) -> None:
    app = CheckMiddleware(echo_app, create_policy(host, allowed), check_host)
    assert client.request(app, "GET", "/", {"host": asked}).status == status


@pytest.mark.parametrize("allowed", ["", "a b", "ftp://a", "*", "http://", "https://a/b", "a:b:c", "-"])
def test_an_invalid_host_is_an_error(allowed: str) -> None:
    with pytest.raises(UserError, match="is not a host"):
        create_policy("127.0.0.1", [allowed])
    with pytest.raises(UserError, match="is not a host"):
        create_policy(f"{allowed}/")


def test_only_loopback_names_are_allowed_by_default() -> None:
    assert create_policy() == RequestPolicy(hosts=LOOPBACK_HOSTS)


@pytest.mark.parametrize(
    ("origin", "host", "status"),
    [
        (OWN, "127.0.0.1:3001", 200),
        ("http://localhost", "localhost:80", 200),
        ("http://localhost", "localhost", 200),
        ("https://127.0.0.1:3001", "127.0.0.1:3001", 403),
        ("http://127.0.0.1:3002", "127.0.0.1:3001", 403),
        ("http://localhost:3001", "127.0.0.1:3001", 403),
        ("http://127.0.0.1:3001.evil.example", "127.0.0.1:3001", 403),
        ("http://evil.example", "127.0.0.1:3001", 403),
        ("null", "127.0.0.1:3001", 403),
        ("", "127.0.0.1:3001", 403),
        ("https://plait.example.org", "127.0.0.1:3001", 200),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_requests_of_the_server_s_own_page_are_accepted(  # noqa: PLR0913, PLR0917 - a row of the table
    echo_app: EchoApp, client: AsgiClient, origin: str, host: str, status: int, method: str
) -> None:
    app = CheckMiddleware(echo_app, create_policy(allowed=["https://plait.example.org"]), check_origin)
    response = client.request(app, method, "/api/batches", {"origin": origin, "host": host})
    assert response.status == status
    assert not any(name.startswith("access-control") for name, _ in response.headers)


def test_two_origin_headers_are_rejected(echo_app: EchoApp, client: AsgiClient) -> None:
    app = CheckMiddleware(echo_app, RequestPolicy(), check_origin)
    assert client.request(app, "POST", "/", [("origin", OWN), ("origin", OWN)]).status == 403


PAGE = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {}, 403),
        ("PATCH", {"sec-fetch-site": "same-site"}, 403),
        ("DELETE", {"sec-fetch-site": "none"}, 403),
        ("POST", {"sec-fetch-site": "same-origin"}, 200),
        ("POST", {"origin": OWN}, 200),
        ("GET", {}, 200),
        ("GET", {"sec-fetch-site": "same-origin"}, 200),
        ("GET", {"sec-fetch-site": "same-site"}, 403),
        ("GET", {"sec-fetch-site": "cross-site"}, 403),
        ("GET", {"sec-fetch-site": "same-site", **PAGE}, 200),
        ("GET", {"sec-fetch-site": "same-site", **PAGE, "sec-fetch-dest": "iframe"}, 403),
    ],
)
def test_a_cookie_is_accepted_only_from_the_server_s_own_pages(
    echo_app: EchoApp, client: AsgiClient, method: str, headers: dict[str, str], status: int
) -> None:
    async def ask(by: AuthMethod) -> int:
        scope = client.scope(method, "/api/batches", headers)
        scope["state"] = {"caller": Caller(Access.FULL, by)}
        return (await client.send(CheckMiddleware(echo_app, RequestPolicy(), check_csrf), scope)).status

    assert asyncio.run(ask(AuthMethod.COOKIE)) == status
    assert asyncio.run(ask(AuthMethod.TOKEN)) == 200  # no page can make a browser send it
