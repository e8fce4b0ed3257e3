"""The engine's connections to the nodes of a cluster: one thread finds nodes and polls each; the loop notices those that are lost.

Calls of Ray can block, for minutes if the head hangs, so none is made in the engine's loop. One poll for each node brings the
states of all its attempts and what they printed, which is put into the transcripts of the engine's state folder.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from secrets import token_hex
from typing import TypeVar

from plait import __version__
from plait.config.ray_keys import RayConfig
from plait.core.errors import PlaitError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.runtime.attempt_files import FileTranscript
from plait.runtime.executor import Reactor
from plait.runtime.ray import wire
from plait.runtime.ray.cluster import Call, Cluster, abandon_connection
from plait.runtime.ray.node_link import NodeLink
from plait.runtime.ray.wire import BrokenNodeError, NodeGoneError, PollReply, Sealer
from plait.system import log
from plait.system.atomic_files import make_private_folder
from plait.system.processes import read_boot_clock
from plait.system.state_paths import StateFolder

LOOK_SECONDS = 0.1  # between two looks at what was answered, while nothing is
REFRESH_SECONDS = 1.0  # between two looks for new nodes
CHECK_SECONDS = 0.25  # between two looks for nodes that do not answer
RETRY_SECONDS = 0.5  # until a node that failed is asked again
RECONNECT_SECONDS = 2.0
LEAVE_SECONDS = 5.0
LEASE_MARGIN = 2.0  # seconds that a node has to end its attempts, beyond its lease
POLL_SECONDS = 5.0
SILENT_POLLS = 3  # a node that left so many polls unanswered is silent: nothing new is sent there
# Until a new node that doesn't answer counts as unusable: its actor may be starting, or one before it ending.
FIRST_ANSWER_SECONDS = 20.0
MAX_TRANSCRIPT_BYTES = 1 << 50  # no file of this machine can be larger

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConnectionEvents:
    """The callbacks of the connections, called in the loop's thread."""

    on_reply: Callable[[NodeLink, PollReply, bool], None]  # the last is True if the reply lists all attempts
    on_node_lost: Callable[[NodeLink], None]
    on_change: Callable[[], None]  # there may be room for attempts now, or none any more


