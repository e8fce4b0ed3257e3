"""Which files the merged tasks of a batch changed, and what a reviewer should know about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from plait.client.json_encoding import api_model
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.file_locks import list_uncovered
from plait.core.state import BatchState
from plait.git.command import Git, GitError
from plait.git.location import RepoLocation

MAX_UNDECLARED = 20  # names of one task
_MAX_CACHED_COMMITS = 5_000
_GONE = "the commits of batch {} are no longer in this repository"

_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "testing", "spec", "specs", "e2e"})
_TEST_STEM = re.compile(r"tests?|conftest|(?:tests?|spec)[_.-].*|.*[_.-](?:tests?|spec)|.*[a-z0-9](?:Tests?|Spec)")
_SOURCE_SUFFIX = re.compile(
    r"\.(?:c|cc|cpp|cs|css|cu|cxx|dart|erl|ex|exs|fs|go|h|hpp|hs|java|jl|jsx?|kt|lua|m|ml|mjs|php|pl|pyi?|r|rb|rs|scala|scss|sh|sql"
    r"|svelte|swift|tsx?|vue|zig)",
    re.IGNORECASE,
)


@api_model
class MergedChange:
    """The change of a merged task. `withoutTests`: it changes source files and no tests, though the repository or
    another task has some. `undeclared` are files besides tests that it changes but didn't declare, if it declares any;
    `more`: how many names are left out.
    """

    task_id: str
    files: int
    without_tests: bool
    undeclared: list[str]
    more: int


@api_model
class MergedChanges:
    """The changes of a batch's merged tasks. `files`: the number of different files that they change."""

    batch_id: str
    files: int
    tasks: list[MergedChange]


@dataclass(frozen=True, slots=True)
class MergeOnBranch:
    """A commit of a batch branch, the one before it, and what its task declares."""

    task: str
    commit: str
    before: str
    touches: tuple[str, ...]


def list_merges(batch: BatchState) -> tuple[MergeOnBranch, ...]:
    found, before = [], batch.base
    for entry in batch.merges:
        task = batch.tasks[entry.task_index].task
        found.append(MergeOnBranch(task.id, entry.commit, before, task.touches))
        before = entry.commit
    return tuple(found)


class ChangedFiles:
    """The files that commits changed. Git is asked for each commit once."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, ...]] = {}
        self._tested: dict[str, bool] = {}

    def describe(self, location: RepoLocation, batch: str, base: str, merges: Sequence[MergeOnBranch]) -> MergedChanges:
        """Describe the changes; raises WorldError if git no longer has the commits."""
        git = Git(location.git_dir, variables={"GIT_DIR": str(location.git_dir)})
        known = self._files
        missing = [merge for merge in merges if merge.commit not in known]
        try:
            new = read_changed_files(git, missing) if missing else {}
            if merges and base not in self._tested:
                names = git.run("ls-tree", "-r", "-z", "--name-only", base).fields
                self._tested[base] = any(map(is_test_file, names))
        except GitError as error:
            raise WorldError(_GONE.format(batch)) from error
        if len(new) < len(missing):
            raise WorldError(_GONE.format(batch))
        files = {merge.commit: new.get(merge.commit) or known.get(merge.commit, ()) for merge in merges}
        self._files = {**known, **new} if len(known) < _MAX_CACHED_COMMITS else files
        return describe_merges(batch, merges, files, tested=self._tested.get(base, False))


def read_changed_files(git: Git, merges: Sequence[MergeOnBranch]) -> dict[str, tuple[str, ...]]:
    """Return the files that each merge changed, by its commit. Commits that don't exist are left out."""
    pairs = "".join(f"{merge.commit} {merge.before}\n" for merge in merges).encode()
    args = ("diff-tree", "--stdin", "--always", "-r", "-z", "--no-renames", "--name-only")
    found: dict[str, list[str]] = {}
    files: list[str] = []
    # git answers in this order, each after the name of its commit
    waiting = [merge.commit for merge in reversed(merges)]
    for name in git.run(*args, stdin=pairs).fields:
        if waiting and name == waiting[-1]:
            files = found[waiting.pop()] = []
        else:
            files.append(name)
    return {commit: tuple(names) for commit, names in found.items()}


def describe_merges(
    batch: str, merges: Sequence[MergeOnBranch], files: Mapping[str, Sequence[str]], *, tested: bool
) -> MergedChanges:
    """Describe the changes. `files`: by commit; `tested`: the repository has tests."""
    tested = tested or any(any(map(is_test_file, files[merge.commit])) for merge in merges)
    tasks = [_describe_merge(merge, files[merge.commit], tested=tested) for merge in merges]
    return MergedChanges(batch, len({name for merge in merges for name in files[merge.commit]}), tasks)


def _describe_merge(merge: MergeOnBranch, files: Sequence[str], *, tested: bool) -> MergedChange:
    untested = tested and any(map(is_source_file, files)) and not any(map(is_test_file, files))
    undeclared = [*_list_undeclared(merge.touches, files)]
    return MergedChange(merge.task, len(files), untested, undeclared[:MAX_UNDECLARED], len(undeclared[MAX_UNDECLARED:]))


def _list_undeclared(touches: Sequence[str], files: Iterable[str]) -> Iterable[str]:
    """List the files that a task changed but didn't declare. Tests need not be declared."""
    return list_uncovered(touches, (name for name in files if not is_test_file(name))) if touches else ()


def is_test_file(name: str) -> bool:
    path = PurePosixPath(name)
    return not _TEST_FOLDERS.isdisjoint(path.parts[:-1]) or _TEST_STEM.fullmatch(path.stem) is not None


def is_source_file(name: str) -> bool:
    return _SOURCE_SUFFIX.fullmatch(PurePosixPath(name).suffix) is not None and not is_test_file(name)
