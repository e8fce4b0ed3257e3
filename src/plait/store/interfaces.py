"""What the engine asks of the world, as protocols. Adapters implement them; `plait.testing.contracts` checks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from plait.core.decisions import MergeStarted, PublishStarted, RebuildStarted
from plait.core.errors import WorldError
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reports import MergeConflicted, MergeDone, PublishDone, PublishFailed, RebuildDone
from plait.core.requests import Request
from plait.core.state import State
from plait.core.task import Attempt

if TYPE_CHECKING:  # quick commands know ports, and have no use for kits
    from plait.core.views import BatchView
    from plait.store.batch_inputs import BatchInputs, MergeRules, WorkspaceSetup


class JournalError(WorldError):
    """Something stands between plait and its journal."""


class JournalMissingError(JournalError):
    """Nothing has been written here yet."""


class JournalBusyError(JournalError):
    """Another process holds the journal's lease: it has one writer."""


class JournalNewerError(JournalError):
    """The journal was written by a newer plait and is left as it is."""


class JournalCorruptError(JournalError):
    """The journal does not hold what was written to it and is left as it is."""


class JournalFullError(JournalError):
    """The disk has no room; nothing of the last append was kept."""


class JournalReadOnlyError(JournalError):
    """The journal can't be written here."""


class JournalGapError(JournalError):
    """The records to append do not follow the journal's last one; nothing was written."""


class InboxError(WorldError):
    """Something stands between a front and the inbox; the request was not left there."""


class ChangeGoneError(WorldError):
    """What a task made is not in the repository any more: there is nothing to merge."""


class SourceWriteError(WorldError):
    """Statuses could not be written to a source; its file is whole, and what people saved is in it."""


class JournalReader(Protocol):
    """The list of facts, for whoever shows them. It belongs to the thread that opened it.

    In a process that also writes, the writer is opened first.
    """

    @property
    def id(self) -> str:
        """Made once, at the journal's birth: a cursor is only worth something together with it."""

    def last(self) -> int:
        """The seq of the newest record, 0 when there is none."""

    def read(self, after: int = 0) -> Iterator[Record]:
        """Every record with a greater seq that is durable now, in order; what comes later, a later call reads."""

    def wait(self, after: int, timeout: float) -> bool:
        """Return True as soon as there is a record with a greater seq, False when the time is over."""

    def settings(self) -> Mapping[str, str]:
        """What was saved through the page or the API, as JSON texts by name."""

    def close(self) -> None: ...


class Journal(JournalReader, Protocol):
    """The list of facts, for its one writer."""

    def append(self, records: Sequence[Record]) -> None:
        """All or nothing, and durable on return. One call is one commit: bring many records at once."""

    def commit(self, changes: Mapping[str, str | None], records: Sequence[Record] = ()) -> None:
        """Set the named ones; None forgets one. In one commit with the records that say so."""


class Inbox(Protocol):
    """Requests on their way to the engine: any front puts, the engine takes."""

    def put(self, request: Request) -> None:
        """Durable on return. A second copy (the same id) is ignored, even after the first was taken."""

    def pending(self) -> Sequence[Request]:
        """What has not been taken yet, in the order it arrived; one that can't be read costs itself only."""

    def unreadable(self) -> Mapping[str, str]:
        """Why some requests, by id, can't be read (damaged, or from a newer plait). They are kept, and skipped."""

    def mark_taken(self, ids: Sequence[str]) -> None:
        """These are in the journal now (or, set aside, not wanted any more): forget them, but know their ids."""

    def wait(self, timeout: float) -> bool:
        """Return True as soon as something is pending that can be read, False when the time is over."""

    def close(self) -> None: ...


