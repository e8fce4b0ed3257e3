from __future__ import annotations

from collections.abc import Mapping

import pytest

from plait.core.errors import WorldError
from plait.core.reports import MergeConflicted, MergeDone
from plait.git.interfaces import MergeRules
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import GitRepository

RULES = MergeRules(regenerate=(("*.lock", "relock"), ("gen/*", "generate")))


class Maker:
    """Makes each file anew from what the checkout would hold, and remembers what it was asked for."""

    def __init__(self, repository: GitRepository) -> None:
        self._repository = repository
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.seen: list[dict[str, str]] = []

    def __call__(self, commit: str, command: str, files: tuple[str, ...]) -> Mapping[str, bytes]:
        self.asked.append((command, files))
        self.seen.append(self._repository.files(commit))
        return {path: f"{command} {path} of {self.seen[-1]['needs.txt'].split()}\n".encode() for path in files}


@pytest.fixture
def maker(repository: GitRepository) -> Maker:
    return Maker(repository)


@pytest.fixture
def line(repository: GitRepository, maker: Maker) -> MergedBranch:
    base = repository.commit(
        {
            "needs.txt": "a\n\n\n\n\nz\n",
            "app.lock": "0\n",
            "gen/code": "0\n",
            ".gitattributes": "needs.txt merge=union\n",
        }
    )
    line = MergedBranch(repository, base, regenerate=maker)
    line.blending = RULES
    return line


def test_a_file_in_conflict_is_regenerated_from_the_merged_tree(line: MergedBranch, maker: Maker) -> None:
    one = line.repository.commit({"needs.txt": "a\nb\n\n\n\nz\n", "app.lock": "1\n"}, line.base)
    two = line.repository.commit({"needs.txt": "a\n\n\n\nc\nz\n", "app.lock": "2\n"}, line.base)
    line.merge("one", one)
    assert maker.asked == []
    assert isinstance(line.merge("two", two), MergeDone)
    assert maker.asked == [("relock", ("app.lock",))]
    assert maker.seen[0]["app.lock"] == "1\n"
    assert line.repository.files(line.read_head)["app.lock"] == "relock app.lock of ['a', 'b', 'c', 'z']\n"


def test_a_file_changed_on_both_sides_is_regenerated_even_without_a_conflict(line: MergedBranch, maker: Maker) -> None:
    lines = [f"{n}\n" for n in range(20)]
    base = line.repository.commit({"app.lock": "".join(lines)}, line.base)
    line.base = line.head = base
    one, two = (
        line.repository.commit({"app.lock": "".join([*lines[:n], "x\n", *lines[n + 1 :]])}, base) for n in (1, 18)
    )
    line.merge("one", one)
    line.merge("two", two)
    assert maker.asked == [("relock", ("app.lock",))]


def test_each_command_regenerates_its_own_files(line: MergedBranch, maker: Maker) -> None:
    sides = [{"app.lock": f"{n}\n", "gen/code": f"{n}\n", "sub/b.lock": f"{n}\n"} for n in (1, 2)]
    for n, files in enumerate(sides):
        assert isinstance(line.merge(str(n), line.repository.commit(files, line.base)), MergeDone)
    assert sorted(maker.asked) == [("generate", ("gen/code",)), ("relock", ("app.lock", "sub/b.lock"))]
    assert line.repository.files(line.read_head)["sub/b.lock"].startswith("relock")


def test_with_other_conflicts_nothing_is_regenerated(line: MergedBranch, maker: Maker) -> None:
    one, two = (line.repository.commit({"app.lock": f"{n}\n", "x.txt": f"{n}\n"}, line.base) for n in (1, 2))
    line.merge("1", one)
    assert line.merge("2", two) == MergeConflicted("7f3a", "2", 1, ("x.txt",))
    assert maker.asked == []


def test_a_file_deleted_on_one_side_is_regenerated_without_conflict(line: MergedBranch, maker: Maker) -> None:
    line.merge("one", line.repository.commit({"app.lock": None}, line.base))
    line.merge("two", line.repository.commit({"app.lock": "2\n"}, line.base))
    assert maker.asked == [("relock", ("app.lock",))]
    assert "app.lock" not in maker.seen[0]
    assert line.repository.files(line.read_head)["app.lock"].startswith("relock")


def test_a_failing_command_does_not_move_the_branch(line: MergedBranch) -> None:
    def fails(commit: str, command: str, files: tuple[str, ...]) -> Mapping[str, bytes]:
        raise WorldError(f"{command} failed on {commit[:4] and files[0]}")

    failing = MergedBranch(line.repository, line.base, "failing", regenerate=fails)
    failing.blending = RULES
    failing.merge("one", line.repository.commit({"app.lock": "1\n"}, line.base))
    with pytest.raises(WorldError, match=r"relock failed on app\.lock"):
        failing.merge("two", line.repository.commit({"app.lock": "2\n"}, line.base))
    assert failing.read_head == failing.head
