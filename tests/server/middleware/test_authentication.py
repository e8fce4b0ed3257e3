"""Every request needs a token or the cookie of a login."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
from starlette.types import Message, Receive, Scope, Send

from plait.server.auth import COOKIE_SECONDS, SESSION_COOKIE, Access, Authenticator, AuthMethod, Caller
from plait.server.http.middleware.authentication import (
    AuthenticationMiddleware,
    AuthRateLimiter,
    check_read_only,
)
from plait.server.http.middleware.request_checks import CheckMiddleware, RequestPolicy, create_policy
from plait.server.serve import wrap_with_middleware
from plait.store.server_tokens import TokenFiles, read_or_create_token

if TYPE_CHECKING:
    from tests.server.middleware.conftest import AsgiClient, Clock, EchoApp


@pytest.fixture
def guarded_app(echo_app: EchoApp, authenticator: Authenticator, clock: Clock) -> AuthenticationMiddleware:
    rules = RequestPolicy()
    return AuthenticationMiddleware(
        CheckMiddleware(echo_app, rules, check_read_only), authenticator, AuthRateLimiter(rules, clock), rules, clock
    )


@pytest.fixture
def full(token_files: TokenFiles) -> dict[str, str]:
    return {"authorization": f"Bearer {read_or_create_token(token_files.full)}"}


@pytest.fixture
def read(token_files: TokenFiles) -> dict[str, str]:
    return {"authorization": f"bearer {read_or_create_token(token_files.read_only)}"}


def caller(echo_app: EchoApp) -> Caller:
    found = echo_app.reached[-1]["state"]["caller"]
    assert isinstance(found, Caller)
    return found


@pytest.mark.parametrize("target", ["/", "/api/batches", "/health/", "/metrics", "/api/docs", "/app.js", "/logout"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PATCH", "OPTIONS", "TRACE"])
def test_every_route_needs_authentication(
    guarded_app: AuthenticationMiddleware, echo_app: EchoApp, client: AsgiClient, method: str, target: str
) -> None:
    response = client.request(guarded_app, method, target)
    assert response.status == 401
    assert response.header("www-authenticate") == "Bearer"
    assert response.json()["error"] == "this needs a token"
    assert echo_app.reached == []


def test_the_health_check_needs_no_token(
    guarded_app: AuthenticationMiddleware, echo_app: EchoApp, client: AsgiClient
) -> None:
    assert client.request(guarded_app, "GET", "/health").status == 200
    assert client.request(guarded_app, "HEAD", "/health").status == 200
    assert client.request(guarded_app, "POST", "/health").status == 401
    assert len(echo_app.reached) == 2


def test_the_token_authenticates(
    guarded_app: AuthenticationMiddleware, echo_app: EchoApp, client: AsgiClient, full: dict[str, str]
) -> None:
    assert client.request(guarded_app, "POST", "/api/batches", full).status == 200
    assert caller(echo_app) == Caller(Access.FULL, AuthMethod.TOKEN)


def test_the_session_cookie_is_found_among_others(
    guarded_app: AuthenticationMiddleware, echo_app: EchoApp, client: AsgiClient, authenticator: Authenticator
) -> None:
    cookies = {
        "cookie": f"theme=dark; {SESSION_COOKIE}=forged; {SESSION_COOKIE}={authenticator.issue_cookie(Access.FULL)}; x"
    }
    assert client.request(guarded_app, "GET", "/", cookies).status == 200
    assert caller(echo_app) == Caller(Access.FULL, AuthMethod.COOKIE)


def test_an_expired_cookie_does_not_authenticate(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, authenticator: Authenticator, clock: Clock
) -> None:
    cookies = {"cookie": f"{SESSION_COOKIE}={authenticator.issue_cookie(Access.FULL)}"}
    clock.now += COOKIE_SECONDS
    assert client.request(guarded_app, "GET", "/", cookies).status == 401


def test_read_only_access_allows_no_changes(
    guarded_app: AuthenticationMiddleware, echo_app: EchoApp, client: AsgiClient, read: dict[str, str]
) -> None:
    assert client.request(guarded_app, "GET", "/api/batches", read).status == 200
    assert caller(echo_app) == Caller(Access.READ, AuthMethod.TOKEN)
    for method in ("POST", "PATCH", "PUT", "DELETE", "OPTIONS", "get"):
        response = client.request(guarded_app, method, "/api/batches", read)
        assert (response.status, response.json()["error"]) == (403, "this token is read-only")
    assert len(echo_app.reached) == 1


@pytest.mark.parametrize("name", ["token", "access_token", "code", "authorization"])
def test_a_token_in_the_url_is_ignored(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, token_files: TokenFiles, name: str
) -> None:
    assert (
        client.request(guarded_app, "GET", f"/api/batches?{name}={read_or_create_token(token_files.full)}").status
        == 401
    )


def test_a_wrong_token_is_rejected_despite_a_valid_cookie(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, authenticator: Authenticator
) -> None:
    both = {"authorization": "Bearer wrong", "cookie": f"{SESSION_COOKIE}={authenticator.issue_cookie(Access.FULL)}"}
    assert client.request(guarded_app, "GET", "/", both).status == 401


def test_two_authorization_headers_are_rejected(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, full: dict[str, str]
) -> None:
    assert client.request(guarded_app, "GET", "/", [*full.items(), *full.items()]).status == 401


@pytest.mark.parametrize(
    "text", ["", "Bearer", "Bearer ", "Basic {}", "{}", "Bearer {} x", "Bearer \xff", "Bearer {}0"]
)
def test_malformed_authorization_headers_are_rejected(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, token_files: TokenFiles, text: str
) -> None:
    presented = {"authorization": text.format(read_or_create_token(token_files.full))}
    assert client.request(guarded_app, "GET", "/", presented).status == 401


def test_ten_wrong_tokens_a_minute_block_wrong_ones_but_not_the_right_one(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, full: dict[str, str], clock: Clock
) -> None:
    wrong = {"authorization": "Bearer wrong"}
    assert [client.request(guarded_app, "GET", "/", wrong).status for _ in range(10)] == [401] * 10
    clock.now += 20
    response = client.request(guarded_app, "GET", "/", wrong)
    assert (response.status, response.header("retry-after")) == (429, "40")
    assert client.request(guarded_app, "GET", "/", full).status == 200
    client.address = "10.0.0.9"
    assert client.request(guarded_app, "GET", "/", wrong).status == 401
    client.address = "127.0.0.1"
    clock.now += 40
    assert client.request(guarded_app, "GET", "/", wrong).status == 401


def test_missing_tokens_and_stale_cookies_are_not_counted_as_failures(
    guarded_app: AuthenticationMiddleware, client: AsgiClient
) -> None:
    for headers in ({}, {"cookie": f"{SESSION_COOKIE}=stale"}) * 20:
        assert client.request(guarded_app, "GET", "/", headers).status == 401


def test_the_rate_limiter_remembers_a_limited_number_of_addresses(client: AsgiClient, clock: Clock) -> None:
    strikes = AuthRateLimiter(RequestPolicy(), clock)
    for n in range(5000):
        client.address = f"10.{n // 256}.{n % 256}.1"
        assert strikes.record_failure(client.scope("GET", "/")) is None
    assert len(strikes) == 1024


def test_a_running_server_notices_a_rotation_at_once(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, token_files: TokenFiles, full: dict[str, str]
) -> None:
    assert client.request(guarded_app, "GET", "/", full).status == 200
    fresh = token_files.rotate()
    assert client.request(guarded_app, "GET", "/", full).status == 401
    assert client.request(guarded_app, "GET", "/", {"authorization": f"Bearer {fresh}"}).status == 200


def test_all_requests_are_rejected_while_others_can_read_the_token(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, token_files: TokenFiles, full: dict[str, str]
) -> None:
    token_files.full.chmod(0o644)
    response = client.request(guarded_app, "GET", "/", full)
    assert response.status == 503
    assert str(token_files.full) not in response.body.decode()
    assert client.request(guarded_app, "GET", "/health").status == 200


OPENS = {"sec-fetch-mode": "navigate", "sec-fetch-site": "none"}


def test_a_browser_without_a_login_gets_an_html_page(guarded_app: AuthenticationMiddleware, client: AsgiClient) -> None:
    response = client.request(guarded_app, "GET", "/batches/7f3a", OPENS)
    assert (response.status, response.header("content-type")) == (401, "text/html; charset=utf-8")
    assert response.header("cache-control") == "no-store"
    assert b"<h1>This browser is not logged in.</h1>" in response.body
    assert b"<code>plait token --link</code>" in response.body
    assert not re.search(rb"<script|<style|style=|https?://|http-equiv", response.body)


@pytest.mark.parametrize(
    ("came", "command"),
    [
        ("http 127.0.0.1:4000", "plait token --link --url http://127.0.0.1:4000"),
        ("http localhost:3001", "plait token --link --url http://localhost:3001"),
        ("https 127.0.0.1:3001", "plait token --link --url https://127.0.0.1:3001"),
        ("http plait.example.org", "plait token --link --url https://plait.example.org"),
        ("http <b>", "plait token --link"),
    ],
)
def test_the_suggested_command_names_the_url_in_use(
    echo_app: EchoApp, authenticator: Authenticator, client: AsgiClient, came: str, command: str
) -> None:
    rules = create_policy(allowed=["https://plait.example.org"])
    client.scheme, host = came.split()
    response = client.request(
        AuthenticationMiddleware(echo_app, authenticator, AuthRateLimiter(rules), rules),
        "GET",
        "/",
        {**OPENS, "host": host},
    )
    assert f"<code>{command}</code>" in response.body.decode()


def test_a_page_opened_from_another_site_reloads_itself_once(
    guarded_app: AuthenticationMiddleware, client: AsgiClient
) -> None:
    refresh = b'<meta http-equiv="refresh" content="0">'
    for site, again in (("cross-site", True), ("same-origin", False), ("same-site", False), ("none", False)):
        response = client.request(guarded_app, "GET", "/settings", {**OPENS, "sec-fetch-site": site})
        assert (response.status, refresh in response.body) == (401, again), site


def test_a_browser_without_fetch_metadata_gets_a_reload_link(
    guarded_app: AuthenticationMiddleware, client: AsgiClient
) -> None:
    response = client.request(guarded_app, "GET", "/settings", {"accept": "text/html,*/*;q=0.8"})
    assert (response.status, response.header("content-type")) == (401, "text/html; charset=utf-8")
    assert b'<a href="">' in response.body
    assert b"http-equiv" not in response.body


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/", {}),
        ("GET", "/", {"accept": "*/*"}),
        ("GET", "/assets/index.js", {"sec-fetch-mode": "cors", "accept": "text/html"}),
        ("GET", "/api/batches", OPENS),
        ("POST", "/settings", OPENS),
    ],
)
def test_a_program_gets_a_rejection_as_json(
    guarded_app: AuthenticationMiddleware, client: AsgiClient, method: str, path: str, headers: dict[str, str]
) -> None:
    assert client.request(guarded_app, method, path, headers).json()["error"] == "this needs a token"


def test_a_stream_ends_when_its_token_is_revoked(
    authenticator: Authenticator, token_files: TokenFiles, clock: Clock, client: AsgiClient, full: dict[str, str]
) -> None:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one ", "more_body": True})
        token_files.rotate()
        await send({"type": "http.response.body", "body": b"two ", "more_body": True})  # within the second
        clock.now += 1
        for _ in range(3):
            await send({"type": "http.response.body", "body": b"three", "more_body": True})

    rules = RequestPolicy()
    got: list[Message] = []

    async def send(message: Message) -> None:
        got.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    guarded_app = AuthenticationMiddleware(app, authenticator, AuthRateLimiter(rules), rules, clock)
    asyncio.run(guarded_app(client.scope("GET", "/api/events", full), receive, send))
    assert [each["body"] for each in got[1:]] == [b"one ", b"two ", b""]
    assert got[-1]["more_body"] is False


def test_a_response_of_known_length_is_sent_completely_after_a_rotation(
    authenticator: Authenticator, token_files: TokenFiles, clock: Clock, client: AsgiClient, full: dict[str, str]
) -> None:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"6")]})
        token_files.rotate()
        clock.now += 60
        await send({"type": "http.response.body", "body": b"a file"})

    guarded_app = AuthenticationMiddleware(app, authenticator, AuthRateLimiter(RequestPolicy()), RequestPolicy(), clock)
    assert client.request(guarded_app, "GET", "/", full).body == b"a file"


def test_the_whole_middleware_passes_a_valid_request(
    echo_app: EchoApp, authenticator: Authenticator, client: AsgiClient, full: dict[str, str]
) -> None:
    app = wrap_with_middleware(echo_app, authenticator, RequestPolicy())
    response = client.request(app, "POST", "/api/batches", {**full, "content-length": "2"}, [b"{}"])
    assert (response.status, echo_app.bodies) == (200, [b"{}"])
    assert response.header("cache-control") == "no-store"
    assert client.request(app, "POST", "/api/batches", full | {"host": "evil.example"}).status == 421
    assert client.request(app, "POST", "/api/batches", full | {"origin": "null"}).status == 403
    for refused in (client.request(app, "GET", "/"), client.request(app, "GET", "/" * 9000)):
        assert refused.header("x-frame-options") == "DENY"