class RecordListener(Protocol):
    """Somebody who tells others what has become durable. It never holds the engine up, and never fails it."""

    def replay(self, record: Record) -> None:
        """History: what was durable before this engine took over."""

    def handle_records(self, state: State, records: Sequence[Record]) -> None:
        """These are durable, and the state has all of them."""

    @property
    def is_idle(self) -> bool:
        """Nothing is on its way, or it was given up: the engine may leave."""

    def close(self) -> None: ...


class Timer(Protocol):
    def cancel(self) -> None:
        """Too late is no error."""


class Reactor(Protocol):
    """The engine's one loop, as adapters see it. Everything but `post` is called from the loop's own thread."""

    def watch(self, fd: int, ready: Callable[[], None]) -> None:
        """Call `ready` whenever there is something to read."""

    def unwatch(self, fd: int) -> None: ...

    def call_later(self, seconds: float, then: Callable[[], None]) -> Timer: ...

    def call_soon(self, then: Callable[[], None]) -> None:
        """From any thread: call it in the loop, soon."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """One attempt as an executor starts it. `env` is the whole environment, `stdin` a file (None: nothing to read)."""

    attempt: Attempt
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(repr=False)
    stdin: str | None = None


@dataclass(frozen=True, slots=True)
class RunningProcess:
    pid: int


@dataclass(frozen=True, slots=True)
class ExitedProcess:
    """`code` as a shell tells it: 128 + n after signal n."""

    code: int


@dataclass(frozen=True, slots=True)
class LostProcess:
    """It was started, it does not run any more, and it left no exit status."""

    why: str


# What a probe finds; None: it was never started.
ProbeResult = RunningProcess | ExitedProcess | LostProcess | None


class ExecutorCallbacks(Protocol):
    """Who an executor tells what it sees, in the loop's thread. A fact may be told twice."""

    def on_launched(self, attempt: Attempt, pid: int) -> None: ...

    def on_exited(self, attempt: Attempt, code: int) -> None: ...

    def on_lost(self, attempt: Attempt, why: str) -> None: ...


class Executor(Protocol):
    """How attempts reach a site. An attempt's name is its identity: whatever is done twice is done once."""

    def start(self, job: LaunchSpec) -> None:
        """Start it, unless that was done before: then tell what became of it. Raise WorldError if it can't be started."""

    def adopt(self, attempt: Attempt) -> ProbeResult:
        """What became of an attempt that an earlier engine started; one that runs is watched from now on."""

    def terminate(self, attempt: Attempt, *, at_once: bool) -> None:
        """Ask the whole tree to end, ever more firmly; `now`: without grace. What is over already is told again."""

    def end_leftovers(self) -> int:
        """End what outlived its attempts; how many processes are still being ended. Raise OSError if nobody can tell."""

    def measure_memory(self) -> Mapping[Attempt, int]:
        """The memory, in bytes, that each running attempt's whole tree takes now."""

    def close(self) -> None:
        """Stop watching; what runs goes on."""


@dataclass(frozen=True, slots=True)
class MachineReadings:
    """What the machine has left. `squeeze` is the share of time that work stalls for want of memory (None: not told)."""

    memory: int
    memory_total: int
    disk: int
    disk_total: int
    load: float
    cores: int
    memory_stall: float | None = None


class Sensors(Protocol):
    def read(self) -> MachineReadings: ...


@dataclass(frozen=True, slots=True)
class OtherEngines:
    """What the user's other engines do: slots they have taken, and providers that refused them, with until when.

    `waiting` of them have something ready that finds no slot.
    """

    slots: int = 0
    who: str = ""
    waiting: int = 0
    refusals: Mapping[str, float] = field(default_factory=dict)


