"""The census: which attempts an executor knows of, and whose each process of the machine is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.runtime import cgroup
from plait.runtime.process_tree__tree import TreeRoot, find_trees
from plait.runtime.supervisor import PROCESS_NAME
from plait.runtime.supervisor__vigil import ExitWatcher
from plait.store.interfaces import ExitedProcess, LostProcess
from plait.system import psutil_processes
from plait.system.process_identity__process import Process
from plait.system.state_paths import AttemptFolder


@dataclass(slots=True)
class LiveAttempt:
    """An attempt whose end has not been told. `found` is that end, while the rest of its tree is being ended.

    `scoped`: it has a scope, or can't have one.
    """

    attempt: Attempt
    folder: AttemptFolder
    root: TreeRoot
    pid: int = 0
    exit_watcher: ExitWatcher | None = None
    result: ExitedProcess | LostProcess | None = None
    since: float = field(default_factory=time.monotonic)
    cgroup_checked: bool = False


class ProcessTable:
    """`ended` are attempts that may have left processes behind; `given_up` are the markers of some that can't be ended."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.live: dict[Attempt, LiveAttempt] = {}
        self.ended: dict[str, TreeRoot] = {}
        self.given_up: set[str] = set()

    def find_trees(self) -> dict[str, list[Process]]:
        """The living processes of each attempt, by its marker, in one pass over all processes."""
        return self._group(psutil_processes.list_processes())

    def find_leftovers(self) -> dict[str, list[Process]]:
        """The trees of attempts that are over, those included that an earlier engine did not come to end."""
        everything = psutil_processes.list_processes()
        for name in _find_unsupervised_tags(everything, self._prefix) - {root.tag for root in self._roots()}:
            self.ended[name] = TreeRoot(name)
        found = self._group(everything)
        left = {name: found[name] for name in self.ended if found[name] and name not in self.given_up}
        for name in self.ended.keys() - left.keys():
            cgroup.remove_cgroup(self.ended.pop(name).cgroup)
        cgroup.remove_stale_cgroups(self._prefix, {root.tag for root in self._roots()})
        return left

    def _group(self, everything: Sequence[Process]) -> dict[str, list[Process]]:
        roots = self._roots()
        scoped = {pid: root.tag for root in roots if root.cgroup for pid in cgroup.list_members(root.cgroup)}
        return find_trees(everything, roots, self._prefix, scoped)

    def _roots(self) -> list[TreeRoot]:
        return [*self.ended.values(), *(live.root for live in self.live.values())]


def _find_unsupervised_tags(everything: Sequence[Process], prefix: str) -> set[str]:
    """Markers of this state folder that processes carry while no warden does."""
    marked = [process for process in everything if process.tag.startswith(prefix)]
    guarded = {
        process.tag
        for process in marked
        if process.pid == process.session
        and psutil_processes.command_line(process.pid)[3:4] == [PROCESS_NAME]
    }
    return {process.tag for process in marked} - guarded
