"""One process that answers what names stand for says what git's own commands say."""

from __future__ import annotations

import psutil
import pytest

from plait.git.command import Git, GitError
from plait.git.object_reader import share_readers
from tests.support.git_repository import GitRepository


@pytest.fixture
def repository(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    """A merge, a tag, and a branch whose commit is gone."""
    made = GitRepository(tmp_path_factory.mktemp("reader") / "repository")
    made.commit({"a.txt": "a\n"})
    made.git("tag", "-a", "-m", "first", "first")
    made.git("switch", "-q", "-c", "other")
    made.commit({"b.txt": "b\n"})
    made.git("switch", "-q", "-")
    made.commit({"c.txt": "c\n"})
    made.git("merge", "-q", "--no-edit", "other")
    (made.git_dir / "refs" / "heads" / "gone").write_text("1" * 40 + "\n")
    return made


def list_readers() -> list[psutil.Process]:
    children = psutil.Process().children()
    return [child for child in children if child.status() != psutil.STATUS_ZOMBIE and "cat-file" in child.cmdline()]


def describe(git: Git, name: str) -> object:
    commit = git.resolve_commit(name)
    if commit is None:
        return None
    history = [git.is_ancestor(each, commit) for each in ("HEAD~1", "other", "first", git.text("rev-parse", "other"))]
    return commit, git.tree_of(commit), git.parents_of(commit), history


def test_a_shared_reader_answers_as_single_commands_do(repository: GitRepository) -> None:
    git = Git(repository.top)
    names = ("HEAD", "other", "first", "HEAD~1", "HEAD~2", "HEAD^{tree}", "gone", "none", "1" * 40, "", "--all", "a\nb")
    expected = [describe(git, name) for name in names]
    with share_readers():
        assert [describe(git, name) for name in names] == expected
        assert len(list_readers()) == 1
        with pytest.raises(GitError):
            git.tree_of("none")


def test_a_shared_reader_sees_what_is_new_and_is_replaced_if_it_dies(repository: GitRepository) -> None:
    git = Git(repository.top)
    with share_readers():
        assert git.resolve_commit("new") is None
        [reader] = list_readers()
        commit = repository.commit({"d.txt": "d\n"})
        repository.git("branch", "new")
        repository.git("pack-refs", "--all")
        assert git.resolve_commit("new") == commit
        reader.kill()
        reader.wait()
        assert git.resolve_commit("new") == commit  # by a command of its own
        assert git.tree_of("new") == repository.tree(commit)
        assert list_readers()
    assert not list_readers()
