"""Whatever two sides do to files comes out as `git merge` in a checkout has it."""

from __future__ import annotations

import pytest

from plait.core.reports import MergeConflicted, MergeDone
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import ExecutableFile, Files, GitRepository, Symlink

LONG = "".join(f"line {n}\n" for n in range(30))
SHORT = LONG.replace("line 3\n", "changed\n")
LAST = LONG.replace("line 29\n", "the end\n")
BINARY = bytes(range(256))

BASE: Files = {
    "file.txt": LONG,
    "dir/a.txt": LONG,
    "dir/b.txt": LONG.replace("line", "row"),
    "run.sh": ExecutableFile("#!/bin/sh\n"),
    "link": Symlink("file.txt"),
    "blob.bin": BINARY,
    "Case.txt": "case\n",
}
CLEAN: dict[str, tuple[Files, Files]] = {
    "both edit, far apart": ({"file.txt": SHORT}, {"file.txt": LAST}),
    "both do the same": ({"file.txt": SHORT}, {"file.txt": SHORT}),
    "one renames, the other edits": ({"file.txt": None, "new/name.txt": LONG}, {"file.txt": SHORT}),
    "the other renames": ({"file.txt": SHORT}, {"file.txt": None, "name.txt": LAST}),
    "one makes it run, the other edits": ({"file.txt": ExecutableFile(LONG)}, {"file.txt": SHORT}),
    "a script becomes plain": ({"run.sh": "#!/bin/sh\n"}, {"file.txt": SHORT}),
    "one turns a link": ({"link": Symlink("dir")}, {"file.txt": SHORT}),
    "one replaces a link by a file": ({"link": "plain\n"}, {"file.txt": SHORT}),
    "one replaces a binary": ({"blob.bin": BINARY + b"!"}, {"file.txt": SHORT}),
    "one removes a folder": ({"dir": None}, {"file.txt": SHORT}),
    "a file becomes a folder": ({"file.txt": None, "file.txt/x": "x\n"}, {"dir/a.txt": SHORT}),
    "a name in another case": ({"Case.txt": None, "case.txt": "case\n"}, {"file.txt": SHORT}),
    "both add the same": ({"n.txt": "n\n"}, {"n.txt": "n\n"}),
    "names nobody expects": ({"ein Leerzeichen/ü\n\t\"'.txt": "x\n"}, {"-rf": "y\n", "dir/:(top)": "z\n"}),
}
CONFLICTS: dict[str, tuple[Files, Files, str]] = {
    "both edit one line": ({"file.txt": SHORT}, {"file.txt": SHORT.replace("changed", "other")}, "file.txt"),
    "one removes, the other edits": ({"file.txt": None}, {"file.txt": SHORT}, "file.txt"),
    "one edits, the other removes": ({"file.txt": SHORT}, {"file.txt": None}, "file.txt"),
    "both replace a binary": ({"blob.bin": BINARY + b"!"}, {"blob.bin": BINARY + b"?"}, "blob.bin"),
    "both turn a link": ({"link": Symlink("dir")}, {"link": Symlink("run.sh")}, "link"),
    "both add, differently": ({"n.txt": "n\n"}, {"n.txt": "other\n"}, "n.txt"),
    "a file here, a folder there": ({"x": "file\n"}, {"x/y": "in it\n"}, "x"),
    "two names for one": ({"file.txt": None, "l": LONG}, {"file.txt": None, "r": LONG}, "file.txt"),
    "a file into a folder that moved": (
        {"dir": None, "away/a.txt": LONG, "away/b.txt": LONG.replace("line", "row")},
        {"dir/new.txt": "new\n"},
        "new.txt",
    ),
}


def _sides(repository: GitRepository, one: Files, two: Files) -> tuple[MergedBranch, str, str]:
    base = repository.commit(BASE)
    return MergedBranch(repository, base), repository.commit(one, base), repository.commit(two, base)


@pytest.mark.parametrize("kind", CLEAN)
def test_merges_equal_those_of_git(repository: GitRepository, kind: str) -> None:
    line, one, two = _sides(repository, *CLEAN[kind])
    line.merge("one", one)
    onto = line.head
    assert isinstance(line.merge("two", two), MergeDone)
    assert repository.tree(line.read_head) == repository.merge_tree(onto, two)


