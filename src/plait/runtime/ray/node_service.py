"""What a node does for engines: it keeps a mirror and worktrees of each engine's repository, and runs attempts in them.

Everything of an engine is in its own folder: mirror.git, worktrees/, state/. Attempts are run by a LocalExecutor, so that
processes, transcripts, setup, sandboxes and captures are the same as on the engine's machine.

Leases: an engine's lease counts from when the node sent the last answer that the engine says it has seen, so that a request
that was delayed can't renew it. When the lease has run out, the engine's attempts are ended and their work is saved.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TypeVar, assert_never

import msgspec

from plait.config.keys import is_own_secret
from plait.core.errors import WorldError, describe_error
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt, Step
from plait.git.bundles import open_git
from plait.git.interfaces import CapturedChange
from plait.git.node_mirror import list_tips, open_node_mirror, receive_commits
from plait.git.refs import ATTEMPTS, SAVED, ref_component
from plait.git.result_bundles import create_result_bundle
from plait.git.worktrees.workspaces import GitWorkspaces
from plait.runtime.executor import AttemptFile, AttemptLimits, AttemptSpec, ExitedProcess, LostProcess, RunningProcess
from plait.runtime.local_executor import LocalExecutor
from plait.runtime.local_workspaces import LocalWorkspaces
from plait.runtime.ray import wire
from plait.runtime.ray.ignored_files import unpack_ignored_files
from plait.runtime.ray.wire import EXITED, FAILED, LOST, PREPARING, RUNNING, AttemptReport, Envelope
from plait.runtime.reactor import SelectReactor
from plait.runtime.termination import GracePeriods
from plait.runtime.worker_pool import WorkerPool
from plait.system import log
from plait.system.atomic_files import make_private_folder, write_private_file
from plait.system.disk import remove_tree
from plait.system.state_paths import StateFolder

MAX_WAIT_SECONDS = 20.0  # of a poll
LOOK_SECONDS = 0.05  # between two looks for output while an engine waits
MEMORY_SECONDS = 2.0  # between two measurements
MIN_FREE_BYTES = 256 << 20
ANSWERS_KEPT = 64
SESSION_SECONDS = 10.0  # in which an engine that runs polls at least once
# Until a service ends that no engine uses: after it was started, and after the last one has left.
FIRST_SECONDS, LAST_SECONDS = 30.0, 0.5
_ATTEMPTS_FILE = "attempts.json"
_WITHHELD_PREFIXES = ("RAY_", "__RAY")

T = TypeVar("T")


def read_clock() -> float:
    """Seconds that also count while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def list_node_environment() -> dict[str, str]:
    """What attempts get from the node: its own environment, without what belongs to Ray and plait."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_WITHHELD_PREFIXES) and not is_own_secret(name)
    }


def localize_spec(spec: AttemptSpec, root: Path, node_env: Mapping[str, str]) -> AttemptSpec:
    """The spec with this node's paths, Python and environment."""

    def fill(text: str) -> str:
        return text.replace(wire.NODE_PYTHON, sys.executable).replace(wire.NODE_ROOT, str(root))

    own, inherited = str(root).encode(), spec.inherited
    env = dict(spec.env)
    if inherited is not None:
        names = node_env.keys() if spec.sandbox is None else node_env.keys() & inherited
        env = {name: node_env[name] for name in names} | {k: v for k, v in env.items() if k not in inherited}
    files = tuple(AttemptFile(fill(each.path), each.data.replace(wire.NODE_ROOT.encode(), own)) for each in spec.files)
    return replace(
        spec,
        argv=tuple(map(fill, spec.argv)),
        env={name: fill(value) for name, value in env.items()},
        stdin=None if spec.stdin is None else fill(spec.stdin),
        workspace=fill(spec.workspace),
        checkouts=tuple(map(fill, spec.checkouts)),
        checkout=str(root / "checkouts" / ref_component(spec.attempt.batch)),
        files=files,
    )


@dataclass(slots=True)
class NodeAttempt:
    """`version` is the space's when `report` changed last."""

    report: AttemptReport
    version: int
    base: str = ""
    limits: AttemptLimits = field(default_factory=AttemptLimits)

    @property
    def is_active(self) -> bool:
        return self.report.state in {PREPARING, RUNNING}


