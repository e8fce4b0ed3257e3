"""An agent runs and steers batches with the official client, in a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.client.conflicts import ConflictFile
from plait.git.interfaces import ConflictKind
from plait.server.mcp.read_tools import leave_out_texts
from tests.support.mcp_client import McpClient, ToolJson, connect_mcp
from tests.support.temp_project import TempProject

pytestmark = pytest.mark.anyio


def statuses(result: ToolJson) -> dict[str, str]:
    return {task["taskId"]: task["status"] for task in result["tasks"]}


def results(result: ToolJson) -> dict[str, str]:
    return {each["taskId"]: each["result"] for each in result["results"]}


async def wait_for_status(host: McpClient, task: str, status: str) -> None:
    """By the marks of the answers: nothing that happens in between is missed."""
    result = await host.call("status")
    while statuses(result)[task] != status:
        await host.call("wait", until="change", mark=result["batch"]["mark"])
        result = await host.call("status")


async def test_a_batch_from_start_to_finish(project: TempProject) -> None:
    project.task("01-page", "echo working on it\necho '<p>' > page.html")
    project.task("02-index", "cat page.html > index.html", needs="[01-page]")
    async with connect_mcp(project) as host:
        listed = await host.call("list")
        assert [task["id"] for task in listed["tasks"]] == ["01-page", "02-index"]

        plan = await host.call("plan", tasks=["01-page", "02-index"])
        assert (plan["ready"], plan["waves"], plan["tasks"][1]["needs"][0]["id"]) == (True, 2, "01-page")

        batch = (await host.call("run", tasks=["01-page", "02-index"]))["batch"]["id"]
        over = await host.wait(batch=batch)
        assert (over["why"], over["batch"]["status"]) == ("ended", "completed")

        result = await host.call("status", batch=batch)
        assert statuses(result) == {"01-page": "done", "02-index": "done"}
        assert result["batch"]["progress"]["percentage"] == 100

        diff = await host.call("diff", batch=batch, task="02")
        assert [file["path"] for file in diff["files"]] == ["index.html"]
        assert "+<p>" in diff["text"]
        assert {file["path"] for file in (await host.call("diff"))["files"]} == {"page.html", "index.html"}

        why = await host.call("explain", task="02-index")
        assert (why["status"], why["needs"][0]["status"]) == ("done", "done")
        assert [(each["step"], each["exitCode"]) for each in why["attempts"]] == [("write", 0)]

        log = await host.call("logs", task="01-page")
        assert (log["text"], log["ended"]) == ("working on it\n", True)
        assert [each["id"] for each in (await host.call("history"))["batches"]] == [batch]
        known = {task["id"]: task["batch"] for task in (await host.call("list"))["tasks"]}
        assert [(each["batchId"], each["status"]) for each in known.values()] == [(batch, "done")] * 2


async def test_a_running_task_is_cancelled_and_the_others_continue(project: TempProject) -> None:
    project.task("01-long", "sleep 600")
    project.task("02-short", "touch short")
    async with connect_mcp(project) as host:
        await host.call("run")
        await wait_for_status(host, "01-long", "running")
        assert results(await host.call("cancel", tasks=["01"])) == {"01-long": "granted"}
        assert (await host.wait())["why"] == "ended"
        assert statuses(await host.call("status")) == {"01-long": "cancelled", "02-short": "done"}


async def test_a_whole_batch_is_cancelled_once(project: TempProject) -> None:
    project.task("01-long", "sleep 600")
    async with connect_mcp(project) as host:
        await host.call("run")
        await wait_for_status(host, "01-long", "running")
        await host.call("cancel")
        over = await host.wait()
        assert (over["why"], over["batch"]["status"]) == ("ended", "cancelled")
        assert await host.call_refused("cancel")


async def test_each_task_of_a_queue_waits_for_approval(project: TempProject) -> None:
    project.task("01-one", "touch one")
    project.task("02-two", "touch two")
    async with connect_mcp(project) as host:
        await host.call("run", mode="queue")
        waits = await host.wait()
        assert (waits["why"], waits["batch"]["needsPerson"]) == ("person", True)
        assert set(statuses(await host.call("status")).values()) == {"waiting"}
        await host.call("approve")
        await wait_for_status(host, "01-one", "done")
        assert (await host.wait())["why"] == "person"
        await host.call("approve", tasks=["02-two"])
        assert (await host.wait())["why"] == "ended"


async def test_a_failed_task_is_retried(project: TempProject, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    project.task("01-flaky", f"test -e '{ready}' || exit 7\ntouch done")
    async with connect_mcp(project) as host:
        await host.call("run")
        assert (await host.wait())["batch"]["status"] == "failed"
        why = await host.call("explain", task="01")
        assert why["attempts"][0]["exitCode"] == 7
        ready.touch()
        assert "timeout must be" in await host.call_refused("retry", timeout="soon")
        assert results(await host.call("retry", timeout="9m")) == {"01-flaky": "granted"}
        assert project.batch().settings.timeout == 540
        assert (await host.wait())["batch"]["status"] == "completed"
        assert "no task of batch" in await host.call_refused("retry")


async def test_feedback_of_an_agent_reaches_the_next_attempt(project: TempProject) -> None:
    project.task("01-told", 'cat "$PLAIT_FEEDBACK_FILE" > heard.txt')
    async with connect_mcp(project) as host:
        await host.call("run")
        assert (await host.wait())["batch"]["status"] == "failed"
        await host.call("feedback", task="01", text="use the other file")
        assert (await host.wait())["batch"]["status"] == "completed"
        assert "use the other file" in (await host.call("diff"))["text"]


async def test_a_paused_batch_waits_and_a_dropped_task_is_removed_from_the_branch(project: TempProject) -> None:
    project.task("01-one", "touch one")
    project.task("02-two", "touch two")
    async with connect_mcp(project) as host:
        await host.call("run", mode="queue")
        await host.call("pause")
        paused = await host.wait()
        assert (paused["why"], paused["batch"]["status"]) == ("person", "paused")
        await host.call("unpause")
        await host.call("approve", tasks=["01-one", "02-two"])
        assert (await host.wait())["why"] == "ended"
        assert results(await host.call("drop", tasks=["02-two"])) == {"02-two": "granted"}
        assert (await host.wait())["why"] == "ended"
        assert [file["path"] for file in (await host.call("diff"))["files"]] == ["one"]


async def test_an_agent_edits_a_conflict_and_the_result_is_merged(project: TempProject) -> None:
    meet = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-slate ] && [ -e ../../02-tiles ]; do sleep 0.02; done"
    for name, text in (("01-slate", "slate"), ("02-tiles", "tiles")):
        project.task(name, f"{meet}; echo {text} > roof.txt; echo {text} > colour.txt")
    async with connect_mcp(project) as host:
        await host.call("run")
        await host.wait()
        (lost,) = (name for name, status in statuses(await host.call("status")).items() if status == "conflicted")
        found = await host.call("conflict", task=lost)
        assert {file["path"]: "<<<<<<<" in file["merged"] for file in found["files"]} == {
            "roof.txt": True,
            "colour.txt": True,
        }
        edited = [{"path": "roof.txt", "text": "both\n"}]
        seen = {"with": found["with"], "tip": found["tip"]}
        assert "texts need `with` and `tip`" in await host.call_refused("resolve", task=lost, files=edited)
        moved = await host.call_refused("resolve", task=lost, files=edited, rest="task", **{**seen, "with": "f" * 40})
        assert "the batch branch was rebuilt" in moved
        assert results(await host.call("resolve", task=lost, files=edited, rest="task", **seen)) == {lost: "granted"}
        assert (await host.wait())["batch"]["status"] == "completed"
        merged = project.read_merged_files()
        assert (merged["roof.txt"], merged["colour.txt"]) == ("both", lost.partition("-")[2])


def test_a_long_text_of_a_conflict_leaves_room_for_those_after_it() -> None:
    texts = {"a": "1234", "long": "1234567", "b": "12345", "gone": None, "c": "12"}
    kind, sides = ConflictKind.CONTENT, (None, None, None)
    files = [
        ConflictFile(path, kind, "", False, *sides, text, [], [], True, True)  # noqa: FBT003
        for path, text in texts.items()
    ]
    shown, omitted = leave_out_texts(files, 10)
    assert [file.merged for file in shown] == ["1234", None, "12345", None, None]
    assert [file.editable for file in shown] == [True, False, True, True, False]
    assert omitted == ["long", "c"]


async def test_settings_of_a_batch_do_not_change_those_of_the_project(project: TempProject) -> None:
    project.task("01-one", "touch one")
    async with connect_mcp(project) as host:
        await host.call("run", settings={"verify": "test -e two"})
        assert (await host.wait())["batch"]["status"] == "failed"
        assert [each["step"] for each in (await host.call("explain", task="01"))["attempts"]] == [
            "write",
            "verify",
        ]
        assert (await host.call("settings", names=["verify", "retries"])) == {
            "settings": {"verify": None, "retries": 0},
            "given": {"retries": {"layer": "environment", "at": "PLAIT_RETRIES"}},
        }


async def test_progress_is_reported_while_waiting(project: TempProject, tmp_path: Path) -> None:
    go = tmp_path / "go"
    project.task("01-one", "touch one")
    project.task("02-two", f"while ! test -e '{go}'; do sleep 0.05; done; touch two")
    received: list[float] = []

    async def record_progress(progress: float, total: float | None, message: str | None) -> None:
        assert (total, bool(message)) == (2, True)
        received.append(progress)
        go.touch()

    async with connect_mcp(project) as host:
        await host.call("run")
        while (await host.call("status"))["batch"]["status"] != "completed":
            await host.client.call_tool("wait", {"seconds": 45}, progress_callback=record_progress)
        assert received == sorted(received)
        assert received[-1] == 2


async def test_a_wait_that_times_out_says_so(project: TempProject) -> None:
    project.task("01-long", "sleep 600")
    async with connect_mcp(project) as host:
        await host.call("run")
        result = await host.call("wait", seconds=0)
        assert (result["why"], result["batch"]["completedAt"]) == ("time", None)
        await host.call("cancel")


async def test_a_cursor_shows_whether_anything_changed_since(project: TempProject) -> None:
    project.task("01-one", "touch one")
    async with connect_mcp(project) as host:
        made = (await host.call("run", mode="queue"))["batch"]
        waits = (await host.wait())["batch"]
        rests = await host.call("wait", until="change", mark=waits["mark"], seconds=0)
        assert (rests["why"], rests["batch"]["mark"]) == ("time", waits["mark"])
        await host.call("approve")
        assert (await host.wait())["why"] == "ended"
        for mark in (made["mark"], waits["mark"]):
            assert (await host.call("wait", until="change", mark=mark, seconds=0))["why"] == "changed"
        mark = (await host.call("status"))["batch"]["mark"]
        assert (await host.call("wait", until="change", mark=mark))["why"] == "ended"
