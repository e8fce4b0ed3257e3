"""Runs attempts on the nodes of a Ray cluster.

An attempt waits here for a node with a free slot, is sent there with the commits that the node lacks, and is watched by
the polls of `connections`. `remote_attempt` decides what follows from an event, `node_choice` where attempts run; this
module carries that out. What is known of an attempt is in its folder on this machine (`placements`, and the transcript
as far as it was read), so that everything but starting it is answered without a call to the cluster.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import assert_never

from plait.config.ray_keys import RayConfig
from plait.core.errors import UserError, describe_error
from plait.core.task import Attempt
from plait.runtime.attempt_files import FileTranscript, write_record_files
from plait.runtime.executor import (
    DEFAULT_LIMITS,
    AttemptLimits,
    AttemptSpec,
    ExecutorCallbacks,
    LostProcess,
    NodeStatus,
    ProbeResult,
    Reactor,
    RunningProcess,
    Timer,
    report_result,
)
from plait.runtime.ray import node_choice, remote_attempt as steps, wire
from plait.runtime.ray.cluster import Cluster
from plait.runtime.ray.connections import ConnectionEvents, Connections
from plait.runtime.ray.needs import Needs
from plait.runtime.ray.node_choice import Node, Wanted
from plait.runtime.ray.node_link import NodeLink
from plait.runtime.ray.node_tools import name_tools
from plait.runtime.ray.placements import Placement, Placements
from plait.runtime.ray.remote_attempt import NEVER_LAUNCHED, RemoteAttempt, Stimulus
from plait.runtime.ray.start_request import REQUEST_SECONDS, StartSender, require_startable
from plait.runtime.ray.workspaces import NODE_STATE, RayWorkspaces
from plait.runtime.worker_pool import WorkerPool
from plait.system.processes import read_boot_clock
from plait.system.state_paths import StateFolder

REFUSED_SECONDS = 1.0  # until a node that refused an attempt is tried again
RESEND_SECONDS = 1.0
LACKS_SECONDS = 60.0  # until a node that lacks what an attempt needs is tried again
# Between two looks for room while there is none: a thousand nodes answer hundreds of times a second.
FULL_SECONDS = 0.05


class RayExecutor:
    """Runs attempts on a cluster. It is an Executor."""

    def __init__(  # noqa: PLR0913, PLR0917 - as open_ray_executor
        self,
        config: RayConfig,
        git_dir: Path,
        state: StateFolder,
        workers: WorkerPool,
        reactor: Reactor,
        callbacks: ExecutorCallbacks,
        open_cluster: Callable[[str], Cluster] = Cluster,
    ) -> None:
        self._config = config
        self._state = state
        self._workers = workers
        self._reactor = reactor
        self._callbacks = callbacks
        self._watched: dict[Attempt, RemoteAttempt] = {}
        self._placements = Placements(state)
        self._needs = Needs(self._placements)
        self._place_timer: Timer | None = None
        self._full_at = 0.0  # when there was last no room for an attempt
        self._is_closed = False
        owner = self._placements.read_owner(token_hex(8))
        events = ConnectionEvents(self._on_reply, self._on_node_lost, self._place_soon)
        self.connections = Connections(config, owner, state, reactor, events, open_cluster)
        self.workspaces = RayWorkspaces(git_dir, self._placements, self._needs, self.connections, workers)
        self._sender = StartSender(git_dir, self.connections, config.env)

    def attempt_folder(self, attempt: Attempt) -> str:
        return str(NODE_STATE.attempt(attempt).path)

    def open_transcript(self, attempt: Attempt) -> FileTranscript:
        return FileTranscript(self._state.attempt(attempt).transcript)

    @property
    def slots(self) -> int:
        return node_choice.count_slots(self._list_known_nodes()) if self.connections.is_connected else 0

    @property
    def no_slots_reason(self) -> str:
        connections = self.connections
        if not connections.is_connected:
            return describe_error(connections.failure) if connections.failure is not None else ""
        nodes = self._list_known_nodes()
        if not connections.has_listed_nodes or any(node.is_new for node in nodes):
            return ""
        return "" if node_choice.count_slots(nodes) else node_choice.explain_no_slots(nodes)

    def list_nodes(self) -> Sequence[NodeStatus]:
        """List the nodes; those that have left the cluster are listed for as long as their attempts may continue."""
        active = self._count_active()
        links = [each for each in self.connections.list() if each.node is not None]
        names = {link.name for link in links if link.is_alive}  # a node that was started again is another one
        has_listed = self.connections.has_listed_nodes
        links = [each for each in links if each.is_alive or not (each.name in names or (each.is_lost and has_listed))]
        return [link.describe(active[link.id]) for link in sorted(links, key=lambda each: each.name)]

    def measure_memory(self) -> Mapping[Attempt, int]:
        found = dict[Attempt, int]()
        for link in self.connections.list():
            if link.last is not None:
                for attempt, size in link.last.memory:
                    known = self._watched.get(attempt)
                    if known is not None and known.node == link.id and known.end is None:
                        found[attempt] = size
        return found

    def end_leftovers(self) -> int:
        """Do nothing: each node ends what its own attempts left."""
        return 0

    def can_stay(self, attempt: Attempt) -> bool:
        known = self._watched.get(attempt)
        if known is not None and not known.is_queued:
            return True
        wanted = Wanted(home=self._needs.find_home(attempt), stays=True)
        return node_choice.choose_node(self._list_known_nodes(), wanted) is not None

    def start(self, spec: AttemptSpec) -> None:
        require_startable(spec)
        if spec.attempt in self._watched:
            self._apply(spec.attempt, steps.SpecGiven(spec))
        elif (result := self.adopt(spec.attempt, spec.limits)) is not None:
            report_result(self._callbacks, spec.attempt, result)
        else:
            base = spec.task_base or spec.base
            self._watched[spec.attempt] = RemoteAttempt(spec.attempt, spec.limits, spec, base)
            self._place_soon()

    def adopt(self, attempt: Attempt, limits: AttemptLimits = DEFAULT_LIMITS) -> ProbeResult:
        if attempt in self._watched:
            return RunningProcess(None)
        placement = self._placements.read(attempt)
        if placement is None:
            return None
        if isinstance(placement.result, RunningProcess):
            link = self.connections.find(placement.node)
            self._watched[attempt] = RemoteAttempt(
                attempt, limits, base=placement.base, node=placement.node, is_delivered=True
            )
            self.connections.watch(link, attempt, limits.transcript_bytes)
            self.connections.ask_for_all(link)
        return placement.result

    def terminate(self, attempt: Attempt, *, at_once: bool) -> None:
        if attempt not in self._watched:
            result = self.adopt(attempt)
            if not isinstance(result, RunningProcess):
                if result is None:
                    result = LostProcess(NEVER_LAUNCHED)
                    self._placements.write(Placement(attempt, "", why=result.why))
                report_result(self._callbacks, attempt, result)
                return
        self._apply(attempt, steps.TerminationAsked(at_once))

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            has_placed = any(not each.is_queued for each in self._watched.values())
            self._watched.clear()
            if self._place_timer is not None:
                self._place_timer.cancel()
            self.connections.close(leave=not has_placed)

    def _apply(self, attempt: Attempt, stimulus: Stimulus) -> None:
        state = self._watched.get(attempt)
        if state is None or self._is_closed:
            return
        self._watched[attempt], actions = steps.advance(state, stimulus)
        for action in actions:
            self._perform(attempt, action)

    def _perform(self, attempt: Attempt, action: steps.Action) -> None:
        match action:
            case steps.Send():
                self._send(attempt)
            case steps.SendLater():
                self.connections.ask_for_all(self._find_link(attempt))
                self._reactor.call_later(RESEND_SECONDS, partial(self._apply, attempt, steps.SendDue()))
            case steps.SendTermination():
                self._send_termination(attempt)
            case steps.ReportLaunch():
                self._callbacks.on_launched(attempt, None)
            case steps.Requeue(node, error):
                self._requeue(attempt, self.connections.find(node), error)
            case steps.Finish(end, is_outage):
                self._finish(attempt, end, is_outage=is_outage)
            case steps.FailStart(error):
                self._forget(attempt)
                self._placements.remove(attempt)
                self._callbacks.on_start_failed(attempt, error)
            case steps.Withdraw(why, is_outage):
                self._forget(attempt)
                self._placements.write(Placement(attempt, "", why=why, is_outage=is_outage))
                self._callbacks.on_lost(attempt, why, is_outage=is_outage)
            case _:
                assert_never(action)

    def _requeue(self, attempt: Attempt, link: NodeLink, error: Exception) -> None:
        self.connections.unwatch(link, attempt)
        self._placements.remove(attempt)
        self._needs.forget_home(attempt.batch, attempt.task)
        spec = self._watched[attempt].spec
        if isinstance(error, wire.UnsuitableNodeError) and spec is not None:
            tools = name_tools(spec)
            link.lacks[tools] = error.message.removesuffix(f" (on node {link.name})")
            self._reactor.call_later(LACKS_SECONDS, partial(_forget_lack, link, tools))
            self._place_soon()
        else:
            link.full_until = read_boot_clock() + REFUSED_SECONDS
            self._reactor.call_later(REFUSED_SECONDS, self._place_soon)

    def _find_link(self, attempt: Attempt) -> NodeLink:
        return self.connections.find(self._watched[attempt].node)

    def _count_active(self) -> Counter[str]:
        """Count the attempts on each node."""
        return Counter(each.node for each in self._watched.values() if each.end is None)

    def _list_known_nodes(self) -> list[Node]:
        now, active = read_boot_clock(), self._count_active()
        return [link.view(active[link.id], now) for link in self.connections.list() if link.node is not None]

    def _place_soon(self) -> None:
        """Place waiting attempts soon: there may be room for them now, or none any more."""
        if self._place_timer is None and not self._is_closed:
            wait = self._full_at + FULL_SECONDS - time.monotonic()
            self._place_timer = self._reactor.call_later(max(0.0, wait), self._place_all)

    def _place_all(self) -> None:
        """Give every waiting attempt a node, as far as there is room."""
        self._place_timer = None
        queued = [each for each in self._watched.values() if each.is_queued]
        if queued and (why := self.no_slots_reason):  # they wait in the engine, where people see the reason
            for state in queued:
                self._apply(state.attempt, steps.ClusterUnusable(why))
            return
        nodes = {node.id: node for node in self._list_known_nodes()} if queued else {}
        for state in queued:
            if state.attempt not in self._watched:
                continue  # withdrawn meanwhile
            assert state.spec is not None
            wanted = self._needs.describe(state.spec)
            node = node_choice.choose_node([*nodes.values()], wanted)
            if node is not None:
                nodes[node.id] = replace(node, used=node.used + 1)
                self._place(state, self.connections.find(node.id))
            else:
                self._full_at = time.monotonic()
                self._withdraw_hopeless(state.attempt, wanted, [*nodes.values()])

    def _withdraw_hopeless(self, attempt: Attempt, wanted: Wanted, nodes: Sequence[Node]) -> None:
        """Withdraw an attempt that no node can ever run, or report that its start failed."""
        if wanted.stays and not node_choice.list_suitable(nodes, wanted):
            self._perform(attempt, steps.Withdraw("the node with the task's workspace can't be used"))
        elif why := node_choice.explain_unsuitable(nodes, wanted):
            self._perform(attempt, steps.FailStart(UserError(why)))

    def _place(self, state: RemoteAttempt, link: NodeLink) -> None:
        attempt, size = state.attempt, state.limits.transcript_bytes
        self._needs.place(attempt, link.id)
        try:
            self._placements.add_node(attempt.batch, link.id)
            self._placements.write(Placement(attempt, link.id, link.name, state.base, size))
        except OSError as error:
            del self._watched[attempt]
            self._callbacks.on_start_failed(attempt, error)
            return
        self.connections.watch(link, attempt, size)
        self._apply(attempt, steps.Placed(link.id))

    def _send(self, attempt: Attempt) -> None:
        state, link = self._watched[attempt], self._find_link(attempt)
        self._workers.submit(
            ("node", attempt.batch, attempt.task),
            partial(self._sender.send, state, link),
            lambda spec: self._apply(attempt, steps.Delivered(spec)),
            lambda error: self._apply(attempt, steps.SendFailed(error)),
        )

    def _send_termination(self, attempt: Attempt) -> None:
        """Ask the attempt's node to end it, and repeat this until the node has reported its end."""
        state = self._watched.get(attempt)
        if state is None or self._is_closed:
            return
        link, body = self._find_link(attempt), wire.Terminate(attempt, state.terminate_at_once)

        def retry(_: Exception) -> None:
            if not self._is_closed:
                self._reactor.call_later(RESEND_SECONDS, partial(self._send_termination, attempt))

        self._workers.submit(
            ("node", attempt.batch, attempt.task),
            lambda: self.connections.request(link, body, type(None), REQUEST_SECONDS),
            lambda _: None,
            retry,
        )

    def _forget(self, attempt: Attempt) -> None:
        state = self._watched.pop(attempt)
        if not state.is_queued:
            self.connections.unwatch(self.connections.find(state.node), attempt)

    def _on_reply(self, link: NodeLink, reply: wire.PollReply, is_complete: bool) -> None:  # noqa: FBT001 - a callback
        if self._is_closed:
            return
        for report in reply.attempts:
            state = self._watched.get(report.attempt)
            if state is not None and state.node == link.id:
                self._apply(report.attempt, steps.Reported(report, link.name))
            elif report.state in {wire.LOST, wire.EXITED}:
                self._release_stale(link, report.attempt)
            elif report.state in {wire.PREPARING, wire.RUNNING}:
                self._end_stale(link, report.attempt)
        reported = {report.attempt for report in reply.attempts}
        for attempt in self.connections.list_attempts(link):
            self._apply(attempt, steps.OutputRead(link.offsets.get(attempt, 0)))
            if is_complete and attempt not in reported:
                self._needs.forget_home(attempt.batch, attempt.task)
                self._apply(attempt, steps.Forgotten(f"its node {link.name} knows nothing of it"))
        self._record_memory(reply)
        self._place_soon()

    def _record_memory(self, reply: wire.PollReply) -> None:
        for attempt, size in reply.memory:
            state = self._watched.get(attempt)
            if state is not None and state.spec is not None:
                self._needs.record_memory(state.spec.agent, size)

    def _finish(self, attempt: Attempt, end: wire.AttemptReport, *, is_outage: bool) -> None:
        state, link = self._watched[attempt], self._find_link(attempt)
        placement = Placement(
            attempt,
            link.id,
            link.name,
            state.base,
            state.limits.transcript_bytes,
            end.code if end.state == wire.EXITED else None,
            end.why if end.state == wire.LOST else None,
            end.setup_failure,
            end.is_missing,
            is_outage,
        )
        try:
            write_record_files(self._state.attempt(attempt).path, end.files)
            self._placements.write(placement)
        except OSError:
            self._reactor.call_later(RESEND_SECONDS, partial(self._apply, attempt, steps.OutputRead(end.size)))
            return
        self._forget(attempt)
        self.connections.drop_output(link, attempt)
        report_result(self._callbacks, attempt, placement.result)

    def _on_node_lost(self, link: NodeLink) -> None:
        """Report the attempts of a lost node as lost. Its lease has run out there, too: nothing that was sent there
        still runs, or can end well.
        """
        if self._is_closed:
            return
        why = f"its node {link.name} has not answered for {self._config.lease:g} s"
        is_outage = not node_choice.count_slots(self._list_known_nodes())
        for attempt in self.connections.list_attempts(link):
            self._apply(attempt, steps.NodeLost(why, is_outage))
        self._needs.lose_node(link.id)
        self._place_soon()

    def _release_stale(self, link: NodeLink, attempt: Attempt) -> None:
        """Release an attempt that a node still has and whose end is known here.

        If the node was lost meanwhile, fetch the work that it saved, and release the workspace.
        """
        placement = self._placements.read(attempt)
        if placement is None or placement.node != link.id or placement.is_running:
            return
        self.connections.drop_output(link, attempt)
        if placement.why is None:
            return
        key = attempt.batch, attempt.task
        if any((each.attempt.batch, each.attempt.task) == key for each in self._watched.values()):
            return
        self.workspaces.release_on(link, *key)

    def _end_stale(self, link: NodeLink, attempt: Attempt) -> None:
        """End an attempt that a node still runs although it was declared lost, and may run elsewhere under another
        name.
        """
        placement = self._placements.read(attempt)
        if placement is None or placement.why is None:
            return
        self._workers.submit(
            ("node", attempt.batch, attempt.task),
            lambda: self.connections.request(link, wire.Terminate(attempt, at_once=True), type(None), REQUEST_SECONDS),
            lambda _: None,
            lambda _: None,  # its lease ends it
        )


def _forget_lack(link: NodeLink, tools: str) -> None:
    """Forget that the node lacks these tools: they may be installed now."""
    link.lacks.pop(tools, None)
