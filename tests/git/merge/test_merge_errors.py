from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plait.core.errors import WorldError
from plait.core.reports import MergeDone
from plait.git.interfaces import ChangeGoneError
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import GitRepository

Page = Callable[..., str]


@pytest.mark.parametrize("tip", ["0" * 40, "", "main", "HEAD", "f" * 39, "$(touch x)\n"])
def test_a_missing_result_commit_is_reported(line: MergedBranch, tip: str) -> None:
    with pytest.raises(ChangeGoneError, match=r"the result of one, .* is not in the repository any more") as error:
        line.merge("one", tip)
    assert "retry" in error.value.hint
    assert line.read_head == ""


def test_a_missing_base_commit_is_reported(line: MergedBranch) -> None:
    tip = line.repository.commit({"one.txt": "1\n"}, line.base)
    with pytest.raises(ChangeGoneError, match="the base of one"):
        line.merge("one", tip, "0" * 40)
    with pytest.raises(WorldError, match="the base of the batch"):
        line.integrator.rebuild(line.make_rebuild(), line.branch, "0" * 40, {}, line.blending)


def test_a_damaged_object_is_reported_and_the_branch_stays(repository: GitRepository) -> None:
    base = repository.commit({"page.txt": "start\n"})
    line = MergedBranch(repository, base)
    line.merge("one", repository.commit({"page.txt": "start\none\n"}, base))
    tip = repository.commit({"page.txt": "two\nstart\n"}, base)
    blob = repository.git("rev-parse", f"{tip}:page.txt")
    stored = repository.git_dir / "objects" / blob[:2] / blob[2:]
    stored.chmod(0o644)
    stored.write_bytes(b"damaged")
    with pytest.raises(WorldError, match="two could not be merged") as error:
        line.merge("two", tip)
    assert "git fsck" in error.value.hint
    assert line.read_head == line.head


def test_a_full_disk_is_reported_and_the_branch_stays(line: MergedBranch, page: Page) -> None:
    one, two = (line.repository.commit({"page.txt": page((n, "new"))}, line.base) for n in (1, 18))
    line.merge("one", one)
    with _no_room(), pytest.raises(WorldError, match="two could not be merged"):
        line.merge("two", two)
    assert line.read_head == line.head
    assert isinstance(line.merge("two", two), MergeDone)


@contextmanager
def _no_room() -> Iterator[None]:
    """No file can be written by any process that is started meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_lock_that_a_killed_git_left_is_removed(line: MergedBranch) -> None:
    one = line.repository.commit({"one.txt": "1\n"}, line.base)
    lock = line.repository.git_dir / "refs" / "heads" / f"{line.branch}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (time.time() - 120,) * 2)
    assert isinstance(line.merge("one", one), MergeDone)
    assert not lock.exists()


def test_a_missing_repository_is_reported(line: MergedBranch, tmp_path: Path) -> None:
    tip = line.repository.commit({"one.txt": "1\n"}, line.base)
    line.repository.top.rename(tmp_path / "away")
    with pytest.raises(WorldError, match="one could not be merged"):
        line.merge("one", tip)
    (tmp_path / "away").rename(line.repository.top)


def test_every_batch_id_has_a_valid_branch_name(repository: GitRepository) -> None:
    base = repository.commit({"a.txt": "a\n"})
    line = MergedBranch(repository, base, "Ünïcode .. ~^:\n\\ lock.lock")
    tip = repository.commit({"b.txt": "b\n"}, base)
    result = line.merge("Täsk\nPlait-Batch: forged", tip)
    assert isinstance(result, MergeDone)
    assert line.read_head == result.commit
    line.head = base
    assert line.merge("Täsk\nPlait-Batch: forged", tip) == result
    line.changes = line.changes[:1]
    assert line.rebuild(line.make_rebuild()).line[0].commit == result.commit
