"""A refusal as a person sees it who opens a page: a few words, without a script, and with the one stylesheet that everybody
may have, since it is the same for all and tells nothing.
"""

from __future__ import annotations

import re
from html import escape

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
    """What stands in backticks is a command, to be copied whole. `again`: the browser asks once more by itself, this time of
    its own accord. `offer`: the person may have it do so.
    """
    refresh = '<meta http-equiv="refresh" content="0">' if reload else ""
    reload_link = '<p>Logged in already? <a href="">Open this page again</a>.</p>' if offer_reload else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{refresh}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>plait</title><link rel="icon" href="data:,"><link rel="stylesheet" href="{STYLESHEET_PATH}"></head>\n'
        f'<body><main><p class="name">plait</p><h1>{escape(_to_sentence(error))}</h1>{_to_paragraph(hint)}{reload_link}</main></body></html>\n'
    ).encode()


def _to_sentence(text: str) -> str:
    told = text[:1].upper() + text[1:]
    return told if told.endswith(".") else f"{told}."


def _to_paragraph(hint: str) -> str:
    told = _COMMAND.sub(r"<code>\1</code>", escape(hint))
    return f"<p>{told}</p>" if hint else ""
