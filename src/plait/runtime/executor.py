"""The interface between the engine and wherever attempts run: this machine, or a cluster.

In: a base commit, a workspace's setup, a command, an environment, files and limits (`AttemptSpec`), and how to commit
the result (`CaptureSpec`). Out: a transcript, an exit status, a commit. Workspaces are prepared, set up, captured and
reset behind this interface, and files are written where the attempt runs: the engine opens neither. An executor says
beforehand where both will be (`AttemptWorkspaces.path`, `Executor.attempt_folder`), because commands name them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Protocol, assert_never

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.git.interfaces import CapturedChange, CommitInfo, WorkspaceSetup
from plait.runtime.sandbox.spec import SandboxSpec


class Timer(Protocol):
    def cancel(self) -> None:
        """Cancel the timer; no error if it has fired."""


class Reactor(Protocol):
    """The engine's loop. Everything but `call_soon` is called from the loop's own thread."""

    def watch(self, fd: int, ready: Callable[[], None]) -> None:
        """Call `ready` whenever there is something to read."""

    def unwatch(self, fd: int) -> None: ...

    def call_later(self, seconds: float, then: Callable[[], None]) -> Timer: ...

    def call_soon(self, then: Callable[[], None]) -> None:
        """Call a function in the loop; may be called from any thread."""


class AttemptKind(Enum):
    """The kinds of attempts, by where they work and what their end means."""

    IN_PLACE = "in place"  # in the checkout that the batch was submitted from
    WORKTREE = "worktree"  # in the task's own workspace
    GATE = "gate"  # in the batch's own workspace, on exactly the commit that would be pushed


@dataclass(frozen=True, slots=True)
class AttemptFile:
    """A file that the attempt reads: its prompt, its job. `path` is in `Executor.attempt_folder`, or the folder above."""

    path: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """Limits of an attempt.

    `expected_seconds`: an executor that reserves a machine may need to know. It does not end the attempt then: the
    engine calls `terminate`. 0: no limit. Of a transcript that is longer than `transcript_bytes`, the executor keeps
    the beginning and the end.
    """

    expected_seconds: float = 0.0
    transcript_bytes: int = 64 << 20


DEFAULT_LIMITS = AttemptLimits()


@dataclass(frozen=True, slots=True)
class CaptureSpec:
    """How to commit what an attempt left in its workspace.

    `sources` is where tasks are read from, `source_files` are the files with the tasks: only plait writes statuses
    there, and an agent's changes of them are undone. `max_file_bytes` 0: files may have any size.
    """

    attempt: Attempt
    base: str
    commit: CommitInfo
    sources: tuple[str, ...] = ()
    source_files: frozenset[str] = frozenset()
    run_hooks: bool = False
    max_file_bytes: int = 0


@dataclass(frozen=True, slots=True)
class AttemptSpec:
    """One attempt as an executor runs it. `env` is the whole environment, `stdin` a file (None: nothing to read).

    `files` are written before the command starts, readable by their owner only. A word of `argv` that equals
    `sys.executable` means the Python that plait is installed for, wherever the attempt runs.

    `workspace` is the folder that the command runs in: `checkout` itself, or what `AttemptWorkspaces.path` says. Unless
    it is in place, the executor prepares it: at `base`, with ignored files of `checkout` and the result of the setup. A
    workspace that is gone before a check is made again from `task_base`, the commit that the task's change is made on.
    `checkouts` are further folders that it prepares at `base`, without setup; they go when the workspace is released.
    `commits` are further ones of the repository that the command reads.

    `sandbox`: how the command is confined; None: it is not. An executor that can't confine it so must not start it.
    `confines_others`: the command is plait's own and runs outside of it, and finds there how to confine what it starts
    (`ChildSandboxes`).

    `stays`: it needs the machine that the task's last attempt ran on.

    `agent` is the name of the agent that works; `programs` have to be installed for it. `inherited` are the variables of `env`
    that come from the environment that the batch was submitted in; an executor that runs it on another machine takes them from
    there. None: `env` is all there is.

    `capture`: how its result is going to be committed, if it has one. An executor may do so as soon as the attempt has exited,
    and has less to do then when `AttemptWorkspaces.capture` is called.
    """

    attempt: Attempt
    argv: tuple[str, ...]
    workspace: str
    env: Mapping[str, str] = field(repr=False)
    stdin: str | None = None
    kind: AttemptKind = AttemptKind.IN_PLACE
    checkout: str = ""
    base: str = ""
    task_base: str = ""
    setup: WorkspaceSetup = WorkspaceSetup()
    files: tuple[AttemptFile, ...] = ()
    checkouts: tuple[str, ...] = ()
    limits: AttemptLimits = DEFAULT_LIMITS
    sandbox: SandboxSpec | None = None
    confines_others: bool = False
    agent: str = ""
    inherited: frozenset[str] | None = None
    commits: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    stays: bool = False
    capture: CaptureSpec | None = None


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """An attempt that runs. `pid` is a process of this machine, by which engines on it count what runs; None if it runs
    elsewhere.
    """

    pid: int | None


@dataclass(frozen=True, slots=True)
class ExitedProcess:
    """An attempt that has exited. `code` as in a shell: 128 + n after signal n."""

    code: int


@dataclass(frozen=True, slots=True)
class LostProcess:
    """An attempt that was started, no longer runs, and left no exit status. `is_outage` as in `on_lost`."""

    why: str
    is_outage: bool = False


# What became of an attempt; None: it was never started.
ProbeResult = RunningProcess | ExitedProcess | LostProcess | None


@dataclass(frozen=True, slots=True)
class TranscriptChunk:
    """Bytes of a transcript from `start` on. If `start` is later than the requested offset, the bytes in between no
    longer exist.
    """

    start: int
    data: bytes

    @property
    def end(self) -> int:
        """Return the offset from which the next chunk is read."""
        return self.start + len(self.data)


class Transcript(Protocol):
    """What one attempt prints, readable from any offset. Offsets stay valid when its middle is dropped."""

    def size(self) -> int:
        """Return how many bytes were printed, dropped ones included; 0 if there is no transcript."""

    def last_written(self) -> float:
        """Return when something was last printed, in seconds since the epoch; 0 if there is no transcript."""

    def read(self, start: int, max_bytes: int) -> TranscriptChunk:
        """Read the bytes from `start` on, or from the end of the gap around `start`, up to the next gap. Empty at the
        end.
        """

    def tail(self, max_bytes: int) -> bytes:
        """Return the last bytes, without a gap."""


class ExecutorCallbacks(Protocol):
    """What an executor reports, in the loop's thread. Anything may be reported twice."""

    def on_launched(self, attempt: Attempt, pid: int | None) -> None:
        """Report that the attempt was launched; `pid` as in RunningProcess."""

    def on_start_failed(self, attempt: Attempt, error: Exception) -> None:
        """Report that its workspace could not be prepared, or its command could not be launched."""

    def on_exited(self, attempt: Attempt, code: int) -> None: ...

    def on_lost(self, attempt: Attempt, why: str, *, is_outage: bool = False) -> None:
        """Report that it was lost. `is_outage`: every machine that it could run on is out of reach."""


