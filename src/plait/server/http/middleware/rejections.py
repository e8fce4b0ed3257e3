"""What is said to whom the guard does not let in: the same shape as all errors of the server."""

from __future__ import annotations

import json
from collections.abc import Sequence

from starlette.types import Scope, Send

from plait.core.fast_dataclass import dataclass
from plait.server.http.middleware.rejections__refusal_page import render_page

HeaderList = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Rejection:
    """`headers` beside those that every refusal has. `close`: nothing more is heard on this connection. `person`: the error
    and the hint for somebody who opens a page; what stands in backticks is a command. `unknown`: nobody showed who asks.
    """

    status: int
    error: str
    hint: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    close: bool = False
    person: tuple[str, str] | None = None
    unauthenticated: bool = False


async def reject(rejection: Rejection, scope: Scope, send: Send, *, more_body: bool = False) -> None:
    """Programs get JSON, a person who opens a page gets one, and whoever looks at a link gets text. `linger`: the caller
    ends the answer.
    """
    kind, body = _render(rejection, scope)
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"cache-control", b"no-store"),
        *rejection.headers,
    ]
    # What is left of a body that nobody reads would be taken for the next request, or waited for.
    if rejection.close or has_body(scope):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": rejection.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": more_body})


def is_navigation(scope: Scope) -> bool:
    """A person opens a page. A browser says so, unless the address is one that it does not trust with that (no TLS, and
    another machine): then it asks for HTML.
    """
    if get_path(scope).startswith("/api/") or scope["method"] not in {"GET", "HEAD"}:
        return False
    mode = get_header(scope, b"sec-fetch-mode")
    return mode == b"navigate" or (mode is None and b"text/html" in (get_header(scope, b"accept") or b""))


def get_header(scope: Scope, name: bytes) -> bytes | None:
    """The value of a header that is there exactly once."""
    found = get_headers(scope, name)
    return found[0] if len(found) == 1 else None


def get_headers(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


def get_path(scope: Scope) -> str:
    return str(scope["path"])


def has_body(scope: Scope) -> bool:
    announced = get_headers(scope, b"content-length")
    return bool(get_headers(scope, b"transfer-encoding")) or any(each.strip() != b"0" for each in announced)


def _render(rejection: Rejection, scope: Scope) -> tuple[bytes, bytes]:
    if is_navigation(scope):
        return b"text/html; charset=utf-8", _render_html(rejection, scope)
    if get_path(scope) == "/login":
        return b"text/plain; charset=utf-8", _render_text(rejection)
    return b"application/json", _render_json(rejection)


def _render_html(rejection: Rejection, scope: Scope) -> bytes:
    """Where a link on another site leads here, a browser keeps the cookie back. A page of ours that opens the same address
    again gets it: at once where the browser tells that this is so, else when the person wishes it.
    """
    site = get_header(scope, b"sec-fetch-site")
    error, hint = rejection.person or (rejection.error, rejection.hint)
    reload = rejection.unauthenticated and site == b"cross-site"
    return render_page(error, hint, reload=reload, offer_reload=rejection.unauthenticated and site is None)


def _render_json(rejection: Rejection) -> bytes:
    body = {
        "error": rejection.error,
        "hint": rejection.hint or None,
        "field": None,
        "state": None,
        "problems": None,
    }
    return json.dumps(body).encode("ascii")


def _render_text(rejection: Rejection) -> bytes:
    return f"{rejection.error}\n{rejection.hint}".strip().encode() + b"\n"
