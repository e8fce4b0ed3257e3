"""`plait serve` as it is started, and an agent that comes to it over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.local_forge import REPOSITORY, forge
from tests.support.mcp_client import Host, over_http
from tests.support.running_server__serving import serve
from tests.support.temp_project__estate import Estate

pytestmark = pytest.mark.anyio


async def test_a_batch_to_its_pull_request(estate: Estate, tmp_path: Path) -> None:
    with forge(tmp_path / "forge") as remote:
        estate.git("remote", "set-url", "origin", f"{remote.url}/{REPOSITORY}.git")
        estate.env |= {"PLAIT_PR_FORGE": "gitea", "PLAIT_FORGE_TOKEN": "t0ken-t0ken-t0ken", "NO_PROXY": "*"}
        estate.task("01-walls", "echo walls > walls.txt")
        estate.begin()
        server = serve(estate)
        async with over_http(f"{server.url}/mcp", server.token) as host:
            await host.told("run")
            assert (await host.told("wait"))["batch"]["status"] == "completed"
            told = await host.told("pull_request", draft=True)
            assert (told["underWay"], told["unshipped"]) == (False, None)
            assert told["prUrl"] == f"{remote.url}/{REPOSITORY}/pulls/1"
            assert (await host.told("status"))["batch"]["prUrl"] == told["prUrl"]
            assert [pull["head"]["ref"] for pull in remote.pulls] == [told["branch"]]


async def test_why_a_branch_is_not_published_is_told_then_and_later(estate: Estate, tmp_path: Path) -> None:
    estate.task("01-walls", "echo walls > walls.txt")
    estate.begin()
    server = serve(estate)
    async with over_http(f"{server.url}/mcp", server.token) as host:
        await host.told("run")
        await host.told("wait")
        estate.git("remote", "set-url", "origin", str(tmp_path / "gone.git"))
        told = await host.told("pull_request", push=True)
        assert (told["underWay"], told["prUrl"]) == (False, None)
        assert told["unshipped"]
        assert (await host.told("status"))["batch"]["unshipped"] == told["unshipped"]


async def test_whoever_waits_is_answered_when_the_server_ends(estate: Estate) -> None:
    """It comes back to the next one; nothing of it is an error to whoever reads the log."""
    estate.task("01-long", "sleep 600")
    estate.begin()
    server = serve(estate)
    async with over_http(f"{server.url}/mcp", server.token) as host:
        await host.told("run")
        waiting = asyncio.create_task(host.told("wait", seconds=600))
        await _until_it_waits(host)
        code = await asyncio.to_thread(server.end)
        assert (code, (await waiting)["why"]) == (0, "time")
    assert server.front.stderr is not None
    assert server.front.stderr.read() == ""


async def _until_it_waits(host: Host) -> None:
    """One that came after it has been answered."""
    await host.told("wait", seconds=0.5)
