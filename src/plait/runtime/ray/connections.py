"""The engine's connections to the nodes of a cluster: one thread finds nodes, polls each, and notices those that are lost.

Calls of Ray can block, so none is made in the engine's loop. One poll for each node brings the states of all its attempts and
what they printed, which is put into the transcripts of the engine's state folder.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from secrets import token_hex
from typing import Any, TypeVar

from plait import __version__
from plait.core.errors import PlaitError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.runtime.attempt_files import FileTranscript
from plait.runtime.executor import NodeStatus, Reactor
from plait.runtime.ray import wire
from plait.runtime.ray.cluster import Call, Cluster, ClusterNode
from plait.runtime.ray.options import RayOptions
from plait.runtime.ray.wire import NodeGoneError, PollReply, Sealer
from plait.system import log
from plait.system.atomic_files import make_private_folder
from plait.system.state_paths import StateFolder

LOOK_SECONDS = 0.1  # between two looks at what was answered, while nothing is
REFRESH_SECONDS = 1.0  # between two looks for new nodes
RETRY_SECONDS = 0.5  # until a node that failed is asked again
RECONNECT_SECONDS = 2.0
LEAVE_SECONDS = 5.0
LEASE_MARGIN = 2.0  # seconds that a node has to end its attempts, beyond its lease
POLL_SECONDS = 5.0

T = TypeVar("T")


def read_clock() -> float:
    """Seconds that also count while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass(slots=True)
class NodeLink:
    """What the engine knows of one node. `node` is None for one that only records of attempts name.

    `heard_at`: its last answer. `offsets`: how much of each transcript is here. `sent`: the commits that its mirror has.
    """

    id: str
    node: ClusterNode | None = None
    gateway: Any = None  # Ray's handle of the actor
    key: bytes = b""
    incarnation: str = ""
    seen: int = 0
    version: int = 0
    heard_at: float = field(default_factory=read_clock)
    retry_at: float = 0.0
    is_alive: bool = False
    is_lost: bool = False
    problem: str = ""
    last: PollReply | None = None
    offsets: dict[Attempt, int] = field(default_factory=dict)
    limits: dict[Attempt, int] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    call: Call | None = None
    called_at: float = 0.0
    is_describing: bool = False
    full_until: float = 0.0

    @property
    def name(self) -> str:
        return self.node.name if self.node is not None else self.id[:8]

    @property
    def is_usable(self) -> bool:
        return self.is_alive and bool(self.key) and self.last is not None and not self.problem and not self.is_lost

    def describe(self, used: int) -> NodeStatus:
        last, node = self.last, self.node
        problem = self.problem or (last.disk_full_reason if last is not None else "")
        if not problem and self.is_lost:
            problem = "it does not answer"
        return NodeStatus(
            self.name,
            node.address if node is not None else "",
            self.is_alive and not self.is_lost,
            node.slots if node is not None else 0,
            max(used, last.used if last is not None else 0),
            last.memory_total if last is not None else 0,
            last.free_memory if last is not None else 0,
            node.labels if node is not None else (),
            problem,
        )


@dataclass(frozen=True, slots=True)
class ConnectionEvents:
    """What is called in the loop's thread."""

    on_reply: Callable[[NodeLink, PollReply, bool], None]  # the last is True if the reply lists all attempts
    on_node_lost: Callable[[NodeLink], None]
    on_change: Callable[[], None]  # there may be room for attempts now
    on_unreachable: Callable[[Exception], None]


