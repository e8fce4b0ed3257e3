"""What attempts need of a node: programs, the node that has their task's workspace, and the memory that agents used before."""

from __future__ import annotations

from plait.core.task import Attempt, Step
from plait.runtime.executor import AttemptSpec
from plait.runtime.ray.node_choice import Wanted
from plait.runtime.ray.node_tools import name_tools
from plait.runtime.ray.placements import Placements


class Needs:
    def __init__(self, placements: Placements) -> None:
        self._placements = placements
        self._homes: dict[tuple[str, str], str] = {}  # the node that has a task's workspace; empty: none
        self._peaks: dict[str, int] = {}  # memory by agent

    def describe(self, spec: AttemptSpec) -> Wanted:
        memory, home = self._peaks.get(spec.agent, 0), self.find_home(spec.attempt)
        return Wanted(spec.agent, name_tools(spec), memory, home, spec.stays)

    def record_memory(self, agent: str, size: int) -> None:
        self._peaks[agent] = max(size, self._peaks.get(agent, 0))

    def find_home(self, attempt: Attempt) -> str:
        """Return the node where the task's agent worked last, also for an earlier engine; empty if there is none."""
        key = attempt.batch, attempt.task
        if key not in self._homes:
            written = [each for each in self._placements.list_task(*key) if each.node and _makes_home(each.attempt)]
            last = max(written, key=lambda each: each.attempt.n, default=None)
            self._homes[key] = last.node if last is not None else ""
        return self._homes[key]

    def place(self, attempt: Attempt, node: str) -> None:
        if _makes_home(attempt):
            self._homes[attempt.batch, attempt.task] = node

    def forget_home(self, batch: str, task: str) -> None:
        """Forget a task's node; it is read again from the records of the task's attempts when needed."""
        self._homes.pop((batch, task), None)

    def lose_node(self, node: str) -> None:
        for key in [key for key, home in self._homes.items() if home == node]:
            self._homes[key] = ""


def _makes_home(attempt: Attempt) -> bool:
    """Whether the task stays on the attempt's node, for what it leaves in its workspace and what its agent stores. A
    check leaves nothing.
    """
    return attempt.step is Step.WRITE or attempt.is_gate
