"""What plait commits stays in the repository, whoever prunes it meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.reports import MergeDone
from plait.git.command import Git, GitError
from plait.git.interfaces import ChangeGoneError, KnownMerge, MergeMessage
from plait.git.kept_objects import PACKS_PER_LEVEL, find_missing_objects, keep_objects
from plait.git.refs import attempt_ref
from plait.git.worktrees.worktree import Repository
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import GitRepository
from tests.support.task_worktree import ATTEMPT, TaskWorktree


@pytest.fixture
def worktree(tmp_path: Path) -> TaskWorktree:
    return TaskWorktree.create(tmp_path)


def list_loose(git_dir: Path) -> set[Path]:
    return set((git_dir / "objects").glob("??/*"))


def finish_prune(git_dir: Path, marked: set[Path]) -> None:
    """Delete what a prune deletes that marked its objects before: all that are loose and were not there then."""
    for path in list_loose(git_dir) - marked:
        path.unlink()


def is_whole(git_dir: Path) -> bool:
    return Git(git_dir).run("fsck", "--no-dangling", "--connectivity-only", codes=range(256)).code == 0


@pytest.mark.parametrize("hooks", [False, True])
def test_a_prune_that_began_before_a_result_was_committed_deletes_nothing_of_it(
    worktree: TaskWorktree, *, hooks: bool
) -> None:
    marked = list_loose(worktree.common)
    worktree.write("a.txt", "changed\n")
    worktree.write("d/new.txt", "new\n")
    tip = worktree.capture(hooks=hooks).tip
    finish_prune(worktree.common, marked)
    assert worktree.show(tip, "d/new.txt") == "new"
    assert is_whole(worktree.common)


def test_a_prune_that_began_before_work_was_saved_deletes_nothing_of_it(worktree: TaskWorktree) -> None:
    marked = list_loose(worktree.common)
    worktree.commit("a.txt", "committed\n")
    worktree.git("checkout", "-q", "--detach")
    worktree.git("update-ref", f"refs/heads/{worktree.branch}", worktree.base)
    worktree.write("d/new.txt", "new\n")
    ref = worktree.save()
    assert ref is not None
    (worktree.gitdir / "index").unlink()  # it names blobs too
    finish_prune(worktree.common, marked)
    assert worktree.files(ref)["d/new.txt"] == "new"
    assert worktree.files(ref)["a.txt"] == "committed"


def test_a_prune_that_began_before_a_merge_deletes_nothing_of_it(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "repository")
    line = MergedBranch(repository, repository.commit({"a.txt": "a\n"}, message="base"))
    tips = {name: repository.commit({f"{name}.txt": name}, line.base) for name in ("one", "two", "three")}
    for name, tip in tips.items():
        repository.git("update-ref", f"refs/heads/{name}", tip)
    marked = list_loose(repository.git_dir)
    for name, tip in tips.items():
        assert isinstance(line.merge(name, tip), MergeDone)
    finish_prune(repository.git_dir, marked)
    assert is_whole(repository.git_dir)
    marked = list_loose(repository.git_dir)
    line.rebuild(line.make_rebuild("two"))
    finish_prune(repository.git_dir, marked)
    assert is_whole(repository.git_dir)


def test_what_a_merge_makes_is_synced_before_the_branch_is_moved(tmp_path: Path) -> None:
    """Git syncs the branch, so after a loss of power that would name a commit which isn't there."""
    repository, trace = GitRepository(tmp_path / "repository"), tmp_path / "trace"
    base = repository.commit({"a.txt": "a\n"}, message="base")
    repository.env["GIT_TRACE2_EVENT"] = str(trace)
    line = MergedBranch(repository, base)
    for name in ("one", "two"):
        line.merge(name, repository.commit({f"{name}.txt": name}, base))
    line.rebuild(line.make_rebuild("one"))
    events = [json.loads(text) for text in trace.read_text().splitlines()]
    packs = [event["sid"] for event in events if "pack-objects" in event.get("argv", ())]
    synced = [event["sid"] for event in events if event.get("key") == "fsync/hardware-flush"]
    assert len(packs) == 3
    assert [sid for sid in packs if sid not in synced] == []


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no other disk")
def test_packs_for_objects_on_another_disk_are_synced(worktree: TaskWorktree, monkeypatch: pytest.MonkeyPatch) -> None:
    synced, sync = list[str](), os.fsync

    def record(fd: int) -> None:
        synced.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        sync(fd)

    with TemporaryDirectory(dir="/dev/shm") as disk:
        objects = worktree.common / "objects"
        shutil.move(objects, f"{disk}/objects")
        objects.symlink_to(f"{disk}/objects")
        worktree.write("new.txt", "new\n")
        monkeypatch.setattr(os, "fsync", record)
        tip = worktree.capture().tip
        assert worktree.show(tip, "new.txt") == "new"
    assert {".pack.plait", ".idx.plait"} <= {name[name.find(".") :] for name in synced}


