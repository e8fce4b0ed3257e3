"""What a browser sees at `/`: the page that was built, and until there is one, where to go on."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

_PLAIN = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>plait</title></head>
<body><h1>plait</h1>
<p>You are logged in. This server has no page yet: what it can do is described at <a href="/api/docs">/api/docs</a>.</p>
</body></html>
"""


def built_page() -> Path | None:
    """The folder of the built page, which is a part of the package; None: it was not built."""
    folder = Path(str(files("plait"))) / "ui"
    return folder if (folder / "index.html").is_file() else None


def add_page(app: FastAPI) -> None:
    """After all routes: the page has whatever they leave."""
    folder = built_page()
    if folder is not None:
        app.mount("/", StaticFiles(directory=folder, html=True), name="page")
        return

    @app.get("/", include_in_schema=False)
    async def plain() -> HTMLResponse:
        return HTMLResponse(_PLAIN)