class SharedState(Protocol):
    """What all engines of one user share: slots, refusals of providers, blocks of ports."""

    @property
    def problem(self) -> str:
        """What keeps this engine from sharing, for people; empty if nothing does."""

    def lock(self) -> AbstractContextManager[OtherEngines]:
        """While it is held, no other engine takes slots."""

    def record_usage(self, slots: int, pids: Sequence[int], *, waiting: bool = False) -> None:
        """Inside a turn: this engine has so many slots now, taken by these processes (they count on if it dies).

        `waiting`: it has more to start, and would like the others to leave it a share.
        """

    def report_refusal(self, provider: str, until: float) -> None:
        """Tell the others."""

    def lease_ports(self, batch: str, task: str) -> range:
        """A block of free ports for a task, the same one each time until it is given back."""

    def release_ports(self, batch: str, task: str) -> None: ...

    def close(self) -> None: ...


class HealthFile(Protocol):
    """What keeps the engine from going on, told to fronts without a record. Nothing here fails."""

    def write(self, what: str) -> None: ...

    def clear(self) -> None: ...


class SleepInhibitor(Protocol):
    """Keeps the machine from falling asleep."""

    @property
    def problem(self) -> str:
        """Why it can't be kept from it; empty when it can."""

    def acquire(self) -> None:
        """Held twice is held once."""

    def release(self) -> None: ...


@dataclass(frozen=True, slots=True)
class CapturedChange:
    """What an attempt left in its workspace, as a commit: `tip`. `files` are all that differ from its base.

    `empty`: nothing does. `taken_out` are sources in which only statuses differed, which are plait's to write.
    `diffstat` is how many files those are, and the lines added and removed.
    """

    tip: str
    files: tuple[str, ...] = ()
    diffstat: tuple[int, int, int] = (0, 0, 0)
    empty: bool = False
    reverted_sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """Who a task's commit is by, and what it says. `trailers` name the batch, the task and the attempt."""

    message: str
    trailers: tuple[tuple[str, str], ...] = ()
    name: str = ""
    email: str = ""


# An agent's text of a source, by its path in the repository, as the base had it: the same text with the base's statuses.
RestoreStatuses = Callable[[str, bytes, bytes], bytes]


class Workspaces(Protocol):
    """Where the tasks of batches with worktrees work, on this machine. Called from several threads at once.

    A workspace is leased to its task until it is released. Whatever is done twice, or again after a crash, is done once.
    What an agent made is never lost: it is in a commit under refs/plait before anything is made anew or removed.
    """

    def path(self, batch: str, task: str) -> str:
        """Where the task works, whether or not it is there yet."""

    def prepare(self, batch: str, task: str, base: str, outfit: WorkspaceSetup, *, top: str) -> str:
        """The task's worktree on its own branch: made from `base`, or, if it began there before, as its last attempt
        left it. `top` is the checkout that ignored files are copied from. Its path.
        """

    def capture(  # noqa: PLR0913 - it is all that makes a commit
        self,
        attempt: Attempt,
        base: str,
        author: CommitInfo,
        restore: RestoreStatuses,
        *,
        hooks: bool,
        largest: int = 0,
    ) -> CapturedChange:
        """Everything an attempt left, as a commit on the task's branch and under the attempt's ref.

        No file of it may be larger than `largest` bytes, where that is not 0.
        """

    def preview_commit(self, batch: str, task: str, base: str) -> str | None:
        """What the task would leave if it stopped now, as a commit that no ref holds; None: nothing yet."""

    def reset(self, attempt: Attempt, tip: str) -> None:
        """After a check: the workspace as it was captured, without what the check left (which is saved, if it is work)."""

    def checkout(self, batch: str, commit: str, outfit: WorkspaceSetup, *, top: str) -> str:
        """The batch's own worktree, at exactly this commit, for its gate. Its path."""

    def release(self, batch: str, task: str) -> None:
        """The task has ended: save what is not in a ref, and give the folder back."""

    def release_gate(self, batch: str) -> None:
        """The batch has ended: its own worktree is given back."""

    def measure_disk_usage(self) -> int:
        """Bytes on disk that all workspaces of this repository take."""

    def trim_pool(self, keep: int = 0) -> None:
        """Let go of those that only wait to be used again, down to so many."""


