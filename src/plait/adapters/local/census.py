"""The census: which attempts an executor knows of, and whose each process of the machine is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import field

from plait.adapters.local.vigil import Vigil
from plait.core.frozen import dataclass
from plait.core.task import Attempt
from plait.ports import Exited, Gone
from plait.site import processes, scope
from plait.site.folder import AttemptFolder
from plait.site.launch import NAME
from plait.site.process import Process
from plait.site.tree import Root, trees


@dataclass(slots=True)
class Live:
    """An attempt whose end has not been told. `found` is that end, while the rest of its tree is being ended.

    `scoped`: it has a scope, or can't have one.
    """

    attempt: Attempt
    folder: AttemptFolder
    root: Root
    pid: int = 0
    vigil: Vigil | None = None
    found: Exited | Gone | None = None
    since: float = field(default_factory=time.monotonic)
    scoped: bool = False


class Census:
    """`ended` are attempts that may have left processes behind; `given_up` are the markers of some that can't be ended."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.live: dict[Attempt, Live] = {}
        self.ended: dict[str, Root] = {}
        self.given_up: set[str] = set()

    def trees(self) -> dict[str, list[Process]]:
        """The living processes of each attempt, by its marker, in one pass over all processes."""
        return self._of(processes.every())

    def leftovers(self) -> dict[str, list[Process]]:
        """The trees of attempts that are over, those included that an earlier engine did not come to end."""
        everything = processes.every()
        for name in _forlorn(everything, self._prefix) - {root.marker for root in self._roots()}:
            self.ended[name] = Root(name)
        found = self._of(everything)
        left = {name: found[name] for name in self.ended if found[name] and name not in self.given_up}
        for name in self.ended.keys() - left.keys():
            scope.remove(self.ended.pop(name).scope)
        scope.tidy(self._prefix, {root.marker for root in self._roots()})
        return left

    def _of(self, everything: Sequence[Process]) -> dict[str, list[Process]]:
        roots = self._roots()
        scoped = {pid: root.marker for root in roots if root.scope for pid in scope.members(root.scope)}
        return trees(everything, roots, self._prefix, scoped)

    def _roots(self) -> list[Root]:
        return [*self.ended.values(), *(live.root for live in self.live.values())]


def _forlorn(everything: Sequence[Process], prefix: str) -> set[str]:
    """Markers of this state folder that processes carry while no warden does."""
    marked = [process for process in everything if process.marker.startswith(prefix)]
    guarded = {
        process.marker
        for process in marked
        if process.pid == process.session and processes.words(process.pid)[3:4] == [NAME]
    }
    return {process.marker for process in marked} - guarded
