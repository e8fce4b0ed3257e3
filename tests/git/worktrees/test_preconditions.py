"""What a repository must be, and what people are told of it before anything starts."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import UserError
from plait.core.plan import Severity
from plait.git.worktrees.preconditions import check_preconditions

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo


def _told(ground: WorkspaceRepo) -> list[tuple[Severity, str]]:
    return [(each.severity, each.message) for each in check_preconditions(ground.top)]


def test_an_ordinary_repository_has_no_problems(ground: WorkspaceRepo) -> None:
    assert check_preconditions(ground.top) == []
    assert check_preconditions(ground.common) == []
    assert check_preconditions(ground.top / "src") == []


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not in a git repository") as told:
        check_preconditions(tmp_path)
    assert "in-place" in told.value.hint


def test_a_repository_without_commits_is_refused_with_a_hint_that_works(ground: WorkspaceRepo, tmp_path: Path) -> None:
    ground.git("init", "--quiet", str(tmp_path / "empty"))
    ground.top = tmp_path / "empty"
    ground.write({"file": "f\n"})
    with pytest.raises(UserError, match="no commits yet") as told:
        check_preconditions(ground.top)
    way_out = told.value.hint.partition(": ")[2].partition(" (")[0]
    for command in way_out.split(" && "):
        subprocess.run(shlex.split(command), cwd=ground.top, check=True, capture_output=True)
    assert check_preconditions(ground.top) == []


def test_a_branch_without_commits_is_refused_unless_another_is_named(ground: WorkspaceRepo) -> None:
    base = ground.head
    ground.git("switch", "--quiet", "--orphan", "empty")
    with pytest.raises(UserError, match="the current branch has no commits yet"):
        check_preconditions(ground.top)
    assert check_preconditions(ground.top, base) == []
    with pytest.raises(UserError, match="there is no commit nonsense"):
        check_preconditions(ground.top, "nonsense")


def test_a_branch_called_plait_is_refused(ground: WorkspaceRepo) -> None:
    ground.git("branch", "plait")
    with pytest.raises(UserError, match="a branch called plait") as told:
        check_preconditions(ground.top)
    assert "git branch -m plait" in told.value.hint


def test_names_that_differ_only_in_case_are_refused_on_a_case_insensitive_disk(ground: WorkspaceRepo) -> None:
    ground.commit({"src/Readme": "1\n", "src/README": "2\n"})
    assert check_preconditions(ground.top) == []
    ground.git("config", "core.ignoreCase", "true")
    with pytest.raises(UserError, match="src/README and src/Readme differ only in case"):
        check_preconditions(ground.top)


def test_a_shallow_clone_is_reported(ground: WorkspaceRepo, tmp_path: Path) -> None:
    ground.commit({"more": "m\n"})
    ground.git("clone", "--quiet", "--depth=1", ground.top.as_uri(), str(tmp_path / "shallow"))
    ground.top = tmp_path / "shallow"
    ((severity, message),) = _told(ground)
    assert severity is Severity.INFO
    assert "shallow" in message


def test_a_partial_clone_is_reported(ground: WorkspaceRepo, tmp_path: Path) -> None:
    ground.git("config", "uploadpack.allowFilter", "true")
    ground.git("clone", "--quiet", "--filter=blob:none", ground.top.as_uri(), str(tmp_path / "partial"))
    ground.top = tmp_path / "partial"
    assert "partial" in _told(ground)[0][1]


def test_a_sparse_checkout_is_reported(ground: WorkspaceRepo) -> None:
    ground.git("sparse-checkout", "set", "--cone", "docs")
    assert "sparse" in _told(ground)[0][1]


def test_files_in_lfs_without_git_lfs_are_reported(ground: WorkspaceRepo) -> None:
    ground.write({"assets/.gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    ground.commit({})
    assert "Git LFS" in _told(ground)[0][1]
    ground.git("config", "filter.lfs.process", "git-lfs filter-process")
    assert _told(ground) == []


def test_submodules_that_are_not_cloned_are_reported(ground: WorkspaceRepo) -> None:
    many = "".join(f'[submodule "{name}"]\n\tpath = sub/{name}\n\turl = x\n' for name in "abcde")
    ground.commit({".gitmodules": many})
    ((severity, message),) = _told(ground)
    assert severity is Severity.WARNING
    assert message.endswith("sub/a, sub/b, sub/c and 2 more")
