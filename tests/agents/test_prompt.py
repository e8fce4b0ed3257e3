from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given, strategies as st

from plait.agents.prompt import prompt, snapshot
from plait.core.task import Origin, Task

OWN = Task(
    "04-split", "Split it", "# Task 04: Split it\n\nMove Order.\n", origin=Origin("tasks/04-split.md", 1)
)
LISTED = Task("1.2", "Read it", "In src/read.py.", origin=Origin("plan.md", 15))


def test_a_text_with_a_headline_of_its_own_keeps_it() -> None:
    assert prompt(OWN, feedback="") == "# Task 04: Split it\n\nMove Order.\n"


def test_a_text_without_one_gets_the_title() -> None:
    assert prompt(LISTED, feedback="") == "# Read it\n\nIn src/read.py.\n"
    assert prompt(Task("t"), feedback="") == "# t\n"


def test_what_was_said_of_the_last_attempt_comes_in_sections_of_its_own() -> None:
    told = prompt(
        LISTED, feedback="verification failed\n", check="\x1b[31mE   assert 1 == 2\x1b[0m\n  ```\n1 failed\n"
    )
    assert told == (
        "# Read it\n\nIn src/read.py.\n\n"
        "## Feedback on the attempt before this one\n\nverification failed\n\n"
        "## The end of what the check printed\n\n````\nE   assert 1 == 2\n  ```\n1 failed\n````\n"
    )


@given(st.text(max_size=200))
def test_nothing_that_a_check_prints_gets_out_of_its_section(printed: str) -> None:
    told = prompt(LISTED, feedback="no", check=printed)
    _, _, section = told.partition("## The end of what the check printed\n\n")
    if section:
        fence, *inside, last = section.removesuffix("\n").split("\n")
        assert fence == last
        assert not any(line.strip().startswith(fence) for line in inside)


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (OWN, "04-split.md"),
        (LISTED, "1.2.md"),
        (Task("a", origin=Origin("x/Über uns.md", 1)), "Über uns.md"),
        (Task("a", origin=Origin("x/..", 1)), "a.md"),
        (Task("a", origin=Origin("x/.md", 1)), "a.md"),
        (Task("a", origin=Origin("x/write-1", 1)), "a.md"),
        (Task("a", origin=Origin("x/y\n.md", 1)), "a.md"),
        (Task("a", origin=Origin("issues.jsonl", 1)), "a.md"),
        (Task("a", origin=Origin("ü" * 120 + ".md", 1)), "a.md"),
        (Task("../../etc/passwd"), "etc-passwd.md"),
        (Task("läuft"), "l-uft.md"),
        (Task("///"), "task.md"),
        (Task("x" * 500), "x" * 60 + ".md"),
    ],
)
def test_the_snapshot_has_the_file_s_own_name_or_that_of_its_id(task: Task, name: str) -> None:
    assert snapshot(task)[0] == name


@given(st.text(), st.text())
def test_no_name_of_a_snapshot_leads_out_of_its_folder(task_id: str, file: str) -> None:
    name, _ = snapshot(Task(task_id, origin=Origin(file, 1)))
    assert PurePosixPath(name).name == name
    assert name.isprintable()
    assert "." in name.lstrip(".")
    assert len(name.encode()) < 255


def test_the_snapshot_is_the_task_and_nothing_else() -> None:
    assert snapshot(LISTED)[1] == "# Read it\n\nIn src/read.py.\n"
