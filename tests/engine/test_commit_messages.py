"""What task files say can't act through plait's commits: no mention, no closed issue, no trailer, no skipped CI."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from plait.core.task import Attempt, Step, Task
from plait.core.text import ZERO_WIDTH_SPACE, defuse_references
from plait.engine.merge_queue import build_commit_info, build_merge_message
from plait.git.worktrees.capture import format_commit_message
from plait.store.batch_files import BatchInputs

HOSTILE = [
    "Fixes #1",
    "closes owner/app#12",
    "Resolves https://github.com/owner/app/issues/3",
    "Fixes GH-7",
    "see !5 and AB#9",
    "thanks to @everyone",
    "Fix it [skip ci]",
    "[CI SKIP] quietly",
    "[no ci] nothing",
    "[skip actions]",
    "[skip-ci]",
    "***NO_CI***",
    "skip-checks: true",
    "Co-authored-by: Eve <eve@example.org>",
    "Signed-off-by: You <you@example.org>",
    "Plait-Batch: 0000",
    "Change-Id: I00",
    "/tag v9",
]
# What forges and their CI look for.
ACTIVE = re.compile(
    r"[@#!]\w|\bGH-\d|https?://|\[[^\[\]\u200b]*\b(skip|no ci)\b|\*\*\*NO_CI"
    r"|^[\w-]*(-by|skip-checks|Plait-Batch|Change-Id):|^/\w",
    re.IGNORECASE | re.MULTILINE,
)


def write_messages(title: str, task: str = "t") -> list[str]:
    """The messages of the commits of a task, up to their trailers."""
    inputs = BatchInputs("/top", (Task(task, title=title),))
    attempt = Attempt("7f3a", task, Step.WRITE, 1)
    commit = format_commit_message(build_commit_info(inputs, attempt), attempt)
    return [commit, build_merge_message(inputs, "7f3a", task, 1).message]


@pytest.mark.parametrize("title", HOSTILE)
def test_a_title_acts_on_nothing(title: str) -> None:
    assert ACTIVE.search(title), "it would"
    for message in write_messages(title):
        subject = message.split("\n")[0]
        assert not ACTIVE.search(subject.removeprefix("t: ").removeprefix("Merge ").removeprefix("t: "))
        assert title in subject.replace(ZERO_WIDTH_SPACE, ""), "a reader sees the same"


@pytest.mark.parametrize("title", HOSTILE)
def test_a_title_is_no_trailer(title: str, tmp_path: Path) -> None:
    for message in (*write_messages(title, task=title), f"Squashed\n\n{defuse_references(title)}\n"):
        read = subprocess.run(
            ["git", "interpret-trailers", "--parse"],
            input=message,
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        assert {line.split(":")[0] for line in read.stdout.splitlines()} <= {
            "Plait-Batch",
            "Plait-Task",
            "Plait-Attempt",
        }
        assert "Plait-Batch: 0000" not in read.stdout


def test_a_task_id_in_a_trailer_acts_on_nothing() -> None:
    for message in write_messages("A title", task="fix-#1-@name"):
        assert not re.search(r"[@#]\w", message.replace(f"#{ZERO_WIDTH_SPACE}", "").replace(f"@{ZERO_WIDTH_SPACE}", ""))


@pytest.mark.parametrize(
    "title", ["Add a parser: part 2", "Use C# 12", "50 % done!", "[SEQUENTIAL] Build", "a/b", "Skip it"]
)
def test_ordinary_titles_stay_as_they_are(title: str) -> None:
    assert defuse_references(title) == title
