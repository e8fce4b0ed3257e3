"""Chooses the node for an attempt, or says why none can run it: pure functions of what is known of the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.core.text import join_names

_NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Node:
    """What is known of a node. `used` counts the attempts of all engines. `labels` are the agents that it reports to
    have; empty if it reports none.

    `problem`: why it can take nothing; empty: it can. `is_new`: it has not answered yet. `is_refusing`: it refused an
    attempt a moment ago. `lacks` has requirements of attempts that it refused, and why.
    """

    id: str
    name: str
    slots: int
    used: int = 0
    memory_total: int = 0
    free_memory: int = 0
    labels: tuple[str, ...] = ()
    problem: str = ""
    is_refusing: bool = False
    lacks: Mapping[str, str] = field(default_factory=dict)
    is_new: bool = False

    @property
    def free(self) -> int:
        return self.slots - self.used


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an attempt needs. `tools` names its programs and its sandbox; `memory` is the most that its agent was seen to use.

    `home` is the node that has its workspace. `stays`: it can run nowhere else.
    """

    agent: str = ""
    tools: str = ""
    memory: int = 0
    home: str = ""
    stays: bool = False


def list_suitable(nodes: Sequence[Node], wanted: Wanted) -> list[Node]:
    """List the nodes that can run an attempt, whether or not they have room now.

    If a suitable node names the agent, even one that has not answered yet, nodes that don't are left out.
    """
    able = [node for node in nodes if _is_able(node, wanted)]
    if wanted.stays:
        return [node for node in able if node.id == wanted.home]
    is_named = any(wanted.agent in node.labels and (node.is_new or _is_able(node, wanted)) for node in nodes)
    return [node for node in able if wanted.agent in node.labels] if is_named else able


def _is_able(node: Node, wanted: Wanted) -> bool:
    return not node.problem and node.slots > 0 and wanted.tools not in node.lacks


def choose_node(nodes: Sequence[Node], wanted: Wanted) -> Node | None:
    """Return the attempt's home if that has room, else the node with the most; None if none has room now."""
    suitable = list_suitable(nodes, wanted)
    free = [node for node in suitable if node.free > 0 and not node.is_refusing]
    room = [node for node in free if _has_memory(node, wanted.memory)]
    if not room and not any(node.used for node in suitable):  # no end of an attempt is going to free memory
        room = [max(free, key=lambda node: (node.free_memory, node.id))] if free else []
    home = next((node for node in room if node.id == wanted.home), None)
    return home or max(room, key=lambda node: (node.free, node.id), default=None)


def _has_memory(node: Node, needed: int) -> bool:
    return not node.memory_total or node.free_memory > needed


def explain_unsuitable(nodes: Sequence[Node], wanted: Wanted) -> str:
    """Say why no node can run an attempt; empty if one can, or may."""
    able = [node for node in nodes if node.slots > 0 and (node.is_new or not node.problem)]
    if not able or not all(wanted.tools in node.lacks for node in able):
        return ""
    reasons = dict.fromkeys(node.lacks[wanted.tools] for node in able)
    named = [
        f"{why} ({join_names([n.name for n in able if n.lacks[wanted.tools] == why], _NAMES_SHOWN)})" for why in reasons
    ]
    return f"no node of the cluster can run it: {join_names(named, _NAMES_SHOWN)}"


def count_slots(nodes: Sequence[Node]) -> int:
    return sum(node.slots for node in nodes if not node.problem)


def explain_no_slots(nodes: Sequence[Node]) -> str:
    """Say why `count_slots` is 0."""
    with_slots = [node for node in nodes if node.slots > 0]
    if not with_slots:
        return "no node of the cluster has slots: start some with ray start --resources '{\"agent\": 4}'"
    problems = list(dict.fromkeys(f"{node.name}: {node.problem}" for node in with_slots if node.problem))
    return f"no node of the cluster can be used ({join_names(problems, _NAMES_SHOWN)})"
