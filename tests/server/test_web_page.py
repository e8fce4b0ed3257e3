"""The built page, as browsers ask for it."""

from __future__ import annotations

import gzip
from pathlib import Path

import anyio
import httpx
import pytest
from fastapi import FastAPI

from plait.server.http.app import create_bare_app
from plait.server.http.web_page import add_page, read_page_version

BROWSER = {"Sec-Fetch-Mode": "navigate", "Accept": "text/html,application/xhtml+xml"}
OLD_BROWSER = {"Accept": "text/html,application/xhtml+xml"}
SCRIPT = "console.log('a page');\n" * 200


def build_page(place: Path) -> Path:
    made = place / "ui"
    (made / "assets").mkdir(parents=True)
    (made / ".vite").mkdir()
    (made / "index.html").write_text("<!doctype html><title>the page</title>")
    (made / "favicon.svg").write_text("<svg/>")
    (made / "assets" / "index-a1b2.js").write_text(SCRIPT)
    (made / ".vite" / "manifest.json").write_text("{}")
    (place / "secret").write_text("no")
    (made / "out").symlink_to(place / "secret")
    return made


def build_app(folder: Path) -> FastAPI:
    made = create_bare_app()
    add_page(made, folder)
    return made


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """One for all tests that don't change the page."""
    return build_app(build_page(tmp_path_factory.mktemp("page")))


def ask(app: FastAPI, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://plait") as client:
            return await client.request(method, path, headers=headers)

    return anyio.run(send)


@pytest.mark.parametrize("path", ["/", "/settings", "/batches/7f3a/graph", "/batches/x/tasks/a%2Fb.js", "/%C3%A9 ?q=1"])
@pytest.mark.parametrize("browser", [BROWSER, OLD_BROWSER])
def test_every_page_path_returns_the_page(app: FastAPI, path: str, browser: dict[str, str]) -> None:
    answer = ask(app, path, **browser)
    assert (answer.status_code, answer.text) == (200, "<!doctype html><title>the page</title>")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache"


def test_an_unchanged_page_is_not_sent_again(tmp_path: Path) -> None:
    folder = build_page(tmp_path)
    app = build_app(folder)
    etag = ask(app, "/", **BROWSER).headers["ETag"]
    for value in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = ask(app, "/settings", **BROWSER, **{"If-None-Match": value})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", etag)
    version = read_page_version(folder)
    (folder / "index.html").write_text("<!doctype html><title>THE page</title>")
    fresh = ask(app, "/", **BROWSER, **{"If-None-Match": etag})
    assert (fresh.status_code, "THE page" in fresh.text) == (200, True)
    assert version != read_page_version(folder)


def test_a_file_with_a_hashed_name_is_cached_forever(app: FastAPI) -> None:
    answer = ask(app, "/assets/index-a1b2.js")
    assert (answer.text, answer.headers["Content-Type"]) == (SCRIPT, "text/javascript; charset=utf-8")
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert ask(app, "/favicon.svg").headers["Cache-Control"] == "no-cache"
    assert ask(app, "/favicon.svg").headers["Content-Type"] == "image/svg+xml"


def test_page_files_are_sent_compressed_if_accepted(app: FastAPI) -> None:
    async def raw(encoding: str) -> tuple[bytes, httpx.Headers]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://plait") as client:
            headers = {"Accept-Encoding": encoding}
            async with client.stream("GET", "/assets/index-a1b2.js", headers=headers) as answer:
                return b"".join([part async for part in answer.aiter_raw()]), answer.headers

    packed, headers = anyio.run(raw, "gzip, br")
    assert gzip.decompress(packed).decode() == SCRIPT
    assert (headers["Content-Encoding"], headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert headers["Content-Length"] == str(len(packed))
    plain, headers = anyio.run(raw, "identity")
    assert (plain.decode(), headers.get("Content-Encoding")) == (SCRIPT, None)


@pytest.mark.parametrize(
    "path",
    [
        *("/api/nothing", "/api", "/metrics/x", "/mcp/x", "/health/x", "/assets/index-gone.js", "/assets"),
        "/assets/%2e%2e/%2e%2e/secret",
    ],
)
def test_api_and_asset_paths_never_return_the_page(app: FastAPI, path: str) -> None:
    for headers in (BROWSER, {}):
        answer = ask(app, path, **headers)
        assert answer.status_code == 404, answer.text
        assert answer.json()["error"] == "not found"


@pytest.mark.parametrize(
    "path",
    ["/.vite/manifest.json", "/out", "/../secret", "/%2e%2e/secret", "/nowhere", "/x%00y", f"/{'x' * 9000}"],
)
def test_unknown_paths_are_404_for_programs_and_never_leave_the_folder(app: FastAPI, path: str) -> None:
    assert ask(app, path).json()["error"] == "not found"
    assert ask(app, path, **BROWSER).text != "no"


def test_an_unsupported_method_is_rejected_on_pages_too(app: FastAPI) -> None:
    assert ask(app, "/api/tasks", "PUT", **BROWSER).status_code == 405
    assert ask(app, "/settings", "POST", **BROWSER).status_code == 404
    head = ask(app, "/settings", "HEAD", **BROWSER)
    assert (head.status_code, head.headers["ETag"]) == (200, ask(app, "/", **BROWSER).headers["ETag"])


def test_without_a_built_page_a_message_is_shown(tmp_path: Path) -> None:
    app = create_bare_app()
    add_page(app, tmp_path / "ui")
    for path in ("/", "/settings"):
        answer = ask(app, path, **BROWSER)
        assert (answer.status_code, "make page" in answer.text) == (200, True)
    assert read_page_version(tmp_path / "ui") is None
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui" / "index.html").write_text("built")
    assert ask(app, "/", **BROWSER).text == "built"
