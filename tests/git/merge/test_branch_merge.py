from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.reports import MergeConflicted, MergeDone
from plait.git.interfaces import MergeMessage, MergeRules
from plait.git.merge.branch_merger import GitBranchMerger
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import ExecutableFile, GitRepository

Page = Callable[..., str]


def test_the_first_merge_creates_the_branch_and_later_ones_move_it(line: MergedBranch, page: Page) -> None:
    one = line.repository.commit({"page.txt": page((1, "one"))}, line.base)
    two = line.repository.commit({"page.txt": page((18, "two"))}, line.base)
    assert line.read_head == ""
    first = line.merge("one", one)
    assert first == MergeDone("7f3a", "one", 1, line.read_head)
    line.merge("two", two)
    assert line.read_head == line.head
    assert line.repository.files(line.read_head) == {"page.txt": page((1, "one"), (18, "two"))}
    assert line.repository.git("show", "-s", "--format=%P", line.read_head) == f"{first.commit} {two}"


def test_an_empty_change_is_merged_too(line: MergedBranch) -> None:
    tip = line.repository.commit({}, line.base)
    done = line.merge("idle", tip)
    assert isinstance(done, MergeDone)
    assert line.repository.git("show", "-s", "--format=%P %T", done.commit).split() == [
        line.base,
        tip,
        line.repository.tree(line.base),
    ]


def test_repeating_a_merge_gives_the_same_commit(line: MergedBranch, page: Page, tmp_path: Path) -> None:
    tip = line.repository.commit({"page.txt": page((1, "one"))}, line.base)
    decision = line.make_merge(Change("one", line.base, tip))
    done = line.merge("one", tip)
    assert line.integrator.merge(decision, line.branch, line.make_message("one"), MergeRules()) == done
    line.repository.git("branch", "-D", line.branch)
    elsewhere = GitBranchMerger(line.repository.git_dir, tmp_path / "new", environment=line.repository.env)
    assert elsewhere.merge(decision, line.branch, line.make_message("one"), MergeRules()) == done


def test_an_existing_merge_is_found_even_with_another_message(line: MergedBranch) -> None:
    tip = line.repository.commit({"new.txt": "new\n"}, line.base)
    decision = line.make_merge(Change("one", line.base, tip))
    done = line.merge("one", tip)
    assert isinstance(done, MergeDone)
    again = line.integrator.merge(replace(decision, n=2), line.branch, MergeMessage("Other words"), MergeRules())
    assert again == replace(done, n=2)


def test_a_conflict_does_not_move_the_branch(line: MergedBranch, page: Page) -> None:
    line.merge("one", line.repository.commit({"page.txt": page((1, "one"))}, line.base))
    tip = line.repository.commit({"page.txt": page((1, "two")), "other.txt": "fine\n"}, line.base)
    assert line.merge("two", tip) == MergeConflicted("7f3a", "two", 1, ("page.txt",))
    assert line.read_head == line.head


def test_a_branch_that_was_moved_by_hand_is_not_changed(line: MergedBranch) -> None:
    line.merge("one", line.repository.commit({"one.txt": "1\n"}, line.base))
    other_commit = line.repository.commit({"theirs.txt": "x\n"}, line.head)
    line.repository.git("branch", "-f", line.branch, other_commit)
    with pytest.raises(WorldError, match="was moved") as error:
        line.merge("two", line.repository.commit({"two.txt": "2\n"}, line.base))
    assert line.head in error.value.hint
    assert line.read_head == other_commit


def test_a_branch_moved_to_another_merge_of_plait_is_not_changed(line: MergedBranch) -> None:
    one, two = (line.repository.commit({f"{name}.txt": "x\n"}, line.base) for name in ("one", "two"))
    line.merge("one", one)
    line.head = line.base
    with pytest.raises(WorldError, match="was moved"):
        line.merge("two", two)


def test_a_deleted_branch_is_recreated(line: MergedBranch) -> None:
    line.merge("one", line.repository.commit({"one.txt": "1\n"}, line.base))
    line.repository.git("branch", "-D", line.branch)
    line.merge("two", line.repository.commit({"two.txt": "2\n"}, line.base))
    assert set(line.repository.files(line.read_head)) == {"page.txt", "one.txt", "two.txt"}


@pytest.mark.parametrize("kind", ["main", "linked"])
def test_a_branch_that_is_checked_out_is_not_moved(line: MergedBranch, tmp_path: Path, kind: str) -> None:
    line.merge("one", line.repository.commit({"one.txt": "1\n"}, line.base))
    two = line.repository.commit({"two.txt": "2\n"}, line.base)
    where = tmp_path / "linked" if kind == "linked" else line.repository.top
    if kind == "linked":
        line.repository.git("worktree", "add", "-q", str(where), line.branch)
    else:
        line.repository.git("checkout", "-q", line.branch)
    with pytest.raises(WorldError, match="checked out") as error:
        line.merge("two", two)
    assert str(where) in error.value.message
    line.repository.git("switch", "-q", "--detach", at=where)
    assert isinstance(line.merge("two", two), MergeDone)


def test_a_branch_that_a_damaged_worktree_has_checked_out_is_not_moved(line: MergedBranch, tmp_path: Path) -> None:
    line.merge("one", line.repository.commit({"one.txt": "1\n"}, line.base))
    line.repository.git("worktree", "add", "-q", str(tmp_path / "linked"), line.branch)
    (line.repository.top / ".git/worktrees/linked/gitdir").write_text("")
    with pytest.raises(WorldError, match="is checked out in"):
        line.merge("two", line.repository.commit({"two.txt": "2\n"}, line.base))


