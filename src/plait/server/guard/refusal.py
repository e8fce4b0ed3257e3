"""What is said to whom the guard does not let in: the same shape as all errors of the server."""

from __future__ import annotations

import json
from collections.abc import Sequence

from starlette.types import Scope, Send

from plait.core.frozen import dataclass
from plait.server.guard.refusal_page import page

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """`headers` beside those that every refusal has. `close`: nothing more is heard on this connection. `person`: the error
    and the hint for somebody who opens a page; what stands in backticks is a command. `unknown`: nobody showed who asks.
    """

    status: int
    error: str
    hint: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    close: bool = False
    person: tuple[str, str] | None = None
    unknown: bool = False


async def refuse(refusal: Refusal, scope: Scope, send: Send, *, linger: bool = False) -> None:
    """Programs get JSON, a person who opens a page gets one, and whoever looks at a link gets text. `linger`: the caller
    ends the answer.
    """
    kind, body = _said(refusal, scope)
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"cache-control", b"no-store"),
        *refusal.headers,
    ]
    # What is left of a body that nobody reads would be taken for the next request, or waited for.
    if refusal.close or has_body(scope):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": linger})


def navigates(scope: Scope) -> bool:
    """A person opens a page. A browser says so, unless the address is one that it does not trust with that (no TLS, and
    another machine): then it asks for HTML.
    """
    if path(scope).startswith("/api/") or scope["method"] not in {"GET", "HEAD"}:
        return False
    mode = field(scope, b"sec-fetch-mode")
    return mode == b"navigate" or (mode is None and b"text/html" in (field(scope, b"accept") or b""))


def field(scope: Scope, name: bytes) -> bytes | None:
    """The value of a header that is there exactly once."""
    found = fields(scope, name)
    return found[0] if len(found) == 1 else None


def fields(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


def path(scope: Scope) -> str:
    return str(scope["path"])


def has_body(scope: Scope) -> bool:
    announced = fields(scope, b"content-length")
    return bool(fields(scope, b"transfer-encoding")) or any(each.strip() != b"0" for each in announced)


def _said(refusal: Refusal, scope: Scope) -> tuple[bytes, bytes]:
    if navigates(scope):
        return b"text/html; charset=utf-8", _page(refusal, scope)
    if path(scope) == "/login":
        return b"text/plain; charset=utf-8", _text(refusal)
    return b"application/json", _json(refusal)


def _page(refusal: Refusal, scope: Scope) -> bytes:
    """Where a link on another site leads here, a browser keeps the cookie back. A page of ours that opens the same address
    again gets it: at once where the browser tells that this is so, else when the person wishes it.
    """
    site = field(scope, b"sec-fetch-site")
    error, hint = refusal.person or (refusal.error, refusal.hint)
    again = refusal.unknown and site == b"cross-site"
    return page(error, hint, again=again, offer=refusal.unknown and site is None)


def _json(refusal: Refusal) -> bytes:
    said = {
        "error": refusal.error,
        "hint": refusal.hint or None,
        "field": None,
        "state": None,
        "problems": None,
    }
    return json.dumps(said).encode("ascii")


def _text(refusal: Refusal) -> bytes:
    return f"{refusal.error}\n{refusal.hint}".strip().encode() + b"\n"
