"""A browser is logged in by a link that is valid once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.server.auth import (
    CODE_SECONDS,
    SESSION_COOKIE,
    Access,
    Authenticator,
    AuthMethod,
    Caller,
    make_login_link,
)
from plait.server.http.middleware.request_checks import RequestPolicy, create_policy
from plait.server.serve import wrap_with_middleware
from plait.store.server_tokens import TokenFiles, read_or_create_token

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from tests.server.middleware.conftest import AsgiClient, Clock, EchoApp, Reply

OWN = "http://127.0.0.1:3001"
ANOTHER = b"Get a new one on the server's machine: plait token --link\n"


@pytest.fixture
def guarded_app(echo_app: EchoApp, authenticator: Authenticator) -> ASGIApp:
    return wrap_with_middleware(echo_app, authenticator, RequestPolicy())


@pytest.fixture
def link(authenticator: Authenticator) -> str:
    return make_login_link(authenticator, OWN).removeprefix(OWN)


def cookie_of(response: Reply) -> dict[str, str]:
    return {"cookie": (response.header("set-cookie") or "").partition(";")[0]}


def cookie_attributes(reply: Reply) -> set[str]:
    return {*(reply.header("set-cookie") or "").split("; ")[1:]}


def test_the_link_sets_a_cookie_and_redirects_to_the_page(
    guarded_app: ASGIApp, echo_app: EchoApp, client: AsgiClient, link: str
) -> None:
    response = client.request(guarded_app, "GET", link)
    assert (response.status, response.header("location")) == (303, "/")
    assert cookie_attributes(response) == {"Path=/", "Max-Age=2592000", "HttpOnly", "SameSite=strict"}
    assert client.request(guarded_app, "GET", "/", cookie_of(response)).status == 200
    assert echo_app.reached[-1]["state"]["caller"] == Caller(Access.FULL, AuthMethod.COOKIE)


def test_the_code_is_in_no_response_and_no_referer(guarded_app: ASGIApp, client: AsgiClient, link: str) -> None:
    code = link.partition("=")[2]
    first, second = client.request(guarded_app, "GET", link), client.request(guarded_app, "GET", link)
    for response in (first, second):
        assert response.header("referrer-policy") == "no-referrer"
        assert response.header("cache-control") == "no-store"
        assert code not in repr(response)


def test_a_used_login_link_says_how_to_get_another(guarded_app: ASGIApp, client: AsgiClient, link: str) -> None:
    client.request(guarded_app, "GET", link)
    response = client.request(guarded_app, "GET", link)
    assert (response.status, response.header("set-cookie")) == (410, None)
    assert response.body == b"This link was already used: links are valid once.\n" + ANOTHER
    assert response.header("content-type") == "text/plain; charset=utf-8"
    assert (response.header("content-security-policy") or "").startswith("default-src 'none'")


OPENS = {"sec-fetch-mode": "navigate"}


def test_a_browser_gets_an_html_page_for_a_rejection(guarded_app: ASGIApp, client: AsgiClient, link: str) -> None:
    cookie = cookie_of(client.request(guarded_app, "GET", link, OPENS))
    headers = {**OPENS, "sec-fetch-site": "none", "host": "localhost:4000"}
    response = client.request(guarded_app, "GET", link, headers)
    assert (response.status, response.header("content-type")) == (410, "text/html; charset=utf-8")
    assert b"<h1>This link was already used: links are valid once.</h1>" in response.body
    assert b"<code>plait token --link --url http://localhost:4000</code>" in response.body
    assert b"http-equiv" not in response.body
    # From another site the cookie does not come along, and the person may be logged in all the same.
    afar = client.request(guarded_app, "GET", link, {**OPENS, "sec-fetch-site": "cross-site"})
    assert (afar.status, b'http-equiv="refresh"' in afar.body) == (410, True)
    again = client.request(guarded_app, "GET", link, {**OPENS, "sec-fetch-site": "same-origin", **cookie})
    assert (again.status, again.header("location")) == (303, "/")


def test_the_stylesheet_needs_no_login_and_reads_no_body(
    guarded_app: ASGIApp, echo_app: EchoApp, client: AsgiClient
) -> None:
    response = client.request(guarded_app, "GET", "/login.css")
    assert (response.status, response.header("content-type")) == (200, "text/css; charset=utf-8")
    assert response.header("content-length") == str(len(response.body))
    assert b"prefers-color-scheme: dark" in response.body
    assert b"url(" not in response.body
    assert client.request(guarded_app, "HEAD", "/login.css").body == b""
    for method, headers in (("POST", {}), ("GET", {"content-length": "4"})):
        assert client.request(guarded_app, method, "/login.css", headers).status == 405
    assert echo_app.reached == []


def test_an_expired_login_link_says_how_to_get_another(
    guarded_app: ASGIApp, client: AsgiClient, link: str, clock: Clock
) -> None:
    clock.now += CODE_SECONDS
    response = client.request(guarded_app, "GET", link)
    assert response.status == 410
    assert response.body.endswith(b"ten minutes.\n" + ANOTHER)


def test_a_logged_in_browser_may_open_the_link_again(guarded_app: ASGIApp, client: AsgiClient, link: str) -> None:
    cookie = cookie_of(client.request(guarded_app, "GET", link))
    response = client.request(guarded_app, "GET", link, cookie)
    assert (response.status, response.header("location"), response.header("set-cookie")) == (303, "/", None)


@pytest.mark.parametrize(
    "ahead",
    [
        {"sec-purpose": "prefetch"},
        {"sec-purpose": "prefetch;prerender"},
        {"Purpose": "prefetch"},
        {"X-Moz": "prefetch"},
    ],
)
def test_prefetching_does_not_use_up_the_link(
    guarded_app: ASGIApp, client: AsgiClient, link: str, ahead: dict[str, str]
) -> None:
    assert client.request(guarded_app, "GET", link, ahead).status == 403
    assert client.request(guarded_app, "GET", link).status == 303


@pytest.mark.parametrize("method", ["HEAD", "POST", "OPTIONS"])
def test_methods_other_than_get_do_not_use_up_the_link(
    guarded_app: ASGIApp, client: AsgiClient, link: str, method: str
) -> None:
    response = client.request(guarded_app, method, link)
    assert (response.status, response.header("allow")) == (405, "GET")
    assert client.request(guarded_app, "GET", link).status == 303


@pytest.mark.parametrize("query", ["", "?code=", "?code=1.2.3", "?code=%ff", "?a&b&c&d&e&f", "?code=\xe9"])
def test_a_forged_link_is_refused(guarded_app: ASGIApp, echo_app: EchoApp, client: AsgiClient, query: str) -> None:
    response = client.request(guarded_app, "GET", f"/login{query}")
    assert (response.status, response.header("set-cookie"), echo_app.reached) == (403, None, [])
    assert response.body.endswith(ANOTHER)


def test_two_codes_in_the_url_are_rejected(
    guarded_app: ASGIApp, client: AsgiClient, link: str, authenticator: Authenticator
) -> None:
    assert client.request(guarded_app, "GET", f"{link}&code={authenticator.issue_code()}").status == 403


def test_wrong_codes_are_rate_limited_and_a_right_one_is_accepted(
    guarded_app: ASGIApp, client: AsgiClient, link: str
) -> None:
    forged = [client.request(guarded_app, "GET", "/login?code=forged").status for _ in range(11)]
    assert forged == [403] * 10 + [429]
    assert client.request(guarded_app, "GET", link).status == 303


def test_a_login_link_is_invalid_after_a_token_rotation(
    guarded_app: ASGIApp, client: AsgiClient, link: str, token_files: TokenFiles
) -> None:
    token_files.rotate()
    assert client.request(guarded_app, "GET", link).status == 403


def test_a_read_only_link_gives_a_read_only_cookie(
    guarded_app: ASGIApp, echo_app: EchoApp, client: AsgiClient, authenticator: Authenticator, token_files: TokenFiles
) -> None:
    read_or_create_token(token_files.read_only)
    link = make_login_link(authenticator, OWN, Access.READ).removeprefix(OWN)
    cookie = cookie_of(client.request(guarded_app, "GET", link))
    assert client.request(guarded_app, "GET", "/", cookie).status == 200
    assert echo_app.reached[-1]["state"]["caller"] == Caller(Access.READ, AuthMethod.COOKIE)
    assert client.request(guarded_app, "POST", "/api/batches", {**cookie, "origin": OWN}).status == 403
    assert client.request(guarded_app, "POST", "/logout", {**cookie, "origin": OWN}).status == 204


def test_a_code_that_can_t_be_saved_as_used_is_refused(
    guarded_app: ASGIApp, client: AsgiClient, link: str, tmp_path: Path
) -> None:
    (tmp_path / "state" / "spent-codes").touch()
    response = client.request(guarded_app, "GET", link)
    assert (response.status, response.header("set-cookie")) == (503, None)


def test_the_cookie_is_secure_over_tls(guarded_app: ASGIApp, client: AsgiClient, link: str) -> None:
    client.scheme = "https"
    assert "Secure" in cookie_attributes(client.request(guarded_app, "GET", link))


def test_the_cookie_is_secure_behind_a_tls_proxy(
    echo_app: EchoApp, authenticator: Authenticator, client: AsgiClient, link: str
) -> None:
    guarded_app = wrap_with_middleware(echo_app, authenticator, create_policy(allowed=["https://plait.example.org"]))
    response = client.request(guarded_app, "GET", link, {"host": "plait.example.org"})
    assert "Secure" in cookie_attributes(response)


def test_logging_out_deletes_the_cookie(guarded_app: ASGIApp, client: AsgiClient, link: str) -> None:
    cookie = cookie_of(client.request(guarded_app, "GET", link))
    assert client.request(guarded_app, "POST", "/logout", cookie).status == 403  # whose page asks?
    assert client.request(guarded_app, "GET", "/logout", cookie).status == 405
    response = client.request(guarded_app, "POST", "/logout", {**cookie, "origin": OWN})
    assert response.status == 204
    assert (response.header("set-cookie") or "").startswith(f'{SESSION_COOKIE}="";')
    assert cookie_attributes(response) == {"Path=/", "Max-Age=0", "HttpOnly", "SameSite=strict"}
