"""What a repository must be, and what people are told of it before anything starts."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import UserError
from plait.core.plan import Severity
from plait.git.worktrees.preconditions import check_preconditions, find_checkout_problems

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo


def _list_problems(repo: WorkspaceRepo) -> list[tuple[Severity, str]]:
    return [(each.severity, each.message) for each in check_preconditions(repo.top)]


def test_an_ordinary_repository_has_no_problems(repo: WorkspaceRepo) -> None:
    assert check_preconditions(repo.top) == []
    assert check_preconditions(repo.common) == []
    assert check_preconditions(repo.top / "src") == []


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not in a git repository") as error:
        check_preconditions(tmp_path)
    assert "in-place" in error.value.hint


def test_a_repository_without_commits_is_refused_with_a_hint_that_works(repo: WorkspaceRepo, tmp_path: Path) -> None:
    repo.git("init", "--quiet", str(tmp_path / "empty"))
    repo.top = tmp_path / "empty"
    repo.write({"file": "f\n"})
    with pytest.raises(UserError, match="no commits yet") as error:
        check_preconditions(repo.top)
    way_out = error.value.hint.partition(": ")[2].partition(" (")[0]
    for command in way_out.split(" && "):
        subprocess.run(shlex.split(command), cwd=repo.top, check=True, capture_output=True)
    assert check_preconditions(repo.top) == []


def test_a_branch_without_commits_is_refused_unless_another_is_named(repo: WorkspaceRepo) -> None:
    base = repo.head
    repo.git("switch", "--quiet", "--orphan", "empty")
    with pytest.raises(UserError, match="the current branch has no commits yet"):
        check_preconditions(repo.top)
    assert check_preconditions(repo.top, base) == []
    with pytest.raises(UserError, match="there is no commit nonsense"):
        check_preconditions(repo.top, "nonsense")


def test_a_branch_called_plait_is_refused(repo: WorkspaceRepo) -> None:
    repo.git("branch", "plait")
    with pytest.raises(UserError, match="a branch called plait") as error:
        check_preconditions(repo.top)
    assert "git branch -m plait" in error.value.hint


def test_names_that_differ_only_in_case_are_refused_on_a_case_insensitive_disk(repo: WorkspaceRepo) -> None:
    repo.commit({"src/Readme": "1\n", "src/README": "2\n"})
    assert check_preconditions(repo.top) == []
    repo.git("config", "core.ignoreCase", "true")
    with pytest.raises(UserError, match="src/README and src/Readme differ only in case"):
        check_preconditions(repo.top)


def test_a_shallow_clone_is_reported(repo: WorkspaceRepo, tmp_path: Path) -> None:
    repo.commit({"more": "m\n"})
    repo.git("clone", "--quiet", "--depth=1", repo.top.as_uri(), str(tmp_path / "shallow"))
    repo.top = tmp_path / "shallow"
    ((severity, message),) = _list_problems(repo)
    assert severity is Severity.INFO
    assert "shallow" in message


def test_a_partial_clone_is_reported(repo: WorkspaceRepo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("clone", "--quiet", "--filter=blob:none", repo.top.as_uri(), str(tmp_path / "partial"))
    repo.top = tmp_path / "partial"
    assert "partial" in _list_problems(repo)[0][1]


def test_a_sparse_checkout_is_reported(repo: WorkspaceRepo) -> None:
    repo.git("sparse-checkout", "set", "--cone", "docs")
    assert "sparse" in _list_problems(repo)[0][1]


def test_files_in_lfs_without_git_lfs_are_reported(repo: WorkspaceRepo) -> None:
    repo.write({"assets/.gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    repo.commit({})
    assert "Git LFS" in _list_problems(repo)[0][1]
    repo.git("config", "filter.lfs.process", "git-lfs filter-process")
    assert _list_problems(repo) == []


def test_submodules_that_are_not_cloned_are_reported(repo: WorkspaceRepo) -> None:
    many = "".join(f'[submodule "{name}"]\n\tpath = sub/{name}\n\turl = x\n' for name in "abcde")
    repo.commit({".gitmodules": many})
    ((severity, message),) = _list_problems(repo)
    assert severity is Severity.WARNING
    assert message.endswith("sub/a, sub/b, sub/c and 2 more")


def _describe_checkout(repo: WorkspaceRepo, *ignored: str) -> list[tuple[Severity, str]]:
    return [(each.severity, each.message) for each in find_checkout_problems(repo.top, {*ignored})]


def test_uncommitted_changes_are_listed(repo: WorkspaceRepo) -> None:
    repo.commit({"a.py": "a\n", "b.py": "b\n", "c.py": "c\n"})
    assert _describe_checkout(repo) == []

    repo.write({"a.py": "changed\n"})
    assert _describe_checkout(repo) == [
        (Severity.WARNING, "1 modified file is not in the base commit; agents won't see it: a.py")
    ]

    repo.write({"b.py": "changed\n", "folder/d.py": "new\n"})
    repo.git("add", "b.py")
    (repo.top / "c.py").unlink()
    assert _describe_checkout(repo) == [
        (
            Severity.WARNING,
            "3 modified files and 1 new are not in the base commit; agents won't see them: a.py, b.py, c.py and 1 more",
        )
    ]


def test_new_files_alone_are_only_worth_a_note(repo: WorkspaceRepo) -> None:
    repo.write({"new.py": "new\n"})
    assert _describe_checkout(repo) == [
        (Severity.INFO, "1 new file is not in the base commit; agents won't see it: new.py")
    ]


def test_changes_of_sources_are_not_listed(repo: WorkspaceRepo) -> None:
    repo.commit({"TODO.md": "- [ ] one\n"})
    repo.write({"TODO.md": "- [x] one\n", "tasks/01.md": "# One\n", "notes/tasks/02.md": "# Two\n"})
    assert _describe_checkout(repo, "TODO.md", "tasks", "notes/tasks") == []


def test_listing_changes_does_not_touch_the_index(repo: WorkspaceRepo) -> None:
    repo.commit({"a.py": "a\n"})
    os.utime(repo.top / "a.py", (1, 1))  # git status would refresh it in the index
    index = repo.common / "index"
    before = index.stat().st_mtime_ns, index.read_bytes()
    assert _describe_checkout(repo) == []
    assert (index.stat().st_mtime_ns, index.read_bytes()) == before


def test_a_missing_identity_is_reported(repo: WorkspaceRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{who}_NAME")
        monkeypatch.delenv(f"GIT_{who}_EMAIL")
    (problem,) = find_checkout_problems(repo.top)
    assert problem.message == "git has no name and email for your commits: they will be by plait <plait@localhost>"
    repo.git("config", "user.name", "Somebody")
    repo.git("config", "user.email", "somebody@example.org")
    assert find_checkout_problems(repo.top) == []
