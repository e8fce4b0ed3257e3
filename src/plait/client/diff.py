"""The change of a task, an attempt or a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from plait.client.batch_lookup import choose_attempt, format_attempt_label
from plait.client.history import BatchHistory, PastAttempt, PastResolution
from plait.client.json_encoding import api_model, fill_model
from plait.client.merged_changes import MergeOnBranch, list_merges, read_changed_files
from plait.core.decisions import Change
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.settings import ExecutorKind, Isolation
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.git.merge.conflict_view import apply_change
from plait.git.refs import attempt_ref
from plait.store.batch_secrets import ContentRedactor


@dataclass(frozen=True, slots=True)
class DiffRange:
    """What to compare: from `base` to `tip`, both revisions; or from `base` to the files in `workspace`. `label` names
    it for people.

    `since`: only what is different from this earlier change, even if that has another base. `resolution`: which of the
    task's conflict resolutions it is. `merges`: those of a batch, if it is the whole batch.
    """

    label: str
    base: str
    tip: str = ""
    workspace: str = ""
    attempt: Attempt | None = None
    since: DiffRange | None = None
    resolution: int | None = None
    merges: tuple[MergeOnBranch, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffSelection:
    """Whose change to show: an attempt's, only what is different `since` an earlier one, or a resolution's; by default, the
    task's.
    """

    attempt: int | None = None
    since: int | None = None
    resolution: int | None = None


def choose_task_range(
    state: State, batch: BatchState, task: TaskState, which: DiffSelection, read_history: Callable[[], BatchHistory]
) -> DiffRange:
    """Return the requested range; `read_history` reads the batch's history, which knows what the state forgets."""
    name = task.task.id
    if which.resolution is not None:
        return find_resolution_range(task, which.resolution, read_history().list_resolutions(name))
    if which.attempt is None and which.since is None:
        return find_task_range(state, batch, task)
    n = which.attempt or task.attempt_counts.get(Step.WRITE, 0)

    def list_attempts() -> Sequence[PastAttempt]:
        return read_history().list_attempts(name)

    if which.since is None:
        return find_attempt_range(state, batch, task, n, list_attempts)
    return find_range_since(state, batch, task, (which.since, n), list_attempts)


def find_batch_range(batch: BatchState) -> DiffRange:
    """Return everything on the batch branch since its base."""
    _refuse_in_place(batch)
    if not batch.merges:
        raise WorldError(
            f"nothing is merged in batch {batch.id} yet: nothing to compare",
            hint=f"See its progress with `plait status {batch.id}`, or name a task to see its change.",
        )
    return DiffRange(f"batch {batch.id}", batch.base, batch.head, merges=list_merges(batch))


def find_task_range(state: State, batch: BatchState, task: TaskState) -> DiffRange:
    """Return what was merged, or else the change of the newest attempt."""
    _refuse_in_place(batch)
    last = task.last_write
    if task.is_merged:
        change = batch.merges[task.merge_position].change
        return DiffRange(task.task.id, change.base, change.tip, attempt=last.name if last is not None else None)
    name = choose_attempt(state, batch, task, Step.WRITE, None)
    if last is None or last.name in task.alive:
        return _find_running_range(batch, task, name)
    tip = last.outcome.tip if last.outcome else None
    return DiffRange(_format_label(name), last.decision.base, tip or attempt_ref(name), "", name)


def find_attempt_range(
    state: State, batch: BatchState, task: TaskState, n: int, past: Callable[[], Iterable[PastAttempt]]
) -> DiffRange:
    """Return the change of one attempt; `past` knows the base of older ones, which the state forgets."""
    _refuse_in_place(batch)
    attempt = choose_attempt(state, batch, task, Step.WRITE, n)
    if attempt in task.alive:
        return _find_running_range(batch, task, attempt)
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
    """Return what the second of these attempts changed differently from the first."""
    since, n = attempts
    if since >= n:
        raise UserError(f"attempt {since} is not before attempt {n}", hint="Compare an attempt with an earlier one.")
    before, now = (find_attempt_range(state, batch, task, each, past) for each in attempts)
    if before.workspace:
        raise WorldError(f"{before.label} is still running: nothing to compare with")
    return replace(now, label=f"{now.label} since attempt {since}", since=before)


def find_resolution_range(task: TaskState, n: int, resolutions: Sequence[PastResolution]) -> DiffRange:
    """Return the task's change as a person resolved its nth conflict, on the branch as it was then."""
    if not 1 <= n <= len(resolutions):
        raise UserError(f"{task.task.id} has no resolution {n}", hint="`plait explain` shows what happened to it.")
    resolved = resolutions[n - 1]
    request = resolved.request
    return DiffRange(
        f"{task.task.id} resolution {n}", request.onto, request.commit, attempt=resolved.attempt, resolution=n
    )


def _find_running_range(batch: BatchState, task: TaskState, attempt: Attempt) -> DiffRange:
    running = task.alive[attempt]
    if batch.settings.executor is not ExecutorKind.LOCAL:
        raise WorldError(
            f"{_format_label(attempt)} runs on a node of the cluster: nothing to compare until it has ended",
            hint="`plait logs` shows its output; --attempt shows an earlier attempt's change.",
        )
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
    """A file that a diff changes. `before` is its former name if it was renamed; lines of binary files are not counted.
    `tasks`: in the diff of a batch, those whose merges changed it, in their order.
    """

    path: str
    before: str | None
    plus: int
    minus: int
    binary: bool
    tasks: list[str]


