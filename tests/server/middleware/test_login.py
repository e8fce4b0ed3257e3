"""A browser is logged in by a link that is good once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.client.server_tokens import TokenFiles, read_or_create_token
from plait.server.auth import (
    CODE_SECONDS,
    SESSION_COOKIE,
    Access,
    Authenticator,
    AuthMethod,
    Caller,
    make_login_link,
)
from plait.server.http.middleware.policy import RequestPolicy, create_policy
from plait.server.http.server_config import wrap_with_middleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from tests.server.middleware.conftest import AsgiClient, Clock, Reply, TinyApp

OWN = "http://127.0.0.1:3001"
ANOTHER = b"Get a new one on the server's machine: plait token --link\n"


@pytest.fixture
def door(tiny: TinyApp, keys: Authenticator) -> ASGIApp:
    return wrap_with_middleware(tiny, keys, RequestPolicy())


@pytest.fixture
def link(keys: Authenticator) -> str:
    return make_login_link(keys, OWN).removeprefix(OWN)


def cookie_of(said: Reply) -> dict[str, str]:
    return {"cookie": (said.header("set-cookie") or "").partition(";")[0]}


def test_the_link_gives_a_cookie_and_leads_to_the_page(
    door: ASGIApp, tiny: TinyApp, visitor: AsgiClient, link: str
) -> None:
    said = visitor.request(door, "GET", link)
    assert (said.status, said.header("location")) == (303, "/")
    assert (said.header("set-cookie") or "").endswith("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict")
    assert visitor.request(door, "GET", "/", cookie_of(said)).status == 200
    assert tiny.reached[-1]["state"]["caller"] == Caller(Access.FULL, AuthMethod.COOKIE)


def test_the_code_goes_nowhere(door: ASGIApp, visitor: AsgiClient, link: str) -> None:
    code = link.partition("=")[2]
    first, second = visitor.request(door, "GET", link), visitor.request(door, "GET", link)
    for said in (first, second):
        assert said.header("referrer-policy") == "no-referrer"
        assert said.header("cache-control") == "no-store"
        assert code not in repr(said)


def test_a_used_link_says_how_to_get_another(door: ASGIApp, visitor: AsgiClient, link: str) -> None:
    visitor.request(door, "GET", link)
    said = visitor.request(door, "GET", link)
    assert (said.status, said.header("set-cookie")) == (410, None)
    assert said.body == b"This link was already used: links are valid once.\n" + ANOTHER
    assert said.header("content-type") == "text/plain; charset=utf-8"
    assert (said.header("content-security-policy") or "").startswith("default-src 'none'")


OPENS = {"sec-fetch-mode": "navigate"}


def test_a_person_is_told_so_on_a_page(door: ASGIApp, visitor: AsgiClient, link: str) -> None:
    cookie = cookie_of(visitor.request(door, "GET", link, OPENS))
    headers = {**OPENS, "sec-fetch-site": "none", "host": "localhost:4000"}
    said = visitor.request(door, "GET", link, headers)
    assert (said.status, said.header("content-type")) == (410, "text/html; charset=utf-8")
    assert b"<h1>This link was already used: links are valid once.</h1>" in said.body
    assert b"<code>plait token --link --url http://localhost:4000</code>" in said.body
    assert b"http-equiv" not in said.body
    # From another site the cookie does not come along, and the person may be logged in all the same.
    afar = visitor.request(door, "GET", link, {**OPENS, "sec-fetch-site": "cross-site"})
    assert (afar.status, b'http-equiv="refresh"' in afar.body) == (410, True)
    again = visitor.request(door, "GET", link, {**OPENS, "sec-fetch-site": "same-origin", **cookie})
    assert (again.status, again.header("location")) == (303, "/")


def test_its_stylesheet_is_for_everybody_and_nothing_is_read_of_them(
    door: ASGIApp, tiny: TinyApp, visitor: AsgiClient
) -> None:
    said = visitor.request(door, "GET", "/login.css")
    assert (said.status, said.header("content-type")) == (200, "text/css; charset=utf-8")
    assert said.header("content-length") == str(len(said.body))
    assert b"prefers-color-scheme: dark" in said.body
    assert b"url(" not in said.body
    assert visitor.request(door, "HEAD", "/login.css").body == b""
    for method, headers in (("POST", {}), ("GET", {"content-length": "4"})):
        assert visitor.request(door, method, "/login.css", headers).status == 405
    assert tiny.reached == []


def test_an_expired_link_does_too(door: ASGIApp, visitor: AsgiClient, link: str, clock: Clock) -> None:
    clock.now += CODE_SECONDS
    said = visitor.request(door, "GET", link)
    assert said.status == 410
    assert said.body.endswith(b"ten minutes.\n" + ANOTHER)


def test_the_link_again_in_the_browser_that_it_let_in_leads_to_the_page(
    door: ASGIApp, visitor: AsgiClient, link: str
) -> None:
    cookie = cookie_of(visitor.request(door, "GET", link))
    said = visitor.request(door, "GET", link, cookie)
    assert (said.status, said.header("location"), said.header("set-cookie")) == (303, "/", None)


@pytest.mark.parametrize(
    "ahead",
    [
        {"sec-purpose": "prefetch"},
        {"sec-purpose": "prefetch;prerender"},
        {"Purpose": "prefetch"},
        {"X-Moz": "prefetch"},
    ],
)
def test_a_browser_that_fetches_ahead_does_not_use_it_up(
    door: ASGIApp, visitor: AsgiClient, link: str, ahead: dict[str, str]
) -> None:
    assert visitor.request(door, "GET", link, ahead).status == 403
    assert visitor.request(door, "GET", link).status == 303


@pytest.mark.parametrize("method", ["HEAD", "POST", "OPTIONS"])
def test_nor_does_anything_but_opening_it(door: ASGIApp, visitor: AsgiClient, link: str, method: str) -> None:
    said = visitor.request(door, method, link)
    assert (said.status, said.header("allow")) == (405, "GET")
    assert visitor.request(door, "GET", link).status == 303


@pytest.mark.parametrize("query", ["", "?code=", "?code=1.2.3", "?code=%ff", "?a&b&c&d&e&f", "?code=\xe9"])
def test_a_forged_link_is_refused(door: ASGIApp, tiny: TinyApp, visitor: AsgiClient, query: str) -> None:
    said = visitor.request(door, "GET", f"/login{query}")
    assert (said.status, said.header("set-cookie"), tiny.reached) == (403, None, [])
    assert said.body.endswith(ANOTHER)


def test_two_codes_are_none(door: ASGIApp, visitor: AsgiClient, link: str, keys: Authenticator) -> None:
    assert visitor.request(door, "GET", f"{link}&code={keys.issue_code()}").status == 403


def test_wrong_codes_are_counted_and_a_right_one_passes(door: ASGIApp, visitor: AsgiClient, link: str) -> None:
    forged = [visitor.request(door, "GET", "/login?code=forged").status for _ in range(11)]
    assert forged == [403] * 10 + [429]
    assert visitor.request(door, "GET", link).status == 303


def test_a_link_from_before_a_rotation_is_dead(
    door: ASGIApp, visitor: AsgiClient, link: str, files: TokenFiles
) -> None:
    files.rotate()
    assert visitor.request(door, "GET", link).status == 403


def test_a_read_only_link_lets_look(
    door: ASGIApp, tiny: TinyApp, visitor: AsgiClient, keys: Authenticator, files: TokenFiles
) -> None:
    read_or_create_token(files.read_only)
    link = make_login_link(keys, OWN, Access.READ).removeprefix(OWN)
    cookie = cookie_of(visitor.request(door, "GET", link))
    assert visitor.request(door, "GET", "/", cookie).status == 200
    assert tiny.reached[-1]["state"]["caller"] == Caller(Access.READ, AuthMethod.COOKIE)
    assert visitor.request(door, "POST", "/api/batches", {**cookie, "origin": OWN}).status == 403
    assert visitor.request(door, "POST", "/logout", {**cookie, "origin": OWN}).status == 204


def test_a_code_that_can_t_be_remembered_is_not_used(
    door: ASGIApp, visitor: AsgiClient, link: str, tmp_path: Path
) -> None:
    (tmp_path / "state" / "spent-codes").touch()
    said = visitor.request(door, "GET", link)
    assert (said.status, said.header("set-cookie")) == (503, None)


def test_over_tls_the_cookie_is_for_tls_alone(door: ASGIApp, visitor: AsgiClient, link: str) -> None:
    visitor.scheme = "https"
    assert (visitor.request(door, "GET", link).header("set-cookie") or "").endswith("; Secure")


def test_so_it_is_where_somebody_before_the_server_speaks_tls(
    tiny: TinyApp, keys: Authenticator, visitor: AsgiClient, link: str
) -> None:
    door = wrap_with_middleware(tiny, keys, create_policy(allowed=["https://plait.example.org"]))
    said = visitor.request(door, "GET", link, {"host": "plait.example.org"})
    assert (said.header("set-cookie") or "").endswith("; Secure")


def test_logging_out_takes_the_cookie_back(door: ASGIApp, visitor: AsgiClient, link: str) -> None:
    cookie = cookie_of(visitor.request(door, "GET", link))
    assert visitor.request(door, "POST", "/logout", cookie).status == 403  # whose page asks?
    assert visitor.request(door, "GET", "/logout", cookie).status == 405
    said = visitor.request(door, "POST", "/logout", {**cookie, "origin": OWN})
    assert said.status == 204
    assert said.header("set-cookie") == f"{SESSION_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