def test_a_gc_while_the_ref_is_moved_keeps_the_objects(worktree: TaskWorktree) -> None:
    git = Git(worktree.main, environment=worktree.env)
    blob = git.text("hash-object", "-w", "--stdin", stdin=b"new\n")
    tree = git.text("mktree", stdin=f"100644 blob {blob}\tnew.txt\n".encode())
    tip = git.commit_as_plait(tree, [worktree.base], b"new\n")
    with keep_objects(git, worktree.common, [tip], [worktree.base]):
        worktree.git("gc", "--quiet", "--prune=now", at=worktree.main)
        git.create_ref("refs/plait/saved/x/y/1", tip)
    worktree.git("gc", "--quiet", "--prune=now", at=worktree.main)
    assert worktree.show(tip, "new.txt") == "new"
    assert not list((worktree.common / "objects" / "pack").glob("*.keep"))


def test_objects_that_are_gone_already_are_an_error_before_the_ref_is_moved(worktree: TaskWorktree) -> None:
    git = Git(worktree.main, environment=worktree.env)
    tree = git.text("mktree", "--missing", stdin=b"100644 blob 1234567890123456789012345678901234567890\tnew.txt\n")
    tip = git.commit_as_plait(tree, [worktree.base], b"new\n")
    with pytest.raises(GitError), keep_objects(git, worktree.common, [tip], [worktree.base]):
        raise AssertionError


def test_a_result_whose_staged_blobs_were_pruned_is_committed_from_its_files(worktree: TaskWorktree) -> None:
    marked = list_loose(worktree.common)
    worktree.write("staged.txt", "staged\n")
    worktree.git("add", "staged.txt")
    finish_prune(worktree.common, marked)
    assert worktree.show(worktree.capture().tip, "staged.txt") == "staged"
    assert is_whole(worktree.common)


@pytest.mark.parametrize("hooks", [False, True])
def test_a_result_whose_commits_were_pruned_is_committed_from_its_files(worktree: TaskWorktree, *, hooks: bool) -> None:
    marked = list_loose(worktree.common)
    commit = worktree.commit("made.txt", "made\n")
    kept = worktree.common / "objects" / commit[:2] / commit[2:]
    finish_prune(worktree.common, marked | {kept})
    tip = worktree.capture(hooks=hooks).tip
    assert worktree.show(tip, "made.txt") == "made"
    assert is_whole(worktree.common)


@pytest.mark.parametrize("hooks", [False, True])
def test_a_branch_whose_commit_is_gone_gets_the_result_all_the_same(worktree: TaskWorktree, *, hooks: bool) -> None:
    marked = list_loose(worktree.common)
    worktree.commit("made.txt", "made\n")
    finish_prune(worktree.common, marked)
    tip = worktree.capture(hooks=hooks).tip
    assert worktree.show(tip, "made.txt") == "made"
    assert worktree.git("rev-parse", attempt_ref(ATTEMPT), at=worktree.main) == tip


def test_a_capture_of_what_was_captured_restores_its_objects(worktree: TaskWorktree) -> None:
    worktree.write("made.txt", "made\n")
    tip = worktree.capture().tip
    for path in (worktree.common / "objects" / "pack").iterdir():
        path.unlink()
    blob = worktree.git("rev-parse", f"{tip}:made.txt", at=worktree.main)
    (worktree.common / "objects" / blob[:2] / blob[2:]).unlink()
    assert worktree.capture().tip == tip
    assert worktree.show(tip, "made.txt") == "made"