@dataclass(frozen=True, slots=True)
class _Kept:
    """Of an attempt, on disk."""

    attempt: Attempt
    base: str
    transcript_bytes: int


class EngineSpace:
    """What the node has of one engine. Everything but `read_chunks` and `has_news` is called in the loop's thread.

    It is the ExecutorCallbacks of its executor.
    """

    def __init__(
        self, root: Path, reactor: SelectReactor, workers: WorkerPool, lease_seconds: float, graces: GracePeriods | None
    ) -> None:
        self.root = root
        self._reactor = reactor
        self.mirror = root / "mirror.git"
        self.state = StateFolder(root / "state")
        self.incarnation = token_hex(8)
        self.version = 0
        self.attempts: dict[Attempt, NodeAttempt] = {}
        self.lease_seconds = lease_seconds
        self.lease_end = read_clock() + lease_seconds
        self._answers: dict[int, float] = {}
        self._number = 0
        self.is_expired = False
        self.is_releasing = False
        self.is_leaving = False
        self.has_left = False
        self.sessions: dict[str, float] = {}
        self._memory: dict[Attempt, int] = {}
        self._memory_at = 0.0
        self.changed = threading.Condition()
        make_private_folder(root)
        worktrees = root / "worktrees"
        self.workspaces = LocalWorkspaces(
            lambda: GitWorkspaces(self.mirror, worktrees, on_warning=log.write_line),
            workers,
            self.state,
            worktrees / "setups",
        )
        self.executor = LocalExecutor(self, reactor, self.workspaces, grace_periods=graces)
        self._adopt_all()

    @property
    def active(self) -> int:
        return sum(each.is_active for each in self.attempts.values())

    def on_launched(self, attempt: Attempt, _pid: int | None) -> None:
        self._change(attempt, AttemptReport(attempt, RUNNING))

    def on_start_failed(self, attempt: Attempt, error: Exception) -> None:
        self._change(attempt, AttemptReport(attempt, FAILED, failure=wire.describe_failure(error)))

    def on_exited(self, attempt: Attempt, code: int) -> None:
        setup_failure = self.workspaces.find_setup_failure(attempt) if code else None
        size, is_missing = self.executor.open_transcript(attempt).size(), self.workspaces.is_missing(attempt)
        self._change(
            attempt,
            AttemptReport(attempt, EXITED, code, size=size, setup_failure=setup_failure, is_missing=is_missing),
        )

    def on_lost(self, attempt: Attempt, why: str) -> None:
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
        self.version += 1
        known.report, known.version = report, self.version
        with self.changed:
            self.changed.notify_all()

    def reserve(self, spec: AttemptSpec) -> None:
        self.version += 1
        report = AttemptReport(spec.attempt, PREPARING)
        self.attempts[spec.attempt] = NodeAttempt(report, self.version, spec.task_base or spec.base, spec.limits)
        self.save()

    def save(self) -> None:
        kept = [_Kept(name, each.base, each.limits.transcript_bytes) for name, each in self.attempts.items()]
        write_private_file(self.root / _ATTEMPTS_FILE, msgspec.json.encode(kept))

    def _adopt_all(self) -> None:
        """The attempts that this node's last service had."""
        try:
            kept = msgspec.json.decode((self.root / _ATTEMPTS_FILE).read_bytes(), type=list[_Kept])
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
        """The engine was heard of. Done before anything else with a request."""
        self.lease_seconds = envelope.lease_seconds
        self.is_leaving = self.has_left = False
        self.sessions[envelope.session] = read_clock()
        if envelope.incarnation == self.incarnation:
            sent = self._answers.get(envelope.seen)
            if sent is not None:
                self.lease_end = max(self.lease_end, sent + self.lease_seconds)
        self.check_lease()

    def check_lease(self) -> None:
        if not self.is_expired and read_clock() > self.lease_end:
            self.expire(f"its node heard nothing of the engine for {self.lease_seconds:g} s")

    def expire(self, why: str) -> None:
        """End everything, and save what it left."""
        self.is_expired = self.is_releasing = True
        self.incarnation = token_hex(8)
        self._answers.clear()
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

    def answer(self) -> int:
        """The number of an answer that is sent now."""
        if self.is_expired and not self.is_releasing:
            self.is_expired = False
            self.lease_end = read_clock() + self.lease_seconds
        self._number += 1
        self._answers[self._number] = read_clock()
        while len(self._answers) > ANSWERS_KEPT:
            del self._answers[next(iter(self._answers))]
        return self._number

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

    def measure_memory(self) -> dict[Attempt, int]:
        now = time.monotonic()
        running = {name for name, each in self.attempts.items() if each.report.state == RUNNING}
        if not running:
            self._memory = {}
        elif now - self._memory_at > MEMORY_SECONDS or not running <= self._memory.keys():
            self._memory_at = now
            with suppress(OSError):
                self._memory = {**self.executor.measure_memory()}
        return self._memory

    def forget(self, batch: str, task: str) -> None:
        for attempt in [each for each in self.attempts if (each.batch, each.task) == (batch, task)]:
            del self.attempts[attempt]
        self.save()

    def remove_batch(self, batch: str) -> None:
        """In a worker: what is left of a batch that has ended."""
        git = open_git(self.mirror)
        part = ref_component(batch)
        patterns = (f"{ATTEMPTS}/{part}/", f"{SAVED}/{part}/", f"refs/heads/plait/task-{part}-*")
        own = git.text("for-each-ref", "--format=%(refname)", *patterns).splitlines()
        if own:
            git.run("update-ref", "--stdin", stdin="".join(f"delete {name}\n" for name in own).encode())
        remove_tree(self.state.batch(batch))
        remove_tree(self.root / "checkouts" / part)

    def close(self) -> None:
        self.executor.close()