def report_result(callbacks: ExecutorCallbacks, attempt: Attempt, result: ProbeResult) -> None:
    match result:
        case RunningProcess(pid):
            callbacks.on_launched(attempt, pid)
        case ExitedProcess(code):
            callbacks.on_exited(attempt, code)
        case LostProcess(why, is_outage):
            callbacks.on_lost(attempt, why, is_outage=is_outage)
        case None:
            pass
        case _:
            assert_never(result)


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """A machine of a cluster.

    `slots` is how many attempts it may run, `used` how many run there now, for any engine. `memory` and `free_memory`
    are in bytes, 0 if unknown. `labels` are the agents that it reports to have; empty if it reports none. `problem`:
    why no attempt is started there now; empty: there is no reason.
    """

    name: str
    address: str = ""
    is_alive: bool = True
    slots: int = 0
    used: int = 0
    memory: int = 0
    free_memory: int = 0
    labels: tuple[str, ...] = ()
    problem: str = ""

    @property
    def usable_slots(self) -> int:
        """Return the number of slots, without those in which nothing can be started now."""
        return self.used if self.problem else self.slots


OnError = Callable[[Exception], None]
# Gets the name of a program that git waits for: it signs a commit, and may ask a person. "": it has signed.
OnWait = Callable[[str], None]


