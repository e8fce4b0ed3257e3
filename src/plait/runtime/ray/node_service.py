"""What a node does for engines: it answers their requests, each in the `EngineSpace` of its engine."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TypeVar, assert_never

from plait.config.keys import is_own_secret
from plait.config.ray_keys import RayConfig
from plait.core.errors import describe_error
from plait.core.task import Attempt, Step
from plait.git.node_mirror import (
    UNUSED_SECONDS,
    has_saved_work,
    list_tips,
    open_node_mirror,
    receive_commits,
    tidy_mirror,
)
from plait.git.refs import BASES, ref_component
from plait.git.result_bundles import create_result_bundle
from plait.runtime.executor import AttemptFile, AttemptSpec
from plait.runtime.ray import wire
from plait.runtime.ray.engine_space import ATTEMPTS_FILE, MIRROR, EngineSpace
from plait.runtime.ray.ignored_files import unpack_ignored_files
from plait.runtime.ray.node_tools import require_tools
from plait.runtime.ray.wire import FAILED, Envelope
from plait.runtime.reactor import SelectReactor
from plait.runtime.termination import GracePeriods
from plait.runtime.worker_pool import WorkerPool
from plait.system import log
from plait.system.disk import remove_tree
from plait.system.processes import read_boot_clock

MAX_WAIT_SECONDS = 20.0  # of a poll
LOOK_SECONDS = 0.05  # between two looks for output while an engine waits
MIN_FREE_BYTES = 256 << 20
SESSION_SECONDS = 10.0  # in which an engine that runs polls at least once
# Until a service ends that no engine uses: after it was started, and after the last one has left.
FIRST_SECONDS, LAST_SECONDS = 30.0, 0.5
_REMOVED_PREFIX = "removed-"
_WITHHELD_PREFIXES = ("RAY_", "__RAY")

T = TypeVar("T")


def list_node_environment() -> dict[str, str]:
    """Return what attempts get from the node: its own environment, without what belongs to Ray and plait."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_WITHHELD_PREFIXES) and not is_own_secret(name)
    }


