"""Finds the processes of an attempt by tag, session, cgroup and parent.

Agents start tools in sessions of their own, daemons have no parent, and some processes clear their environment, but
seldom all at once. An attempt that lasts gets a cgroup; a short one doesn't, because moving processes is slow.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.runtime import cgroup
from plait.runtime.executor import ExitedProcess, LostProcess, Reactor, Timer
from plait.runtime.supervisor import PROCESS_NAME, ExitWatcher
from plait.system import processes
from plait.system.process_identity import Process
from plait.system.state_paths import AttemptFolder


@dataclass(slots=True)
class TreeRoot:
    """What is known of one attempt's tree.

    `session` is the supervisor's pid, valid while the supervisor lives, and afterwards for processes that started
    before `until`. `known` are processes that were found to belong to it.
    """

    tag: str
    session: int = 0
    until: int | None = None
    known: set[tuple[int, int]] = field(default_factory=set)
    cgroup: str = ""


def find_trees(
    everything: Sequence[Process], roots: Iterable[TreeRoot], prefix: str, cgroup_tags: Mapping[int, str]
) -> dict[str, list[Process]]:
    """Find the living processes of each root, by tag, supervisors included; never this process.

    A tag of this state folder (`prefix`) outweighs everything else. `cgroup_tags`: the tags of pids in cgroups.
    """
    by_tag = {root.tag: root for root in roots}
    by_session = {root.session: root for root in by_tag.values() if root.session}
    known = {identity: root.tag for root in by_tag.values() for identity in root.known}
    owners: dict[int, str] = {os.getpid(): ""}
    for process in everything:
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
    parents = {process.pid: process.parent for process in everything}
    found: dict[str, list[Process]] = {tag: [] for tag in by_tag}
    for process in everything:
        owner = _find_inherited_owner(process.pid, owners, parents)
        if owner in found and not process.is_zombie:
            found[owner].append(process)
    for root in by_tag.values():
        root.known = {process.identity for process in found[root.tag]}
    return found


def _in_session(process: Process, root: TreeRoot | None) -> bool:
    """Whether a process is in the session of this root: a session's number is not reused while it has members."""
    return root is not None and (root.until is None or process.start < root.until)


def _find_inherited_owner(pid: int, owners: dict[int, str], parents: Mapping[int, int]) -> str:
    """Return the owner of the nearest ancestor that has one."""
    path: list[int] = []
    while pid and pid not in owners and pid in parents and len(path) < len(parents):
        path.append(pid)
        pid = parents[pid]
    owner = owners.get(pid, "")
    for each in path:
        owners[each] = owner
    return owner


@dataclass(slots=True)
class LiveAttempt:
    """An attempt whose end was not reported yet. `result` is that end, while the rest of its tree is being ended.

    `cgroup_checked`: it has a cgroup, or can't have one. Its transcript is trimmed to `transcript_bytes`.
    """

    attempt: Attempt
    folder: AttemptFolder
    root: TreeRoot
    transcript_bytes: int
    pid: int = 0
    exit_watcher: ExitWatcher | None = None
    result: ExitedProcess | LostProcess | None = None
    since: float = field(default_factory=time.monotonic)
    cgroup_checked: bool = False


class ProcessTable:
    """The attempts of this machine and their trees. `ended` are attempts that may have left processes; `given_up` are
    tags of processes that can't be ended.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.live: dict[Attempt, LiveAttempt] = {}
        self.ended: dict[str, TreeRoot] = {}
        self.given_up: set[str] = set()

    def find_trees(self) -> dict[str, list[Process]]:
        """Find the living processes of each attempt, by tag, in one pass over all processes."""
        return self._group(processes.list_processes())

    def find_leftovers(self) -> dict[str, list[Process]]:
        """Find the processes that outlived their attempts, also those of earlier engines."""
        everything = processes.list_processes()
        for name in _find_unsupervised_tags(everything, self._prefix) - {root.tag for root in self._roots()}:
            self.ended[name] = TreeRoot(name)
        found = self._group(everything)
        leftovers = {name: found[name] for name in self.ended if found[name] and name not in self.given_up}
        for name in self.ended.keys() - leftovers.keys():
            cgroup.remove_cgroup(self.ended.pop(name).cgroup)
        cgroup.remove_stale_cgroups(self._prefix, {root.tag for root in self._roots()})
        return leftovers

    def _group(self, everything: Sequence[Process]) -> dict[str, list[Process]]:
        roots = self._roots()
        cgroup_tags = {pid: root.tag for root in roots if root.cgroup for pid in cgroup.list_members(root.cgroup)}
        return find_trees(everything, roots, self._prefix, cgroup_tags)

    def _roots(self) -> list[TreeRoot]:
        return [*self.ended.values(), *(live.root for live in self.live.values())]


def _find_unsupervised_tags(everything: Sequence[Process], prefix: str) -> set[str]:
    """Return the tags of this state folder without a supervisor."""
    tagged = [process for process in everything if process.tag.startswith(prefix)]
    supervised = {
        process.tag
        for process in tagged
        if process.pid == process.session and processes.command_line(process.pid)[3:4] == [PROCESS_NAME]
    }
    return {process.tag for process in tagged} - supervised


MIN_AGE_SECONDS = 1.0  # of an attempt before it gets a cgroup
_MAX_MOVE_ROUNDS = 5  # of moving processes that were forked meanwhile


class CgroupMover:
    def __init__(self, reactor: Reactor, table: ProcessTable) -> None:
        self._reactor = reactor
        self._table = table
        self._timer: Timer | None = None

    def schedule(self) -> None:
        """Schedule moving an attempt that has no cgroup yet into one."""
        if self._timer is None and cgroup.parent_cgroup():
            self._timer = self._reactor.call_later(MIN_AGE_SECONDS, self._look)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        waiting = [live for live in self._table.live.values() if not live.cgroup_checked and live.result is None]
        now = time.monotonic()
        old_enough = [live for live in waiting if now - live.since >= MIN_AGE_SECONDS / 2]
        with suppress(OSError):  # trees are also found without a cgroup
            self._move_all(old_enough)
        if not all(live.cgroup_checked for live in waiting):
            self.schedule()

    def _move_all(self, old_enough: list[LiveAttempt]) -> None:
        """Move attempts to cgroups. On a busy machine a supervisor may not have started its command yet: that attempt
        is moved later.
        """
        trees = self._table.find_trees() if old_enough else {}
        begun = [live for live in old_enough if any(each.pid != live.pid for each in trees[live.root.tag])]
        moving = [live for live in begun if _make_attempt_cgroup(live)]
        for _ in range(_MAX_MOVE_ROUNDS if moving else 0):
            outside = 0
            for live in moving:
                inside = {live.pid, *cgroup.list_members(live.root.cgroup)}
                pids = [each.pid for each in trees[live.root.tag] if each.pid not in inside]
                cgroup.add_processes(live.root.cgroup, pids)
                outside += len(pids)
            if not outside:
                return
            trees = self._table.find_trees()


def _make_attempt_cgroup(live: LiveAttempt) -> bool:
    live.cgroup_checked = True
    path = cgroup.make_cgroup(live.root.tag)
    if path:
        cgroup.write_cgroup_path(live.folder.path, path)
        live.root.cgroup = path
    return path != ""
