"""What a reviewer is told about the files that merged tasks changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.client.merged_changes import (
    ChangedFiles,
    MergedChange,
    MergeOnBranch,
    describe_merges,
    is_source_file,
    is_test_file,
)
from plait.core.errors import WorldError
from plait.git.location import RepoLocation
from tests.support.git_repository import GitRepository

TESTS = [
    "tests/a.py",
    "test_a.py",
    "a_test.go",
    "a.test.ts",
    "a.spec.tsx",
    "FooTest.java",
    "FooTests.cs",
    "foo_spec.rb",
    "pkg/__tests__/a.js",
    "conftest.py",
    "src/test/java/A.java",
    "test-helper.js",
]
OTHERS = [
    "a.py",
    "latest.py",
    "contest.py",
    "src/testament.py",
    "attest.go",
    "Makefile",
    "docs/testing.md",
    "protest.txt",
]


@pytest.mark.parametrize("name", TESTS)
def test_a_test_file_is_recognised(name: str) -> None:
    assert is_test_file(name)
    assert not is_source_file(name)


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_no_tests(name: str) -> None:
    assert not is_test_file(name)
    assert is_source_file(name) is name.endswith((".py", ".go"))


def describe(files: Sequence[str], *touches: str, tested: bool = True) -> MergedChange:
    merge = MergeOnBranch("a", "c1", "c0", touches)
    return describe_merges("7f3a", [merge], {"c1": files}, tested=tested).tasks[0]


def test_source_without_tests_is_named_only_where_there_are_tests() -> None:
    assert describe(["a.py"]).without_tests
    assert not describe(["a.py"], tested=False).without_tests
    assert not describe(["a.py", "tests/test_a.py"]).without_tests
    assert not describe(["README.md"]).without_tests
    merges = [MergeOnBranch(name, name, "", ()) for name in ("a", "b")]
    found = describe_merges("7f3a", merges, {"a": ["a.py", "b.py"], "b": ["test_b.py", "b.py"]}, tested=False)
    assert ([task.without_tests for task in found.tasks], found.files) == ([True, False], 3)


@pytest.mark.parametrize(
    ("touches", "undeclared"),
    [
        ((), []),
        (("src",), ["docs/x.md"]),
        (("./src/", "docs/x.md"), []),
        (("src/a.py",), ["src/sub/b.py", "docs/x.md"]),
        (("src/**",), ["docs/x.md"]),
        (("src/*", "*/x.md"), []),
        (("sr",), ["src/a.py", "src/sub/b.py", "docs/x.md"]),
        ((".",), []),
        (("../elsewhere",), ["src/a.py", "src/sub/b.py", "docs/x.md"]),
    ],
)
def test_files_beyond_the_declared_ones_are_named(touches: tuple[str, ...], undeclared: list[str]) -> None:
    assert describe(["src/a.py", "src/sub/b.py", "docs/x.md", "tests/t.py"], *touches).undeclared == undeclared


def test_the_changed_files_of_commits_are_read_from_git(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path)
    base = repository.commit({"a.py": "1", "test_a.py": "1"})
    one = repository.commit({"a.py": "2", "b c.py": "1"}, base)
    same = repository.commit({}, one)
    two = repository.commit({"a.py": None}, same)
    merges = [MergeOnBranch(n, c, b, ()) for n, c, b in (("x", one, base), ("y", same, one), ("z", two, same))]
    cache, location = ChangedFiles(), RepoLocation(repository.top, repository.git_dir / "plait", repository=True)
    for merged in (merges[:1], merges, merges):
        found = cache.describe(location, "7f3a", base, merged)
        assert [task.files for task in found.tasks] == [2, 0, 1][: len(merged)]
        assert found.files == 2
        assert [task.without_tests for task in found.tasks] == [True, False, True][: len(merged)]
    with pytest.raises(WorldError, match="no longer in this repository"):
        cache.describe(location, "7f3a", base, [MergeOnBranch("x", "f" * 40, base, ())])