@dataclass(frozen=True, slots=True)
class MergeMessage:
    """What a merge commit says. `edit` are files to be changed in the merged tree: statuses, where the branch holds them."""

    message: str
    trailers: tuple[tuple[str, str], ...] = ()
    edit_files: Callable[[Callable[[str], bytes | None]], Mapping[str, bytes]] | None = None


@dataclass(frozen=True, slots=True)
class PredictedConflict:
    """Two changes that would conflict if both were merged as they are now."""

    left: str
    right: str
    files: tuple[str, ...]


class ConflictKind(StrEnum):
    """What the two sides did to a file."""

    CONTENT = "content"
    ADD_ADD = "add/add"
    MODIFY_DELETE = "modify/delete"
    RENAME = "rename"
    BINARY = "binary"
    FOLDER = "file/directory"
    MODE = "mode"
    SUBMODULE = "submodule"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ConflictedFile:
    """A file in conflict: `base`, `ours` (the branch's), `theirs` (the task's), and `merged` with both between markers.

    None: it is not there on that side, or it is no text, or (then its name is in `cut`) too long. `said` is git's word on
    it; `touched_by` are the tasks whose change of it is on the branch, the newest first.
    """

    path: str
    kind: ConflictKind
    message: str = ""
    binary: bool = False
    base: str | None = None
    ours: str | None = None
    theirs: str | None = None
    merged: str | None = None
    truncated: tuple[str, ...] = ()
    changed_by: tuple[str, ...] = ()


class BranchMerger(Protocol):
    """Makes batch branches in memory; no checkout is touched. Called from a thread, one call at a time for each batch.

    Whatever is done again after a crash finds what was done: the same commit is told.
    """

    def merge(
        self, order: MergeStarted, words: MergeMessage, blending: MergeRules
    ) -> MergeDone | MergeConflicted:
        """Put the task's own change onto the batch branch. Raises ChangeGoneError if it is not there, and another
        WorldError if merging itself goes wrong.
        """

    def rebuild(
        self, order: RebuildStarted, base: str, words: Mapping[str, MergeMessage], blending: MergeRules
    ) -> RebuildDone:
        """The branch made anew; what it was is kept under refs/plait/lines."""

    def describe_conflict(self, order: MergeStarted, blending: MergeRules) -> str:
        """Both sides of a conflict, as text for whoever repairs it, within reason."""

    def predict_conflicts(
        self, onto: str, tips: Mapping[str, tuple[str, str]], blending: MergeRules
    ) -> list[PredictedConflict]:
        """Which of these changes (base and tip by task) would conflict, with each other or with the branch (`right` "")."""


@dataclass(frozen=True, slots=True)
class PullRequestSpec:
    """A pull request as it should be: one for the branch, made or brought up to date.

    `renamed`: the title is to be this one also where somebody gave it another one there.
    """

    branch: str
    target: str
    title: str
    body: str
    draft: bool = False
    renamed: bool = False


@dataclass(frozen=True, slots=True)
class PullRequestResult:
    """`url` of the pull request; `made` is False if there was one already. `note` is what differs from what was wanted."""

    url: str
    created: bool = True
    note: str = ""


class ForgeError(WorldError):
    """The forge said no, or nobody can be asked; the hint holds the link and the command to do it by hand."""


class Forge(Protocol):
    """The place where pull requests are: GitHub, GitLab, Gitea."""

    def publish_pull_request(self, wanted: PullRequestSpec) -> PullRequestResult: ...

    def default_branch(self) -> str:
        """The remote's default branch."""


class Publisher(Protocol):
    """Brings a batch branch to its remote. Called from a thread; what was done before is found, and not done twice."""

    def publish(
        self, order: PublishStarted, view: BatchView, kit: BatchInputs, environment: Mapping[str, str]
    ) -> PublishDone | PublishFailed:
        """`environment` is whose tokens and credentials count."""
