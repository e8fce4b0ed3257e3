"""Which commits become the task's, and which are saved."""

from __future__ import annotations

from dataclasses import replace

from plait.git.refs import attempt_ref
from tests.support.task_worktree import ATTEMPT, TaskWorktree


def subjects(plot: TaskWorktree, tip: str) -> list[str]:
    return plot.git("log", "--format=%s", f"{plot.base}..{tip}").splitlines()


def stands(plot: TaskWorktree, tip: str) -> None:
    """The branch, the attempt's ref and HEAD name the tip, and the worktree is as it is."""
    assert plot.git("symbolic-ref", "HEAD") == f"refs/heads/{plot.branch}"
    assert plot.git("rev-parse", "HEAD") == tip
    assert plot.git("rev-parse", attempt_ref(ATTEMPT)) == tip
    assert plot.is_clean()


def test_nothing_at_all_is_the_base_itself(plot: TaskWorktree) -> None:
    captured = plot.capture()
    assert (captured.tip, captured.files, captured.empty) == (plot.base, (), True)
    stands(plot, plot.base)
    assert plot.read_saved_refs() == {}


def test_edits_new_and_deleted_files_become_one_commit(plot: TaskWorktree) -> None:
    plot.write("a.txt", "changed\n")
    plot.write("new/n.txt", "new\n")
    (plot.path / "b.txt").unlink()
    captured = plot.capture()
    assert captured.files == ("a.txt", "b.txt", "new/n.txt")
    assert captured.diffstat == (3, 2, 2)
    assert not captured.empty
    assert plot.files(captured.tip) == {"a.txt": "changed", "d/c.txt": "c", "new/n.txt": "new"}
    assert plot.git("rev-parse", f"{captured.tip}^") == plot.base
    stands(plot, captured.tip)


def test_a_rename_counts_as_both_names(plot: TaskWorktree) -> None:
    plot.git("mv", "a.txt", "z.txt")
    assert plot.capture().files == ("a.txt", "z.txt")


def test_commits_of_the_agent_stay_and_what_they_lack_comes_on_top(plot: TaskWorktree) -> None:
    plot.commit("one.txt", "1\n")
    own = plot.commit("two.txt", "2\n")
    assert plot.capture().tip == own
    stands(plot, own)
    plot.write("three.txt", "3\n")
    captured = plot.capture()
    assert subjects(plot, captured.tip) == ["Make the pages", "agent: two.txt", "agent: one.txt"]
    assert captured.files == ("one.txt", "three.txt", "two.txt")


def test_commits_on_a_branch_of_the_agents_own(plot: TaskWorktree) -> None:
    plot.git("switch", "-q", "-c", "feature")
    own = plot.commit("one.txt", "1\n")
    assert plot.capture().tip == own
    stands(plot, own)
    assert plot.git("rev-parse", "feature") == own


def test_commits_on_no_branch(plot: TaskWorktree) -> None:
    plot.git("checkout", "-q", "--detach")
    own = plot.commit("one.txt", "1\n")
    plot.write("two.txt", "2\n")
    captured = plot.capture()
    assert plot.git("rev-parse", f"{captured.tip}^") == own
    stands(plot, captured.tip)
    assert plot.capture().tip == captured.tip


def test_what_was_left_on_the_branch_when_the_agent_went_elsewhere_is_saved(plot: TaskWorktree) -> None:
    left = plot.commit("one.txt", "1\n")
    plot.git("checkout", "-q", "-b", "feature", plot.base)
    plot.write("two.txt", "2\n")
    captured = plot.capture()
    assert captured.files == ("two.txt",)
    assert plot.is_saved(left)
    stands(plot, captured.tip)


def test_a_rewritten_history_becomes_one_commit_on_the_base_and_is_saved(plot: TaskWorktree) -> None:
    plot.git("checkout", "-q", "--orphan", "fresh")
    own = plot.commit("one.txt", "1\n")
    captured = plot.capture()
    assert captured.files == ("one.txt",)
    assert plot.git("rev-parse", f"{captured.tip}^@") == plot.base
    assert plot.is_saved(own)
    stands(plot, captured.tip)
    assert plot.capture() == captured
    assert list(plot.read_saved_refs().values()) == [own]


def test_an_amended_base_becomes_one_commit_on_the_base(plot: TaskWorktree) -> None:
    plot.write("one.txt", "1\n")
    plot.git("add", "-A")
    plot.git("commit", "-q", "--amend", "-m", "mine now")
    own = plot.git("rev-parse", "HEAD")
    captured = plot.capture()
    assert plot.git("rev-parse", f"{captured.tip}^@") == plot.base
    assert captured.files == ("one.txt",)
    assert plot.is_saved(own)


def test_a_branch_that_the_agent_deleted_is_made_again(plot: TaskWorktree) -> None:
    plot.git("checkout", "-q", "--detach")
    plot.git("branch", "-q", "-D", plot.branch)
    plot.write("one.txt", "1\n")
    stands(plot, plot.capture().tip)


def test_an_unborn_branch_is_no_obstacle(plot: TaskWorktree) -> None:
    plot.git("checkout", "-q", "--orphan", "fresh")
    plot.write("one.txt", "1\n")
    captured = plot.capture()
    assert captured.files == ("one.txt",)
    stands(plot, captured.tip)


def test_captured_again_it_is_the_same(plot: TaskWorktree) -> None:
    plot.write("one.txt", "1\n")
    captured = plot.capture()
    assert plot.capture() == captured


def test_captured_again_before_head_was_moved_it_is_the_same(plot: TaskWorktree) -> None:
    plot.git("checkout", "-q", "--detach")
    plot.write("one.txt", "1\n")
    captured = plot.capture()
    plot.git("checkout", "-q", "--detach", plot.base)
    plot.write("one.txt", "1\n")
    other = replace(plot, env={**plot.env, "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z"})
    assert other.capture() == captured
    stands(plot, captured.tip)


def test_a_second_attempt_goes_on_from_the_first(plot: TaskWorktree) -> None:
    plot.write("one.txt", "1\n")
    first = plot.capture()
    plot.write("two.txt", "2\n")
    second = plot.capture(attempt=replace(ATTEMPT, n=2))
    assert plot.git("rev-parse", f"{second.tip}^") == first.tip
    assert second.files == ("one.txt", "two.txt")
    assert plot.git("rev-parse", attempt_ref(ATTEMPT)) == first.tip


def test_work_that_was_undone_is_empty_but_in_the_history(plot: TaskWorktree) -> None:
    plot.commit("one.txt", "1\n")
    (plot.path / "one.txt").unlink()
    captured = plot.capture()
    assert captured.empty
    assert captured.files == ()
    assert plot.git("rev-parse", f"{captured.tip}~2") == plot.base


def test_the_users_checkout_is_as_it_was(plot: TaskWorktree) -> None:
    plot.write("untracked.txt", "mine\n", at=plot.main)
    plot.write("a.txt", "my edit\n", at=plot.main)
    plot.git("add", "b.txt", at=plot.main)
    before = [
        (file, file.read_bytes()) for file in (plot.common / "HEAD", plot.common / "index", plot.common / "config")
    ]
    plot.write("one.txt", "1\n")
    plot.capture()
    assert [(file, file.read_bytes()) for file, _ in before] == before
    assert (plot.main / "a.txt").read_text() == "my edit\n"
    assert plot.git("rev-parse", "trunk", at=plot.main) == plot.base
