"""Many at once, from threads and from processes: each gets its own worktree, and none fails."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees import metadata
from plait.git.worktrees.metadata import LeaseMetadata

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

PLAIN = WorkspaceSetup()
SOON = 120
# Prepares and releases so many tasks, all at once, in a process of its own.
PROCESS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.workspaces import GitWorkspaces

common, root, base, batch, count = sys.argv[1:]
workspaces = GitWorkspaces(Path(common), Path(root))

def go(n):
    path = Path(workspaces.prepare(batch, f"task-{n}", base, WorkspaceSetup(), top=common))
    (path / "made").write_text(f"{batch} {n}")
    workspaces.release(batch, f"task-{n}")

with ThreadPoolExecutor(8) as threads:
    list(threads.map(go, range(int(count))))
"""


@pytest.mark.parametrize("count", [8, 16])
def test_workspaces_are_prepared_from_threads_at_once(repo: WorkspaceRepo, count: int) -> None:
    before = repo.snapshot_user_files()
    workspaces, base = repo.open(), repo.head

    def prepare(n: int) -> Path:
        return Path(workspaces.prepare("7f3a", f"{n}", base, PLAIN, top=str(repo.top)))

    with ThreadPoolExecutor(count) as threads:
        places = list(threads.map(prepare, range(count)))
        assert len(set(places)) == count
        assert {repo.status(place) for place in places} == {""}
        assert len({repo.gitdir(place) for place in places}) == count
        for place in places:
            repo.write({"made": place.name}, at=place)
        list(threads.map(lambda n: workspaces.release("7f3a", f"{n}"), range(count)))
        assert len(repo.list_pooled()) == 4
        list(threads.map(prepare, range(count)))
    repo.release_batch(*(f"{n}" for n in range(count)))
    workspaces.trim_pool()
    assert repo.worktrees() == []
    for n in range(count):
        assert [repo.text(saved, "made") for saved in repo.list_saved(f"{n}")] == [f"task-{n}"]
    assert repo.snapshot_user_files() == before


def test_workspaces_are_prepared_from_two_processes_at_once(repo: WorkspaceRepo) -> None:
    before = repo.snapshot_user_files()
    command = [sys.executable, "-c", PROCESS, str(repo.common), str(repo.root), repo.head]
    both = [
        subprocess.Popen([*command, batch, "12"], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for batch in ("a", "b")
    ]
    for process in both:
        _, complaint = process.communicate(timeout=SOON)
        assert process.returncode == 0, complaint.decode()
    for batch in ("a", "b"):
        for n in range(12):
            assert repo.git("show", f"refs/plait/saved/{batch}/task-{n}/1:made") == f"{batch} {n}"
    assert len(repo.list_pooled()) <= 4
    assert repo.snapshot_user_files() == before


def test_worktrees_are_taken_while_the_pool_is_trimmed(repo: WorkspaceRepo) -> None:
    workspaces, base, ended = repo.open(), repo.head, Event()

    def work(n: int) -> None:
        for name in (f"{n}-{turn}" for turn in range(6)):
            workspace = Path(workspaces.prepare("7f3a", name, base, PLAIN, top=str(repo.top)))
            repo.write({"made": name}, at=workspace)
            assert repo.status(workspace) == "?? made"
            workspaces.release("7f3a", name)

    def trim() -> None:
        while not ended.is_set():
            workspaces.trim_pool()

    with ThreadPoolExecutor(6) as threads:
        trimming = [threads.submit(trim) for _ in range(2)]
        try:
            list(threads.map(work, range(4)))
        finally:
            ended.set()
        for each in trimming:
            each.result()
    for name in (f"{n}-{turn}" for n in range(4) for turn in range(6)):
        assert [repo.text(saved, "made") for saved in repo.list_saved(name)] == [name]


def test_concurrent_writes_leave_one_complete_lease_file(tmp_path: Path) -> None:
    stamps = [LeaseMetadata("7f3a", f"task-{number}", "0" * 40) for number in range(8)]

    def write(mine: LeaseMetadata) -> None:
        for _ in range(200):
            metadata.write_lease(tmp_path, mine)
            assert metadata.read_lease(tmp_path) in stamps

    with ThreadPoolExecutor(len(stamps)) as threads:
        for each in [threads.submit(write, mine) for mine in stamps]:
            each.result()
    assert [each.name for each in tmp_path.iterdir()] == ["plait.json"]


def test_a_task_prepared_twice_at_once_gets_one_worktree(repo: WorkspaceRepo) -> None:
    workspaces, base = repo.open(), repo.head
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(workspaces.prepare, "7f3a", "one", base, PLAIN, top=str(repo.top)) for _ in range(4)]
        places = {each.result() for each in asked}
    assert len(places) == 1
    assert repo.status(Path(*places)) == ""
    workspaces.trim_pool(9)
    assert repo.worktrees() == [*places]
