"""What the engine knows of one node: its identity, its last report, and what it stores for the engine."""

from __future__ import annotations

import threading
from dataclasses import field, replace
from typing import Any

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.runtime.executor import NodeStatus
from plait.runtime.ray.cluster import Call, ClusterNode
from plait.runtime.ray.node_choice import Node
from plait.runtime.ray.wire import PollReply
from plait.system.processes import read_boot_clock


@dataclass(slots=True)
class NodeLink:
    """What is known of a node. `node` is None for one that only records of attempts name.

    `heard_at`: the time of its last answer. `is_silent`: it should have answered since, and its lease still runs;
    `is_lost`: the lease has run out. `offsets`: how much of each transcript is on this machine. `sent`: the commits
    that its mirror has. `packed`: the batches whose ignored files it has. `sending` is held while it is sent what it
    lacks.
    """

    id: str
    node: ClusterNode | None = None
    gateway: Any = None  # Ray's handle of the actor
    key: bytes = b""
    incarnation: str = ""
    seen: int = 0
    version: int = 0
    asked_version: int = 0
    asked_kept: tuple[Attempt, ...] = ()
    heard_at: float = field(default_factory=read_boot_clock)
    joined_at: float = 0.0  # when it was found in the cluster
    retry_at: float = 0.0
    is_alive: bool = False
    is_silent: bool = False
    is_lost: bool = False
    problem: str = ""
    last: PollReply | None = None  # without attempts and their output
    offsets: dict[Attempt, int] = field(default_factory=dict)
    limits: dict[Attempt, int] = field(default_factory=dict)
    kept: set[Attempt] = field(default_factory=set)  # ended; the node does not know yet that all output is here
    sent: set[str] = field(default_factory=set)
    packed: set[str] = field(default_factory=set)
    sending: threading.Lock = field(default_factory=threading.Lock)
    call: Call | None = None
    called_at: float = 0.0
    is_describing: bool = False
    full_until: float = 0.0
    lacks: dict[str, str] = field(default_factory=dict)  # what attempts need and it has not, and why

    @property
    def name(self) -> str:
        return self.node.name if self.node is not None else self.id[:8]

    def renew(self, reply: PollReply) -> None:
        """Record an answer. The next request names it, which renews the engine's lease on the node."""
        self.seen, self.heard_at = reply.number, read_boot_clock()
        self.is_silent = self.is_lost = False

    def take(self, reply: PollReply) -> bool:
        """Record a reply that was handled. True if it listed all attempts."""
        is_complete = reply.incarnation != self.incarnation
        if is_complete:
            # A node removes what it has of a batch when the lease has run out.
            self.incarnation, self.sent, self.packed = reply.incarnation, {*reply.tips}, set()
        self.renew(reply)
        self.kept.difference_update(self.asked_kept)
        if self.version == self.asked_version:  # otherwise the loop has requested all reports since
            self.version = reply.version
        self.last = replace(reply, attempts=(), chunks=(), tips=())
        return is_complete

    def find_problem(self) -> str:
        """Say why nothing can be started on the node; empty if something can."""
        last = self.last
        if self.problem:
            return self.problem
        if not self.is_alive:
            return "it has left the cluster"
        if self.is_lost:
            return "it does not answer"
        if last is not None and last.disk_full_reason:
            return last.disk_full_reason
        return "" if last is not None else "it has not answered yet"

    def view(self, active: int, now: float) -> Node:
        """Describe the node for choosing one. `active`: how many attempts this engine knows to be there."""
        last, node = self.last, self.node
        assert node is not None
        return Node(
            self.id,
            node.name,
            node.slots,
            max(active, last.used if last is not None else 0),
            last.memory_total if last is not None else 0,
            last.free_memory if last is not None else 0,
            node.labels,
            self.find_problem(),
            self.is_silent or not self.key or self.full_until >= now,
            dict(self.lacks),
            self.is_alive and not self.is_lost and not self.problem and last is None,
        )

    def describe(self, used: int) -> NodeStatus:
        last, node, problem = self.last, self.node, self.find_problem()
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
