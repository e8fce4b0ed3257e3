"""The built web page, served for every path without a route. Files are read and compressed once.

Programs that ask for an unknown path get 404 instead of the page.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import stat
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from plait.core.fast_dataclass import dataclass
from plait.server.http.middleware.rejections import is_navigation

PAGE_FOLDER_VARIABLE = "PLAIT_PAGE"  # environment variable: another folder than the package's, for development
INDEX_FILE = "index.html"
ASSETS_FOLDER = "assets"  # file names change with their content
_NOT_PAGES = frozenset({"api", "metrics", "mcp", "health", ASSETS_FOLDER})
_CACHE_FOREVER, _CACHE_REVALIDATE = "public, max-age=31536000, immutable", "no-cache"

_NOT_BUILT_HTML = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>plait</title><link rel="icon" href="data:,"></head>
<body><h1>plait</h1>
<p>You are logged in. The page was not built here: <code>make page</code> builds it, and then this address has it.</p>
<p>What programs can ask for is described at <a href="/api/docs">/api/docs</a>.</p>
</body></html>
"""


def add_page(app: FastAPI, folder: Path | None = None) -> None:
    """Serve the page for all other paths. It may be built while the server runs."""
    app.router.default = PageApp(folder or find_page_folder())


def read_page_version(folder: Path | None = None) -> str | None:
    """Return the page's version, which changes with every build; None if it was not built."""
    index = find_page_file(folder or find_page_folder(), INDEX_FILE)
    return index.etag.strip('"') if index is not None else None


class PageApp:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise HTTPException(404)
        response = await asyncio.to_thread(self._respond, Request(scope))
        await response(scope, receive, send)

    def _respond(self, request: Request) -> Response:
        name = request.scope["path"].removeprefix("/")
        top_folder = name.partition("/")[0]
        file = find_page_file(self._folder, name) if name else None
        if file is not None:
            return _make_file_response(
                request, file, _CACHE_FOREVER if top_folder == ASSETS_FOLDER else _CACHE_REVALIDATE
            )
        if name and (top_folder in _NOT_PAGES or not is_navigation(request.scope)):
            raise HTTPException(404)
        index = find_page_file(self._folder, INDEX_FILE)
        return (
            HTMLResponse(_NOT_BUILT_HTML) if index is None else _make_file_response(request, index, _CACHE_REVALIDATE)
        )


def _make_file_response(request: Request, file: PageFile, cache_control: str) -> Response:
    headers = {"Cache-Control": cache_control, "ETag": file.etag, "Vary": "Accept-Encoding"}
    if _matches_etag(request, file.etag):
        return Response(status_code=304, headers=headers)
    if file.gzipped is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(file.gzipped, headers=headers | {"Content-Encoding": "gzip"}, media_type=file.media_type)
    return Response(file.content, headers=headers, media_type=file.media_type)


def _matches_etag(request: Request, etag: str) -> bool:
    """Whether the client has this version. A proxy may have made the tag a weak one."""
    tags = request.headers.get("If-None-Match", "").split(",")
    return any(tag.strip().removeprefix("W/") in {etag, "*"} for tag in tags)


def find_page_folder() -> Path:
    named = os.environ.get(PAGE_FOLDER_VARIABLE)
    return Path(named) if named else Path(str(files("plait"))) / "ui"


MAX_CACHED_FILES = 64
MAX_FILE_BYTES = 8 << 20
GZIP_FILE_MIN_BYTES = 1 << 10

_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}

_COMPRESSED_SUFFIXES = frozenset({".png", ".woff2", ".ico"})


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page. `gzipped` only if that is much smaller; `media_type` without the character set."""

    content: bytes
    gzipped: bytes | None
    etag: str
    media_type: str


def find_page_file(folder: Path, name: str) -> PageFile | None:
    """Find a file of the page. No name leads out of the folder, or to a hidden file."""
    parts = name.split("/")
    if any(not part or part.startswith(".") or "\0" in part for part in parts):
        return None
    try:
        path = folder.joinpath(*parts).resolve(strict=True)
        status = path.stat()
        if not path.is_relative_to(folder.resolve()) or not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > MAX_FILE_BYTES:
            return None
        return _read_page_file(path, (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino))
    except (OSError, ValueError):  # missing, or not a valid name
        return None


@lru_cache(MAX_CACHED_FILES)
def _read_page_file(path: Path, _signature: tuple[int, ...]) -> PageFile:
    content = path.read_bytes()
    compress = len(content) >= GZIP_FILE_MIN_BYTES and path.suffix not in _COMPRESSED_SUFFIXES
    gzipped = gzip.compress(content, 9, mtime=0) if compress else None
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return PageFile(content, gzipped, etag, _MEDIA_TYPES.get(path.suffix, "application/octet-stream"))
