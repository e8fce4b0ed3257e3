"""What a node stores for one engine: a mirror, worktrees, a lease, and the attempts with what became of them.

Everything is in a folder of its own: mirror.git, worktrees/, state/. Attempts are run by a LocalExecutor, so that
processes, transcripts, setup, sandboxes and captures are the same as on the engine's machine. When the lease has run
out, the engine's attempts are ended and their work is saved.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from secrets import token_hex

import msgspec

from plait.core.errors import describe_error
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.git.bundles import open_git
from plait.git.interfaces import CapturedChange
from plait.git.refs import ATTEMPTS, SAVED, ref_component
from plait.git.result_bundles import create_result_bundle
from plait.git.worktrees.workspaces import GitWorkspaces
from plait.runtime.attempt_files import read_record_files
from plait.runtime.executor import (
    AttemptLimits,
    AttemptSpec,
    CaptureSpec,
    ExitedProcess,
    LostProcess,
    RunningProcess,
    Timer,
)
from plait.runtime.local_executor import LocalExecutor
from plait.runtime.local_workspaces import LocalWorkspaces
from plait.runtime.ray import wire
from plait.runtime.ray.lease import Lease
from plait.runtime.ray.wire import EXITED, FAILED, LOST, PREPARING, RUNNING, AttemptReport, Envelope
from plait.runtime.reactor import SelectReactor
from plait.runtime.termination import GracePeriods
from plait.runtime.worker_pool import WorkerPool
from plait.system import log
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.decoders import decode_json
from plait.system.disk import remove_tree
from plait.system.processes import read_boot_clock
from plait.system.state_paths import StateFolder

MEMORY_SECONDS = 2.0  # until memory is measured, and between two measurements
ATTEMPTS_FILE = "attempts.json"
LEASE_FILE = "lease"
MIRROR = "mirror.git"


@dataclass(slots=True)
class NodeAttempt:
    """An attempt on this node. `version` is the version of the engine's space in which `report` changed last."""

    report: AttemptReport
    version: int
    base: str = ""
    limits: AttemptLimits = field(default_factory=AttemptLimits)
    capture: CaptureSpec | None = None

    @property
    def is_active(self) -> bool:
        return self.report.state in {PREPARING, RUNNING}


@dataclass(frozen=True, slots=True)
class _Result:
    """What an attempt left, committed as `spec` says. `reply` is done when both the commit and the bundle are made."""

    spec: CaptureSpec
    reply: Future[wire.CaptureReply] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _Kept:
    """The record of an attempt on disk."""

    attempt: Attempt
    base: str
    transcript_bytes: int