class Connections:
    """The engine's links to the nodes. `links` are changed in the thread, under `lock`."""

    def __init__(  # noqa: PLR0913, PLR0917 - what to connect to, for whom, and what to tell
        self,
        config: RayConfig,
        owner: str,
        state: StateFolder,
        reactor: Reactor,
        events: ConnectionEvents,
        open_cluster: Callable[[str], Cluster] = Cluster,
    ) -> None:
        self._config = config
        self._open_cluster = open_cluster
        self._owner = owner
        self._session = token_hex(8)
        self._state = state
        self._reactor = reactor
        self._events = events
        self._sealer = Sealer()
        self.links: dict[str, NodeLink] = {}
        self.lock = threading.Lock()
        self._closing = threading.Event()
        self._should_leave = False
        self._cluster: Cluster | None = None
        self.failure: Exception | None = None
        self._refreshed_at = 0.0
        self._disk_problem = ""
        self._thread = threading.Thread(target=self._run, name="ray-nodes", daemon=True)
        self._thread.start()
        self._check_timer = reactor.call_later(CHECK_SECONDS, self._check_answers)

    @property
    def is_connected(self) -> bool:
        return self._cluster is not None

    @property
    def has_listed_nodes(self) -> bool:
        """Whether the nodes of the cluster have been listed since it was connected to."""
        return self._refreshed_at > 0.0

    def find(self, node: str) -> NodeLink:
        """Find the node's link. One that is not in the cluster now is lost when its lease must have run out."""
        with self.lock:
            return self.links.setdefault(node, NodeLink(node))

    def is_gone(self, link: NodeLink) -> bool:
        """Whether nothing on this node can be reached any more: if it joins the cluster again, it counts as another
        node.
        """
        return link.is_lost or (self.has_listed_nodes and not link.is_alive)

    def list(self) -> Sequence[NodeLink]:
        with self.lock:
            return list(self.links.values())

    def watch(self, link: NodeLink, attempt: Attempt, transcript_bytes: int) -> None:
        """Get what the attempt prints from now on."""
        size = FileTranscript(self._state.attempt(attempt).transcript).size()
        with self.lock:
            link.offsets.setdefault(attempt, size)
            link.limits[attempt] = transcript_bytes

    def unwatch(self, link: NodeLink, attempt: Attempt) -> None:
        with self.lock:
            link.offsets.pop(attempt, None)
            link.limits.pop(attempt, None)

    def list_attempts(self, link: NodeLink) -> Sequence[Attempt]:
        """List the attempts on a node whose output is read."""
        with self.lock:
            return tuple(link.offsets)

    def drop_output(self, link: NodeLink, attempt: Attempt) -> None:
        """Have the node delete what the attempt printed, because all of it is on this machine."""
        with self.lock:
            link.kept.add(attempt)

    def ask_for_all(self, link: NodeLink) -> None:
        """Have the node report every attempt again."""
        with self.lock:
            link.version = 0

    def close(self, *, leave: bool) -> None:
        """Close all connections. `leave`: this engine holds nothing on any node."""
        self._should_leave = leave
        self._closing.set()
        self._check_timer.cancel()
        self._thread.join(2 * LEAVE_SECONDS)
        if self._thread.is_alive():
            abandon_connection()

    def request(
        self, link: NodeLink, body: wire.Request, kind: type[T], seconds: float, incarnation: str | None = None
    ) -> T:
        """Ask a node, from a worker thread. Raises what the node raised, or NodeGoneError.

        The request is for this `incarnation` of the node only; None: for the current one. A silent node is not waited for:
        requests to other nodes would wait for a free thread.
        """
        deadline = time.monotonic() + seconds
        while True:
            cluster, gateway, key = self._cluster, link.gateway, link.key
            if cluster is not None and gateway is not None and key and not (link.is_lost or link.is_silent):
                try:
                    sealed = self._seal(link, key, body, incarnation)
                    data = self._ask(cluster, link, cluster.send(gateway, "ask", sealed), deadline)
                except NodeGoneError:
                    data = b""
                if data:
                    reply = self._sealer.open_reply(data)
                    if reply.failure is not None:
                        raise wire.make_error(reply.failure, link.name)
                    return wire.decode(reply.data, kind)
                if link.key == key:
                    link.key = b""
            if self._is_hopeless(link, deadline) or self._closing.wait(LOOK_SECONDS):
                raise NodeGoneError(f"node {link.name} does not answer")

    def _is_hopeless(self, link: NodeLink, deadline: float) -> bool:
        is_over = time.monotonic() > deadline or self._closing.is_set()
        return is_over or self.is_gone(link) or link.is_silent

    def _ask(self, cluster: Cluster, link: NodeLink, call: Call, deadline: float) -> bytes:
        while not cluster.wait([call], 0.5):
            if self._is_hopeless(link, deadline):
                raise NodeGoneError(f"node {link.name} does not answer")
        return cluster.get(call, 10.0)

    def _seal(self, link: NodeLink, key: bytes, body: wire.Request, incarnation: str | None = None) -> bytes:
        with self.lock:  # both of the same answer
            known, seen = link.incarnation, link.seen
        own, lease = self._sealer.key, self._config.lease
        wanted = known if incarnation is None else incarnation
        return wire.seal_request(wire.Envelope(self._owner, self._session, lease, own, body, wanted, seen), key)

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._cluster = self._open_cluster(self._config.address)
            except Exception as error:  # noqa: BLE001 - shown as the reason why nothing starts
                self._report_failure(error)
                self._closing.wait(RECONNECT_SECONDS)
                continue
            self.failure = None
            try:
                while not self._closing.is_set():
                    self._step(self._cluster)
            except PlaitError as error:  # the cluster no longer exists
                self._report_failure(error)
            except Exception as error:  # noqa: BLE001 - a defect must be seen, and not end the polls
                log.write_traceback(error)
                self._report_failure(error)
            self._disconnect()
            self._call_on_change()
            self._closing.wait(RECONNECT_SECONDS)

    def _report_failure(self, error: Exception) -> None:
        self.failure = error
        self._call_on_change()

    def _call_on_change(self) -> None:
        if not self._closing.is_set():
            self._reactor.call_soon(self._events.on_change)

    def _disconnect(self) -> None:
        cluster, self._cluster = self._cluster, None
        self._refreshed_at = 0.0
        if cluster is None:
            return
        if self._closing.is_set() and self._should_leave:
            self._leave_all(cluster)
        for link in self.list():
            link.call, link.gateway, link.key, link.is_alive = None, None, b"", False
        cluster.close()

    def _leave_all(self, cluster: Cluster) -> None:
        calls = list[Call]()
        for link in self.list():
            if link.gateway is not None and link.key and not link.is_lost:
                try:
                    calls.append(cluster.send(link.gateway, "ask", self._seal(link, link.key, wire.Leave())))
                except PlaitError:
                    continue
        end = time.monotonic() + LEAVE_SECONDS
        while calls and (left := end - time.monotonic()) > 0:
            try:
                done = cluster.wait(calls, left)
            except PlaitError:
                return
            calls = [call for call in calls if call not in done]

    def _step(self, cluster: Cluster) -> None:
        now = time.monotonic()
        if now - self._refreshed_at > REFRESH_SECONDS:
            is_first = not self.has_listed_nodes
            self._refresh(cluster)
            self._refreshed_at = now
            if is_first:  # a cluster without nodes changes nothing else
                self._call_on_change()
        links = [link for link in self.list() if link.is_alive]
        for link in links:
            if link.call is not None and now - link.called_at > 3 * self._poll_seconds + 10:
                link.call = None  # it may never be answered
            if link.call is None and now >= link.retry_at:
                self._call(cluster, link)
        waiting = {link.call: link for link in links if link.call is not None}
        if not waiting:
            self._closing.wait(LOOK_SECONDS)
        for call in cluster.wait([*waiting], LOOK_SECONDS):
            link = waiting[call]
            link.call = None
            try:
                data = cluster.get(call, 1.0)
                if link.is_describing:
                    self._on_described(link, data)
                else:
                    self._on_polled(link, data)
            except PlaitError as error:
                self._on_failed(link, error)

    @property
    def _poll_seconds(self) -> float:
        return min(POLL_SECONDS, self._config.lease / 4)

    def _refresh(self, cluster: Cluster) -> None:
        nodes = {node.id: node for node in cluster.list_nodes() if node.slots}
        for link in self.list():
            if link.is_alive and link.id not in nodes:
                link.is_alive, link.call, link.gateway, link.key = False, None, None, b""
                self._reactor.call_soon(self._events.on_change)
        for node in nodes.values():
            link = self.find(node.id)
            if not link.is_alive:
                link.joined_at = time.monotonic()
            link.node, link.is_alive = node, True

    def _call(self, cluster: Cluster, link: NodeLink) -> None:
        assert link.node is not None
        try:
            if link.gateway is None:
                link.gateway = cluster.open_gateway(link.node, self._config.folder)
            link.is_describing = not link.key
            if link.is_describing:
                link.call = cluster.send(link.gateway, "describe", __version__.encode())
            else:
                with self.lock:
                    offsets, link.asked_kept = dict(link.offsets), tuple(link.kept)
                    link.asked_version = link.version
                poll = wire.Poll(link.asked_version, offsets, self._poll_seconds if link.last else 0.0, link.asked_kept)
                link.call = cluster.send(link.gateway, "ask", self._seal(link, link.key, poll))
            link.called_at = time.monotonic()
        except NodeGoneError as error:
            self._on_failed(link, error)

    def _on_failed(self, link: NodeLink, error: PlaitError) -> None:
        link.gateway, link.key = None, b""
        link.retry_at = time.monotonic() + RETRY_SECONDS
        is_new = time.monotonic() - link.joined_at < FIRST_ANSWER_SECONDS and not isinstance(error, BrokenNodeError)
        if link.last is None and not is_new and link.problem != error.message:
            link.problem = error.message
            self._reactor.call_soon(self._events.on_change)

    def _on_described(self, link: NodeLink, data: bytes) -> None:
        facts = wire.decode(data, wire.NodeFacts)
        problem = facts.problem or compare_versions(facts.version, facts.python)
        link.problem = problem
        if problem:
            link.retry_at = time.monotonic() + 10 * RETRY_SECONDS
            self._reactor.call_soon(self._events.on_change)
        else:
            link.key = facts.key

    def _on_polled(self, link: NodeLink, data: bytes) -> None:
        if not data:  # another daemon, with another key
            link.key, link.retry_at = b"", time.monotonic() + LOOK_SECONDS
            return
        answer = self._sealer.open_reply(data)
        if answer.failure is not None:
            raise WorldError(answer.failure.message)
        reply = wire.decode(answer.data, PollReply)
        if reply.incarnation == link.incarnation:
            with self.lock:
                link.renew(reply)
        if not self._store_chunks(link, reply.chunks):
            link.retry_at = time.monotonic() + RETRY_SECONDS  # the node has to report all of it again
            return
        with self.lock:
            is_complete = link.take(reply)
        self._reactor.call_soon(partial(self._events.on_reply, link, reply, is_complete))

    def _store_chunks(self, link: NodeLink, chunks: Sequence[wire.Chunk]) -> bool:
        """Write chunks to their transcripts. False if this machine can't write them now."""
        for chunk in chunks:
            with self.lock:
                offset, limit = link.offsets.get(chunk.attempt), link.limits.get(chunk.attempt, 0)
            if offset is None or chunk.start < offset:
                continue
            if chunk.start > MAX_TRANSCRIPT_BYTES:
                raise WorldError(f"node {link.name} says that an attempt has printed {chunk.start:,} bytes")
            folder = self._state.attempt(chunk.attempt)
            try:
                make_private_folder(folder.path)
                fd = os.open(folder.transcript, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                try:
                    data = memoryview(chunk.data)
                    written = os.pwrite(fd, data, chunk.start)
                    while written < len(
                        data
                    ):  # less is written to a disk that gets full: writing the rest raises the reason
                        written += os.pwrite(fd, data[written:], chunk.start + written)
                finally:
                    os.close(fd)
            except OSError as error:
                self._report_disk_problem(f"can't write {folder.transcript}: {error.strerror}")
                return False
            FileTranscript(folder.transcript).trim(limit)
            with self.lock:
                if chunk.attempt in link.offsets:
                    link.offsets[chunk.attempt] = chunk.start + len(chunk.data)
        if chunks:
            self._disk_problem = ""
        return True

    def _report_disk_problem(self, problem: str) -> None:
        if not self._disk_problem:
            log.write_line(f"warning: {problem}; the output of attempts on nodes appears when that works again")
        self._disk_problem = problem

    def _check_answers(self) -> None:
        """Check, in the loop, which nodes are silent or lost: the thread may be waiting for a head that hangs."""
        limit = self._config.lease * 1.05 + LEASE_MARGIN
        for link in self.list():
            with self.lock:  # otherwise an answer could come in between
                unheard = read_boot_clock() - link.heard_at
                link.is_silent = link.last is not None and unheard > SILENT_POLLS * self._poll_seconds
                is_lost_now = not link.is_lost and unheard > limit
                link.is_lost = link.is_lost or is_lost_now
            if is_lost_now:
                self._events.on_node_lost(link)
        self._check_timer = self._reactor.call_later(CHECK_SECONDS, self._check_answers)


def compare_versions(version: str, python: str) -> str:
    """Say why a node with these versions of plait and Python can't work for this machine; empty if it can."""
    if version != __version__:
        return f"it has plait {version}, and the engine {__version__}: install the same version on both"
    ours = platform.python_version_tuple()[:2]
    if tuple(python.split(".")[:2]) != ours:
        return f"it has Python {python}, and the engine {platform.python_version()}: use the same version on both"
    return ""
