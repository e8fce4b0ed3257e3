from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import GitRepository


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "repository")


@pytest.fixture
def line(repository: GitRepository) -> Iterator[MergedBranch]:
    """The line of a batch that begins with one file of twenty lines, in a checkout that nobody has touched since."""
    base = repository.commit({"page.txt": page()}, message="base")
    yield MergedBranch(repository, base)
    assert repository.run("fsck", "--no-dangling").returncode == 0


def page(*changes: tuple[int, str]) -> str:
    lines = [f"line {n}\n" for n in range(20)]
    for n, text in changes:
        lines[n] = f"{text}\n"
    return "".join(lines)


@pytest.fixture(name="page")
def _page() -> object:
    return page