class EngineSpace:
    """What the node stores for one engine. It is the ExecutorCallbacks of its executor.

    Everything is called in the loop's thread, except `read_chunks`, `has_news`, `starting`, and methods that are
    described as running in a worker.

    `has_left`: an engine has ended, and none has sent a request since. `is_leaving`: because of that, everything here
    is being released.
    """

    def __init__(
        self, root: Path, reactor: SelectReactor, workers: WorkerPool, lease_seconds: float, graces: GracePeriods | None
    ) -> None:
        self.root = root
        self._reactor = reactor
        self._workers = workers
        self.mirror = root / MIRROR
        self.state = StateFolder(root / "state")
        self.incarnation = token_hex(8)
        self.version = 0
        self.attempts: dict[Attempt, NodeAttempt] = {}
        self._results: dict[Attempt, _Result] = {}  # that no engine has asked for yet
        self._starting: set[Attempt] = set()
        self._started = threading.Condition()
        self.is_expired = False
        self.is_releasing = False
        self.is_leaving = False
        self.has_left = False
        self.sessions: dict[str, float] = {}
        self.removing: set[str] = set()  # batches
        self.memory: dict[Attempt, int] = {}  # of running attempts, as it was measured last
        self._memory_timer: Timer | None = None
        self.changed = threading.Condition()
        make_private_folder(root)
        self.lease = Lease(root / LEASE_FILE, lease_seconds)
        worktrees = root / "worktrees"
        self.workspaces = LocalWorkspaces(
            lambda: GitWorkspaces(self.mirror, worktrees, on_warning=log.write_line),
            workers,
            self.state,
            worktrees / "setups",
            private_root=root.parent,  # with the service's socket, and what other engines have here
        )
        self.executor = LocalExecutor(self, reactor, self.workspaces, grace_periods=graces)
        self._adopt_all()

    @property
    def active(self) -> int:
        return sum(each.is_active for each in self.attempts.values())

    def on_launched(self, attempt: Attempt, _pid: int | None) -> None:
        self._change(attempt, AttemptReport(attempt, RUNNING))
        if self._memory_timer is None:
            self._memory_timer = self._reactor.call_later(MEMORY_SECONDS, self._measure_memory)

    def on_start_failed(self, attempt: Attempt, error: Exception) -> None:
        self._change(attempt, AttemptReport(attempt, FAILED, failure=wire.describe_failure(error)))

    def on_exited(self, attempt: Attempt, code: int) -> None:
        setup_failure = self.workspaces.find_setup_failure(attempt) if code else None
        size, is_missing = self.executor.open_transcript(attempt).size(), self.workspaces.is_missing(attempt)
        self._change(
            attempt,
            AttemptReport(
                attempt,
                EXITED,
                code,
                size=size,
                setup_failure=setup_failure,
                is_missing=is_missing,
                files=read_record_files(self.state.attempt(attempt).path),
            ),
        )
        known = self.attempts.get(attempt)
        if known is not None and known.capture is not None and not (is_missing or setup_failure or self.is_expired):
            # The engine is going to request it, but only after the report of the exit has reached it.
            self._results[attempt] = self._commit_result(known.capture)

    def take_result(self, spec: CaptureSpec) -> Future[wire.CaptureReply]:
        """Commit what an attempt left, unless that has been done since it exited, or is being done."""
        result = self._results.pop(spec.attempt, None)
        is_usable = result is not None and result.spec == spec
        if result is None or not is_usable or (result.reply.done() and result.reply.exception() is not None):
            result = self._commit_result(spec)
        return result.reply

    def _commit_result(self, spec: CaptureSpec) -> _Result:
        result, attempt = _Result(spec), spec.attempt

        def report(change: CapturedChange) -> None:
            """Report the result once, as soon as it has a pack: what git does after that only serves what comes next on
            this node.
            """
            if not result.reply.done():
                bundle = create_result_bundle(self.mirror, attempt, change.tip, spec.base, change.pack)
                result.reply.set_result(wire.CaptureReply(replace(change, files=(), pack=""), bundle))

        def report_error(error: Exception) -> None:
            if result.reply.done():
                log.write_line(f"warning: the workspace of {attempt} is not as its result is: {describe_error(error)}")
            else:
                result.reply.set_exception(error)

        key = "workspace", attempt.batch, attempt.task
        self._workers.submit(
            key, lambda: report(self.workspaces.commit_result(spec, report)), lambda _: None, report_error
        )
        return result

    def has_run_before(self, attempt: Attempt) -> bool:
        """Whether the task's attempt before this one ran here, so that its workspace is as that attempt left it."""
        known = self.attempts.get(replace(attempt, n=attempt.n - 1))
        return known is not None and known.report.state == EXITED

    def is_working(self, batch: str, task: str) -> bool:
        """Whether an attempt of the task is running or about to run."""
        return any(known.is_active for each, known in self.attempts.items() if (each.batch, each.task) == (batch, task))

    def find_base(self, batch: str, task: str) -> str:
        """Return the commit that the task started from; empty if its attempts were forgotten with their lease."""
        own = (known for each, known in self.attempts.items() if (each.batch, each.task) == (batch, task))
        return next((known.base for known in own), "")

    def release(self, request: wire.Release, base: str) -> None:
        """Release a task's workspace in a worker, after saving the work that the engine does not have."""
        worktrees = self.workspaces.worktrees
        worktrees.save_results(request.batch, request.task, request.taken, base)
        worktrees.release(request.batch, request.task)

    def on_lost(self, attempt: Attempt, why: str, *, is_outage: bool = False) -> None:  # noqa: ARG002 - one node can't tell
        known = self.attempts.get(attempt)
        if known is not None and known.report.state == LOST:
            why = known.report.why  # the reason for which it was ended
        size = self.executor.open_transcript(attempt).size()
        self._change(attempt, AttemptReport(attempt, LOST, why=why, size=size))

    def _change(self, attempt: Attempt, report: AttemptReport) -> None:
        known = self.attempts.get(attempt)
        if known is None or known.report == report:
            return
        if self.is_expired and report.state != LOST:
            return
        with self.changed:
            self.version += 1
            known.report, known.version = report, self.version
            self.changed.notify_all()

    def report_again(self, attempt: Attempt) -> None:
        """Report an attempt again, because the engine that starts it may not know the last report."""
        known = self.attempts[attempt]
        with self.changed:
            self.version += 1
            known.version = self.version
            self.changed.notify_all()

    @contextmanager
    def starting(self, attempt: Attempt) -> Iterator[None]:
        """Handle requests to start an attempt one after the other: an engine repeats a request that was not answered."""
        with self._started:
            self._started.wait_for(lambda: attempt not in self._starting)
            self._starting.add(attempt)
        try:
            yield
        finally:
            with self._started:
                self._starting.remove(attempt)
                self._started.notify_all()

    def reserve(self, spec: AttemptSpec) -> None:
        """Record a new attempt. Raises NodeDiskFullError."""
        self.version += 1
        report = AttemptReport(spec.attempt, PREPARING)
        base = spec.task_base or spec.base
        self.attempts[spec.attempt] = NodeAttempt(report, self.version, base, spec.limits, spec.capture)
        try:
            self.save()
        except OSError as error:
            del self.attempts[spec.attempt]
            raise wire.NodeDiskFullError(f"can't write {self.root / ATTEMPTS_FILE}: {error.strerror}") from error

    def save(self) -> None:
        kept = [_Kept(name, each.base, each.limits.transcript_bytes) for name, each in self.attempts.items()]
        replace_file(self.root / ATTEMPTS_FILE, msgspec.json.encode(kept))

    def _adopt_all(self) -> None:
        """Adopt the attempts of the service that ran on this node before."""
        try:
            kept = decode_json((self.root / ATTEMPTS_FILE).read_bytes(), list[_Kept])
        except (OSError, msgspec.MsgspecError):
            return
        for each in kept:
            limits = AttemptLimits(transcript_bytes=each.transcript_bytes)
            self.version += 1
            self.attempts[each.attempt] = NodeAttempt(
                AttemptReport(each.attempt, PREPARING), self.version, each.base, limits
            )
            match self.executor.adopt(each.attempt, limits):
                case RunningProcess(pid):
                    self.on_launched(each.attempt, pid)
                case ExitedProcess(code):
                    self.on_exited(each.attempt, code)
                case LostProcess(why):
                    self.on_lost(each.attempt, why)
                case None:
                    self.executor.terminate(each.attempt, at_once=True)  # so that it never starts

    def renew(self, envelope: Envelope) -> None:
        """Renew the lease. Called with each request, before anything else is done with it."""
        self.lease.seconds = envelope.lease_seconds
        self.is_leaving = self.has_left = False
        self.sessions[envelope.session] = read_boot_clock()
        if envelope.incarnation == self.incarnation:
            self.lease.renew(envelope.seen)
        self.check_lease()

    def check_lease(self) -> None:
        if not self.is_expired and self.lease.has_run_out:
            self.expire(f"its node got no request of the engine for {self.lease.seconds:g} s")

    def expire(self, why: str) -> None:
        """End all attempts, and save their work."""
        self.is_expired = self.is_releasing = True
        self.incarnation = token_hex(8)
        self.lease.forget_answers()
        self._results.clear()
        for attempt, known in self.attempts.items():
            if known.is_active:
                self._change(attempt, AttemptReport(attempt, LOST, why=why))
                self.executor.terminate(attempt, at_once=True)
        tasks = {(attempt.batch, attempt.task) for attempt in self.attempts}
        self._release_when_ended(tasks)

    def _release_when_ended(self, tasks: set[tuple[str, str]]) -> None:
        if self.executor.measure_memory():
            self._reactor.call_later(0.1, partial(self._release_when_ended, tasks))
            return
        for batch, task in tasks:
            if task:
                self.workspaces.release(batch, task)
        for batch in {batch for batch, _ in tasks}:
            self.workspaces.release_batch(batch, (), has_ended=True)
        self.is_releasing = False

    def number_answer(self) -> int:
        """Return a number for an answer that is sent now. After an expired lease, this starts a new one."""
        if self.is_expired and not (self.is_releasing or self.is_leaving):
            self.is_expired = False
            self.lease.begin()
        return self.lease.number_answer()

    def has_news(self, envelope: Envelope, poll: wire.Poll) -> bool:
        if envelope.incarnation != self.incarnation or self.version > poll.version:
            return True
        return any(self.executor.open_transcript(attempt).size() > offset for attempt, offset in poll.offsets.items())

    def read_chunks(self, poll: wire.Poll) -> list[wire.Chunk]:
        chunks, total = list[wire.Chunk](), 0
        for attempt, offset in poll.offsets.items():
            chunk = self.executor.open_transcript(attempt).read(offset, wire.MAX_CHUNK_BYTES)
            if chunk.data:
                chunks.append(wire.Chunk(attempt, chunk.start, chunk.data))
                total += len(chunk.data)
            if total > wire.MAX_POLL_BYTES:
                break
        return chunks

    def _measure_memory(self) -> None:
        """Measure the memory from time to time: this reads every process of the machine."""
        with suppress(OSError):
            self.memory = {**self.executor.measure_memory()}
        self._memory_timer = self._reactor.call_later(MEMORY_SECONDS, self._measure_memory) if self.active else None

    def forget(self, batch: str, task: str) -> None:
        for attempt in [each for each in self.attempts if (each.batch, each.task) == (batch, task)]:
            del self.attempts[attempt]
            self._results.pop(attempt, None)
        self.save()

    def delete_output(self, attempts: Collection[Attempt]) -> None:
        """Delete what ended attempts printed: it may contain secrets, and the engine has all of it."""
        for attempt in attempts:
            known = self.attempts.get(attempt)
            if known is not None and known.report.state in {EXITED, LOST}:
                self.state.attempt(attempt).transcript.unlink(missing_ok=True)

    def begin_removal(self, batch: str) -> bool:
        """Mark a batch as being removed. False if an attempt of the batch is here again."""
        if any(each.batch == batch for each in self.attempts):
            return False
        self.removing.add(batch)
        return True

    def remove_batch(self, batch: str) -> None:
        """Remove, in a worker, what is left of a batch that has ended."""
        git = open_git(self.mirror)
        part = ref_component(batch)
        patterns = (f"{ATTEMPTS}/{part}/", f"{SAVED}/{part}/", f"refs/heads/plait/task-{part}-*")
        own = git.text("for-each-ref", "--format=%(refname)", *patterns).splitlines()
        if own:
            git.run("update-ref", "--stdin", stdin="".join(f"delete {name}\n" for name in own).encode())
        remove_tree(self.state.batch(batch))
        remove_tree(self.root / "checkouts" / part)

    def forget_all(self) -> None:
        """Delete the records of an engine that no longer exists and has nothing running here."""
        for name in (ATTEMPTS_FILE, LEASE_FILE):
            (self.root / name).unlink(missing_ok=True)

    def close(self) -> None:
        if self._memory_timer is not None:
            self._memory_timer.cancel()
        self.executor.close()