@pytest.mark.parametrize("kind", CONFLICTS)
def test_what_git_refuses_is_a_conflict(repository: GitRepository, kind: str) -> None:
    *files, named = CONFLICTS[kind]
    line, one, two = _sides(repository, *files)
    line.merge("one", one)
    onto = line.head
    done = line.merge("two", two)
    assert isinstance(done, MergeConflicted)
    assert any(named in path for path in done.files)
    assert repository.merge_tree(onto, two) is None


def _submodule(repository: GitRepository, base: str, commit: str) -> str:
    repository.git("checkout", "-q", "-f", "--detach", base)
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    repository.git("commit", "-q", "-m", "submodule")
    return repository.git("rev-parse", "HEAD")


def test_a_submodule_moved_on_one_side_is_merged(repository: GitRepository) -> None:
    first = repository.commit(BASE)
    old, new = (repository.git("commit-tree", f"{first}^{{tree}}", "-m", name) for name in ("old", "new"))
    base = _submodule(repository, first, old)
    line = MergedBranch(repository, base)
    line.merge("one", _submodule(repository, base, new))
    line.merge("two", repository.commit({"file.txt": SHORT}, first), first)
    assert new in repository.git("ls-tree", line.read_head, "sub")


def test_a_submodule_moved_on_both_sides_is_a_conflict(repository: GitRepository) -> None:
    first = repository.commit(BASE)
    old, *new = (repository.git("commit-tree", f"{first}^{{tree}}", "-m", name) for name in "abc")
    base = _submodule(repository, first, old)
    line = MergedBranch(repository, base)
    one, two = (_submodule(repository, base, commit) for commit in new)
    line.merge("one", one)
    assert line.merge("two", two) == MergeConflicted("7f3a", "two", 1, ("sub",))


def test_merging_works_with_sha256_ids(tmp_path_factory: pytest.TempPathFactory) -> None:
    repository = GitRepository(tmp_path_factory.mktemp("long") / "r", "--object-format=sha256")
    line, one, two = _sides(repository, {"file.txt": SHORT, ".gitattributes": "*.md binary\n"}, {"file.txt": LAST})
    line.merge("one", one)
    onto = line.head
    line.merge("two", two)
    assert repository.tree(line.read_head) == repository.merge_tree(onto, two)
    line.rebuild(line.make_rebuild("one"))
    assert repository.tree(line.read_head) == repository.tree(two)


def test_merging_works_in_a_shallow_clone(repository: GitRepository, tmp_path_factory: pytest.TempPathFactory) -> None:
    repository.commit({"old.txt": "old\n"})
    repository.commit(BASE)
    top = tmp_path_factory.mktemp("shallow") / "r"
    repository.git("clone", "-q", "--depth=1", f"file://{repository.top}", str(top))
    clone = GitRepository(top)
    base = clone.git("rev-parse", "HEAD")
    clone.git("config", "user.name", "Somebody")
    clone.git("config", "user.email", "somebody@example.org")
    line = MergedBranch(clone, base)
    one, two = (clone.commit({"file.txt": text}, base) for text in (SHORT, LAST))
    line.merge("one", one)
    line.merge("two", two)
    line.rebuild(line.make_rebuild("one"))
    assert clone.tree(line.read_head) == clone.tree(two)


def test_a_partial_clone_fetches_missing_objects(
    repository: GitRepository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = repository.commit(BASE)
    two = repository.commit({"file.txt": LAST}, base)
    repository.git("branch", "two", two)
    repository.git("checkout", "-q", "-B", "trunk", base)
    repository.git("config", "uploadpack.allowFilter", "true")
    top = tmp_path_factory.mktemp("partial") / "r"
    repository.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repository.top}", str(top))
    clone = GitRepository(top)
    tree = clone.git("ls-tree", base).replace(
        repository.git("rev-parse", f"{base}:file.txt"),
        clone.git("hash-object", "-w", "--stdin", feed=SHORT),
    )
    one = clone.git(
        "-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-p", base, "-m", "one",
        clone.git("mktree", "--missing", feed=f"{tree}\n"),
    )  # fmt: skip
    line = MergedBranch(clone, base)
    line.merge("one", one)
    assert isinstance(line.merge("two", two), MergeDone)
    assert clone.files(line.read_head)["file.txt"] == SHORT.replace("line 29\n", "the end\n")