@api_model
class DiffSummary:
    """A diff without its text. `tip` null: the files of a workspace as they are now. `since`: the earlier attempt that it is
    compared with; `base` is its tree then. `resolution`: it is what a person made of that attempt's change in a conflict.
    """

    batch_id: str
    task_id: str | None
    attempt: int | None
    since: int | None
    resolution: int | None
    base: str
    tip: str | None
    plus: int
    minus: int
    files: list[ChangedFile]


@api_model
class FullDiff(DiffSummary):
    """A diff with its text. `cut`: it is longer; format=text has all of it. `tip` null: files that are being written."""

    diff: str
    cut: bool


@dataclass(frozen=True, slots=True)
class ComparedTrees:
    """Trees to compare: `base` and `tree`, as `git` knows them; `tip` as in Diff. `scratch` is removed with them."""

    git: Git
    base: str
    tree: str
    tip: str
    scratch: Path

    def read_text(self) -> Iterator[bytes]:
        """Yield the output of `git diff` in pieces, from a file, because it may not fit into memory."""
        path = self.scratch / "difference"
        self.git.run("diff-tree", *_DIFF_OPTIONS, "--patch", f"--output={path}", self.base, self.tree)
        return _read_pieces(path)


def _read_pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(DIFF_CHUNK_BYTES):
            yield chunk


@dataclass(frozen=True, slots=True)
class Diff:
    """A diff. `base` and `tip` are commits; `tip` is empty where the files of a workspace are compared."""

    label: str
    base: str
    tip: str
    files: tuple[ChangedFile, ...]
    trees: ComparedTrees

    @property
    def plus(self) -> int:
        return sum(file.plus for file in self.files)

    @property
    def minus(self) -> int:
        return sum(file.minus for file in self.files)


@contextmanager
def open_trees(location: RepoLocation, range_: DiffRange) -> Iterator[ComparedTrees]:
    """Yield the trees, which can be read while this is open. Neither the repository nor a workspace is changed."""
    common = location.state.parent
    if not location.repository:
        raise WorldError(f"{location.top} isn't a git repository: nothing to compare")
    with TemporaryDirectory(prefix="plait-diff-") as scratch:
        folder = Path(scratch)
        if range_.workspace:
            from plait.git.worktrees.capture import snapshot_workspace  # only while its attempt hasn't ended
            from plait.git.worktrees.worktree import Repository

            git, tip = Git(common, variables={"GIT_DIR": str(common)}), ""
            base = _resolve_commit(git, range_.base, range_.label)
            git, tree = snapshot_workspace(Repository(common), Path(range_.workspace), base, folder)
        else:
            git = Git(common, variables={"GIT_DIR": str(common)})
            base = _resolve_commit(git, range_.base, range_.label)
            tip = tree = _resolve_commit(git, range_.tip, range_.label)
        if range_.since is not None:
            git, base = _find_earlier_tree(git, common, range_, base, folder)
        yield ComparedTrees(git, base, tree, tip, folder)


@contextmanager
def compute_diff(location: RepoLocation, range_: DiffRange) -> Iterator[Diff]:
    """Yield the diff, whose text can be read while this is open."""
    with open_trees(location, range_) as trees:
        numstat = trees.git.run("diff-tree", *_DIFF_OPTIONS, "--numstat", "-z", trees.base, trees.tree).out
        tasks = _list_tasks_by_file(trees.git, range_.merges)
        yield Diff(range_.label, trees.base, trees.tip, tuple(_parse_numstat(numstat, tasks)), trees)


def _list_tasks_by_file(git: Git, merges: Sequence[MergeOnBranch]) -> Mapping[str, Sequence[str]]:
    files = read_changed_files(git, merges) if merges else {}
    tasks: dict[str, list[str]] = {}
    for merge in merges:
        for name in files.get(merge.commit, ()):
            tasks.setdefault(name, []).append(merge.task)
    return tasks


def _find_earlier_tree(git: Git, common: Path, range_: DiffRange, base: str, scratch: Path) -> tuple[Git, str]:
    """Return what the later change is compared with: the earlier one, on the base of the later one if that is possible."""
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


def _parse_numstat(output: bytes, tasks: Mapping[str, Sequence[str]]) -> Iterator[ChangedFile]:
    """Parse `--numstat -z`: a renamed file has an empty name, followed by both names."""
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    index = 0
    while index < len(fields) - 1:
        plus, minus, path = fields[index].split("\t", 2)
        before, name = (None, path) if path else fields[index + 1 : index + 3]
        index += 1 if path else 3
        binary = plus == "-"
        counts = (0, 0) if binary else (int(plus), int(minus))
        changed_by = dict.fromkeys((*tasks.get(before or "", ()), *tasks.get(name, ())))
        yield ChangedFile(name, before, *counts, binary, [*changed_by])


def describe_diff(batch: str, range_: DiffRange, diff: Diff) -> DiffSummary:
    attempt, since = range_.attempt, range_.since
    return fill_model(
        DiffSummary,
        diff,
        batch_id=batch,
        task_id=attempt.task if attempt else None,
        attempt=attempt.n if attempt else None,
        since=since.attempt.n if since is not None and since.attempt is not None else None,
        resolution=range_.resolution,
        tip=diff.tip or None,
    )


def describe_full_diff(batch: str, range_: DiffRange, diff: Diff, redactor: ContentRedactor | None = None) -> FullDiff:
    summary = describe_diff(batch, range_, diff)
    text, chunks = bytearray(), diff.trees.read_text()
    for chunk in chunks if redactor is None else redactor.redact_lines(chunks, line_start=1):
        text += chunk
        if len(text) > MAX_JSON_DIFF_BYTES:
            break
    cut = len(text) > MAX_JSON_DIFF_BYTES
    shown = text[:MAX_JSON_DIFF_BYTES].decode("utf-8", "replace")
    return fill_model(FullDiff, summary, diff=shown, cut=cut)
