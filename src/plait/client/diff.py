"""What is compared when somebody asks for the change of a task, of one of its attempts, or of a whole batch.

The difference that a comparison comes to: which files, by how much, and the text of it, however long it is.

A difference as programs see it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from plait.client.history import PastAttempt
from plait.core.errors import UserError, WorldError
from plait.core.explain import explain_in_words
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Isolation
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step
from plait.git.command import Git, GitError
from plait.git.location import RepoLocation
from plait.git.refs import attempt_ref


@dataclass(frozen=True, slots=True)
class DiffRange:
    """`tip` against `base`, both names that git knows; with a `workspace`, what lies in that folder now against `base`.

    `about` says in words what it is the change of.
    """

    label: str
    base: str
    tip: str = ""
    workspace: str = ""
    attempt: Attempt | None = None


def find_batch_range(batch: BatchState) -> DiffRange:
    """Everything that the batch branch has and its base has not."""
    _refuse_in_place(batch)
    if not batch.merges:
        raise WorldError(
            f"nothing has been merged into the branch of batch {batch.id}: there is nothing to compare",
            hint=f"`plait status {batch.id}` shows how far it is; name a task to see its change.",
        )
    return DiffRange(f"batch {batch.id}", batch.base, batch.head)


def find_task_range(state: State, batch: BatchState, task: TaskState) -> DiffRange:
    """What was merged of it, else what its newest attempt makes or has made."""
    _refuse_in_place(batch)
    if task.is_merged:
        change = batch.merges[task.merge_position].change
        return DiffRange(task.task.id, change.base, change.tip, attempt=_find_newest_attempt(task))
    last = task.last_write
    if last is None:
        raise _no_attempt_error(state, batch, task)
    if last.name in task.alive:
        return _find_running_range(task, last.name)
    made = last.outcome.tip if last.outcome else None
    return DiffRange(_format_label(last.name), last.decision.base, made or attempt_ref(last.name), "", last.name)


def find_attempt_range(
    state: State, batch: BatchState, task: TaskState, n: int, past: Callable[[], Iterable[PastAttempt]]
) -> DiffRange:
    """What one attempt made; the state has forgotten where older ones began, their `past` has not."""
    _refuse_in_place(batch)
    newest = task.attempt_counts.get(Step.WRITE, 0)
    if not newest:
        raise _no_attempt_error(state, batch, task)
    if not 1 <= n <= newest:
        made = "one" if newest == 1 else f"{newest}"
        raise UserError(f"{task.task.id} has no attempt {n} to write", hint=f"It has made {made}.")
    attempt = Attempt(batch.id, task.task.id, Step.WRITE, n)
    if attempt in task.alive:
        return _find_running_range(task, attempt)
    known = next((each for each in past() if each.attempt == attempt), None)
    tip = known.outcome.tip if known is not None and known.outcome is not None else None
    base = known.base if known is not None else ""
    return DiffRange(_format_label(attempt), base, tip or attempt_ref(attempt), "", attempt)


def _find_running_range(task: TaskState, attempt: Attempt) -> DiffRange:
    at_work = task.alive[attempt]
    if not at_work.workspace:
        raise WorldError(f"{_format_label(attempt)} is being prepared: there is nothing to compare yet")
    return DiffRange(_format_label(attempt), at_work.decision.base, "", at_work.workspace, attempt)


def _find_newest_attempt(task: TaskState) -> Attempt | None:
    return task.last_write.name if task.last_write is not None else None


def _format_label(attempt: Attempt) -> str:
    return f"{attempt.task} {attempt.step.value}-{attempt.n}"


def _no_attempt_error(state: State, batch: BatchState, task: TaskState) -> WorldError:
    return WorldError(
        f"{task.task.id} has made no attempt to write yet: there is nothing to compare",
        hint=f"{explain_in_words(state, batch, task)}.",
    )


def _refuse_in_place(batch: BatchState) -> None:
    if batch.settings.isolation is Isolation.IN_PLACE:
        raise WorldError(
            f"the tasks of batch {batch.id} work in the checkout itself: there is nothing to compare",
            hint="`git diff` shows what has changed there since the last commit, whoever did it.",
        )


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
    raise WorldError(f"the workspace {workspace} is gone, or is no worktree any more: there is nothing to compare")


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


MAX_JSON_DIFF_BYTES = 16 << 20  # bytes of text; a program that wants more asks for the text alone


def diff_json(batch: str, attempt: Attempt | None, found: Diff, *, brief: bool) -> dict[str, object]:
    told: dict[str, object] = {
        "batchId": batch,
        "taskId": attempt.task if attempt else None,
        "attempt": attempt.n if attempt else None,
        "base": found.base,
        "tip": found.tip or None,
        "plus": found.plus,
        "minus": found.minus,
        "files": [
            {
                "path": file.path,
                "before": file.before or None,
                "plus": file.plus,
                "minus": file.minus,
                "binary": file.binary,
            }
            for file in found.files
        ],
    }
    return told if brief else told | _diff_text_json(found)


def _diff_text_json(found: Diff) -> dict[str, object]:
    said = bytearray()
    for piece in found.read_text():
        said += piece
        if len(said) > MAX_JSON_DIFF_BYTES:
            break
    return {
        "diff": said[:MAX_JSON_DIFF_BYTES].decode("utf-8", "replace"),
        "cut": len(said) > MAX_JSON_DIFF_BYTES,
    }
