"""Who may only look: the tools are not offered, and calling them all the same does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.mcp_client import hosting
from tests.support.temp_project__household import Household

from plait.server.mcp.server__reach import FULL_SCOPE, NESTED_SCOPE, READ_ONLY_SCOPE, detect_scope

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


async def test_a_read_only_server_offers_and_does_nothing_that_changes(house: Household) -> None:
    house.task("01-one", "touch one")
    async with hosting(house, "--read-only") as host:
        assert not CHANGING & set(await host.names())
        for name in sorted(CHANGING):
            assert "--read-only" in await host.refused(name)
        assert (await host.told("plan"))["ready"]
        assert (await host.told("history"))["batches"] == []
    assert not (house.place.state / "inbox.db").exists()


async def test_a_task_does_not_steer_the_batch_that_it_belongs_to(house: Household) -> None:
    house.task("01-one", "touch one")
    async with hosting(house, env={"PLAIT_BATCH": "beef"}) as host:
        assert not CHANGING & set(await host.names())
        assert "inside an attempt" in await host.refused("run")
        assert "inside an attempt" in (host.client.instructions or "")


async def test_a_worktree_is_known_though_the_environment_tells_nothing(
    house: Household, tmp_path: Path
) -> None:
    """Some hosts start their servers with little more than a PATH."""
    where = tmp_path / "where"
    house.task("01-one", f"pwd > '{where}.new' && mv '{where}.new' '{where}'\nsleep 600")
    async with hosting(house) as host:
        told = await host.told("run")
        while not where.exists():
            told = await host.told("wait", until="change", mark=told["batch"]["mark"], seconds=0.1)
        async with hosting(house, at=Path(where.read_text().strip())) as inside:
            assert not CHANGING & set(await inside.names())
            seen = await inside.told("status")
            assert seen["batch"]["id"] == told["batch"]["id"]
            assert "inside an attempt" in await inside.refused("cancel")
        assert (await host.told("status"))["tasks"][0]["status"] == "running"
        await host.told("cancel")


def test_the_checkout_of_a_person_reaches_everything(house: Household) -> None:
    assert detect_scope(house.place, read_only=False, environment={}) == FULL_SCOPE
    assert detect_scope(house.place, read_only=True, environment={}) == READ_ONLY_SCOPE
    assert detect_scope(house.place, read_only=False, environment={"PLAIT_MARK": "x"}) == NESTED_SCOPE
