"""Which commits become the task's, and which are saved."""

from __future__ import annotations

from dataclasses import replace

from plait.git.refs import attempt_ref
from tests.support.task_worktree import ATTEMPT, TaskWorktree


def subjects(worktree: TaskWorktree, tip: str) -> list[str]:
    return worktree.git("log", "--format=%s", f"{worktree.base}..{tip}").splitlines()


def stands(worktree: TaskWorktree, tip: str) -> None:
    """The branch, the attempt's ref and HEAD name the tip, and the worktree is as it is."""
    assert worktree.git("symbolic-ref", "HEAD") == f"refs/heads/{worktree.branch}"
    assert worktree.git("rev-parse", "HEAD") == tip
    assert worktree.git("rev-parse", attempt_ref(ATTEMPT)) == tip
    assert worktree.is_clean()


def test_without_changes_the_result_is_the_base(worktree: TaskWorktree) -> None:
    captured = worktree.capture()
    assert (captured.tip, captured.files, captured.empty) == (worktree.base, (), True)
    stands(worktree, worktree.base)
    assert worktree.read_saved_refs() == {}


def test_edits_new_and_deleted_files_become_one_commit(worktree: TaskWorktree) -> None:
    worktree.write("a.txt", "changed\n")
    worktree.write("new/n.txt", "new\n")
    (worktree.path / "b.txt").unlink()
    captured = worktree.capture()
    assert captured.files == ("a.txt", "b.txt", "new/n.txt")
    assert captured.diffstat == (3, 2, 2)
    assert not captured.empty
    assert worktree.files(captured.tip) == {"a.txt": "changed", "d/c.txt": "c", "new/n.txt": "new"}
    assert worktree.git("rev-parse", f"{captured.tip}^") == worktree.base
    stands(worktree, captured.tip)


def test_a_rename_counts_as_both_names(worktree: TaskWorktree) -> None:
    worktree.git("mv", "a.txt", "z.txt")
    assert worktree.capture().files == ("a.txt", "z.txt")


def test_of_a_renamed_file_only_the_lines_that_differ_are_counted(worktree: TaskWorktree) -> None:
    lines = [f"{number}\n" for number in range(50)]
    worktree.commit("old.txt", "".join(lines))
    worktree = replace(worktree, base=worktree.git("rev-parse", "HEAD"))
    worktree.git("mv", "old.txt", "new.txt")
    worktree.write("new.txt", "".join(["first\n", *lines[1:]]))
    worktree.write("other.txt", "1\n2\n")
    (worktree.path / "a.txt").unlink()
    captured = worktree.capture()
    assert captured.files == ("a.txt", "new.txt", "old.txt", "other.txt")
    assert captured.diffstat == (4, 1 + 2, 1 + 1)


def test_the_agents_commits_stay_and_uncommitted_changes_come_on_top(worktree: TaskWorktree) -> None:
    worktree.commit("one.txt", "1\n")
    own = worktree.commit("two.txt", "2\n")
    assert worktree.capture().tip == own
    stands(worktree, own)
    worktree.write("three.txt", "3\n")
    captured = worktree.capture()
    assert subjects(worktree, captured.tip) == ["Make the pages", "agent: two.txt", "agent: one.txt"]
    assert captured.files == ("one.txt", "three.txt", "two.txt")


def test_commits_on_another_branch_are_captured(worktree: TaskWorktree) -> None:
    worktree.git("switch", "-q", "-c", "feature")
    own = worktree.commit("one.txt", "1\n")
    assert worktree.capture().tip == own
    stands(worktree, own)
    assert worktree.git("rev-parse", "feature") == own


def test_commits_on_a_detached_head_are_captured(worktree: TaskWorktree) -> None:
    worktree.git("checkout", "-q", "--detach")
    own = worktree.commit("one.txt", "1\n")
    worktree.write("two.txt", "2\n")
    captured = worktree.capture()
    assert worktree.git("rev-parse", f"{captured.tip}^") == own
    stands(worktree, captured.tip)
    assert worktree.capture().tip == captured.tip


