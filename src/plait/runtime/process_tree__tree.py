"""Which processes are an attempt's: its tree, found by marker, session, control group, and parentage.

Tools that agents start are in sessions of their own, daemons have no parent, and some scrub their environment; seldom all
of it at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.system.process_identity__process import Process


@dataclass(slots=True)
class TreeRoot:
    """What is known of one attempt's tree. `session` is its warden's pid, as long as it can be trusted: while the warden
    lives, and afterwards for what began before `until`. `known` are processes that were seen to be its own.
    """

    tag: str
    session: int = 0
    until: int | None = None
    known: set[tuple[int, int]] = field(default_factory=set)
    cgroup: str = ""


def find_trees(
    processes: Sequence[Process], roots: Iterable[TreeRoot], prefix: str, cgroup_tags: Mapping[int, str]
) -> dict[str, list[Process]]:
    """The living processes of each root, by marker; wardens included, and this process in none.

    A marker of this state folder outweighs everything else: no process of one attempt is taken for another's. `scoped`
    tells the pids that are in an attempt's control group.
    """
    by_marker = {root.tag: root for root in roots}
    by_session = {root.session: root for root in by_marker.values() if root.session}
    known = {identity: root.tag for root in by_marker.values() for identity in root.known}
    owners: dict[int, str] = {os.getpid(): ""}
    for process in processes:
        if process.pid in owners:
            continue
        if process.tag.startswith(prefix):
            owners[process.pid] = process.tag
        elif process.pid in cgroup_tags:
            owners[process.pid] = cgroup_tags[process.pid]
        elif process.identity in known:
            owners[process.pid] = known[process.identity]
        elif _in_session(process, by_session.get(process.session)):
            owners[process.pid] = by_session[process.session].tag
    parents = {process.pid: process.parent for process in processes}
    found: dict[str, list[Process]] = {marker: [] for marker in by_marker}
    for process in processes:
        owner = _find_inherited_owner(process.pid, owners, parents)
        if owner in found and not process.is_zombie:
            found[owner].append(process)
    for root in by_marker.values():
        root.known = {process.identity for process in found[root.tag]}
    return found


def _in_session(process: Process, root: TreeRoot | None) -> bool:
    """A session's number is not given out again while the session has members."""
    return root is not None and (root.until is None or process.start < root.until)


def _find_inherited_owner(pid: int, owners: dict[int, str], parents: Mapping[int, int]) -> str:
    """The owner of the nearest ancestor that has one."""
    path: list[int] = []
    while pid and pid not in owners and pid in parents and len(path) < len(parents):
        path.append(pid)
        pid = parents[pid]
    owner = owners.get(pid, "")
    for each in path:
        owners[each] = owner
    return owner
