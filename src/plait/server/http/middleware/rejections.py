"""Responses to rejected requests: JSON for programs, a small HTML page for people."""

from __future__ import annotations

import re
from html import escape

from starlette.types import Scope, Send

from plait.client.json_encoding import encode_json
from plait.core.fast_dataclass import dataclass
from plait.server.http.responses import make_error


@dataclass(frozen=True, slots=True)
class Rejection:
    """The response to a rejected request. `close`: close the connection. `person`: error and hint for a person in a
    browser, with commands in backticks. `unauthenticated`: the request had no credentials.
    """

    status: int
    error: str
    hint: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    close: bool = False
    person: tuple[str, str] | None = None
    unauthenticated: bool = False


async def reject(rejection: Rejection, scope: Scope, send: Send, *, more_body: bool = False) -> None:
    """Send JSON; HTML for page navigation, plain text for the login link. `more_body`: the caller completes it."""
    kind, body = _render(rejection, scope)
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"cache-control", b"no-store"),
        *rejection.headers,
    ]
    # The rest of an unread body would be taken for the next request.
    if rejection.close or has_body(scope):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": rejection.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": more_body})


def is_navigation(scope: Scope) -> bool:
    """Whether a person opens a page. Browsers send Sec-Fetch-Mode except without TLS to another machine; then Accept decides."""
    if get_path(scope).startswith("/api/") or scope["method"] not in {"GET", "HEAD"}:
        return False
    mode = get_header(scope, b"sec-fetch-mode")
    return mode == b"navigate" or (mode is None and b"text/html" in (get_header(scope, b"accept") or b""))


def get_header(scope: Scope, name: bytes) -> bytes | None:
    """Return the value of a header that occurs exactly once, else None."""
    values = get_headers(scope, name)
    return values[0] if len(values) == 1 else None


def get_headers(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


def get_path(scope: Scope) -> str:
    return str(scope["path"])


def has_body(scope: Scope) -> bool:
    lengths = get_headers(scope, b"content-length")
    return bool(get_headers(scope, b"transfer-encoding")) or any(length.strip() != b"0" for length in lengths)


def _render(rejection: Rejection, scope: Scope) -> tuple[bytes, bytes]:
    if is_navigation(scope):
        return b"text/html; charset=utf-8", _render_html(rejection, scope)
    if get_path(scope) == "/login":
        return b"text/plain; charset=utf-8", _render_text(rejection)
    return b"application/json", encode_json(make_error(rejection.error, hint=rejection.hint))


def _render_html(rejection: Rejection, scope: Scope) -> bytes:
    """Render a rejection as a page. A browser that follows a link from another site doesn't send the cookie. Reloading
    from our own page does: at once if the browser says so, else by a link.
    """
    site = get_header(scope, b"sec-fetch-site")
    error, hint = rejection.person or (rejection.error, rejection.hint)
    reload = rejection.unauthenticated and site == b"cross-site"
    return render_page(error, hint, reload=reload, offer_reload=rejection.unauthenticated and site is None)


def _render_text(rejection: Rejection) -> bytes:
    return f"{rejection.error}\n{rejection.hint}".strip().encode() + b"\n"


STYLESHEET_PATH = "/login.css"
_COMMAND = re.compile(r"`([^`]+)`")

STYLESHEET = b"""\
:root { color-scheme: light dark; --ground: #fbfbfc; --panel: #ffffff; --line: #e2e3e8; --ink: #1c1d22; --soft: #5d606b; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #101114; --panel: #17181c; --line: #2b2d35; --ink: #e8e9ed; --soft: #a0a3ae; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--ground);
  color: var(--ink); font: 15px/1.55 system-ui, sans-serif; }
main { width: 100%; max-width: 30rem; padding: 28px 32px; background: var(--panel); border: 1px solid var(--line);
  border-radius: 10px; overflow-wrap: anywhere; }
p { margin: 0 0 12px; color: var(--soft); }
p:last-child { margin-bottom: 0; }
p.name { font-weight: 600; letter-spacing: 0.01em; }
h1 { margin: 0 0 12px; font-size: 19px; line-height: 1.35; font-weight: 600; }
code { display: block; margin: 12px 0 0; padding: 10px 12px; background: var(--ground); border: 1px solid var(--line);
  border-radius: 6px; color: var(--ink); font: 13px/1.5 ui-monospace, monospace; user-select: all; }
a { color: inherit; }
"""


def render_page(error: str, hint: str, *, reload: bool = False, offer_reload: bool = False) -> bytes:
    """Render a page; backticks mark commands. `reload`: the browser reloads itself; `offer_reload`: show a link for it."""
    refresh = '<meta http-equiv="refresh" content="0">' if reload else ""
    reload_link = '<p>Logged in already? <a href="">Open this page again</a>.</p>' if offer_reload else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{refresh}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>plait</title><link rel="icon" href="data:,"><link rel="stylesheet" href="{STYLESHEET_PATH}"></head>\n'
        f'<body><main><p class="name">plait</p><h1>{escape(_to_sentence(error))}</h1>{_to_paragraph(hint)}{reload_link}</main></body></html>\n'
    ).encode()


def _to_sentence(text: str) -> str:
    sentence = text[:1].upper() + text[1:]
    return sentence if sentence.endswith(".") else f"{sentence}."


def _to_paragraph(hint: str) -> str:
    html = _COMMAND.sub(r"<code>\1</code>", escape(hint))
    return f"<p>{html}</p>" if hint else ""