def test_commits_left_on_the_branch_when_the_agent_switched_are_saved(worktree: TaskWorktree) -> None:
    left = worktree.commit("one.txt", "1\n")
    worktree.git("checkout", "-q", "-b", "feature", worktree.base)
    worktree.write("two.txt", "2\n")
    captured = worktree.capture()
    assert captured.files == ("two.txt",)
    assert worktree.is_saved(left)
    stands(worktree, captured.tip)


def test_a_rewritten_history_becomes_one_commit_on_the_base_and_is_saved(worktree: TaskWorktree) -> None:
    worktree.git("checkout", "-q", "--orphan", "fresh")
    own = worktree.commit("one.txt", "1\n")
    captured = worktree.capture()
    assert captured.files == ("one.txt",)
    assert worktree.git("rev-parse", f"{captured.tip}^@") == worktree.base
    assert worktree.is_saved(own)
    stands(worktree, captured.tip)
    assert worktree.capture() == captured
    assert list(worktree.read_saved_refs().values()) == [own]


def test_an_amended_base_becomes_one_commit_on_the_base(worktree: TaskWorktree) -> None:
    worktree.write("one.txt", "1\n")
    worktree.git("add", "-A")
    worktree.git("commit", "-q", "--amend", "-m", "mine now")
    own = worktree.git("rev-parse", "HEAD")
    captured = worktree.capture()
    assert worktree.git("rev-parse", f"{captured.tip}^@") == worktree.base
    assert captured.files == ("one.txt",)
    assert worktree.is_saved(own)


def test_a_branch_that_the_agent_deleted_is_recreated(worktree: TaskWorktree) -> None:
    worktree.git("checkout", "-q", "--detach")
    worktree.git("branch", "-q", "-D", worktree.branch)
    worktree.write("one.txt", "1\n")
    stands(worktree, worktree.capture().tip)


def test_an_unborn_branch_is_captured(worktree: TaskWorktree) -> None:
    worktree.git("checkout", "-q", "--orphan", "fresh")
    worktree.write("one.txt", "1\n")
    captured = worktree.capture()
    assert captured.files == ("one.txt",)
    stands(worktree, captured.tip)


def test_capturing_twice_gives_the_same_commit(worktree: TaskWorktree) -> None:
    worktree.write("one.txt", "1\n")
    captured = worktree.capture()
    assert worktree.capture() == captured


def test_capturing_again_before_head_was_moved_gives_the_same_commit(worktree: TaskWorktree) -> None:
    worktree.git("checkout", "-q", "--detach")
    worktree.write("one.txt", "1\n")
    captured = worktree.capture()
    worktree.git("checkout", "-q", "--detach", worktree.base)
    worktree.write("one.txt", "1\n")
    other = replace(worktree, env={**worktree.env, "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z"})
    assert other.capture() == captured
    stands(worktree, captured.tip)


def test_a_second_attempt_continues_from_the_first(worktree: TaskWorktree) -> None:
    worktree.write("one.txt", "1\n")
    first = worktree.capture()
    worktree.write("two.txt", "2\n")
    second = worktree.capture(attempt=replace(ATTEMPT, n=2))
    assert worktree.git("rev-parse", f"{second.tip}^") == first.tip
    assert second.files == ("one.txt", "two.txt")
    assert worktree.git("rev-parse", attempt_ref(ATTEMPT)) == first.tip


def test_reverted_work_is_an_empty_change_with_history(worktree: TaskWorktree) -> None:
    worktree.commit("one.txt", "1\n")
    (worktree.path / "one.txt").unlink()
    captured = worktree.capture()
    assert captured.empty
    assert captured.files == ()
    assert worktree.git("rev-parse", f"{captured.tip}~2") == worktree.base


def test_the_users_checkout_is_not_changed(worktree: TaskWorktree) -> None:
    worktree.write("untracked.txt", "mine\n", at=worktree.main)
    worktree.write("a.txt", "my edit\n", at=worktree.main)
    worktree.git("add", "b.txt", at=worktree.main)
    before = [
        (file, file.read_bytes())
        for file in (worktree.common / "HEAD", worktree.common / "index", worktree.common / "config")
    ]
    worktree.write("one.txt", "1\n")
    worktree.capture()
    assert [(file, file.read_bytes()) for file, _ in before] == before
    assert (worktree.main / "a.txt").read_text() == "my edit\n"
    assert worktree.git("rev-parse", "trunk", at=worktree.main) == worktree.base