class NodeService:
    """Answers requests, each in a thread of its own. `graces`: how long attempts may take to end."""

    def __init__(self, folder: Path, reactor: SelectReactor, graces: GracePeriods | None = None) -> None:
        self._folder = folder
        self._reactor = reactor
        self._graces = graces
        self._workers = WorkerPool(reactor)
        self.sealer = wire.Sealer()
        self._env = list_node_environment()
        self.spaces: dict[str, EngineSpace] = {}
        self._loop_thread = threading.get_ident()
        self._heard_at = time.monotonic()
        self._has_served = False
        for path in sorted(folder.glob("engine-*/attempts.json")):  # of the service before this one
            owner = path.parent.name.removeprefix("engine-")
            self._open_space(owner, 60.0)

    @property
    def is_finished(self) -> bool:
        """Whether no engine holds anything here, and none is about to."""
        patience = LAST_SECONDS if self._has_served else FIRST_SECONDS
        return not self.spaces and self._workers.is_idle and time.monotonic() - self._heard_at > patience

    def check(self) -> None:
        """Called from time to time: leases that have run out, and engines that have gone."""
        for owner, space in list(self.spaces.items()):
            space.check_lease()
            self._give_back_unused(space)
            gone = space.is_leaving or (space.is_expired and read_clock() > space.lease_end + space.lease_seconds)
            if gone and not space.is_releasing and self._workers.is_idle:
                self._close_space(owner, space)

    def _close_space(self, owner: str, space: EngineSpace) -> None:
        """Nothing runs there any more. The mirror stays: the next batch needs fewer commits then."""
        del self.spaces[owner]
        space.close()

        def clean_up() -> None:
            space.workspaces.worktrees.trim_pool()
            for name in ("state", "checkouts"):
                remove_tree(space.root / name)
            (space.root / _ATTEMPTS_FILE).unlink(missing_ok=True)

        self._workers.submit(("close", owner), clean_up, lambda _: None, _log_error)

    def close(self) -> None:
        for space in self.spaces.values():
            space.close()
        self._workers.close()

    def answer(self, data: bytes) -> bytes:
        """From any thread but the loop's. Raises WorldError if it was sealed for another service."""
        envelope = self.sealer.open_request(data)
        self._heard_at = time.monotonic()
        try:
            reply = wire.Reply(data=wire.encode(self._answer(envelope)))
        except Exception as error:  # noqa: BLE001 - the engine is told
            reply = wire.Reply(wire.describe_failure(error))
        return wire.seal(wire.encode(reply), envelope.reply_key)

    def _answer(self, envelope: Envelope) -> object:
        space = self._in_loop(lambda: self._find_space(envelope))
        body = envelope.body
        match body:
            case wire.Poll():
                return self._poll(space, envelope, body)
            case wire.Start():
                self._start(space, envelope, body)
            case wire.Terminate():
                self._in_loop(lambda: self._terminate(space, body))
            case wire.Capture():
                return self._capture(space, body)
            case wire.Reset():
                self._reset(space, body)
            case wire.Release():
                return self._release(space, body)
            case wire.Leave():
                self._in_loop(lambda: self._leave(space, envelope.session))
            case _:
                assert_never(body)
        return None

    def _in_loop(self, job: Callable[[], T]) -> T:
        assert threading.get_ident() != self._loop_thread
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(job())
            except Exception as error:  # noqa: BLE001 - raised in the thread that waits
                done.set_exception(error)

        self._reactor.call_soon(run)
        return done.result()

    def _in_worker(self, batch: str, task: str, job: Callable[[], T]) -> T:
        """After everything else that is to be done with the task's workspace."""
        done: Future[T] = Future()
        self._in_loop(
            lambda: self._workers.submit(("workspace", batch, task), job, done.set_result, done.set_exception)
        )
        return done.result()

    def _find_space(self, envelope: Envelope) -> EngineSpace:
        space = self.spaces.get(envelope.owner) or self._open_space(envelope.owner, envelope.lease_seconds)
        space.renew(envelope)
        return space

    def _open_space(self, owner: str, lease_seconds: float) -> EngineSpace:
        root = self._folder / f"engine-{owner}"
        space = EngineSpace(root, self._reactor, self._workers, lease_seconds, self._graces)
        self.spaces[owner] = space
        self._has_served = True
        return space

    def _poll(self, space: EngineSpace, envelope: Envelope, poll: wire.Poll) -> wire.PollReply:
        end = time.monotonic() + min(poll.wait, MAX_WAIT_SECONDS)
        while not space.has_news(envelope, poll) and time.monotonic() < end:
            with space.changed:
                space.changed.wait(LOOK_SECONDS)
        reply = self._in_loop(lambda: self._build_poll_reply(space, envelope, poll))
        return replace(reply, chunks=tuple(space.read_chunks(poll)))  # after the sizes of what has ended

    def _build_poll_reply(self, space: EngineSpace, envelope: Envelope, poll: wire.Poll) -> wire.PollReply:
        space.check_lease()
        since = poll.version if envelope.incarnation == space.incarnation else -1
        free, total = _read_memory()
        number = space.answer()
        return wire.PollReply(
            space.incarnation,
            space.version,
            number,
            sum(each.active for each in self.spaces.values()),
            free,
            total,
            self._find_disk_problem(),
            tuple(each.report for each in space.attempts.values() if each.version > since),
            memory=tuple(space.measure_memory().items()),
            tips=list_tips(space.mirror) if since < 0 and space.mirror.exists() else (),
        )

    def _find_disk_problem(self) -> str:
        free = shutil.disk_usage(self._folder).free
        return f"its disk is full: {free >> 20} MB are free at {self._folder}" if free < MIN_FREE_BYTES else ""

    def _require_space(self) -> None:
        if problem := self._find_disk_problem():
            raise WorldError(problem, hint="Free some space there.")

    def _start(self, space: EngineSpace, envelope: Envelope, body: wire.Start) -> None:
        spec = localize_spec(body.spec, space.root, self._env)
        if self._in_loop(lambda: self._admit(space, envelope, body, spec)):
            return
        try:
            self._require_space()
            open_node_mirror(space.mirror, body.format.object_format, body.format.shallow)
            receive_commits(space.mirror, body.commits, body.refs)
            unpack_ignored_files(Path(spec.checkout), body.ignored)
        except Exception:
            self._in_loop(lambda: space.attempts.pop(spec.attempt, None))
            raise
        self._in_loop(lambda: self._launch(space, body, spec))

    def _admit(self, space: EngineSpace, envelope: Envelope, body: wire.Start, spec: AttemptSpec) -> bool:
        """True: it was started before."""
        known = space.attempts.get(spec.attempt)
        if known is not None and known.report.state != FAILED:
            space.executor.start(spec)
            return True
        if space.is_expired or envelope.incarnation != space.incarnation:
            raise wire.StaleLeaseError("the engine's lease has run out")
        if sum(each.active for each in self.spaces.values()) >= body.slots:
            raise wire.NodeFullError("all slots are taken")
        space.reserve(spec)
        return False

    def _launch(self, space: EngineSpace, body: wire.Start, spec: AttemptSpec) -> None:
        known = space.attempts.get(spec.attempt)
        if known is None or not known.is_active:
            return  # ended meanwhile
        if body.resume and not Path(spec.workspace).is_dir():
            self._resume(space, spec, body.resume)
        try:
            space.executor.start(spec)
        except Exception:
            del space.attempts[spec.attempt]
            raise
        if body.is_terminated:
            space.executor.terminate(spec.attempt, at_once=True)

    def _resume(self, space: EngineSpace, spec: AttemptSpec, commit: str) -> None:
        """Make the workspace as the task's last attempt left it, on another node."""
        attempt = spec.attempt

        def make() -> None:
            worktrees = space.workspaces.worktrees
            worktrees.prepare(attempt.batch, attempt.task, spec.base, spec.setup, top=spec.checkout)
            worktrees.reset(attempt, commit)

        self._workers.submit(("workspace", attempt.batch, attempt.task), make, lambda _: None, _log_error)

    def _terminate(self, space: EngineSpace, body: wire.Terminate) -> None:
        if body.attempt in space.attempts:
            space.executor.terminate(body.attempt, at_once=body.at_once)

    def _capture(self, space: EngineSpace, body: wire.Capture) -> wire.CaptureReply:
        done: Future[CapturedChange] = Future()
        spec = body.spec
        self._in_loop(lambda: space.workspaces.capture(spec, done.set_result, done.set_exception, lambda _: None))
        change = done.result()
        return wire.CaptureReply(change, create_result_bundle(space.mirror, spec.attempt, change.tip, spec.base))

    def _reset(self, space: EngineSpace, body: wire.Reset) -> None:
        if body.commits:
            receive_commits(space.mirror, body.commits, {f"refs/plait/bases/{body.commit}": body.commit})
        attempt = body.attempt
        self._in_worker(attempt.batch, attempt.task, lambda: space.workspaces.worktrees.reset(attempt, body.commit))

    def _release(self, space: EngineSpace, body: wire.Release) -> wire.ReleaseReply:
        worktrees = space.workspaces.worktrees
        if not space.mirror.exists():
            return wire.ReleaseReply()
        if not body.task:
            self._in_worker(body.batch, "", lambda: worktrees.release_gate(body.batch))
            self._in_loop(lambda: space.forget(body.batch, ""))
            self._in_worker(body.batch, "", lambda: space.remove_batch(body.batch))
            return wire.ReleaseReply()
        own = [each for each in space.attempts if (each.batch, each.task) == (body.batch, body.task)]
        base = next((space.attempts[each].base for each in own), "")
        self._in_worker(body.batch, body.task, lambda: worktrees.release(body.batch, body.task))
        name = Attempt(body.batch, body.task, Step.WRITE, 1)
        commits = create_result_bundle(space.mirror, name, "", base) if base else b""
        self._in_loop(lambda: space.forget(body.batch, body.task))
        remove_tree(space.state.task(body.batch, body.task))
        return wire.ReleaseReply(commits, name if commits else None)

    def _leave(self, space: EngineSpace, session: str) -> None:
        """The engine has ended with nothing left to do; if it was the last one, what is here is given back."""
        space.sessions.pop(session, None)
        space.has_left = True
        self._give_back_unused(space)

    def _give_back_unused(self, space: EngineSpace) -> None:
        """Once an engine has left, another one that was killed before is not waited for until its lease has run out."""
        now = read_clock()
        is_used = space.active or any(now - heard < SESSION_SECONDS for heard in space.sessions.values())
        if space.has_left and not is_used and not space.is_expired:
            space.is_leaving = True
            space.expire("the engine has ended")


def _read_memory() -> tuple[int, int]:
    import psutil

    memory = psutil.virtual_memory()
    return memory.available, memory.total


def _log_error(error: Exception) -> None:
    log.write_line(f"warning: {describe_error(error)}")