class AttemptWorkspaces(Protocol):
    """The workspaces of an executor. Callbacks come in the loop's thread; calls about one workspace run in order.

    Whatever is done twice, or again after a crash, has effect once. Work is committed before a workspace is reset,
    released or made again.
    """

    @property
    def disk_full_reason(self) -> str | None:
        """Say why no more workspaces may be made, as of the last check; None if they may."""

    def path(self, attempt: Attempt) -> str:
        """Return the path of the attempt's workspace, whether or not it exists yet."""

    def find_setup_failure(self, attempt: Attempt) -> str | None:
        """Say why the workspace could not be set up, if that ended the attempt."""

    def is_missing(self, attempt: Attempt) -> bool:
        """Whether the attempt's workspace was deleted."""

    def capture(
        self, spec: CaptureSpec, on_done: Callable[[CapturedChange], None], on_error: OnError, on_wait: OnWait
    ) -> None:
        """Commit everything that a task's attempt left. AgentError: what it left can't be a result. WorktreeError: it is
        gone. After any other error it is still there, and this can be tried again.

        When `on_done` is called, the commit is in the engine's repository, wherever the attempt ran, and the task's branch and
        the attempt's ref there point to it.
        """

    def cancel_capture(self, attempt: Attempt) -> None:
        """End a running capture of this attempt, if there is one, with an error."""

    def reset(self, attempt: Attempt, commit: str, on_done: Callable[[], None], on_error: OnError) -> None:
        """Reset the workspace to this commit, after a check."""

    def preview_commit(self, batch: str, task: str, base: str) -> str | None:
        """Return a commit of what the task would leave if it stopped now; None if nothing yet. May be called from any
        thread. Raises WorldError.
        """

    def release(self, batch: str, task: str) -> None:
        """Release the workspace of a task that has ended."""

    def release_batch(self, batch: str, ended_tasks: Sequence[str], *, has_ended: bool) -> None:
        """Release what these tasks still have, and the gate's workspace if the batch has ended."""

    def check_disk_usage(self, now: float) -> None:
        """Measure the disk usage of the workspaces from time to time."""


class Executor(Protocol):
    """Runs attempts. An attempt's name is its identity: whatever is done twice has effect once."""

    @property
    def workspaces(self) -> AttemptWorkspaces: ...

    def attempt_folder(self, attempt: Attempt) -> str:
        """Return the folder for the attempt's files, whether or not it exists yet. It is outside of the workspace.

        The folder above is the task's, which all its attempts share.
        """

    def can_stay(self, attempt: Attempt) -> bool:
        """Whether there is room where the task's last attempt ran: its agent may continue the session that it stored
        there.
        """

    def start(self, spec: AttemptSpec) -> None:
        """Start an attempt, unless that was done before: then report what became of it.

        While its workspace is being prepared, another spec for the same attempt replaces the command, the environment
        and the files that it is launched with. Raises WorldError if it is known at once that it can't be started, else
        `on_start_failed` is called.
        """

    def adopt(self, attempt: Attempt, limits: AttemptLimits = DEFAULT_LIMITS) -> ProbeResult:
        """Find out what became of an attempt that an earlier engine started; one that runs is watched from now on."""

    def terminate(self, attempt: Attempt, *, at_once: bool) -> None:
        """Ask all processes of the attempt to end, then kill them; `at_once`: without grace.

        If it has ended already, that is reported again. If it was not started yet, it never starts.
        """

    def open_transcript(self, attempt: Attempt) -> Transcript:
        """Open the transcript of the attempt, whether or not it has started yet.

        It stays readable when the attempt has ended, and after a restart of the engine.
        """

    @property
    def slots(self) -> int | None:
        """Return for how many attempts there is room in all, as of now; None: only the limits of this machine count."""

    @property
    def no_slots_reason(self) -> str:
        """Say why `slots` is 0; empty if it isn't."""

    def list_nodes(self) -> Sequence[NodeStatus]:
        """List the machines of the cluster, as they were last seen; none if attempts run on this machine."""

    def end_leftovers(self) -> int:
        """End processes that outlived their attempts. Return how many are still being ended. Raises OSError."""

    def measure_memory(self) -> Mapping[Attempt, int]:
        """Measure the memory, in bytes, that all processes of each running attempt use now."""

    def close(self) -> None:
        """Stop watching; running attempts continue."""
