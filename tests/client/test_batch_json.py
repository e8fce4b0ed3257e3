"""BATCH, as programs rely upon it."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from plait.client.batch_json import describe_batch, describe_batches, list_batch
from plait.client.event_stream import EventStream
from plait.client.json_encoding import encode_json, to_json
from plait.core.reports import AttemptLaunched, AttemptPhase, AttemptSession, ConflictPredicted
from plait.core.requests import Pause, Ship
from plait.core.settings import Budget, Isolation, Mode, Publish, Settings, Spend
from plait.core.state import AgentStats, State
from plait.core.status import Category
from plait.core.task import Phase, Task
from plait.engine.daemon import EngineInfo
from plait.git.refs import task_branch
from plait.store import codec
from plait.testing.script import Script, task_needing

HISTORIES = Path(__file__).parents[1] / "histories"
BATCH_KEYS = (
    "id name projectId status reason pauseCause mode branch base prUrl shipped unshipped hint unwritten settings createdAt "
    "startedAt completedAt seconds agentSeconds workingSince eta etaBasis cost progress tasks"
)
TASK_KEYS = (
    "taskId title status reason short waiting needsYou category agent attempt phase branch worktreePath sessionId error startedAt "
    "completedAt seconds workingSince cost diffstat commit foreseen entrantOf winner"
)
PROGRESS_KEYS = (
    "total queued waiting running completed failed timedOut blocked conflicted skipped cancelled interrupted percentage"
)


def describe(script: Script, eta: float | None = None) -> Any:  # Any: what a program gets when it reads the JSON
    return json.loads(encode_json(describe_batch(script.state, script.batch(), eta=eta, project_id="p1")))


def test_the_json_has_exactly_the_documented_keys() -> None:
    result = describe(Script("a", settings=Settings()))
    assert " ".join(result) == BATCH_KEYS
    assert " ".join(result["tasks"][0]) == TASK_KEYS
    assert " ".join(result["progress"]) == PROGRESS_KEYS


def test_the_json_of_a_running_batch() -> None:
    settings = Settings(agents=("claude",))
    script = Script(Task("a", title="The first"), task_needing("b", "a"), settings=settings)
    script.state.agent_stats["claude"] = AgentStats(seconds_per_weight=(60.0, 70.0))
    attempt = next(iter(script.task("a").alive))
    script.apply(AttemptLaunched(attempt, 42, "/work/a"), AttemptSession(attempt, "s-1"))
    script.apply(AttemptPhase(attempt, "Phase 2: Write"))
    result = describe(script, eta=1234.5)
    assert (result["id"], result["projectId"], result["status"], result["mode"]) == (
        "b1",
        "p1",
        "running",
        "parallel",
    )
    assert (result["base"], result["branch"], result["prUrl"]) == ("base", None, None)
    assert result["eta"] == "1970-01-01T00:20:34.500Z"
    assert result["etaBasis"] == "by 2 earlier attempts of claude"
    assert (result["createdAt"], result["startedAt"]) == ("1970-01-01T00:16:41.000Z",) * 2
    assert result["completedAt"] is None
    assert result["progress"] | {"total": 2, "running": 1, "waiting": 1, "percentage": 0} == result["progress"]
    first, second = result["tasks"]
    assert (
        first
        | {
            "taskId": "a",
            "title": "The first",
            "status": "running",
            "agent": "claude",
            "attempt": 1,
            "phase": "Phase 2: Write",
            "worktreePath": "/work/a",
            "sessionId": "s-1",
            "error": None,
            "startedAt": "1970-01-01T00:16:41.000Z",
            "completedAt": None,
        }
        == first
    )
    assert (second["status"], second["reason"], second["attempt"]) == ("waiting", "needs a", 0)
    assert (second["agent"], second["worktreePath"], second["startedAt"]) == (None, None, None)


def test_the_json_of_an_ended_batch() -> None:
    script = Script("a", task_needing("b", "a"), settings=Settings(isolation=Isolation.IN_PLACE, retries=0))
    detail = "exit status 3: error: no"
    script.exit_attempt("a", Category.TASK, detail=detail, spend=Spend(1_500_000, 10))
    result = describe(script)
    assert (result["status"], result["cost"]) == ("failed", {"usd": 1.5, "tokens": 10})
    assert result["completedAt"] == result["tasks"][0]["completedAt"] == "1970-01-01T00:16:42.000Z"
    assert result["tasks"][0]["category"] == "task"
    assert result["tasks"][0]["error"] == "the agent failed: exit status 3: error: no"
    assert result["tasks"][0]["short"] == "no"
    assert result["tasks"][1]["error"] == result["tasks"][1]["reason"] == "needs a, which failed"
    assert result["progress"] | {"failed": 1, "blocked": 1, "percentage": 100} == result["progress"]


def test_a_failed_script_is_not_named_by_the_path_that_plait_gave_it() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, retries=0))
    path = "/home/me/my repository/.git/plait/batches/06/tasks/a/write-1/script.sh"
    script.exit_attempt("a", Category.TASK, detail=f"exit status 127: {path}: line 3: mak: command not found")
    assert describe(script)["tasks"][0]["short"] == "line 3: mak: command not found"


def test_a_batch_is_called_after_its_phase_or_its_first_task() -> None:
    def name(*tasks: Task, phases: tuple[Phase, ...] = ()) -> str:
        return str(describe(Script(*tasks, phases=phases, settings=Settings()))["name"])

    assert (
        name(Task("a", title="Rework the header"), Task("b", title="Fix the footer")) == "Rework the header and 1 more"
    )
    assert name(Task("a")) == "a"
    phases = (Phase("1", "Layout"), Phase("2", "Checkout"))
    first, second, other = Task("a", title="Dig", phase="1"), Task("b", phase="1"), Task("c", phase="2")
    assert name(first, second, phases=phases) == "Layout"
    assert name(first, second, other, phases=phases) == "Dig and 2 more"
    assert name(first, phases=phases) == "Dig"


def test_verifying_and_merging_tasks_count_as_running() -> None:
    script = Script("a", "b", settings=Settings(verify="make test"))
    script.answers_merges = False
    script.exit_attempt("a")
    script.exit_attempt("a")
    script.exit_attempt("b")
    assert [task["status"] for task in describe(script)["tasks"]] == ["merging", "verifying"]
    assert describe(script)["progress"]["running"] == 2


def test_a_worktree_task_has_its_branch_commit_and_diffstat() -> None:
    script = Script("Ä b", "c")
    first, second = describe(script)["tasks"]
    assert (first["branch"], first["diffstat"], first["commit"]) == (task_branch("b1", "Ä b"), None, None)
    script.apply(ConflictPredicted("b1", "Ä b", "c", ("x.py",)), ConflictPredicted("b1", "c", "", ("y.py",)))
    first, second = describe(script)["tasks"]
    assert first["foreseen"] == [{"taskId": "c", "files": ["x.py"]}]
    assert second["foreseen"] == [
        {"taskId": "Ä b", "files": ["x.py"]},
        {"taskId": None, "files": ["y.py"]},
    ]
    script.exit_attempt("Ä b", diffstat=(2, 30, 4), files=("x.py", "y.py"))
    first, second = describe(script)["tasks"]
    assert first["diffstat"] == {"files": 2, "added": 30, "removed": 4}
    assert first["commit"] == "base+Ä b"
    assert (first["foreseen"], second["foreseen"]) == ([], [{"taskId": None, "files": ["y.py"]}])


def test_a_task_that_never_started_or_runs_in_place_has_no_branch() -> None:
    assert [task["branch"] for task in describe(Script("a", task_needing("b", "a")))["tasks"]] == [
        task_branch("b1", "a"),
        None,
    ]
    in_place = Script("a", settings=Settings(isolation=Isolation.IN_PLACE))
    assert describe(in_place)["tasks"][0]["branch"] is None


def test_a_batch_says_what_is_published_and_why_not() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR))
    script.exit_attempt("a")
    script.fail_publish("no token", "plait doctor says how to log in")
    result = describe(script)
    assert (result["prUrl"], result["shipped"], result["unshipped"]) == (None, None, "no token")
    assert result["hint"] == "plait doctor says how to log in"
    script.request(lambda name: Ship(name, "b1"))
    script.finish_publish("https://forge.example/1")
    result = describe(script)
    assert (result["prUrl"], result["shipped"]) == ("https://forge.example/1", "base+a")
    assert (result["unshipped"], result["hint"], result["settings"]["publish"]) == (None, None, "pr")


def test_a_paused_batch_says_why() -> None:
    script = Script("a")
    script.apply(Pause("p", script.batch().id))
    result = describe(script)
    assert (result["status"], result["reason"]) == ("paused", "paused by request")
    assert [task["waiting"] for task in result["tasks"]] == [None], "what runs goes on"


def test_settings_have_the_names_of_the_http_api() -> None:
    settings = Settings(max_parallel=3, verify="make test", stop_on_fail=True, budget=Budget(20_000_000))
    result = describe(Script("a", settings=settings))["settings"]
    assert (
        result
        | {
            "agents": ["shell"],
            "maxBatchSize": 3,
            "verify": "make test",
            "stopOnFailure": True,
            "conflictBehavior": "skip",
            "queueAutoApprove": False,
            "budget": {"usd": 20.0, "tokens": None},
        }
        == result
    )


@pytest.mark.parametrize("path", sorted(HISTORIES.glob(f"v{codec.VERSION}-*.jsonl")), ids=lambda path: path.stem)
def test_the_counts_sum_to_the_total_after_every_record(path: Path) -> None:
    feed = EventStream()
    for text in path.read_bytes().splitlines():
        feed.replay(codec.decode_record(text))
        for batch in feed.state.batches.values():
            progress = describe_batch(feed.state, batch, eta=None, project_id=None).progress
            total, *counts, _ = (getattr(progress, field.name) for field in fields(progress))
            asked = [task for task in batch.tasks if task.task.entrant is None]
            assert sum(counts) == total == len(asked)
            assert all(count >= 0 for count in counts)


def test_the_status_has_the_engine_and_its_trouble() -> None:
    assert to_json(describe_batches(None, State(), [])) == {"engine": None, "batches": [], "limits": []}
    running = to_json(describe_batches(EngineInfo(42, 0.0), State(), []))
    assert running["engine"] == {"pid": 42, "since": "1970-01-01T00:00:00.000Z", "trouble": None, "nodes": []}
    hindered = to_json(describe_batches(EngineInfo(42, 0.0, "the disk is full"), State(), []))
    assert hindered["engine"] == {
        "pid": 42,
        "since": "1970-01-01T00:00:00.000Z",
        "trouble": "the disk is full",
        "nodes": [],
    }


def test_the_status_has_providers_that_refuse_while_a_batch_is_open() -> None:
    script = Script("a", settings=Settings(agents=("claude",)))
    script.exit_attempt("a", Category.RATE_LIMIT, detail="usage limit reached", retry_after=600)
    (limit,) = json.loads(encode_json(describe_batches(None, script.state, [])))["limits"]
    assert (limit["provider"], limit["rejected"]) == ("claude", False)
    assert limit["reason"]
    assert limit["until"] > "1970-01-01T00:26"
    script.state.open.clear()
    assert to_json(describe_batches(None, script.state, []))["limits"] == []


def test_a_listed_batch_has_tasks_only_on_request() -> None:
    script = Script("a", settings=Settings())
    full, brief = (
        to_json(list_batch(script.state, script.batch(), eta=None, project_id=None, tasks=tasks))
        for tasks in (True, False)
    )
    assert " ".join(full) == BATCH_KEYS
    assert full.keys() - brief.keys() == {"tasks"}


def test_needs_you_is_set_when_only_a_person_can_decide() -> None:
    queue = Script("a", settings=Settings(mode=Mode.QUEUE))
    assert _waits(queue) == ("approval", True)
    short = Script("a", settings=Settings(agents=("claude",), budget=Budget(10), reserve=Spend(20)))
    assert _waits(short) == ("pause", True)
    paused = Script("a", "b", settings=Settings(max_parallel=1))
    paused.apply(Pause("p", paused.batch().id))
    assert _waits(paused, 1) == ("pause", False), "whoever paused it knows"


def _waits(script: Script, task: int = 0) -> tuple[object, object]:
    result = describe(script)["tasks"][task]
    return result["waiting"], result["needsYou"]


def test_seconds_are_of_work_that_is_over_and_the_rest_runs_since_a_time() -> None:
    script = Script("a", "b", settings=Settings(retries=0))
    script.wait(9)
    script.exit_attempt("a", Category.TASK)
    batch = describe(script)
    failed, running = batch["tasks"]
    assert (failed["seconds"], failed["workingSince"]) == (10.0, None)
    assert (running["seconds"], running["workingSince"]) == (0.0, running["startedAt"])
    assert (batch["seconds"], batch["workingSince"]) == (0.0, batch["startedAt"])
    script.exit_attempt("b", Category.TASK)
    script.wait(60)
    assert (describe(script)["seconds"], describe(script)["workingSince"]) == (11.0, None)
