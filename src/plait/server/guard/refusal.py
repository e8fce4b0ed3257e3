"""What is said to whom the guard does not let in: the same shape as all errors of the server."""

from __future__ import annotations

import json
from collections.abc import Sequence

from starlette.types import Scope, Send

from plait.core.frozen import dataclass

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """`headers` beside those that every refusal has. `close`: nothing more is heard on this connection."""

    status: int
    error: str
    hint: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    close: bool = False


async def refuse(refusal: Refusal, scope: Scope, send: Send, *, linger: bool = False) -> None:
    """Programs get JSON; a person who opens a page gets the same as text. `linger`: the caller ends the answer."""
    text = navigates(scope)
    body = _text(refusal) if text else _json(refusal)
    headers = [
        (b"content-type", b"text/plain; charset=utf-8" if text else b"application/json"),
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
    """A browser says so where a person opens a page."""
    return (field(scope, b"sec-fetch-mode") == b"navigate" and not path(scope).startswith("/api/")) or path(
        scope
    ) == "/login"


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
