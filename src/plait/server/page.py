"""What a browser sees: the page that was built, wherever no route answers. It finds its own way by the address.

A program that asks for an address that is not there is told so, and so is whoever asks for a file that the page has not.
"""

from __future__ import annotations

import asyncio
import os
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from plait.server.guard.refusal import navigates
from plait.server.page_files import PageFile, PageFiles

FOLDER = "PLAIT_PAGE"  # of the environment: another folder than the package's, for whoever works on the page
INDEX = "index.html"
ASSETS = "assets"  # their names change with what they hold
_NOT_PAGES = frozenset({"api", "metrics", "mcp", "health", ASSETS})
_FOREVER, _ASK = "public, max-age=31536000, immutable", "no-cache"
_PLAIN = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>plait</title><link rel="icon" href="data:,"></head>
<body><h1>plait</h1>
<p>You are logged in. The page was not built here: <code>make page</code> builds it, and then this address has it.</p>
<p>What programs can ask for is described at <a href="/api/docs">/api/docs</a>.</p>
</body></html>
"""


def built_page() -> Path | None:
    """The folder of the built page, which is a part of the package; None: it was not built."""
    folder = _folder()
    return folder if (folder / INDEX).is_file() else None


def add_page(app: FastAPI, folder: Path | None = None) -> None:
    """The page has whatever all routes leave. It may be built while the server runs."""
    app.router.default = Page(PageFiles(folder or _folder()), app.router.default)


def page_version(folder: Path | None = None) -> str | None:
    """Another one than before: another page was built. None: there is none."""
    found = PageFiles(folder or _folder()).find(INDEX)
    return found.etag.strip('"') if found is not None else None


class Page:
    def __init__(self, kept: PageFiles, otherwise: ASGIApp) -> None:
        self._kept, self._otherwise = kept, otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._otherwise(scope, receive, send)
            return
        if scope["method"] != "GET":
            raise HTTPException(404)
        answer = await asyncio.to_thread(self._answer, Request(scope))
        await answer(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        name = request.scope["path"].removeprefix("/")
        first = name.partition("/")[0]
        found = self._kept.find(name) if name else None
        if found is not None:
            return _sent(request, found, _FOREVER if first == ASSETS else _ASK)
        if name and (first in _NOT_PAGES or not navigates(request.scope)):
            raise HTTPException(404)
        index = self._kept.find(INDEX)
        return HTMLResponse(_PLAIN) if index is None else _sent(request, index, _ASK)


def _sent(request: Request, found: PageFile, keep: str) -> Response:
    headers = {"Cache-Control": keep, "ETag": found.etag, "Vary": "Accept-Encoding"}
    if _has(request, found.etag):
        return Response(status_code=304, headers=headers)
    if found.small is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(found.small, headers=headers | {"Content-Encoding": "gzip"}, media_type=found.kind)
    return Response(found.whole, headers=headers, media_type=found.kind)


def _has(request: Request, etag: str) -> bool:
    """Whoever has it packed has it: a proxy on the way may have made the mark a weak one."""
    said = request.headers.get("If-None-Match", "").split(",")
    return any(each.strip().removeprefix("W/") in {etag, "*"} for each in said)


def _folder() -> Path:
    named = os.environ.get(FOLDER)
    return Path(named) if named else Path(str(files("plait"))) / "ui"
