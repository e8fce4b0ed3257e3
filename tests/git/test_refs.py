"""What files say of refs is what git says of them, or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.git.refs import may_have_ref, move_loose_ref, read_loose_ref
from tests.support.git_repository import GitRepository

NAME = "refs/heads/plait/task-1-a"


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repository")
    made.commit({"a.txt": "a\n"})
    return made


def test_a_ref_is_found_loose_packed_symbolic_and_broken(repository: GitRepository) -> None:
    git_dir, commit = repository.git_dir, repository.git("rev-parse", "HEAD")
    assert not may_have_ref(git_dir, NAME)
    repository.git("update-ref", NAME, commit)
    assert may_have_ref(git_dir, NAME)
    assert may_have_ref(git_dir, "refs/heads/plait")
    assert read_loose_ref(git_dir, NAME) == commit
    repository.git("pack-refs", "--all")
    assert may_have_ref(git_dir, NAME)
    assert not read_loose_ref(git_dir, NAME)
    repository.git("symbolic-ref", NAME, "refs/heads/trunk")
    assert may_have_ref(git_dir, NAME)
    assert not read_loose_ref(git_dir, NAME)
    (git_dir / NAME).write_bytes(b"")
    assert may_have_ref(git_dir, NAME)
    assert not read_loose_ref(git_dir, NAME)


def test_only_files_of_refs_are_read(repository: GitRepository) -> None:
    """An agent may have named any file, or left anything in the place of a ref."""
    git_dir, commit = repository.git_dir, repository.git("rev-parse", "HEAD")
    (git_dir.parent / "outside").write_text(commit)
    assert not read_loose_ref(git_dir, "refs/../../outside")
    (git_dir / "refs" / "heads" / "link").symlink_to(git_dir.parent / "outside")
    os.mkfifo(git_dir / "refs" / "heads" / "pipe")
    assert not read_loose_ref(git_dir, "refs/heads/link")
    assert not read_loose_ref(git_dir, "refs/heads/pipe")
    assert not read_loose_ref(git_dir, "refs/heads")


def test_in_a_table_of_refs_or_elsewhere_any_may_be(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not may_have_ref(repository.git_dir, NAME)
    config = repository.git_dir / "config"
    before = config.read_text()
    config.write_text(f"{before}[extensions]\n\trefStorage = files:///elsewhere\n")
    assert may_have_ref(repository.git_dir, NAME)
    config.write_text(before)
    assert not may_have_ref(repository.git_dir, NAME)
    monkeypatch.setenv("GIT_REFERENCE_BACKEND", "reftable:///elsewhere")
    assert may_have_ref(repository.git_dir, NAME)


def test_a_ref_is_moved_without_git_where_git_would_do_no_more(repository: GitRepository) -> None:
    git_dir, old = repository.git_dir, repository.git("rev-parse", "HEAD")
    new = repository.commit({"a.txt": "b\n"})
    log, lock, other = git_dir / "logs" / NAME, git_dir / f"{NAME}.lock", "refs/heads/plait/task-1-b"
    repository.git("update-ref", NAME, old)
    log.unlink(missing_ok=True)
    assert move_loose_ref(git_dir, NAME, old, new)
    assert repository.git("rev-parse", NAME) == new
    assert not lock.exists()
    assert not move_loose_ref(git_dir, NAME, old, new)  # it holds another one
    assert not move_loose_ref(git_dir, other, old, new)
    assert not lock.exists()
    lock.touch()
    assert not move_loose_ref(git_dir, NAME, new, old)
    assert lock.exists()
    lock.unlink()
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()
    assert not move_loose_ref(git_dir, NAME, new, old)
    log.unlink()
    repository.git("pack-refs", "--all")
    assert not move_loose_ref(git_dir, NAME, new, old)
    assert repository.git("rev-parse", NAME) == new
