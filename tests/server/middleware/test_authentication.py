"""Nobody gets further without being told: by a token, or by the cookie of a login."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
from starlette.types import Message, Receive, Scope, Send

from plait.client.server_tokens import TokenFiles, read_or_create_token
from plait.server.auth import COOKIE_SECONDS, SESSION_COOKIE, Access, Authenticator, AuthMethod, Caller
from plait.server.http.middleware.authentication import (
    AuthenticationMiddleware,
    AuthRateLimiter,
    ReadOnlyMiddleware,
)
from plait.server.http.middleware.policy import RequestPolicy, create_policy
from plait.server.http.server_config import wrap_with_middleware

if TYPE_CHECKING:
    from tests.server.middleware.conftest import AsgiClient, Clock, TinyApp


@pytest.fixture
def door(tiny: TinyApp, keys: Authenticator, clock: Clock) -> AuthenticationMiddleware:
    rules = RequestPolicy()
    return AuthenticationMiddleware(ReadOnlyMiddleware(tiny), keys, AuthRateLimiter(rules, clock), rules, clock)


@pytest.fixture
def full(files: TokenFiles) -> dict[str, str]:
    return {"authorization": f"Bearer {read_or_create_token(files.full)}"}


@pytest.fixture
def read(files: TokenFiles) -> dict[str, str]:
    return {"authorization": f"bearer {read_or_create_token(files.read_only)}"}


def caller(tiny: TinyApp) -> Caller:
    found = tiny.reached[-1]["state"]["caller"]
    assert isinstance(found, Caller)
    return found


@pytest.mark.parametrize("target", ["/", "/api/batches", "/health/", "/metrics", "/api/docs", "/app.js", "/logout"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PATCH", "OPTIONS", "TRACE"])
def test_no_route_is_open(
    door: AuthenticationMiddleware, tiny: TinyApp, visitor: AsgiClient, method: str, target: str
) -> None:
    said = visitor.request(door, method, target)
    assert said.status == 401
    assert said.header("www-authenticate") == "Bearer"
    assert said.json()["error"] == "this needs a token"
    assert tiny.reached == []


def test_everybody_may_ask_whether_the_server_lives(
    door: AuthenticationMiddleware, tiny: TinyApp, visitor: AsgiClient
) -> None:
    assert visitor.request(door, "GET", "/health").status == 200
    assert visitor.request(door, "HEAD", "/health").status == 200
    assert visitor.request(door, "POST", "/health").status == 401
    assert len(tiny.reached) == 2


def test_the_token_lets_in(
    door: AuthenticationMiddleware, tiny: TinyApp, visitor: AsgiClient, full: dict[str, str]
) -> None:
    assert visitor.request(door, "POST", "/api/batches", full).status == 200
    assert caller(tiny) == Caller(Access.FULL, AuthMethod.TOKEN)


def test_the_cookie_lets_in_among_others(
    door: AuthenticationMiddleware, tiny: TinyApp, visitor: AsgiClient, keys: Authenticator
) -> None:
    cookies = {"cookie": f"theme=dark; {SESSION_COOKIE}=forged; {SESSION_COOKIE}={keys.issue_cookie(Access.FULL)}; x"}
    assert visitor.request(door, "GET", "/", cookies).status == 200
    assert caller(tiny) == Caller(Access.FULL, AuthMethod.COOKIE)


def test_a_cookie_that_has_ended_does_not(
    door: AuthenticationMiddleware, visitor: AsgiClient, keys: Authenticator, clock: Clock
) -> None:
    cookies = {"cookie": f"{SESSION_COOKIE}={keys.issue_cookie(Access.FULL)}"}
    clock.now += COOKIE_SECONDS
    assert visitor.request(door, "GET", "/", cookies).status == 401


def test_who_may_look_may_not_change(
    door: AuthenticationMiddleware, tiny: TinyApp, visitor: AsgiClient, read: dict[str, str]
) -> None:
    assert visitor.request(door, "GET", "/api/batches", read).status == 200
    assert caller(tiny) == Caller(Access.READ, AuthMethod.TOKEN)
    for method in ("POST", "PATCH", "PUT", "DELETE", "OPTIONS", "get"):
        said = visitor.request(door, method, "/api/batches", read)
        assert (said.status, said.json()["error"]) == (403, "this token is read-only")
    assert len(tiny.reached) == 1


@pytest.mark.parametrize("name", ["token", "access_token", "code", "authorization"])
def test_a_token_in_the_address_is_no_token(
    door: AuthenticationMiddleware, visitor: AsgiClient, files: TokenFiles, name: str
) -> None:
    assert visitor.request(door, "GET", f"/api/batches?{name}={read_or_create_token(files.full)}").status == 401


def test_a_wrong_token_is_not_mended_by_a_right_cookie(
    door: AuthenticationMiddleware, visitor: AsgiClient, keys: Authenticator
) -> None:
    both = {"authorization": "Bearer wrong", "cookie": f"{SESSION_COOKIE}={keys.issue_cookie(Access.FULL)}"}
    assert visitor.request(door, "GET", "/", both).status == 401


def test_two_tokens_are_none(door: AuthenticationMiddleware, visitor: AsgiClient, full: dict[str, str]) -> None:
    assert visitor.request(door, "GET", "/", [*full.items(), *full.items()]).status == 401


@pytest.mark.parametrize(
    "said", ["", "Bearer", "Bearer ", "Basic {}", "{}", "Bearer {} x", "Bearer \xff", "Bearer {}0"]
)
def test_what_is_no_bearer_token(
    door: AuthenticationMiddleware, visitor: AsgiClient, files: TokenFiles, said: str
) -> None:
    presented = {"authorization": said.format(read_or_create_token(files.full))}
    assert visitor.request(door, "GET", "/", presented).status == 401


def test_after_ten_wrong_ones_in_a_minute_the_address_waits_and_the_right_one_passes(
    door: AuthenticationMiddleware, visitor: AsgiClient, full: dict[str, str], clock: Clock
) -> None:
    wrong = {"authorization": "Bearer wrong"}
    assert [visitor.request(door, "GET", "/", wrong).status for _ in range(10)] == [401] * 10
    clock.now += 20
    said = visitor.request(door, "GET", "/", wrong)
    assert (said.status, said.header("retry-after")) == (429, "40")
    assert visitor.request(door, "GET", "/", full).status == 200
    visitor.client = "10.0.0.9"
    assert visitor.request(door, "GET", "/", wrong).status == 401
    visitor.client = "127.0.0.1"
    clock.now += 40
    assert visitor.request(door, "GET", "/", wrong).status == 401


def test_who_shows_none_or_a_stale_cookie_is_not_counted(door: AuthenticationMiddleware, visitor: AsgiClient) -> None:
    for headers in ({}, {"cookie": f"{SESSION_COOKIE}=stale"}) * 20:
        assert visitor.request(door, "GET", "/", headers).status == 401


def test_however_many_addresses_are_wrong_few_are_remembered(visitor: AsgiClient, clock: Clock) -> None:
    strikes = AuthRateLimiter(RequestPolicy(), clock)
    for n in range(5000):
        visitor.client = f"10.{n // 256}.{n % 256}.1"
        assert strikes.record_failure(visitor.scope("GET", "/")) is None
    assert len(strikes) == 1024


def test_a_running_server_knows_of_a_rotation_at_once(
    door: AuthenticationMiddleware, visitor: AsgiClient, files: TokenFiles, full: dict[str, str]
) -> None:
    assert visitor.request(door, "GET", "/", full).status == 200
    fresh = files.rotate()
    assert visitor.request(door, "GET", "/", full).status == 401
    assert visitor.request(door, "GET", "/", {"authorization": f"Bearer {fresh}"}).status == 200


def test_when_its_token_can_t_be_read_nobody_is_let_in(
    door: AuthenticationMiddleware, visitor: AsgiClient, files: TokenFiles, full: dict[str, str]
) -> None:
    files.full.chmod(0o644)
    said = visitor.request(door, "GET", "/", full)
    assert said.status == 503
    assert str(files.full) not in said.body.decode()
    assert visitor.request(door, "GET", "/health").status == 200


OPENS = {"sec-fetch-mode": "navigate", "sec-fetch-site": "none"}


def test_a_person_who_opens_a_page_is_told_on_one(door: AuthenticationMiddleware, visitor: AsgiClient) -> None:
    said = visitor.request(door, "GET", "/batches/7f3a", OPENS)
    assert (said.status, said.header("content-type")) == (401, "text/html; charset=utf-8")
    assert said.header("cache-control") == "no-store"
    assert b"<h1>This browser is not logged in.</h1>" in said.body
    assert b"<code>plait token --link</code>" in said.body
    assert not re.search(rb"<script|<style|style=|https?://|http-equiv", said.body)


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
def test_the_command_makes_a_link_to_where_the_person_is(
    tiny: TinyApp, keys: Authenticator, visitor: AsgiClient, came: str, command: str
) -> None:
    rules = create_policy(allowed=["https://plait.example.org"])
    visitor.scheme, host = came.split()
    said = visitor.request(
        AuthenticationMiddleware(tiny, keys, AuthRateLimiter(rules), rules),
        "GET",
        "/",
        {**OPENS, "host": host},
    )
    assert f"<code>{command}</code>" in said.body.decode()


def test_a_link_on_another_site_is_opened_again_by_a_page_of_ours_once(
    door: AuthenticationMiddleware, visitor: AsgiClient
) -> None:
    refresh = b'<meta http-equiv="refresh" content="0">'
    for site, again in (("cross-site", True), ("same-origin", False), ("same-site", False), ("none", False)):
        said = visitor.request(door, "GET", "/settings", {**OPENS, "sec-fetch-site": site})
        assert (said.status, refresh in said.body) == (401, again), site


def test_a_browser_that_does_not_say_where_it_comes_from_leaves_it_to_the_person(
    door: AuthenticationMiddleware, visitor: AsgiClient
) -> None:
    said = visitor.request(door, "GET", "/settings", {"accept": "text/html,*/*;q=0.8"})
    assert (said.status, said.header("content-type")) == (401, "text/html; charset=utf-8")
    assert b'<a href="">' in said.body
    assert b"http-equiv" not in said.body


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
def test_a_program_is_told_in_the_shape_of_all_errors(
    door: AuthenticationMiddleware, visitor: AsgiClient, method: str, path: str, headers: dict[str, str]
) -> None:
    assert visitor.request(door, method, path, headers).json()["error"] == "this needs a token"


def test_a_stream_ends_with_the_token_that_opened_it(
    keys: Authenticator, files: TokenFiles, clock: Clock, visitor: AsgiClient, full: dict[str, str]
) -> None:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one ", "more_body": True})
        files.rotate()
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

    door = AuthenticationMiddleware(app, keys, AuthRateLimiter(rules), rules, clock)
    asyncio.run(door(visitor.scope("GET", "/api/events", full), receive, send))
    assert [each["body"] for each in got[1:]] == [b"one ", b"two ", b""]
    assert got[-1]["more_body"] is False


def test_a_response_of_known_length_is_sent_whole(
    keys: Authenticator, files: TokenFiles, clock: Clock, visitor: AsgiClient, full: dict[str, str]
) -> None:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"6")]})
        files.rotate()
        clock.now += 60
        await send({"type": "http.response.body", "body": b"a file"})

    door = AuthenticationMiddleware(app, keys, AuthRateLimiter(RequestPolicy()), RequestPolicy(), clock)
    assert visitor.request(door, "GET", "/", full).body == b"a file"


def test_all_together_let_the_right_one_through(
    tiny: TinyApp, keys: Authenticator, visitor: AsgiClient, full: dict[str, str]
) -> None:
    app = wrap_with_middleware(tiny, keys, RequestPolicy())
    said = visitor.request(app, "POST", "/api/batches", {**full, "content-length": "2"}, [b"{}"])
    assert (said.status, tiny.bodies) == (200, [b"{}"])
    assert said.header("cache-control") == "no-store"
    assert visitor.request(app, "POST", "/api/batches", full | {"host": "evil.example"}).status == 421
    assert visitor.request(app, "POST", "/api/batches", full | {"origin": "null"}).status == 403
    for refused in (visitor.request(app, "GET", "/"), visitor.request(app, "GET", "/" * 9000)):
        assert refused.header("x-frame-options") == "DENY"


def test_what_is_no_request_of_http_passes(tiny: TinyApp, keys: Authenticator) -> None:
    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(_message: Message) -> None:
        return

    async def start() -> None:
        await wrap_with_middleware(tiny, keys, RequestPolicy())({"type": "lifespan"}, receive, send)

    asyncio.run(start())
    assert [scope["type"] for scope in tiny.reached] == ["lifespan"]
