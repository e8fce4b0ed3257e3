"""Runs attempts as processes of this machine, each in a session of its own, under a supervisor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.task import Attempt
from plait.runtime import cgroup, supervisor
from plait.runtime.attempt_files import FileTranscript
from plait.runtime.executor import (
    DEFAULT_LIMITS,
    AttemptKind,
    AttemptLimits,
    AttemptSpec,
    ExecutorCallbacks,
    ExitedProcess,
    LostProcess,
    NodeStatus,
    ProbeResult,
    Reactor,
    RunningProcess,
    Timer,
    report_result,
)
from plait.runtime.local_workspaces import LocalWorkspaces
from plait.runtime.process_tree import CgroupMover, LiveAttempt, ProcessTable, TreeRoot
from plait.runtime.supervisor import (
    EXIT_CANNOT_WRITE,
    EXIT_CLAIMED,
    ExitWatcher,
    PidFile,
    Supervisor,
    launch_supervisor,
    make_attempt_folder,
)
from plait.runtime.termination import GracePeriods, TerminationStage, Terminator
from plait.system import processes
from plait.system.atomic_files import write_private_file
from plait.system.process_identity import attempt_tag, tag_prefix
from plait.system.state_paths import AttemptFolder, StateFolder

SWEEP_DELAY_SECONDS = 2.0  # from an attempt's end to a search for what it left behind
REMOVAL_DELAY_SECONDS = 0.2  # from an attempt's end to the removal of its sandbox: its result is captured first
TRIM_SECONDS = 1.0  # between two checks of the sizes of transcripts


class LocalExecutor:
    """Runs attempts on this machine. It is an Executor."""

    def __init__(
        self,
        callbacks: ExecutorCallbacks,
        reactor: Reactor,
        workspaces: LocalWorkspaces,
        *,
        grace_periods: GracePeriods | None = None,
    ) -> None:
        # The folder's path is part of a supervisor's command line, which other engines compare.
        self._folder = StateFolder(workspaces.folder.root.resolve())
        self._callbacks = callbacks
        self._reactor = reactor
        self.workspaces = workspaces
        self._preparing: dict[Attempt, AttemptSpec] = {}
        self._prefix = tag_prefix(workspaces.folder.root)
        self._table = ProcessTable(self._prefix)
        self._terminator = Terminator(
            reactor, self._table.find_trees, self._on_tree_ended, grace_periods or GracePeriods()
        )
        self._cgroup_mover = CgroupMover(reactor, self._table)
        self._sweep_timer: Timer | None = None
        self._removal_timer: Timer | None = None  # of sandboxes
        self._trim_timer: Timer | None = None

    def attempt_folder(self, attempt: Attempt) -> str:
        return str(self._folder.attempt(attempt).path)

    def can_stay(self, attempt: Attempt) -> bool:  # noqa: ARG002 - there is one machine
        return True

    def start(self, spec: AttemptSpec) -> None:
        attempt = spec.attempt
        if spec.kind is AttemptKind.IN_PLACE:
            self._launch_once(spec, in_place=True)
        elif attempt in self._preparing:
            self._preparing[attempt] = spec
        elif (result := self.adopt(attempt, spec.limits)) is not None:
            report_result(self._callbacks, attempt, result)
        else:
            self._preparing[attempt] = spec
            self.workspaces.prepare(
                spec, partial(self._on_prepared, attempt), partial(self._on_prepare_failed, attempt)
            )

    def _on_prepared(self, attempt: Attempt, setup_command: tuple[str, ...]) -> None:
        spec = self._preparing.pop(attempt, None)
        if spec is not None:  # else it was terminated meanwhile
            try:
                self._launch_once(replace(spec, argv=(*setup_command, *spec.argv)))
            except Exception as error:  # noqa: BLE001 - one attempt's defect must not end the others
                self._callbacks.on_start_failed(attempt, error)

    def _on_prepare_failed(self, attempt: Attempt, error: Exception) -> None:
        if self._preparing.pop(attempt, None) is not None:
            self._callbacks.on_start_failed(attempt, error)

    def _launch_once(self, spec: AttemptSpec, *, in_place: bool = False) -> None:
        live = self._get_live(spec.attempt, spec.limits)
        result = self._find(live)
        if result is None:
            make_attempt_folder(live.folder)
            if in_place and spec.sandbox is not None:
                spec = replace(spec, argv=(*self.workspaces.build_sandbox(spec), *spec.argv))
            _write_files(spec, live.folder)
            if spec.stdin is not None and (copy := _find_copy(spec.stdin, live.folder)) is not None:
                spec = replace(spec, stdin=copy)  # a process can reopen its input for writing, whatever is mounted
            result = self._watch(
                live, supervisor.supervisor_of_child(launch_supervisor(spec, live.folder, live.root.tag))
            )
        report_result(self._callbacks, spec.attempt, result)

    def adopt(self, attempt: Attempt, limits: AttemptLimits = DEFAULT_LIMITS) -> ProbeResult:
        return self._find(self._get_live(attempt, limits))

    def terminate(self, attempt: Attempt, *, at_once: bool) -> None:
        self._preparing.pop(attempt, None)
        live = self._get_live(attempt, DEFAULT_LIMITS)
        result = self._find(live)
        if result is None:
            result = self._prevent_launch(live)
        if not isinstance(result, RunningProcess):
            report_result(self._callbacks, attempt, result)
        elif live.result is None or at_once:
            self._terminator.start(live.root, TerminationStage.KILL if at_once else TerminationStage.INTERRUPT)

    def measure_memory(self) -> Mapping[Attempt, int]:
        live = self._table.live.values()
        trees = self._table.find_trees() if live else {}
        return {
            live_attempt.attempt: processes.memory_footprint(process.pid for process in trees[live_attempt.root.tag])
            for live_attempt in live
        }

    @property
    def slots(self) -> int | None:
        return None

    no_slots_reason = ""

    def list_nodes(self) -> Sequence[NodeStatus]:
        return ()

    def open_transcript(self, attempt: Attempt) -> FileTranscript:
        return FileTranscript(self._folder.attempt(attempt).transcript)

    def end_leftovers(self) -> int:
        """End what outlived its attempts. Call again until nothing is left."""
        self._remove_sandboxes()
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        leftovers = self._table.find_leftovers()
        for name in leftovers:
            self._terminator.start(self._table.ended[name], TerminationStage.TERMINATE, leftover=True)
        return sum(map(len, leftovers.values()))

    def close(self) -> None:
        self._preparing.clear()
        self._remove_sandboxes()
        for live in self._table.live.values():
            if live.exit_watcher is not None:
                live.exit_watcher.stop()
        self._table.live.clear()
        self._terminator.close()
        self._cgroup_mover.close()
        for timer in (self._sweep_timer, self._trim_timer):
            if timer is not None:
                timer.cancel()

    def _get_live(self, attempt: Attempt, limits: AttemptLimits) -> LiveAttempt:
        live = self._table.live.get(attempt)
        if live is None:
            folder, root = self._folder.attempt(attempt), TreeRoot(attempt_tag(self._prefix, attempt))
            live = LiveAttempt(attempt, folder, root, limits.transcript_bytes)
        return live

    def _find(self, live: LiveAttempt) -> ProbeResult:
        if live.attempt in self._table.live:
            return RunningProcess(live.pid)
        signed = _read_claim(live)
        if signed is None:
            return None
        live.root.cgroup = cgroup.read_cgroup_path(live.folder.path)
        live.cgroup_checked = live.root.cgroup != ""
        found = supervisor.find_supervisor(live.folder, signed, live.root.tag)
        if found is not None:
            return self._watch(live, found)
        # In this order: a supervisor that exited in between has left the status.
        code = _read_status(live)
        FileTranscript(live.folder.transcript).trim(live.transcript_bytes)
        self._close_sandbox(live)
        self._mark_ended(live.root)
        if code is not None:
            return ExitedProcess(code)
        if signed.is_from_another_boot:
            return LostProcess("the machine was restarted while it ran")
        return self._find_survivors(live)

    def _find_survivors(self, live: LiveAttempt) -> ProbeResult:
        """Find processes of an attempt that has a pidfile, but neither a supervisor nor an exit status, and end them.

        Their result can't be known, and they must not run at the same time as the next attempt.
        """
        rest = self._table.find_trees()[live.root.tag]
        if not rest:
            return LostProcess(NO_EXIT_STATUS)
        live.pid, live.result = rest[0].pid, LostProcess(NO_EXIT_STATUS)
        self._table.live[live.attempt] = live
        self._terminator.start(live.root, TerminationStage.KILL)
        return RunningProcess(live.pid)

    def _prevent_launch(self, live: LiveAttempt) -> ProbeResult:
        """Make sure that an attempt that was never launched is not launched later: a supervisor that starts late finds
        the pidfile.
        """
        with suppress(OSError, WorldError):  # then no supervisor can write there either
            make_attempt_folder(live.folder)
            if not supervisor.block_launch(live.folder.pidfile):
                return self._find(live)
        return LostProcess("it was never launched")

    def _watch(self, live: LiveAttempt, found: Supervisor) -> RunningProcess:
        live.pid = live.root.session = found.pid
        live.root.until = None
        live.exit_watcher = ExitWatcher(self._reactor, found, partial(self._on_supervisor_exit, live))
        self._table.live[live.attempt] = live
        self._cgroup_mover.schedule()
        if self._trim_timer is None:
            self._trim_timer = self._reactor.call_later(TRIM_SECONDS, self._trim_transcripts)
        return RunningProcess(found.pid)

    def _trim_transcripts(self) -> None:
        for live in self._table.live.values():
            FileTranscript(live.folder.transcript).trim(live.transcript_bytes)
        again = bool(self._table.live)
        self._trim_timer = self._reactor.call_later(TRIM_SECONDS, self._trim_transcripts) if again else None

    def _on_supervisor_exit(self, live: LiveAttempt, code: int | None) -> None:
        live.exit_watcher = None
        live.root.until = processes.clock_ticks() + 1
        if code == EXIT_CLAIMED and self._adopt_other(live):
            return
        live.result = _determine_result(live, code)
        FileTranscript(live.folder.transcript).trim(live.transcript_bytes)
        if isinstance(live.result, LostProcess):
            self._terminator.start(live.root, TerminationStage.KILL)
        elif _has_leftovers(live.root) or live.root.tag in self._terminator:
            self._terminator.start(live.root, TerminationStage.TERMINATE, leftover=True)
        else:
            self._finish(live)

    def _adopt_other(self, live: LiveAttempt) -> bool:
        """Watch another supervisor that runs the attempt, if there is one: an earlier engine had launched it, and died
        before its report.
        """
        with suppress(OSError):
            signed = supervisor.read_pidfile(live.folder.pidfile)
            found = supervisor.find_supervisor(live.folder, signed, live.root.tag) if signed else None
            if found is not None:
                report_result(self._callbacks, live.attempt, self._watch(live, found))
                return True
        return False

    def _on_tree_ended(self, root: TreeRoot) -> None:
        if root.known:  # of another user, or stuck in the kernel
            self._table.given_up.add(root.tag)
        live = next((live for live in self._table.live.values() if live.root is root), None)
        if live is not None:
            self._finish(live)
        else:
            self._table.ended.pop(root.tag, None)
            cgroup.remove_cgroup(root.cgroup)

    def _finish(self, live: LiveAttempt) -> None:
        del self._table.live[live.attempt]
        cgroup.remove_cgroup(live.root.cgroup)
        self._mark_ended(live.root)
        self._close_sandbox(live)
        report_result(self._callbacks, live.attempt, live.result)

    def _close_sandbox(self, live: LiveAttempt) -> None:
        if self.workspaces.close_sandbox(live.folder) and self._removal_timer is None:
            self._removal_timer = self._reactor.call_later(REMOVAL_DELAY_SECONDS, self._remove_sandboxes)

    def _remove_sandboxes(self) -> None:
        if self._removal_timer is not None:
            self._removal_timer.cancel()
            self._removal_timer = None
        self.workspaces.remove_sandboxes()

    def _mark_ended(self, root: TreeRoot) -> None:
        self._table.ended[root.tag] = root
        if self._sweep_timer is None:
            self._sweep_timer = self._reactor.call_later(SWEEP_DELAY_SECONDS, self._sweep_now)

    def _sweep_now(self) -> None:
        self._sweep_timer = None
        with suppress(OSError):  # the next sweep tries again
            self.end_leftovers()


def _write_files(spec: AttemptSpec, folder: AttemptFolder) -> None:
    for file in spec.files:
        path = Path(file.path)
        _write_if_changed(path, file.data)
        if (copy := _find_copy(file.path, folder)) is not None:
            _write_if_changed(Path(copy), file.data)


def _find_copy(path: str, folder: AttemptFolder) -> str | None:
    """Return where a sandboxed attempt finds a file of its folder; None if that is the given path, or if it isn't in
    its folder.
    """
    if folder.sandbox_files.exists() and Path(path).parent == folder.path:
        return str(folder.sandbox_files / Path(path).name)
    return None


def _write_if_changed(path: Path, data: bytes) -> None:
    """Write a file unless it has this content: a process that an earlier engine started may be reading it."""
    with suppress(OSError):
        if path.read_bytes() == data:
            return
    write_private_file(path, data)


def _has_leftovers(root: TreeRoot) -> bool:
    """Whether processes are left in the group. This is a cheap check; the sweep finds those that have left the group."""
    if not cgroup.remove_cgroup(root.cgroup):
        return True
    return processes.is_group_alive(root.session)


NO_EXIT_STATUS = "the process is gone and left no exit status"


def _read_claim(live: LiveAttempt) -> PidFile | None:
    """Read the pidfile; None if there is none. If it can't be read, an empty one: the supervisor is searched for among
    the processes then.
    """
    try:
        return supervisor.read_pidfile(live.folder.pidfile)
    except OSError:
        return PidFile()


def _read_status(live: LiveAttempt) -> int | None:
    with suppress(OSError):
        return supervisor.read_exit_status(live.folder.exit_status)
    return None


def _determine_result(live: LiveAttempt, code: int | None) -> ExitedProcess | LostProcess:
    """Determine the result after the supervisor has exited, with `code` if that is known."""
    try:
        found = supervisor.read_exit_status(live.folder.exit_status)
    except OSError as error:
        return LostProcess(f"can't read its exit status: {error.strerror or error}")
    return LostProcess(_explain_loss(code)) if found is None else ExitedProcess(found)


def _explain_loss(code: int | None) -> str:
    if code == EXIT_CANNOT_WRITE:
        return "it did not start: its folder is not writable, or the disk is full"
    if code is not None and code < 0:
        return f"its supervisor was killed by signal {-code}"
    return NO_EXIT_STATUS
