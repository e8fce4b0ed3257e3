"""Log a browser in by a one-time link, and out again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import assert_never
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from plait.core.errors import WorldError
from plait.server.auth import COOKIE_SECONDS, LOGIN_PATH, SESSION_COOKIE, Access, Authenticator, InvalidCode
from plait.server.http.middleware.authentication import (
    TOKEN_UNREADABLE,
    AuthRateLimiter,
    find_cookie_caller,
    format_link_command,
    is_secure,
)
from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.middleware.rejections import (
    STYLESHEET,
    STYLESHEET_PATH,
    Rejection,
    get_headers,
    get_path,
    has_body,
    reject,
)
from plait.server.http.middleware.request_checks import SAFE_METHODS

LOGOUT_PATH = "/logout"
_NO_STORE = {"Cache-Control": "no-store"}
_NEW_LINK = "Get a new one on the server's machine"
_NEW_LINK_HINT = f"{_NEW_LINK}: plait token --link"
_ONLY_GET = Rejection(405, "login links accept GET only", headers=((b"allow", b"GET"),))
_ONLY_POST = Rejection(405, "logging out accepts POST only", headers=((b"allow", b"POST"),))
_ONLY_READ = Rejection(405, "this is read-only", headers=((b"allow", b"GET, HEAD"),))
_PREFETCHED = Rejection(403, "login links can't be prefetched", hint="Open it in a browser.")
_EXPIRED = Rejection(
    410,
    "This link has expired: links are valid for ten minutes.",
    hint=_NEW_LINK_HINT,
    unauthenticated=True,
)
_USED = Rejection(410, "This link was already used: links are valid once.", hint=_NEW_LINK_HINT, unauthenticated=True)
_UNKNOWN = Rejection(403, "This link is invalid, or the token was changed after it was created.", hint=_NEW_LINK_HINT)
_LINK_ERRORS = (_EXPIRED, _USED, _UNKNOWN)


class LoginMiddleware:
    """`GET /login?code=…` sets the cookie. The code is in no response and no Referer. The stylesheet of rejection pages needs
    no login.
    """

    def __init__(
        self, app: ASGIApp, authenticator: Authenticator, rate_limiter: AuthRateLimiter, policy: RequestPolicy
    ) -> None:
        self._app, self._authenticator = app, authenticator
        self._rate_limiter, self._policy = rate_limiter, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or get_path(scope) not in {LOGIN_PATH, STYLESHEET_PATH}:
            await self._app(scope, receive, send)
            return
        if get_path(scope) == STYLESHEET_PATH:
            if scope["method"] not in SAFE_METHODS or has_body(scope):  # no body is read before authentication
                await reject(_ONLY_READ, scope, send)
            else:
                headers = {"Cache-Control": "no-cache", "Content-Length": str(len(STYLESHEET))}
                content = b"" if scope["method"] == "HEAD" else STYLESHEET
                stylesheet = Response(content, headers=headers, media_type="text/css")
                await stylesheet(scope, receive, send)
            return
        try:
            answer = await self._handle_login(scope)
        except WorldError:
            answer = TOKEN_UNREADABLE
        if isinstance(answer, Rejection):
            person = (
                (answer.error, f"{_NEW_LINK}: {format_link_command(scope, self._policy)}")
                if answer in _LINK_ERRORS
                else None
            )
            await reject(replace(answer, person=person), scope, send)
        else:
            await answer(scope, receive, send)

    async def _handle_login(self, scope: Scope) -> Response | Rejection:
        if scope["method"] != "GET":  # HEAD is used by link previews
            return _ONLY_GET
        if _is_prefetch(scope):
            return _PREFETCHED
        redeemed = await asyncio.to_thread(self._authenticator.redeem_code, _read_code(scope))
        redirect = RedirectResponse("/", 303, headers=_NO_STORE)
        if isinstance(redeemed, Access):
            cookie = self._authenticator.issue_cookie(redeemed)
            _set_cookie(redirect, cookie, COOKIE_SECONDS, secure=is_secure(scope, self._policy))
            return redirect
        if find_cookie_caller(scope, self._authenticator):  # the link was opened again in the same browser
            return redirect
        match redeemed:
            case InvalidCode.EXPIRED:
                return _EXPIRED
            case InvalidCode.USED:
                return _USED
            case InvalidCode.UNKNOWN:
                return self._rate_limiter.record_failure(scope) or _UNKNOWN
            case _:
                assert_never(redeemed)


class LogoutMiddleware:
    """`POST /logout` deletes the cookie. Comes after authentication and CsrfMiddleware."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app, self._policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or get_path(scope) != LOGOUT_PATH:
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            await reject(_ONLY_POST, scope, send)
        else:
            response = Response(status_code=204, headers=_NO_STORE)
            _set_cookie(response, "", 0, secure=is_secure(scope, self._policy))
            await response(scope, receive, send)


def _read_code(scope: Scope) -> str:
    try:
        found = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=4).get("code", [])
    except ValueError:
        return ""
    return found[0] if len(found) == 1 else ""


def _is_prefetch(scope: Scope) -> bool:
    """Browsers announce prefetching in one of these headers."""
    said = [
        *get_headers(scope, b"sec-purpose"),
        *get_headers(scope, b"purpose"),
        *get_headers(scope, b"x-moz"),
    ]
    return any(b"prefetch" in each.lower() or b"prerender" in each.lower() for each in said)


def _set_cookie(response: Response, value: str, seconds: int, *, secure: bool) -> None:
    response.set_cookie(SESSION_COOKIE, value, max_age=seconds, secure=secure, httponly=True, samesite="strict")
