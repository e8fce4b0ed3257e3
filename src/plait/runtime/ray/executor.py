"""RayExecutor: attempts on the nodes of a Ray cluster.

An attempt waits here for a node with a free slot, is sent there with the commits that the node lacks, and is watched by the
polls of `connections`. What is known of it is in its folder on this machine (`placements`, and the transcript as far as it
was read), so that everything but starting it is answered without a call to the cluster.
"""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import assert_never

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt, Step
from plait.git.bundles import MissingCommitsError, create_bundle
from plait.git.command import Git
from plait.git.refs import BASES, task_branch
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
)
from plait.runtime.ray import wire
from plait.runtime.ray.connections import ConnectionEvents, Connections, NodeLink, read_clock
from plait.runtime.ray.ignored_files import pack_ignored_files
from plait.runtime.ray.options import RayOptions
from plait.runtime.ray.placements import Placement, Placements
from plait.runtime.ray.wire import NodeGoneError
from plait.runtime.ray.workspaces import NODE_STATE, RayWorkspaces, read_repository_format
from plait.runtime.worker_pool import WorkerPool
from plait.system.state_paths import StateFolder

REQUEST_SECONDS = 120.0  # until a node that does not answer is given up for this request
FULL_SECONDS = 1.0  # until a node that refused an attempt is tried again
RESEND_SECONDS = 1.0
NEVER_LAUNCHED = "it was never launched"


class Stage(Enum):
    QUEUED = "queued"  # for a node
    SENDING = "sending"
    SENT = "sent"
    LAUNCHED = "launched"


@dataclass(slots=True)
class RemoteAttempt:
    """An attempt whose end was not reported yet. `spec` is None if an earlier engine sent it.

    `end` is what its node reported, while the rest of its transcript is read.
    """

    attempt: Attempt
    stage: Stage
    limits: AttemptLimits
    spec: AttemptSpec | None = None
    link: NodeLink | None = None
    base: str = ""
    is_terminated: bool = False
    terminate_at_once: bool = False
    sent_spec: AttemptSpec | None = None
    end: wire.AttemptReport | None = None


