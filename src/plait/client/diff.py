"""The change of a task, an attempt or a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from plait.client.batch_lookup import choose_attempt, format_attempt_label
from plait.client.history import PastAttempt
from plait.client.json_encoding import api_model, fill_model
from plait.core.decisions import Change
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Isolation
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.git.merge.conflict_view import apply_change
from plait.git.refs import attempt_ref
from plait.runtime.attempt_files import snapshot_workspace
from plait.store.batch_secrets import ContentRedactor


@dataclass(frozen=True, slots=True)
class DiffRange:
    """From `base` to `tip`, both revisions; or from `base` to the files in `workspace`. `label` names it for people.

    `since`: only what is different from this earlier change, even if that has another base.
    """

    label: str
    base: str
    tip: str = ""
    workspace: str = ""
    attempt: Attempt | None = None
    since: DiffRange | None = None


def find_batch_range(batch: BatchState) -> DiffRange:
    """Everything on the batch branch since its base."""
    _refuse_in_place(batch)
    if not batch.merges:
        raise WorldError(
            f"nothing is merged in batch {batch.id} yet: nothing to compare",
            hint=f"See its progress with `plait status {batch.id}`, or name a task to see its change.",
        )
    return DiffRange(f"batch {batch.id}", batch.base, batch.head)


def find_task_range(state: State, batch: BatchState, task: TaskState) -> DiffRange:
    """What was merged, or else the change of the newest attempt."""
    _refuse_in_place(batch)
    last = task.last_write
    if task.is_merged:
        change = batch.merges[task.merge_position].change
        return DiffRange(task.task.id, change.base, change.tip, attempt=last.name if last is not None else None)
    name = choose_attempt(state, batch, task, Step.WRITE, None)
    if last is None or last.name in task.alive:
        return _find_running_range(task, name)
    tip = last.outcome.tip if last.outcome else None
    return DiffRange(_format_label(name), last.decision.base, tip or attempt_ref(name), "", name)


def find_attempt_range(
    state: State, batch: BatchState, task: TaskState, n: int, past: Callable[[], Iterable[PastAttempt]]
) -> DiffRange:
    """The change of one attempt; `past` knows the base of older ones, which the state forgets."""
    _refuse_in_place(batch)
    attempt = choose_attempt(state, batch, task, Step.WRITE, n)
    if attempt in task.alive:
        return _find_running_range(task, attempt)
    past_attempt = next((candidate for candidate in past() if candidate.attempt == attempt), None)
    tip = past_attempt.outcome.tip if past_attempt is not None and past_attempt.outcome is not None else None
    base = past_attempt.base if past_attempt is not None else ""
    return DiffRange(_format_label(attempt), base, tip or attempt_ref(attempt), "", attempt)


def find_range_since(
    state: State,
    batch: BatchState,
    task: TaskState,
    attempts: tuple[int, int],
    past: Callable[[], Iterable[PastAttempt]],
) -> DiffRange:
    """What the second of these attempts changed differently from the first."""
    since, n = attempts
    if since >= n:
        raise UserError(f"attempt {since} is not before attempt {n}", hint="Compare an attempt with an earlier one.")
    before, now = (find_attempt_range(state, batch, task, each, past) for each in attempts)
    if before.workspace:
        raise WorldError(f"{before.label} is still running: nothing to compare with")
    return replace(now, label=f"{now.label} since attempt {since}", since=before)


def _find_running_range(task: TaskState, attempt: Attempt) -> DiffRange:
    running = task.alive[attempt]
    if not running.workspace:
        raise WorldError(f"{_format_label(attempt)} is being prepared: nothing to compare yet")
    return DiffRange(_format_label(attempt), running.decision.base, "", running.workspace, attempt)


def _format_label(attempt: Attempt) -> str:
    return f"{attempt.task} {format_attempt_label(attempt)}"


def _refuse_in_place(batch: BatchState) -> None:
    if batch.settings.isolation is Isolation.IN_PLACE:
        raise WorldError(
            f"the tasks of batch {batch.id} work in the checkout itself: nothing to compare",
            hint="`git diff` shows the changes since the last commit.",
        )


DIFF_CHUNK_BYTES = 64 << 10
MAX_JSON_DIFF_BYTES = 16 << 20  # more is available as text

# No program from git's settings is run.
_DIFF_OPTIONS = ("-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color")


@api_model
class ChangedFile:
    """`before` is its former name if it was renamed; lines of binary files are not counted."""

    path: str
    before: str | None
    plus: int
    minus: int
    binary: bool


@api_model
class DiffSummary:
    """A diff without its text. `tip` null: the files of a workspace as they are now. `since`: the earlier attempt that it is
    compared with; `base` is its tree then.
    """

    batch_id: str
    task_id: str | None
    attempt: int | None
    since: int | None
    base: str
    tip: str | None
    plus: int
    minus: int
    files: list[ChangedFile]


@api_model
class FullDiff(DiffSummary):
    """`cut`: the diff is longer; format=text has all of it. `tip` null: files that are being written."""

    diff: str
    cut: bool


@dataclass(frozen=True, slots=True)
class Diff:
    """`base` and `tip` are commits; `tip` is empty where the files of a workspace are compared."""

    label: str
    base: str
    tip: str
    files: tuple[ChangedFile, ...]
    _open: Callable[[], BinaryIO]

    @property
    def plus(self) -> int:
        return sum(file.plus for file in self.files)

    @property
    def minus(self) -> int:
        return sum(file.minus for file in self.files)

    def read_text(self) -> Iterator[bytes]:
        """The output of `git diff` in pieces, byte for byte."""
        with self._open() as file:
            while chunk := file.read(DIFF_CHUNK_BYTES):
                yield chunk


@contextmanager
def compute_diff(location: RepoLocation, range_: DiffRange) -> Iterator[Diff]:
    """Its text can be read while this is open. Neither the repository nor a workspace is changed."""
    common = location.state.parent
    if not location.repository:
        raise WorldError(f"{location.top} isn't a git repository: nothing to compare")
    with TemporaryDirectory(prefix="plait-diff-") as scratch:
        folder = Path(scratch)
        if range_.workspace:
            git, tree = snapshot_workspace(common, Path(range_.workspace), folder)
            base, tip = _resolve_commit(git, range_.base, range_.label), ""
        else:
            git = Git(common, variables={"GIT_DIR": str(common)})
            base = _resolve_commit(git, range_.base, range_.label)
            tip = tree = _resolve_commit(git, range_.tip, range_.label)
        if range_.since is not None:
            git, base = _find_earlier_tree(git, common, range_, base, folder)
        numstat = git.run("diff-tree", *_DIFF_OPTIONS, "--numstat", "-z", base, tree).out
        write = partial(_write_patch, git, base, tree, folder / "difference")
        yield Diff(range_.label, base, tip, tuple(_parse_numstat(numstat)), write)


def _find_earlier_tree(git: Git, common: Path, range_: DiffRange, base: str, scratch: Path) -> tuple[Git, str]:
    """What the later change is compared with: the earlier one, on the base of the later one if that is possible."""
    assert range_.since is not None
    since = range_.since
    earlier = _resolve_commit(git, since.tip, since.label)
    earlier_base = _resolve_commit(git, since.base, since.label)
    if earlier_base == base or range_.workspace:
        return git, earlier
    task = since.attempt.task if since.attempt is not None else ""
    folder = scratch / "earlier"
    folder.mkdir()
    return apply_change(common, Change(task, earlier_base, earlier), base, folder) or (git, earlier)


def _write_patch(git: Git, base: str, tree: str, path: Path) -> BinaryIO:
    """Through a file: the patch may not fit into memory."""
    git.run("diff-tree", *_DIFF_OPTIONS, "--patch", f"--output={path}", base, tree)
    return path.open("rb")


def _resolve_commit(git: Git, name: str, label: str) -> str:
    if not name:
        raise WorldError(f"the base of {label} is unknown: nothing to compare")
    output = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", codes=(0, 1))
    if output.code:
        raise WorldError(
            f"the commits of {label} are no longer in this repository",
            hint="`plait gc --list` shows what was saved; an attempt without changes leaves nothing.",
        )
    return output.text


def _parse_numstat(output: bytes) -> Iterator[ChangedFile]:
    """Parse `--numstat -z`: a renamed file has an empty name, followed by both names."""
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    index = 0
    while index < len(fields) - 1:
        plus, minus, path = fields[index].split("\t", 2)
        before, name = (None, path) if path else fields[index + 1 : index + 3]
        index += 1 if path else 3
        binary = plus == "-"
        yield ChangedFile(name, before, 0 if binary else int(plus), 0 if binary else int(minus), binary)


def describe_diff(batch: str, range_: DiffRange, diff: Diff) -> DiffSummary:
    attempt, since = range_.attempt, range_.since
    return fill_model(
        DiffSummary,
        diff,
        batch_id=batch,
        task_id=attempt.task if attempt else None,
        attempt=attempt.n if attempt else None,
        since=since.attempt.n if since is not None and since.attempt is not None else None,
        tip=diff.tip or None,
    )


def describe_full_diff(batch: str, range_: DiffRange, diff: Diff, redactor: ContentRedactor | None = None) -> FullDiff:
    summary = describe_diff(batch, range_, diff)
    text = bytearray()
    for chunk in diff.read_text() if redactor is None else redactor.redact_diff(diff.read_text()):
        text += chunk
        if len(text) > MAX_JSON_DIFF_BYTES:
            break
    cut = len(text) > MAX_JSON_DIFF_BYTES
    shown = text[:MAX_JSON_DIFF_BYTES].decode("utf-8", "replace")
    return fill_model(FullDiff, summary, diff=shown, cut=cut)
