"""The difference that a comparison comes to: which files, by how much, and the text of it, however long it is."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from plait.client.diff__comparison import DiffRange
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.location import RepoLocation

DIFF_CHUNK_BYTES = 64 << 10  # bytes
# As git's plumbing tells it: no program of anybody's settings has a say in it.
_DIFF_OPTIONS = ("-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color")


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file. `before` is the name it had, if it had another; lines of binary files are not counted."""

    path: str
    plus: int
    minus: int
    binary: bool = False
    before: str = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """`base` and `tip` are commits; `tip` is empty where the files of a workspace are compared."""

    label: str
    base: str
    tip: str
    files: tuple[FileDiff, ...]
    _open: Callable[[], BinaryIO]

    @property
    def plus(self) -> int:
        return sum(file.plus for file in self.files)

    @property
    def minus(self) -> int:
        return sum(file.minus for file in self.files)

    def read_text(self) -> Iterator[bytes]:
        """As `git diff` tells it, in pieces; what files hold is in it byte for byte."""
        with self._open() as file:
            while piece := file.read(DIFF_CHUNK_BYTES):
                yield piece


@contextmanager
def compute_diff(place: RepoLocation, range_: DiffRange) -> Iterator[Diff]:
    """Its text can be read as long as this is open. Nothing in the repository or in a workspace is touched."""
    common = place.state.parent
    if not place.repository:
        raise WorldError(f"{place.top} is no repository: there is nothing to compare")
    with TemporaryDirectory(prefix="plait-diff-") as scratch:
        room = Path(scratch)
        if range_.workspace:
            git, tree = _snapshot_workspace(common, Path(range_.workspace), room)
            base, tip = _resolve_commit(git, range_.base, range_.label), ""
        else:
            git = _open_git(common)
            base = _resolve_commit(git, range_.base, range_.label)
            tip = tree = _resolve_commit(git, range_.tip, range_.label)
        told = git.run("diff-tree", *_DIFF_OPTIONS, "--numstat", "-z", base, tree).out
        write = partial(_write_patch, git, base, tree, room / "difference")
        yield Diff(range_.label, base, tip, tuple(_parse_numstat(told)), write)


def _write_patch(git: Git, base: str, tree: str, path: Path) -> BinaryIO:
    """By way of a file: it may be longer than memory is large."""
    git.run("diff-tree", *_DIFF_OPTIONS, "--patch", f"--output={path}", base, tree)
    return path.open("rb")


def _open_git(common: Path) -> Git:
    return Git(common, variables={"GIT_DIR": str(common)})


def _resolve_commit(git: Git, name: str, label: str) -> str:
    if not name:
        raise WorldError(f"nobody noted where {label} began: there is nothing to compare")
    said = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", codes=(0, 1))
    if said.code:
        raise WorldError(
            f"what {label} made is not in this repository (any more)",
            hint="`plait gc --list` shows what was saved; an attempt that changed nothing leaves nothing.",
        )
    return said.text


def _snapshot_workspace(common: Path, workspace: Path, scratch: Path) -> tuple[Git, str]:
    """A workspace's files as a tree, by an index and in objects that are nobody else's."""
    private = _find_private_gitdir(common, workspace)
    objects = scratch / "objects"
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_text(f"{common / 'objects'}\n", "utf-8", "surrogateescape")
    with suppress(FileNotFoundError):  # with its times: git tells by them which files to look into
        shutil.copy2(private / "index", scratch / "index")
    git = Git(
        workspace,
        variables={
            "GIT_DIR": str(private),
            "GIT_WORK_TREE": str(workspace),
            "GIT_INDEX_FILE": str(scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(objects),
        },
        settings=("core.safecrlf=false", "advice.addEmbeddedRepo=false"),
    )
    _add_files(git, workspace)
    return git, git.text("write-tree")


def _add_files(git: Git, workspace: Path) -> None:
    """Somebody is at work there: a file that comes and goes meanwhile costs no more than itself."""
    try:
        git.run("add", "--all", "--ignore-errors", codes=(0, 1))
    except GitError as error:
        try:
            git.run("add", "--update", "--ignore-errors", codes=(0, 1))
        except GitError:
            raise WorldError(
                f"the files in {workspace} can't be read now: {error.message}", hint="Try again in a moment."
            ) from error


def _find_private_gitdir(common: Path, workspace: Path) -> Path:
    """The worktree's own git folder. Without it, git would look for a repository in the folders above."""
    try:
        word, _, said = (workspace / ".git").read_text("utf-8", "surrogateescape").partition(":")
        private = (workspace / said.strip()).resolve()
        if word == "gitdir" and private.parent == (common / "worktrees").resolve():
            return private
    except OSError:
        pass
    raise WorldError(
        f"the workspace {workspace} is gone, or is no worktree any more: there is nothing to compare"
    )


def _parse_numstat(told: bytes) -> Iterator[FileDiff]:
    """`--numstat -z`: a renamed file has its two names after an empty one."""
    words = told.decode("utf-8", "surrogateescape").split("\0")
    at = 0
    while at < len(words) - 1:
        plus, minus, path = words[at].split("\t", 2)
        names = [path] if path else words[at + 1 : at + 3]
        at += 1 if path else 3
        yield _make_file_diff(plus, minus, names)


def _make_file_diff(plus: str, minus: str, names: Sequence[str]) -> FileDiff:
    before = names[0] if len(names) > 1 else ""
    if plus == "-":
        return FileDiff(names[-1], 0, 0, binary=True, before=before)
    return FileDiff(names[-1], int(plus), int(minus), before=before)