@pytest.mark.parametrize("is_partial", [False, True])
def test_a_commit_that_is_gone_is_found_also_in_a_partial_clone(tmp_path: Path, *, is_partial: bool) -> None:
    repository = GitRepository(tmp_path / "repository")
    base = repository.commit({"a.txt": "a\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone.git"
    options = ("--filter=blob:none",) if is_partial else ()
    repository.git("clone", "-q", "--bare", *options, f"file://{repository.top}", str(clone))
    git = Repository(clone).git
    first, second = (git.commit_as_plait(git.tree_of(base), [base], text) for text in (b"first\n", b"second\n"))
    tip = git.commit_as_plait(git.tree_of(base), [first, second], b"both\n")
    assert find_missing_objects(git, [tip], [base]) == ""
    assert find_missing_objects(git, [tip], []) == ""
    (clone / "objects" / second[:2] / second[2:]).unlink()
    for each in (second, tip):
        assert find_missing_objects(git, [each], [base]), "its parent or itself"


def test_a_damaged_result_is_named_and_its_task_is_done_again(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "repository")
    line = MergedBranch(repository, repository.commit({"a.txt": "a\n"}, message="base"))
    good = repository.commit({"good.txt": "good\n"}, line.base)
    tip = repository.commit({"b.txt": "b\n"}, line.base)
    blob = repository.git("rev-parse", f"{tip}:b.txt")
    (repository.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(ChangeGoneError, match=r"the result of bad is damaged.*missing blob"):
        line.merge("bad", tip)
    line.merge("good", good)
    line.changes.append(Change("bad", line.base, tip))
    assert [merged.task for merged in line.rebuild(line.make_rebuild("bad")).line] == ["good"]


def test_a_batch_branch_whose_commit_is_gone_is_made_again(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "repository")
    line = MergedBranch(repository, repository.commit({"a.txt": "a\n"}, message="base"))
    ref = repository.git_dir / "refs" / "heads" / line.branch
    ref.parent.mkdir(parents=True)
    ref.write_text(f"{'1' * 40}\n")
    line.merge("one", repository.commit({"one.txt": "one"}, line.base))
    assert repository.git("show", f"{line.branch}:one.txt") == "one"


def test_many_results_leave_few_packs(worktree: TaskWorktree) -> None:
    git = Git(worktree.main, environment=worktree.env)
    commits, marked = [worktree.base], list_loose(worktree.common)
    for number in range(PACKS_PER_LEVEL * (PACKS_PER_LEVEL + 1)):
        commit = git.commit_as_plait(f"{worktree.base}^{{tree}}", [commits[-1]], f"{number}\n".encode())
        with keep_objects(git, worktree.common, [commit], [commits[-1]]):
            git.run("update-ref", "refs/plait/saved/x/y/1", commit)
        commits.append(commit)
    finish_prune(worktree.common, marked)
    assert len(list((worktree.common / "objects" / "pack").glob("*.pack"))) < 2 * PACKS_PER_LEVEL
    assert worktree.git("rev-list", "--count", commits[-1], f"^{worktree.base}", at=worktree.main) == "110"


def test_packs_of_a_multi_pack_index_stay(worktree: TaskWorktree) -> None:
    """As `git maintenance` writes it; without a pack that it names, `git fsck` fails."""
    git = Git(worktree.main, environment=worktree.env)
    tip = worktree.base
    for number in range(2 * PACKS_PER_LEVEL):
        commit = git.commit_as_plait(f"{worktree.base}^{{tree}}", [tip], f"{number}\n".encode())
        with keep_objects(git, worktree.common, [commit], [tip]):
            git.run("update-ref", "refs/plait/saved/x/y/1", commit)
        tip = commit
        if number == PACKS_PER_LEVEL // 2:
            git.run("multi-pack-index", "write")
    git.run("multi-pack-index", "verify")
    assert is_whole(worktree.common)


@pytest.fixture
def lost(tmp_path: Path) -> tuple[MergedBranch, list[KnownMerge]]:
    """A branch with two merges, of which only the results are left."""
    repository = GitRepository(tmp_path / "repository")
    line = MergedBranch(repository, repository.commit({"a.txt": "a\n"}, message="base"))
    messages, merges = MergeMessage("Another"), []
    for name in ("one", "two"):
        done = line.merge(name, repository.commit({f"{name}.txt": name}, line.base))
        assert isinstance(done, MergeDone)
        repository.git("update-ref", f"refs/plait/attempts/{name}", line.changes[-1].tip)
        merges.append(KnownMerge(line.changes[-1], done.commit, (messages, line.make_message(name))))
    repository.git("update-ref", "-d", f"refs/heads/{line.branch}")
    repository.git("reflog", "expire", "--all", "--expire=now")
    repository.git("gc", "--quiet", "--prune=now")
    return line, merges


def test_merges_that_are_gone_are_made_again_as_the_same_commits(lost: tuple[MergedBranch, list[KnownMerge]]) -> None:
    line, merges = lost
    tip = line.repository.commit({"three.txt": "three"}, line.base)
    with pytest.raises(WorldError, match=r"the head of the batch branch.* is not in the repository any more"):
        line.merge("three", tip)
    line.integrator.restore(line.batch, line.branch, line.base, merges, line.blending)
    assert line.read_head == line.head == merges[-1].commit
    line.merge("three", tip)
    assert line.repository.files(line.branch).keys() == {"a.txt", "one.txt", "two.txt", "three.txt"}
    assert is_whole(line.repository.git_dir)
    assert line.integrator.is_whole(merges[-1].commit, line.base)


def test_a_damaged_merge_is_made_again(lost: tuple[MergedBranch, list[KnownMerge]]) -> None:
    line, merges = lost
    line.integrator.restore(line.batch, line.branch, line.base, merges, line.blending)
    line.repository.git("repack", "-q", "-a", "-d")
    tree = line.repository.tree(line.head)
    [pack] = line.repository.git_dir.glob("objects/pack/*.pack")
    content = pack.read_bytes()
    for file in line.repository.git_dir.glob("objects/pack/*"):
        file.unlink()
    subprocess.run(["git", "unpack-objects", "-q"], cwd=line.repository.top, input=content, check=True)
    (line.repository.git_dir / "objects" / tree[:2] / tree[2:]).unlink()
    assert not is_whole(line.repository.git_dir)
    line.integrator.restore(line.batch, line.branch, line.base, merges, line.blending)
    assert is_whole(line.repository.git_dir)


def test_a_merge_that_would_be_another_commit_is_not_made_again(lost: tuple[MergedBranch, list[KnownMerge]]) -> None:
    line, [first, second] = lost
    merges = [replace(first, messages=first.messages[:1]), second]
    with pytest.raises(WorldError, match="is gone and can't be made again as the same commit"):
        line.integrator.restore(line.batch, line.branch, line.base, merges, line.blending)
    assert line.read_head == ""