def localize_spec(spec: AttemptSpec, root: Path, node_env: Mapping[str, str]) -> AttemptSpec:
    """Return the spec with this node's paths, Python and environment."""

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
        for path in sorted(folder.glob(f"engine-*/{ATTEMPTS_FILE}")):  # of the service before this one
            owner = path.parent.name.removeprefix("engine-")
            self._open_space(owner, RayConfig.lease.default)
        self._remove_unused()

    @property
    def is_finished(self) -> bool:
        """Whether no engine has anything here, and none has sent a request for a while."""
        patience = LAST_SECONDS if self._has_served else FIRST_SECONDS
        return not self.spaces and self._workers.is_idle and time.monotonic() - self._heard_at > patience

    def check(self) -> None:
        """Check from time to time for leases that have run out, and for engines that no longer exist."""
        for owner, space in list(self.spaces.items()):
            space.check_lease()
            self._give_back_unused(space)
            gone = space.is_leaving or (space.is_expired and space.lease.is_long_over)
            if gone and not space.is_releasing and self._workers.is_idle:
                self._close_space(owner, space)

    def _close_space(self, owner: str, space: EngineSpace) -> None:
        """Close the space of an engine that has nothing running here. The mirror stays, so that the next batch needs
        fewer commits.
        """
        del self.spaces[owner]
        space.close()
        for name in ("state", "checkouts"):
            self._set_aside(space.root / name)
        space.forget_all()
        self._remove_set_aside()

        def tidy() -> None:
            space.workspaces.worktrees.trim_pool()
            if space.mirror.exists():
                tidy_mirror(space.mirror)

        self._workers.submit(("close", owner), tidy, lambda _: self._remove_unused(), _log_error)

    def _set_aside(self, path: Path) -> None:
        """Move a path away, to be removed later. Removing may take long, and an engine may come meanwhile."""
        try:
            path.rename(self._folder / f"{_REMOVED_PREFIX}{token_hex(8)}")
        except FileNotFoundError:
            pass
        except OSError as error:  # the service must continue
            _log_error(error)

    def _remove_set_aside(self) -> None:
        for path in self._folder.glob(f"{_REMOVED_PREFIX}*"):
            self._workers.submit(("remove", path.name), partial(remove_tree, path), lambda _: None, _log_error)

    def _remove_unused(self) -> None:
        """Remove mirrors and pools of repositories that no engine has used for long; if the disk is full, all that none
        uses now.

        One with saved work stays: the engine may not have fetched it.
        """
        is_full, now = bool(self._find_disk_problem()), time.time()
        for path in self._folder.glob("engine-*"):
            with suppress(OSError):
                is_old = now - path.stat().st_mtime > UNUSED_SECONDS  # files are put there whenever it is used
                is_unused = path.name.removeprefix("engine-") not in self.spaces and (is_full or is_old)
                if is_unused and not has_saved_work(path / MIRROR):
                    self._set_aside(path)
        self._remove_set_aside()

    def close(self) -> None:
        for space in self.spaces.values():
            space.close()
        self._workers.close()

    def answer(self, data: bytes) -> bytes:
        """Answer a request, from any thread but the loop's. Raises WorldError if it was sealed for another service."""
        envelope = self.sealer.open_request(data)
        self._heard_at = time.monotonic()
        try:
            reply = wire.Reply(data=wire.encode(self._answer(envelope)))
        except Exception as error:  # noqa: BLE001 - it is reported to the engine
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
        """Run a job in a worker, after everything else that is to be done with the task's workspace, and return its
        result.
        """
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
        if poll.kept:
            self._in_loop(lambda: space.delete_output(poll.kept))
        with space.changed:
            while not space.has_news(envelope, poll) and time.monotonic() < end:
                space.changed.wait(LOOK_SECONDS)
        reply = self._in_loop(lambda: self._build_poll_reply(space, envelope, poll))
        return replace(reply, chunks=tuple(space.read_chunks(poll)))  # after the sizes of what has ended

    def _build_poll_reply(self, space: EngineSpace, envelope: Envelope, poll: wire.Poll) -> wire.PollReply:
        space.check_lease()
        since = poll.version if envelope.incarnation == space.incarnation else -1
        free, total = _read_memory()
        number = space.number_answer()
        disk_problem = self._find_disk_problem()
        if disk_problem:
            self._remove_unused()
        return wire.PollReply(
            space.incarnation,
            space.version,
            number,
            sum(each.active for each in self.spaces.values()),
            free,
            total,
            disk_problem,
            tuple(each.report for each in space.attempts.values() if each.version > since),
            memory=tuple(space.memory.items()),
            tips=list_tips(space.mirror) if since < 0 and space.mirror.exists() else (),
        )

    def _find_disk_problem(self) -> str:
        free = shutil.disk_usage(self._folder).free
        # Without the number, which changes: the engine keeps each new reason in its journal.
        return (
            f"its disk is full: less than {MIN_FREE_BYTES >> 20} MB are free at {self._folder}"
            if free < MIN_FREE_BYTES
            else ""
        )

    def _require_space(self) -> None:
        if problem := self._find_disk_problem():
            raise wire.NodeDiskFullError(problem, hint="Free some space there.")

    def _start(self, space: EngineSpace, envelope: Envelope, body: wire.Start) -> None:
        spec = localize_spec(body.spec, space.root, self._env)
        with space.starting(spec.attempt):
            if self._in_loop(lambda: self._admit(space, envelope, body, spec)):
                return
            try:
                require_tools(spec)
                open_node_mirror(space.mirror, body.format.object_format, body.format.shallow)
                receive_commits(space.mirror, body.commits, body.refs)
                unpack_ignored_files(Path(spec.checkout), body.ignored)
            except Exception:
                self._in_loop(lambda: space.attempts.pop(spec.attempt, None))
                self._require_space()  # if it is full now, another node may have room
                raise
            self._in_loop(lambda: self._launch(space, body, spec))

    def _admit(self, space: EngineSpace, envelope: Envelope, body: wire.Start, spec: AttemptSpec) -> bool:
        """Admit an attempt to this node. True if it was started before. Raises a NodeRefusedError."""
        known = space.attempts.get(spec.attempt)
        if known is not None and known.report.state != FAILED:
            known.capture = spec.capture
            space.executor.start(spec)
            space.report_again(spec.attempt)
            return True
        if space.is_expired or envelope.incarnation != space.incarnation:
            raise wire.StaleLeaseError("the engine's lease has run out")
        if spec.attempt.batch in space.removing:
            raise wire.NodeFullError("what it has of the batch is being removed")
        if sum(each.active for each in self.spaces.values()) >= body.slots:
            raise wire.NodeFullError("all slots are taken")
        self._require_space()
        space.reserve(spec)
        return False

    def _launch(self, space: EngineSpace, body: wire.Start, spec: AttemptSpec) -> None:
        attempt = spec.attempt
        if body.resume and not (space.has_run_before(attempt) and Path(spec.workspace).is_dir()):
            self._workers.submit(
                ("workspace", attempt.batch, attempt.task),
                lambda: _resume(space, spec, body.resume),
                lambda _: self._launch_prepared(space, body, spec),
                partial(space.on_start_failed, attempt),
            )
        else:
            self._launch_prepared(space, body, spec)

    def _launch_prepared(self, space: EngineSpace, body: wire.Start, spec: AttemptSpec) -> None:
        known = space.attempts.get(spec.attempt)
        if known is None or not known.is_active:
            return  # ended meanwhile
        try:
            space.executor.start(spec)
        except Exception as error:  # noqa: BLE001 - it is reported to the engine
            space.on_start_failed(spec.attempt, error)
        if body.is_terminated:
            space.executor.terminate(spec.attempt, at_once=True)

    def _terminate(self, space: EngineSpace, body: wire.Terminate) -> None:
        if body.attempt in space.attempts:
            space.executor.terminate(body.attempt, at_once=body.at_once)

    def _capture(self, space: EngineSpace, body: wire.Capture) -> wire.CaptureReply:
        return self._in_loop(lambda: space.take_result(body.spec)).result()

    def _reset(self, space: EngineSpace, body: wire.Reset) -> None:
        if body.commits:
            receive_commits(space.mirror, body.commits, {f"{BASES}/{body.commit}": body.commit})
        attempt = body.attempt
        self._in_worker(attempt.batch, attempt.task, lambda: space.workspaces.worktrees.reset(attempt, body.commit))

    def _release(self, space: EngineSpace, body: wire.Release) -> wire.ReleaseReply:
        if not space.mirror.exists():
            return wire.ReleaseReply()
        if not body.task:
            self._in_worker(body.batch, "", lambda: space.workspaces.worktrees.release_gate(body.batch))
            self._in_loop(lambda: space.forget(body.batch, ""))
            if self._in_loop(lambda: space.begin_removal(body.batch)):
                try:
                    self._in_worker(body.batch, "", lambda: space.remove_batch(body.batch))
                finally:
                    self._in_loop(lambda: space.removing.discard(body.batch))
            return wire.ReleaseReply()
        if self._in_loop(lambda: space.is_working(body.batch, body.task)):
            return wire.ReleaseReply()  # asked for because of an attempt before this one
        base = self._in_loop(lambda: space.find_base(body.batch, body.task))
        self._in_worker(body.batch, body.task, lambda: space.release(body, base))
        saved = Attempt(body.batch, body.task, Step.WRITE, 1)  # any attempt: some were forgotten with their lease
        commits = create_result_bundle(space.mirror, saved, "", base)
        self._in_loop(lambda: space.forget(body.batch, body.task))
        with suppress(FileNotFoundError):  # the batch is being removed, too
            remove_tree(space.state.task(body.batch, body.task))
        return wire.ReleaseReply(commits)

    def _leave(self, space: EngineSpace, session: str) -> None:
        """Note that an engine has ended with nothing left to do. If it was the last one, release what is here."""
        space.sessions.pop(session, None)
        space.has_left = True
        self._give_back_unused(space)

    def _give_back_unused(self, space: EngineSpace) -> None:
        """Release the space if it is unused. Once an engine has left, an earlier one that was killed is not waited for
        until its lease has run out.
        """
        now = read_boot_clock()
        is_used = space.active or any(now - heard < SESSION_SECONDS for heard in space.sessions.values())
        if space.has_left and not is_used and not space.is_expired:
            space.is_leaving = True
            space.expire("the engine has ended")


def _resume(space: EngineSpace, spec: AttemptSpec, commit: str) -> None:
    """Make the workspace as the task's last attempt left it on another node. An earlier attempt may have left one here."""
    attempt, worktrees = spec.attempt, space.workspaces.worktrees
    worktrees.prepare(attempt.batch, attempt.task, spec.base, spec.setup, top=spec.checkout)
    worktrees.reset(attempt, commit)


def _read_memory() -> tuple[int, int]:
    import psutil

    memory = psutil.virtual_memory()
    return memory.available, memory.total


def _log_error(error: Exception) -> None:
    log.write_line(f"warning: {describe_error(error)}")