class RayExecutor:
    """An Executor."""

    def __init__(  # noqa: PLR0913, PLR0917 - as open_ray_executor
        self,
        options: RayOptions,
        git_dir: Path,
        state: StateFolder,
        workers: WorkerPool,
        reactor: Reactor,
        callbacks: ExecutorCallbacks,
    ) -> None:
        self._options = options
        self._git_dir = git_dir
        self._state = state
        self._workers = workers
        self._reactor = reactor
        self._callbacks = callbacks
        self._watched: dict[Attempt, RemoteAttempt] = {}
        self._homes: dict[tuple[str, str], str] = {}  # the node that has a task's workspace
        self._peaks: dict[str, int] = {}  # memory by agent
        self._packed: set[tuple[str, str]] = set()  # nodes that have a batch's ignored files
        self._placements = Placements(state)
        self._is_closed = False
        owner = self._placements.read_owner(token_hex(8))
        events = ConnectionEvents(self._on_reply, self._on_node_lost, self._place_all, self._on_unreachable)
        self.connections = Connections(options, owner, state, reactor, events)
        self.workspaces = RayWorkspaces(git_dir, self._placements, self.connections, workers)

    def attempt_folder(self, attempt: Attempt) -> str:
        return str(NODE_STATE.attempt(attempt).path)

    def open_transcript(self, attempt: Attempt) -> FileTranscript:
        return FileTranscript(self._state.attempt(attempt).transcript)

    @property
    def slots(self) -> int | None:
        """None before the cluster was reached: then attempts that start say what is wrong."""
        links = [link for link in self.connections.list() if link.is_usable and link.node is not None]
        if not links:
            return None
        return sum(link.node.slots for link in links if link.node is not None)

    def list_nodes(self) -> Sequence[NodeStatus]:
        links = [link for link in self.connections.list() if link.node is not None]
        return [link.describe(self._count_active(link)) for link in sorted(links, key=lambda each: each.name)]

    def measure_memory(self) -> Mapping[Attempt, int]:
        found = dict[Attempt, int]()
        for link in self.connections.list():
            if link.last is not None:
                for attempt, size in link.last.memory:
                    entry = self._watched.get(attempt)
                    if entry is not None and entry.link is link and entry.end is None:
                        found[attempt] = size
        return found

    def end_leftovers(self) -> int:
        """Each node ends what its own attempts left."""
        return 0

    def start(self, spec: AttemptSpec) -> None:
        _check(spec)
        entry = self._watched.get(spec.attempt)
        if entry is not None:
            entry.spec = spec
            if entry.stage is Stage.LAUNCHED:
                self._callbacks.on_launched(spec.attempt, None)
            elif entry.stage is Stage.SENT and entry.sent_spec is not None and entry.sent_spec != spec:
                self._send(entry)
        elif (result := self.adopt(spec.attempt, spec.limits)) is not None:
            self._report(spec.attempt, result)
        else:
            self._watched[spec.attempt] = RemoteAttempt(
                spec.attempt, Stage.QUEUED, spec.limits, spec, base=spec.task_base or spec.base
            )
            if self.connections.failure is not None and not self.connections.is_connected:
                self._reactor.call_soon(partial(self._on_unreachable, self.connections.failure))
            self._place_all()

    def adopt(self, attempt: Attempt, limits: AttemptLimits = DEFAULT_LIMITS) -> ProbeResult:
        if attempt in self._watched:
            return RunningProcess(None)
        placement = self._placements.read(attempt)
        if placement is None:
            return None
        if isinstance(placement.result, RunningProcess):
            link = self.connections.find(placement.node)
            self._watched[attempt] = RemoteAttempt(attempt, Stage.SENT, limits, link=link, base=placement.base)
            self.connections.watch(link, attempt, limits.transcript_bytes)
            link.version = 0  # all that it knows is to be told again
        return placement.result

    def terminate(self, attempt: Attempt, *, at_once: bool) -> None:
        entry = self._watched.get(attempt)
        if entry is None:
            result = self.adopt(attempt)
            if not isinstance(result, RunningProcess):
                if result is None:
                    result = LostProcess(NEVER_LAUNCHED)
                    self._placements.write(Placement(attempt, "", why=result.why))
                self._report(attempt, result)
                return
            entry = self._watched[attempt]
        if entry.stage is Stage.QUEUED:
            del self._watched[attempt]
            self._placements.write(Placement(attempt, "", why=NEVER_LAUNCHED))
            self._callbacks.on_lost(attempt, NEVER_LAUNCHED)
            return
        entry.is_terminated = True
        entry.terminate_at_once = entry.terminate_at_once or at_once
        if entry.stage is not Stage.SENDING:
            self._send_termination(entry)

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            active = any(entry.stage is not Stage.QUEUED for entry in self._watched.values())
            self._watched.clear()
            self.connections.close(leave=not active)

    def _count_active(self, link: NodeLink) -> int:
        return sum(entry.link is link and entry.end is None for entry in self._watched.values())

    def _place_all(self) -> None:
        """Give every attempt that waits a node, as far as there is room."""
        if self._is_closed:
            return
        for entry in [each for each in self._watched.values() if each.stage is Stage.QUEUED]:
            link = self._choose_node(entry)
            if link is not None:
                self._place(entry, link)

    def _choose_node(self, entry: RemoteAttempt) -> NodeLink | None:
        """The node that has the task's workspace, else the one with the most room; None: there is none now."""
        assert entry.spec is not None
        agent, now = entry.spec.agent, read_clock()
        links = [link for link in self.connections.list() if link.is_usable and link.node is not None]
        if agent and any(agent in link.node.labels for link in links if link.node is not None):
            links = [link for link in links if link.node is not None and agent in link.node.labels]
        memory = self._peaks.get(agent, 0)
        room = {
            link.id: free
            for link in links
            if link.full_until < now and (free := self._count_free(link)) > 0 and _has_memory(link, memory)
        }
        home = self._find_home(entry.attempt)
        if home in room:
            return self.connections.find(home)
        best = max(links, key=lambda link: (room.get(link.id, 0), link.id), default=None)
        return best if best is not None and best.id in room else None

    def _count_free(self, link: NodeLink) -> int:
        assert link.node is not None
        used = link.last.used if link.last is not None else 0
        return link.node.slots - max(self._count_active(link), used)

    def _find_home(self, attempt: Attempt) -> str:
        key = attempt.batch, attempt.task
        if key not in self._homes:
            nodes = [each.node for each in self._placements.list_task(*key) if each.node]
            self._homes[key] = nodes[-1] if nodes else ""
        return self._homes[key]

    def _place(self, entry: RemoteAttempt, link: NodeLink) -> None:
        entry.link = link
        attempt = entry.attempt
        self._homes[attempt.batch, attempt.task] = link.id
        try:
            self._placements.write(Placement(attempt, link.id, link.name, entry.base, entry.limits.transcript_bytes))
        except OSError as error:
            del self._watched[attempt]
            self._callbacks.on_start_failed(attempt, error)
            return
        self.connections.watch(link, attempt, entry.limits.transcript_bytes)
        self._send(entry)

    def _send(self, entry: RemoteAttempt) -> None:
        entry.stage = Stage.SENDING
        self._workers.submit(
            ("node", entry.attempt.batch, entry.attempt.task),
            partial(self._send_start, entry),
            partial(self._on_sent, entry),
            partial(self._on_send_failed, entry),
        )

    def _send_start(self, entry: RemoteAttempt) -> AttemptSpec:
        """In a worker. The spec that was sent."""
        spec, link = entry.spec, entry.link
        assert spec is not None
        assert link is not None
        assert link.node is not None
        refs = {f"{BASES}/{commit}": commit for commit in (spec.base, spec.task_base) if commit}
        held = tuple(link.sent)
        commits = create_bundle(self._git_dir, refs, held)
        key = (link.id, spec.attempt.batch)
        ignored = None
        if key not in self._packed and spec.checkout:
            ignored = pack_ignored_files(Path(spec.checkout), spec.setup)
        start = wire.Start(
            self._prepare_spec(spec),
            read_repository_format(self._git_dir),
            refs,
            commits,
            link.node.slots,
            ignored,
            self._find_resumed(spec),
            entry.is_terminated,
        )
        try:
            self.connections.request(link, start, type(None), REQUEST_SECONDS)
        except MissingCommitsError:
            start = replace(start, commits=create_bundle(self._git_dir, refs, ()))
            self.connections.request(link, start, type(None), REQUEST_SECONDS)
        link.sent.update(refs.values())
        self._packed.add(key)
        return spec

    def _find_resumed(self, spec: AttemptSpec) -> str:
        """What the task's last attempt left, which this one continues."""
        attempt = spec.attempt
        if attempt.step is not Step.WRITE or attempt.n < 2:
            return ""
        git = Git(self._git_dir)
        tip = git.resolve_commit(f"refs/heads/{task_branch(attempt.batch, attempt.task)}")
        return tip if tip is not None and tip != spec.base and git.is_ancestor(spec.base, tip) else ""

    def _prepare_spec(self, spec: AttemptSpec) -> AttemptSpec:
        """Without what stays on this machine."""
        inherited, env = spec.inherited, spec.env
        if inherited is not None:
            sent = {name for name in inherited if any(fnmatch.fnmatchcase(name, each) for each in self._options.env)}
            inherited = inherited - sent
            env = {name: value for name, value in env.items() if name not in inherited}
        python = Path(sys.executable)
        return replace(
            spec,
            argv=tuple(wire.NODE_PYTHON if word == str(python) else word for word in spec.argv),
            env=env,
            inherited=inherited,
            checkout="",
        )

    def _on_sent(self, entry: RemoteAttempt, sent: AttemptSpec) -> None:
        entry.sent_spec = sent
        if self._watched.get(entry.attempt) is not entry:
            return
        if entry.stage is Stage.SENDING:
            entry.stage = Stage.SENT
        if entry.spec != sent and entry.stage is Stage.SENT:
            self._send(entry)
        elif entry.is_terminated:
            self._send_termination(entry)

    def _on_send_failed(self, entry: RemoteAttempt, error: Exception) -> None:
        attempt, link = entry.attempt, entry.link
        if self._watched.get(attempt) is not entry or link is None:
            return
        if isinstance(error, NodeGoneError) and not link.is_lost:
            # It may have arrived. So it stays there until the node says what became of it, or is lost.
            entry.stage = Stage.SENT
            link.version = 0
            if self.connections.is_connected:
                self._reactor.call_later(RESEND_SECONDS, partial(self._resend, entry))
            return
        self._forget(entry)
        if isinstance(error, wire.NodeFullError | wire.StaleLeaseError):
            self._placements.remove(attempt)
            link.full_until = read_clock() + FULL_SECONDS
            if entry.is_terminated:
                self._placements.write(Placement(attempt, "", why=NEVER_LAUNCHED))
                self._callbacks.on_lost(attempt, NEVER_LAUNCHED)
                return
            entry.stage, entry.link = Stage.QUEUED, None
            self._watched[attempt] = entry
            self._reactor.call_later(FULL_SECONDS, self._place_all)
            return
        self._placements.remove(attempt)
        self._callbacks.on_start_failed(attempt, error)

    def _resend(self, entry: RemoteAttempt) -> None:
        """Sending twice starts once."""
        is_waiting = self._watched.get(entry.attempt) is entry and entry.stage is Stage.SENT
        if is_waiting and not self._is_closed and entry.spec is not None and entry.sent_spec is None:
            self._send(entry)

    def _send_termination(self, entry: RemoteAttempt) -> None:
        link = entry.link
        if link is None or self._is_closed:
            return

        def send() -> None:
            body = wire.Terminate(entry.attempt, entry.terminate_at_once)
            self.connections.request(link, body, type(None), REQUEST_SECONDS)

        def retry(_: Exception) -> None:
            if not self._is_closed:
                self._reactor.call_later(RESEND_SECONDS, again)

        def again() -> None:
            if self._watched.get(entry.attempt) is entry:
                self._send_termination(entry)

        self._workers.submit(("node", entry.attempt.batch, entry.attempt.task), send, lambda _: None, retry)

    def _forget(self, entry: RemoteAttempt) -> None:
        self._watched.pop(entry.attempt, None)
        if entry.link is not None:
            self.connections.unwatch(entry.link, entry.attempt)

    def _on_reply(self, link: NodeLink, reply: wire.PollReply, is_complete: bool) -> None:  # noqa: FBT001 - a callback
        if self._is_closed:
            return
        reported = set[Attempt]()
        for report in reply.attempts:
            reported.add(report.attempt)
            entry = self._watched.get(report.attempt)
            if entry is not None and entry.link is link:
                self._on_report(entry, report)
            elif report.state in {wire.LOST, wire.EXITED}:
                self._release_stale(link, report.attempt)
        for entry in [each for each in self._watched.values() if each.link is link]:
            was_there = entry.stage is Stage.LAUNCHED or (entry.stage is Stage.SENT and entry.spec is None)
            if entry.end is not None:
                self._finish_when_read(entry, entry.end)
            elif is_complete and was_there and entry.attempt not in reported:
                self._end_lost(entry, f"its node {link.name} knows nothing of it")
        self._record_memory(reply)
        self._place_all()

    def _record_memory(self, reply: wire.PollReply) -> None:
        for attempt, size in reply.memory:
            entry = self._watched.get(attempt)
            if entry is not None and entry.spec is not None:
                agent = entry.spec.agent
                self._peaks[agent] = max(size, self._peaks.get(agent, 0))

    def _on_report(self, entry: RemoteAttempt, report: wire.AttemptReport) -> None:
        match report.state:
            case wire.RUNNING:
                if entry.stage is not Stage.LAUNCHED:
                    if entry.stage is Stage.SENT:
                        entry.stage = Stage.LAUNCHED
                    self._callbacks.on_launched(entry.attempt, None)
            case wire.FAILED:
                if entry.stage is Stage.SENDING and entry.sent_spec is not None:
                    return  # it is being started again
                self._forget(entry)
                self._placements.remove(entry.attempt)
                assert report.failure is not None
                name = entry.link.name if entry.link is not None else ""
                self._callbacks.on_start_failed(entry.attempt, wire.make_error(report.failure, name))
            case wire.EXITED | wire.LOST:
                if entry.end is None:
                    if report.state == wire.EXITED and entry.stage is not Stage.LAUNCHED:
                        self._callbacks.on_launched(entry.attempt, None)
                    entry.end = report
            case _:
                pass

    def _finish_when_read(self, entry: RemoteAttempt, end: wire.AttemptReport) -> None:
        """Report the end once all that it printed is here."""
        link = entry.link
        assert link is not None
        if link.offsets.get(entry.attempt, 0) < end.size:
            return
        self._finish(entry, end)

    def _finish(self, entry: RemoteAttempt, end: wire.AttemptReport) -> None:
        assert entry.link is not None
        placement = Placement(
            entry.attempt,
            entry.link.id,
            entry.link.name,
            entry.base,
            entry.limits.transcript_bytes,
            end.code if end.state == wire.EXITED else None,
            end.why if end.state == wire.LOST else None,
            end.setup_failure,
            end.is_missing,
        )
        try:
            self._placements.write(placement)
        except OSError:
            self._reactor.call_later(RESEND_SECONDS, partial(self._finish_again, entry, end))
            return
        self._forget(entry)
        self._report(entry.attempt, placement.result)

    def _finish_again(self, entry: RemoteAttempt, end: wire.AttemptReport) -> None:
        if self._watched.get(entry.attempt) is entry:
            self._finish(entry, end)

    def _end_lost(self, entry: RemoteAttempt, why: str) -> None:
        self._homes.pop((entry.attempt.batch, entry.attempt.task), None)
        self._finish(entry, wire.AttemptReport(entry.attempt, wire.LOST, why=why))

    def _on_node_lost(self, link: NodeLink) -> None:
        """Its lease has run out there, too: nothing that was sent there runs any more, or can end well."""
        if self._is_closed:
            return
        for entry in [each for each in self._watched.values() if each.link is link]:
            if entry.end is None or entry.end.state != wire.EXITED:
                self._end_lost(entry, f"its node {link.name} was not heard of for {self._options.lease_seconds:g} s")
            else:
                self._finish(entry, entry.end)
        for key in [key for key, node in self._homes.items() if node == link.id]:
            self._homes[key] = ""
        self._place_all()

    def _release_stale(self, link: NodeLink, attempt: Attempt) -> None:
        """A node that was lost is back with what an attempt left: get what it saved, and give the workspace back."""
        placement = self._placements.read(attempt)
        if placement is None or placement.node != link.id or placement.why is None:
            return
        key = attempt.batch, attempt.task
        if any((each.attempt.batch, each.attempt.task) == key for each in self._watched.values()):
            return
        self.workspaces.release_on(link, *key)

    def _on_unreachable(self, error: Exception) -> None:
        """What waits for a node is told; it may be tried again later."""
        for entry in [each for each in self._watched.values() if each.stage is Stage.QUEUED]:
            del self._watched[entry.attempt]
            self._callbacks.on_start_failed(entry.attempt, error)

    def _report(self, attempt: Attempt, result: ProbeResult) -> None:
        match result:
            case RunningProcess(pid):
                self._callbacks.on_launched(attempt, pid)
            case ExitedProcess(code):
                self._callbacks.on_exited(attempt, code)
            case LostProcess(why):
                self._callbacks.on_lost(attempt, why)
            case None:
                pass
            case _:
                assert_never(result)


def _has_memory(link: NodeLink, needed: int) -> bool:
    return link.last is None or not link.last.memory_total or link.last.free_memory > needed


def _check(spec: AttemptSpec) -> None:
    """Raises WorldError for what can't be started on any node."""
    if not spec.argv:
        raise WorldError(f"{spec.attempt} has no command to run")
    if spec.kind is AttemptKind.IN_PLACE or not spec.workspace.startswith(wire.NODE_ROOT):
        raise WorldError(
            f"{spec.attempt} would work in {spec.workspace}, and a cluster's nodes have no access to this machine's folders",
            hint='Run it with isolation = "worktree", or without --executor ray.',
        )
    words = (*spec.argv, *spec.env.keys(), *spec.env.values())
    if any("\0" in word for word in words):
        raise WorldError(f"can't start {spec.attempt}: its command or environment has a NUL")
