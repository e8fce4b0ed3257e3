"""Read-only access: tools that change something are not listed, and calling them does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.server.mcp.server import FULL_SCOPE, NESTED_SCOPE, READ_ONLY_SCOPE, detect_scope
from tests.support.mcp_client import connect_mcp, start_mcp
from tests.support.temp_project import TempProject

CHANGING = {
    "run",
    "cancel",
    "pause",
    "unpause",
    "resume",
    "approve",
    "retry",
    "feedback",
    "drop",
    "pull_request",
}
pytestmark = pytest.mark.anyio


async def test_a_read_only_server_neither_lists_nor_runs_changing_tools(project: TempProject) -> None:
    project.task("01-one", "touch one")
    async with start_mcp(project, "--read-only") as host:
        assert not CHANGING & set(await host.list_tool_names())
        for name in sorted(CHANGING):
            assert "--read-only" in await host.call_refused(name)
        assert (await host.call("plan"))["ready"]
        assert (await host.call("history"))["batches"] == []
    assert not (project.place.state / "inbox.db").exists()


async def test_changing_tools_are_denied_inside_an_attempt(project: TempProject) -> None:
    project.task("01-one", "touch one")
    async with start_mcp(project, env={"PLAIT_BATCH": "beef"}) as host:
        assert not CHANGING & set(await host.list_tool_names())
        assert "inside an attempt" in await host.call_refused("run")
        assert "inside an attempt" in (host.client.instructions or "")


async def test_a_task_worktree_is_recognised_without_environment_variables(
    project: TempProject, tmp_path: Path
) -> None:
    """Some hosts start their servers with little more than a PATH."""
    where = tmp_path / "where"
    project.task("01-one", f"pwd > '{where}.new' && mv '{where}.new' '{where}'\nsleep 600")
    async with connect_mcp(project) as host:
        result = await host.call("run")
        while not where.exists():
            result = await host.call("wait", until="change", mark=result["batch"]["mark"], seconds=0.1)
        async with start_mcp(project, at=Path(where.read_text().strip())) as inside:
            assert not CHANGING & set(await inside.list_tool_names())
            history = await inside.call("status")
            assert history["batch"]["id"] == result["batch"]["id"]
            assert "inside an attempt" in await inside.call_refused("cancel")
        assert (await host.call("status"))["tasks"][0]["status"] == "running"
        await host.call("cancel")


def test_an_ordinary_checkout_has_full_access(project: TempProject) -> None:
    assert detect_scope(project.place, read_only=False, environment={}) == FULL_SCOPE
    assert detect_scope(project.place, read_only=True, environment={}) == READ_ONLY_SCOPE
    assert detect_scope(project.place, read_only=False, environment={"PLAIT_MARK": "x"}) == NESTED_SCOPE
