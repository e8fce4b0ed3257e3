"""The same tools at `/mcp` of the server, by the access of the token and in the named project."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import uvicorn
from starlette.types import Message

from plait.server.auth import Authenticator, UsedCodes
from plait.server.http.app import create_app
from plait.server.http.middleware.request_checks import RequestPolicy
from plait.server.http.middleware.shutdown import RequestScopeMiddleware
from plait.server.mcp.http_transport import McpEndpoint, add_mcp
from plait.server.mcp.server import TOOLS
from plait.server.projects import ProjectStore
from plait.server.serve import bind_listener, create_uvicorn_config, wrap_with_middleware
from plait.server.session_pool import SessionPool
from plait.store.server_tokens import TokenFiles, read_or_create_token
from tests.support.mcp_client import McpClient, connect_http
from tests.support.temp_project import TempProject
from tests.support.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.anyio


class Server:
    """Its address, and the tokens that open it."""

    def __init__(self, port: int, full: str, read_only: str) -> None:
        self.url, self.full, self.read_only = f"http://127.0.0.1:{port}/mcp", full, read_only

    @asynccontextmanager
    async def host(self, key: str, query: str = "") -> AsyncIterator[McpClient]:
        async with connect_http(f"{self.url}{query}", key) as host:
            yield host


@asynccontextmanager
async def run_server(project: TempProject, folder: Path) -> AsyncIterator[Server]:
    """Behind all of the guard."""
    files, rules = TokenFiles(folder), RequestPolicy()
    full, read_only = read_or_create_token(files.full), read_or_create_token(files.read_only)
    keys = Authenticator(files.read, UsedCodes(folder / "spent").redeem)
    pool = SessionPool(ProjectStore(folder / "projects.json"), project.place)
    app = create_app(pool)
    add_mcp(app, pool)
    server = uvicorn.Server(
        create_uvicorn_config(wrap_with_middleware(RequestScopeMiddleware(app, pool.open_scope), keys, rules), rules)
    )
    socket = bind_listener("127.0.0.1", 0)
    task = asyncio.create_task(server.serve([socket]))
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not server.started:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        try:
            yield Server(socket.getsockname()[1], full, read_only)
        finally:
            server.should_exit = True
            await task
            await pool.close()


@pytest.fixture
def project(project: TempProject, monkeypatch: pytest.MonkeyPatch) -> TempProject:
    """The server is in this process: it is at home there."""
    for name, value in project.env.items():
        monkeypatch.setenv(name, value)
    return project


async def test_a_batch_is_run_over_http(project: TempProject, tmp_path: Path) -> None:
    project.task("01-one", "echo hello; touch one")
    async with run_server(project, tmp_path / "keys") as server, server.host(server.full) as host:
        assert "run" in await host.list_tool_names()
        await host.call("run")
        assert (await host.wait())["batch"]["status"] == "completed"
        assert (await host.call("logs", task="01"))["text"] == "hello\n"
        assert "task:" in await host.call_refused("cancel", task="01")


async def test_a_read_only_token_gets_only_the_reading_tools(project: TempProject, tmp_path: Path) -> None:
    project.task("01-one", "touch one")
    async with run_server(project, tmp_path / "keys") as server, server.host(server.read_only) as host:
        assert set(await host.list_tool_names()) == {tool.name for tool in TOOLS if tool.is_read_only}
        for tool in TOOLS:
            if not tool.is_read_only:
                assert "may only read" in await host.call_refused(tool.name)
        assert (await host.call("history"))["batches"] == []
        assert len((await host.call("list"))["tasks"]) == 1


def call(name: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}}}


async def test_a_read_only_token_changes_nothing_however_it_is_used(project: TempProject, tmp_path: Path) -> None:
    project.task("01-one", "touch one")
    cases: list[tuple[str, object, int]] = [
        ("POST", [call("run"), call("run")], 400),
        ("POST", {**call("run"), "params": []}, 400),
        ("POST", {"jsonrpc": "2.0", "method": "tools/call", "params": call("run")["params"]}, 202),  # a notification
        ("POST", call("run"), 200),
        ("PUT", call("run"), 405),
        ("GET", None, 405),
        ("DELETE", None, 405),
    ]
    async with (
        run_server(project, tmp_path / "keys") as server,
        httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as http,
    ):
        result = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {server.read_only}",
            "Mcp-Session-Id": "that-of-somebody-else",
        }
        for method, body, status in cases:
            answer = await http.request(method, server.url, json=body, headers=result)
            assert answer.status_code == status, (method, body, answer.text)
        async with server.host(server.full) as host:
            assert (await host.call("history"))["batches"] == []


async def test_the_project_parameter_chooses_the_project(project: TempProject, tmp_path: Path) -> None:
    async with run_server(project, tmp_path / "keys") as server, server.host(server.full, "?project=nope") as host:
        assert "nope" in await host.call_refused("list")


async def test_mcp_over_http_needs_the_token_and_a_known_host(project: TempProject, tmp_path: Path) -> None:
    cases: list[tuple[dict[str, str], int]] = [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
    ]
    async with (
        run_server(project, tmp_path / "keys") as server,
        httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as http,
    ):
        for headers, status in cases:
            all_headers = {"Accept": "application/json, text/event-stream", **headers}
            if "Authorization" not in all_headers and headers:
                all_headers["Authorization"] = f"Bearer {server.full}"
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            answer = await http.post(server.url, json=body, headers=all_headers)
            assert answer.status_code == status, headers


async def test_an_unusable_sdk_fails_each_request_at_once(
    project: TempProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.streamable_http_manager", None)
    over_http = McpEndpoint(SessionPool(ProjectStore(tmp_path / "projects.json"), project.place))
    for _ in range(2):
        async with asyncio.timeout(TIMEOUT_SECONDS):
            with pytest.raises(ImportError):
                await over_http({"type": "http"}, _receive, _send)


async def test_a_mirror_is_fetched_before_planning_with_a_full_token(project: TempProject, tmp_path: Path) -> None:
    project.task("01-one", "touch one")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "one")
    async with (
        run_server(project, tmp_path / "keys") as server,
        httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as http,
    ):
        address, key = server.url.replace("/mcp", "/api/projects"), {"Authorization": f"Bearer {server.full}"}
        made = await http.post(address, json={"url": project.top.as_uri()}, headers=key, timeout=TIMEOUT_SECONDS)
        query = f"?project={made.json()['id']}"
        project.task("02-two", "touch two")
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "--message", "two")
        async with server.host(server.read_only, query) as host:
            assert len((await host.call("plan"))["tasks"]) == 1  # it would change the mirror
        async with server.host(server.full, query) as host:
            assert len((await host.call("plan"))["tasks"]) == 2


def git(project: TempProject, *args: str) -> None:
    subprocess.run(["git", *args], cwd=project.top, env=project.env, check=True)


async def _receive() -> Message:
    raise AssertionError


async def _send(_: Message) -> None:
    raise AssertionError