def test_the_checkout_its_index_and_the_stash_are_never_changed(line: MergedBranch, page: Page) -> None:
    repository = line.repository
    tips = [repository.commit({"page.txt": page((n, "new"))}, line.base) for n in (1, 9)]
    repository.git("checkout", "-q", "trunk")
    (repository.top / "page.txt").write_text(page((5, "stashed")))
    repository.git("stash")
    (repository.top / "page.txt").write_text(page((7, "staged")))
    repository.git("add", "page.txt")
    (repository.top / "page.txt").write_text(page((7, "edited")))
    (repository.top / "untracked.txt").write_text("mine")
    before = _everything(repository)
    for n, tip in enumerate(tips):
        line.merge(str(n), tip)
    line.rebuild(line.make_rebuild("0"))
    assert _everything(repository) == before


def _everything(repository: GitRepository) -> Mapping[str, object]:
    kept = [path for path in repository.top.rglob("*") if path.is_file() and ".git" not in path.parts]
    stays = (repository.git_dir / name for name in ("index", "HEAD", "config", "refs/stash", "refs/heads/trunk"))
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in (*kept, *stays)}


def test_the_commit_has_the_users_identity_and_the_message(line: MergedBranch) -> None:
    tip = line.repository.commit({"one.txt": "1\n"}, line.base)
    line.merge(
        "one",
        tip,
        words=MergeMessage("Merge one\n\nPlait-Task: forged", (("Plait-Task", "x"), ("A", "b\nc"))),
    )
    shown = line.repository.git("show", "-s", "--format=%an <%ae> %cn%n%B", line.read_head)
    assert shown.splitlines() == [
        "Somebody <somebody@example.org> Somebody",
        "Merge one",
        "",
        "Plait-Task: forged",
        "",
        "Plait-Batch: 7f3a",
        "Plait-Task: one",
        f"Plait-Change: {line.base}..{tip}",
        "A: b c",
    ]
    assert line.repository.git("show", "-s", "--format=%ct", line.read_head) == line.repository.git(
        "show", "-s", "--format=%ct", tip
    )


def test_without_a_configured_user_the_committer_is_plait(line: MergedBranch) -> None:
    tip = line.repository.commit({"one.txt": "1\n"}, line.base)
    for key in ("user.name", "user.email"):
        line.repository.git("config", "--unset", key)
    line.merge("one", tip)
    shown = line.repository.git("show", "-s", "--format=%an <%ae>", line.read_head)
    assert shown == "plait <plait@localhost>"


def test_commits_are_signed_if_the_users_are(line: MergedBranch, tmp_path: Path) -> None:
    signer = tmp_path / "signer"
    signer.write_text("#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho signed by nobody\n")
    signer.chmod(0o755)
    line.repository.git("config", "gpg.program", str(signer))
    tip = line.repository.commit({"one.txt": "1\n"}, line.base)
    line.repository.git("config", "commit.gpgSign", "true")
    line.merge("one", tip)
    assert "signed by nobody" in line.repository.git("cat-file", "commit", line.read_head)


def test_no_hook_runs(line: MergedBranch) -> None:
    for name in ("reference-transaction", "post-commit", "commit-msg", "pre-merge-commit"):
        hook = line.repository.git_dir / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
    tip = line.repository.commit({"one.txt": "1\n"}, line.base)
    for hook in (line.repository.git_dir / "hooks").iterdir():
        hook.chmod(0o755)
    assert isinstance(line.merge("one", tip), MergeDone)


def test_files_are_edited_in_the_merged_tree_and_keep_their_mode(line: MergedBranch) -> None:
    base = line.repository.commit({"tasks/run": ExecutableFile("todo\n"), "tasks/deep/a.md": "todo\n"}, line.base)
    line.base = line.head = base
    tip = line.repository.commit({"one.txt": "1\n"}, base)

    def edit(read: Callable[[str], bytes | None]) -> Mapping[str, bytes]:
        assert read("one.txt") == b"1\n"
        assert read("tasks") is read("absent/file") is read("one.txt/below") is None
        return {"tasks/run": b"done\n", "tasks/deep/a.md": b"done\n", "new/made.md": b"made\n"}

    line.merge("one", tip, words=MergeMessage("Merge one", edit_files=edit))
    files = line.repository.files(line.read_head)
    assert (files["tasks/run"], files["tasks/deep/a.md"], files["new/made.md"]) == (
        "done\n",
        "done\n",
        "made\n",
    )
    assert files["one.txt"] == "1\n"
    assert line.repository.git("ls-tree", line.read_head, "tasks/run").startswith("100755 ")


@pytest.mark.parametrize("path", ["../out", "/etc/x", "a/../b", ".git/config", "a//b", ""])
def test_edits_outside_of_the_repository_are_refused(line: MergedBranch, path: str) -> None:
    tip = line.repository.commit({"one.txt": "1\n"}, line.base)
    with pytest.raises(WorldError, match="not a path"):
        line.merge("one", tip, words=MergeMessage("Merge one", edit_files=lambda _: {path: b"x"}))
    assert line.read_head == ""
