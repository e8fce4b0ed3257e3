"""A real `plait serve`, and an agent that connects to it over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.local_forge import REPOSITORY, local_forge
from tests.support.mcp_client import McpClient, connect_http
from tests.support.running_server import start_server
from tests.support.temp_project import TempProject

pytestmark = pytest.mark.anyio


async def test_an_agent_runs_a_batch_and_opens_its_pull_request(worktree_project: TempProject, tmp_path: Path) -> None:
    with local_forge(tmp_path / "forge") as remote:
        worktree_project.git("remote", "set-url", "origin", f"{remote.url}/{REPOSITORY}.git")
        worktree_project.env |= {"PLAIT_PR_FORGE": "gitea", "PLAIT_FORGE_TOKEN": "t0ken-t0ken-t0ken", "NO_PROXY": "*"}
        worktree_project.task("01-walls", "echo walls > walls.txt")
        worktree_project.commit_all()
        server = start_server(worktree_project)
        async with connect_http(f"{server.url}/mcp", server.token) as host:
            await host.call("run")
            assert (await host.wait())["batch"]["status"] == "completed"
            result = await host.call("pull_request", draft=True)
            assert (result["underWay"], result["unshipped"]) == (False, None)
            assert result["prUrl"] == f"{remote.url}/{REPOSITORY}/pulls/1"
            assert (await host.call("status"))["batch"]["prUrl"] == result["prUrl"]
            assert [pull["head"]["ref"] for pull in remote.pulls] == [result["branch"]]


async def test_a_failed_publication_is_reported_at_once_and_in_the_status(
    worktree_project: TempProject, tmp_path: Path
) -> None:
    worktree_project.task("01-walls", "echo walls > walls.txt")
    worktree_project.commit_all()
    server = start_server(worktree_project)
    async with connect_http(f"{server.url}/mcp", server.token) as host:
        await host.call("run")
        await host.wait()
        worktree_project.git("remote", "set-url", "origin", str(tmp_path / "gone.git"))
        result = await host.call("pull_request", push=True)
        assert (result["underWay"], result["prUrl"]) == (False, None)
        assert result["unshipped"]
        assert (await host.call("status"))["batch"]["unshipped"] == result["unshipped"]


async def test_a_waiting_tool_call_is_answered_at_shutdown(worktree_project: TempProject) -> None:
    """The host calls again at the next server, and no error is logged."""
    worktree_project.task("01-long", "sleep 600")
    worktree_project.commit_all()
    server = start_server(worktree_project)
    async with connect_http(f"{server.url}/mcp", server.token) as host:
        await host.call("run")
        waiting = asyncio.create_task(host.call("wait", seconds=600))
        await _until_it_waits(host)
        code = await asyncio.to_thread(server.end)
        assert (code, (await waiting)["why"]) == (0, "time")
    assert server.process.stderr is not None
    assert server.process.stderr.read() == ""


async def _until_it_waits(host: McpClient) -> None:
    """One that came after it has been answered."""
    await host.call("wait", seconds=0.5)
