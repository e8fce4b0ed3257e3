"""GET /api/tasks, as programs rely upon it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from plait.client.api_errors import NotFoundError, StateError
from plait.client.json_encoding import to_json
from plait.client.task_listing import describe_saved_task, describe_source_tasks
from plait.core.plan import Plan
from plait.core.requests import Submit
from plait.core.state import State
from plait.git.location import RepoLocation
from plait.sources.planning import PlanOptions, plan_tasks
from tests.support.journal_writer import SETTINGS, JournalWriter
from tests.support.task_files import Checkout

KEYS = (
    "id title status source format needs touches conflictsWith phase phaseTitle priority weight agent model verify run parts "
    "editable notEditable batch"
)
BATCH_KEYS = (
    "batchId taskId status reason short waiting needsYou category agent attempt phase startedAt completedAt seconds workingSince cost diffstat "
    "commit shipped review"
)


@pytest.fixture
def checkout(location: RepoLocation) -> Checkout:
    made = Checkout.at(location.top)
    made.write("tasks/01-walls.md", "---\nphase: 1\npriority: P0\n---\n# Walls\n\nOf brick, in `src/walls.py`.\n")
    made.write(
        "tasks/02-roof.md",
        "---\nneeds: [01-walls]\ntouches: src/roof.py\nagent: claude\n---\n# Roof\n\nText.\n",
    )
    return made


def submit(checkout: Checkout, writer: JournalWriter, batch: str, select: str | None = None) -> State:
    """A batch of what the sources have now, as a front submits it."""
    source_set = checkout.read_sources().source_set
    made = plan_tasks(source_set, PlanOptions(select, ignore_needs=True)).plan
    assert isinstance(made, Plan)
    sources = tuple(str(source) for source in source_set.sources)
    settings = replace(SETTINGS, agents=("shell",))
    writer.apply(Submit(f"r-{batch}", batch, made.without_texts(), settings, sources=sources))
    return writer.state


def as_json(told: object) -> Any:  # Any: what a program gets when it reads the JSON
    return json.loads(msgspec.json.encode(told))


def test_the_json_has_exactly_the_documented_keys(checkout: Checkout, writer: JournalWriter) -> None:
    state = submit(checkout, writer, "b1")
    first = as_json(checkout.tasks(state))[0]
    assert " ".join(first) == KEYS
    assert " ".join(first["batch"]) == BATCH_KEYS
    assert " ".join(as_json(checkout.task("01-walls", state))) == f"{KEYS} body text version problems"


def test_every_task_of_the_sources_is_listed(checkout: Checkout) -> None:
    checkout.write("TODO.md", "### 1. Dig\n\n**Status**: [COMPLETED]\n\n### 2. Fill\n\n**Status**: [NOT STARTED]\n")
    walls, roof, dig, fill = as_json(checkout.tasks())
    assert (walls["id"], walls["title"], walls["status"]) == ("01-walls", "Walls", "pending")
    assert (walls["source"], walls["format"]) == ("tasks/01-walls.md:1", "folder")
    assert (walls["phase"], walls["priority"], walls["touches"]) == ("1", -1, ["src/walls.py"])
    assert roof["needs"] == [
        {"id": "01-walls", "kind": "need", "reason": "needs: 01-walls", "at": "tasks/02-roof.md:2"}
    ]
    assert (roof["agent"], roof["touches"], roof["editable"], roof["notEditable"]) == (
        "claude",
        ["src/roof.py"],
        True,
        None,
    )
    assert (dig["id"], dig["status"], dig["editable"]) == ("1", "completed", False)
    assert (fill["batch"], fill["notEditable"]) == (None, "2 is a part of TODO.md, and is edited there")


def test_a_group_has_parts_and_is_done_with_them(checkout: Checkout) -> None:
    checkout.write(".kiro/specs/x/tasks.md", "- [ ] 1. Both\n  - [x] 1.1 One\n  - [x] 1.2 Two\n- [ ] 2. Last\n")
    result = {task["id"]: task for task in as_json(checkout.tasks())}
    assert (result["1"]["parts"], result["1"]["status"]) == (["1.1", "1.2"], "completed")
    assert (result["2"]["parts"], result["2"]["status"]) == ([], "pending")


def test_a_task_has_its_body_text_and_version(checkout: Checkout) -> None:
    result = as_json(checkout.task("01-walls"))
    assert result["body"] == "Of brick, in `src/walls.py`.\n"
    assert result["text"] == checkout.text("tasks/01-walls.md")
    assert result["version"] == checkout.version("tasks/01-walls.md")


def test_a_task_of_a_shared_file_has_only_a_body(checkout: Checkout) -> None:
    checkout.write("TODO.md", "### 1. Dig\n\n**Status**: [NOT STARTED]\n\nDeep.\n\n### 2. Fill\n\n**Status**: open\n")
    result = as_json(checkout.task("1"))
    assert "Deep." in result["body"]
    assert (result["text"], result["version"]) == (None, None)


def test_problems_of_the_sources_are_listed(checkout: Checkout) -> None:
    checkout.write("tasks/03-door.md", "---\nagnt: x\n---\n# Door\n")
    (problem,) = as_json(to_json(describe_source_tasks(checkout.read_sources(), None)))["problems"]
    assert (problem["severity"], problem["file"], problem["line"]) == ("warning", "tasks/03-door.md", 2)
    assert as_json(checkout.task("03-door"))["problems"] == [problem]
    assert as_json(checkout.task("01-walls"))["problems"] == []


def test_an_unknown_task_is_not_found(checkout: Checkout) -> None:
    with pytest.raises(NotFoundError, match="no source has a task nobody"):
        checkout.task("nobody")


class TestBatchOfATask:
    def test_it_is_the_newest_batch_that_has_the_task(self, checkout: Checkout, writer: JournalWriter) -> None:
        submit(checkout, writer, "b1")
        writer.exit_attempt("01-walls")
        state = submit(checkout, writer, "b2", "02-roof")
        walls, roof = as_json(checkout.tasks(state))
        assert (walls["batch"]["batchId"], walls["batch"]["status"]) == ("b1", "done")
        assert (roof["batch"]["batchId"], roof["batch"]["status"]) == ("b2", "waiting")
        assert roof["batch"]["reason"] == "touches src/roof.py, held by 02-roof of batch b1"

    def test_it_is_found_when_the_task_has_another_id_now(self, checkout: Checkout, writer: JournalWriter) -> None:
        submit(checkout, writer, "b1", "01-walls")
        checkout.write("more/01-walls.md", "# Walls of another house\n")
        checkout.write("plait.toml", '[sources]\npaths = ["tasks", "more"]\n')
        result = {task["id"]: task["batch"] for task in as_json(checkout.tasks(writer.state))}
        assert result["more:01-walls"] is None
        assert (result["tasks:01-walls"]["batchId"], result["tasks:01-walls"]["taskId"]) == ("b1", "01-walls")

    def test_a_batch_of_another_source_does_not_count(self, checkout: Checkout, writer: JournalWriter) -> None:
        writer.submit("b1", "01-walls")
        assert [task["batch"] for task in checkout.tasks(writer.state)] == [None, None]

    def test_an_edit_says_that_the_open_batch_has_its_own_copy(self, checkout: Checkout, writer: JournalWriter) -> None:
        state = submit(checkout, writer, "b1", "01-walls")
        saved = checkout.edit("01-walls", title="High walls")
        result = as_json(to_json(describe_saved_task(saved, state)))
        assert result["title"] == "High walls"
        assert [problem["message"] for problem in result["problems"]] == [
            "batch b1 has its own copy of 01-walls, and keeps using it"
        ]
        assert describe_saved_task(checkout.edit("02-roof", title="High roof"), state).problems == []

    def test_an_ended_batch_is_not_mentioned(self, checkout: Checkout, writer: JournalWriter) -> None:
        submit(checkout, writer, "b1", "01-walls")
        writer.exit_attempt("01-walls")
        assert describe_saved_task(checkout.edit("01-walls", title="High walls"), writer.state).problems == []


def test_two_tasks_with_one_id_are_listed_and_neither_can_be_read(checkout: Checkout) -> None:
    for file in ("a", "b"):
        checkout.write(f"tasks/{file}.md", "---\nid: same\n---\n# A\n")
    assert [task["id"] for task in checkout.tasks()].count("same") == 2
    with pytest.raises(StateError) as refused:
        checkout.task("same")
    assert refused.value.state == "twice"