class Connections:
    """`links` are changed in the thread, under `lock`."""

    def __init__(
        self, options: RayOptions, owner: str, state: StateFolder, reactor: Reactor, events: ConnectionEvents
    ) -> None:
        self._options = options
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
        self._thread = threading.Thread(target=self._run, name="ray-nodes", daemon=True)
        self._thread.start()

    @property
    def is_connected(self) -> bool:
        return self._cluster is not None

    def find(self, node: str) -> NodeLink:
        """The node's link, also if it is not in the cluster now: then it is lost when its lease must have run out."""
        with self.lock:
            return self.links.setdefault(node, NodeLink(node))

    def list(self) -> Sequence[NodeLink]:
        with self.lock:
            return list(self.links.values())

    def watch(self, link: NodeLink, attempt: Attempt, transcript_bytes: int) -> None:
        """Get what it prints from now on."""
        size = FileTranscript(self._state.attempt(attempt).transcript).size()
        with self.lock:
            link.offsets.setdefault(attempt, size)
            link.limits[attempt] = transcript_bytes

    def unwatch(self, link: NodeLink, attempt: Attempt) -> None:
        with self.lock:
            link.offsets.pop(attempt, None)
            link.limits.pop(attempt, None)

    def close(self, *, leave: bool) -> None:
        """`leave`: this engine holds nothing on any node."""
        self._should_leave = leave
        self._closing.set()
        self._thread.join(2 * LEAVE_SECONDS)

    def request(self, link: NodeLink, body: wire.Request, kind: type[T], seconds: float) -> T:
        """Ask a node, from a worker thread. Raises what the node raised, or NodeGoneError."""
        deadline = time.monotonic() + seconds
        while True:
            cluster, gateway, key = self._cluster, link.gateway, link.key
            if cluster is not None and gateway is not None and key and not link.is_lost:
                try:
                    data = self._ask(cluster, gateway, self._seal(link, key, body), deadline)
                except NodeGoneError:
                    if time.monotonic() > deadline or self._closing.is_set():
                        raise
                    data = b""
                if data:
                    reply = self._sealer.open_reply(data)
                    if reply.failure is not None:
                        raise wire.make_error(reply.failure, link.name)
                    return wire.decode(reply.data, kind)
                if link.key == key:
                    self._forget_key(link)
            if time.monotonic() > deadline or self._closing.is_set() or link.is_lost:
                raise NodeGoneError(f"node {link.name} does not answer")
            time.sleep(LOOK_SECONDS)

    def _ask(self, cluster: Cluster, gateway: Any, data: bytes, deadline: float) -> bytes:
        call = cluster.send(gateway, "ask", data)
        while not cluster.wait([call], 0.5):
            if time.monotonic() > deadline or self._closing.is_set():
                raise NodeGoneError("the node does not answer")
        return cluster.get(call, 10.0)

    def _seal(self, link: NodeLink, key: bytes, body: wire.Request) -> bytes:
        envelope = wire.Envelope(
            self._owner,
            self._session,
            self._options.lease_seconds,
            self._sealer.key,
            body,
            link.incarnation,
            link.seen,
        )
        return wire.seal_request(envelope, key)

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._cluster = Cluster(self._options.address)
            except Exception as error:  # noqa: BLE001 - told with each attempt that is to start
                self._report_failure(error)
                self._check_lost()
                self._closing.wait(RECONNECT_SECONDS)
                continue
            self.failure = None
            try:
                while not self._closing.is_set():
                    self._step(self._cluster)
            except PlaitError as error:  # the cluster is gone
                self._report_failure(error)
            except Exception as error:  # noqa: BLE001 - a defect must be seen, and not end the polls
                log.write_traceback(error)
                self._report_failure(error)
            self._disconnect()

    def _report_failure(self, error: Exception) -> None:
        self.failure = error
        if not self._closing.is_set():
            self._reactor.call_soon(partial(self._events.on_unreachable, error))

    def _disconnect(self) -> None:
        cluster, self._cluster = self._cluster, None
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
            self._refreshed_at = now
            self._refresh(cluster)
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
        self._check_lost()

    @property
    def _poll_seconds(self) -> float:
        return min(POLL_SECONDS, self._options.lease_seconds / 4)

    def _refresh(self, cluster: Cluster) -> None:
        nodes = {node.id: node for node in cluster.list_nodes() if node.slots}
        for link in self.list():
            if link.is_alive and link.id not in nodes:
                link.is_alive, link.call, link.gateway, link.key = False, None, None, b""
                self._reactor.call_soon(self._events.on_change)
        for node in nodes.values():
            link = self.find(node.id)
            link.node, link.is_alive = node, True

    def _call(self, cluster: Cluster, link: NodeLink) -> None:
        assert link.node is not None
        try:
            if link.gateway is None:
                link.gateway = cluster.open_gateway(link.node, self._options.folder)
            link.is_describing = not link.key
            if link.is_describing:
                link.call = cluster.send(link.gateway, "describe")
            else:
                with self.lock:
                    offsets = dict(link.offsets)
                poll = wire.Poll(link.version, offsets, self._poll_seconds if link.last else 0.0)
                link.call = cluster.send(link.gateway, "ask", self._seal(link, link.key, poll))
            link.called_at = time.monotonic()
        except NodeGoneError as error:
            self._on_failed(link, error)

    def _forget_key(self, link: NodeLink) -> None:
        link.key = b""

    def _on_failed(self, link: NodeLink, error: PlaitError) -> None:
        link.gateway, link.key = None, b""
        link.retry_at = time.monotonic() + RETRY_SECONDS
        if link.last is None and link.problem != error.message:
            link.problem = error.message
            self._reactor.call_soon(self._events.on_change)

    def _on_described(self, link: NodeLink, data: bytes) -> None:
        facts = wire.decode(data, wire.NodeFacts)
        problem = facts.problem or _compare_versions(facts)
        link.problem = problem
        if problem:
            link.retry_at = time.monotonic() + 10 * RETRY_SECONDS
            self._reactor.call_soon(self._events.on_change)
        else:
            link.key = facts.key

    def _on_polled(self, link: NodeLink, data: bytes) -> None:
        if not data:  # another daemon, with another key
            link.key = b""
            return
        answer = self._sealer.open_reply(data)
        if answer.failure is not None:
            raise WorldError(answer.failure.message)
        reply = wire.decode(answer.data, PollReply)
        is_complete = reply.incarnation != link.incarnation
        if is_complete:
            link.incarnation, link.sent = reply.incarnation, {*reply.tips}
        link.seen, link.version = reply.number, reply.version
        self._store_chunks(link, reply.chunks)
        link.heard_at, link.is_lost, link.last = read_clock(), False, reply
        self._reactor.call_soon(partial(self._events.on_reply, link, reply, is_complete))

    def _store_chunks(self, link: NodeLink, chunks: Sequence[wire.Chunk]) -> None:
        for chunk in chunks:
            with self.lock:
                offset, limit = link.offsets.get(chunk.attempt), link.limits.get(chunk.attempt, 0)
            if offset is None or chunk.start < offset:
                continue
            folder = self._state.attempt(chunk.attempt)
            try:
                make_private_folder(folder.path)
                fd = os.open(folder.transcript, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                try:
                    os.pwrite(fd, chunk.data, chunk.start)
                finally:
                    os.close(fd)
            except OSError as error:
                raise WorldError(f"can't write {folder.transcript}: {error.strerror}") from error
            FileTranscript(folder.transcript).trim(limit)
            with self.lock:
                if chunk.attempt in link.offsets:
                    link.offsets[chunk.attempt] = chunk.start + len(chunk.data)

    def _check_lost(self) -> None:
        limit = self._options.lease_seconds * 1.05 + LEASE_MARGIN
        for link in self.list():
            if not link.is_lost and read_clock() - link.heard_at > limit:
                link.is_lost = True
                self._reactor.call_soon(partial(self._events.on_node_lost, link))


def _compare_versions(facts: wire.NodeFacts) -> str:
    if facts.version != __version__:
        return f"it has plait {facts.version}, and the engine {__version__}: install the same version on both"
    ours = platform.python_version_tuple()[:2]
    if tuple(facts.python.split(".")[:2]) != ours:
        return f"it has Python {facts.python}, and the engine {platform.python_version()}: use the same version on both"
    return ""
