"""What `plait doctor` says of worktrees and of the remote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.client.doctor import repository_checks
from plait.client.doctor.check import CheckStatus
from plait.client.doctor.repository_checks import check_worktrees, find_leftover_worktrees
from plait.forges.forge import Forge
from plait.forges.gitea import Gitea
from plait.forges.github import GitHub

OLD = 1_000_000_000.0
CAP = 1 << 30


def made(root: Path, *names: str, old: bool = True) -> None:
    for name in names:
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x" * 10_000)
        if old:
            os.utime(folder, (OLD, OLD))


def left(root: Path, *, engine: bool = False, **batches: bool) -> list[str]:
    """The batches with whether each has ended."""
    found = list(find_leftover_worktrees(root, batches, engine=engine))
    assert all(check.hint == "plait gc lists and removes what isn't needed." for check in found)
    return [check.said for check in found]


def test_worktrees_are_counted_and_compared_with_the_disk_cap(tmp_path: Path) -> None:
    root = tmp_path / "repository-0a1b"
    assert check_worktrees(root, CAP).said == f"{root}: none yet"
    made(root, "batch-b1/task-a", "batch-b1/gate", "pool/plait-1", "setups/one")
    told = check_worktrees(root, CAP)
    assert told.verdict is CheckStatus.OK
    assert told.said.startswith(f"{root}: 2 in use, 1 kept for the next tasks, ")
    assert told.said.endswith(" of 1.0 GiB (workspace.disk_cap)")
    crowded = check_worktrees(root, 20_000)
    assert crowded.verdict is CheckStatus.WARNING
    assert crowded.said.endswith("(workspace.disk_cap): no task starts in a new one")
    assert crowded.hint.startswith("plait gc")


def test_a_location_that_is_not_writable_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told = check_worktrees(tmp_path / "file" / "root", CAP)
    assert (told.verdict, told.said) == (
        CheckStatus.WARNING,
        f"{tmp_path / 'file' / 'root'}: {tmp_path / 'file'} isn't a folder",
    )


def test_unused_worktrees_are_reported_with_a_hint_to_gc(tmp_path: Path) -> None:
    made(tmp_path, "batch-b1/task-a", "batch-b2/task-a", "batch-b3/gate", "making/plait-1", "pool/plait-2")
    assert left(tmp_path, b1=True, b2=False) == [
        "1 worktree of batches that have ended: batch-b1/task-a",
        "1 worktree of no batch: batch-b3/gate",
        "1 worktree half made or half removed: making/plait-1",
    ]
    assert left(tmp_path, engine=True, b1=True) == []  # it clears up by itself
    assert left(tmp_path / "nowhere") == []


def test_fresh_worktrees_of_unknown_batches_are_not_reported(tmp_path: Path) -> None:
    made(tmp_path, "batch-b1/task-a", "making/plait-1", old=False)
    assert left(tmp_path, b1=True) == []


def test_the_remote_is_shown_with_the_origin_of_its_token() -> None:
    told = repository_checks.report_forge("origin", "github.com", GitHub(), "GH_TOKEN", ("GH_TOKEN",))
    assert told.said == "origin at github.com (github), with a token from GH_TOKEN"
    assert told.hint == ""


@pytest.mark.parametrize(
    ("forge", "hint"),
    [
        (GitHub(), "Set PLAIT_FORGE_TOKEN or GH_TOKEN, or log in: gh auth login."),
        (Gitea(), "Set PLAIT_FORGE_TOKEN or GH_TOKEN."),
    ],
)
def test_a_missing_token_is_no_problem_and_has_a_hint(forge: Forge, hint: str) -> None:
    told = repository_checks.report_forge("origin", "git.example.org", forge, None, ("PLAIT_FORGE_TOKEN", "GH_TOKEN"))
    assert (told.verdict, told.hint) == (CheckStatus.OK, hint)


def test_a_missing_remote_or_one_without_a_forge_is_no_problem() -> None:
    assert repository_checks.report_missing_remote("origin").verdict is CheckStatus.OK
    assert repository_checks.report_unknown_forge("origin", "it is a folder").verdict is CheckStatus.OK
