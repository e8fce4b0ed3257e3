"""The Plan: the checked, immutable graph of a batch's tasks. Only `graph.build_checked_plan` makes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from plait.core.fast_dataclass import dataclass
from plait.core.task import Origin, Phase, Task


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Problem:
    """A message for a person about a plan; an error means that there is no plan."""

    severity: Severity
    message: str
    at: Origin | None = None
    hint: str = ""


def has_errors(problems: Iterable[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Tasks that name the same file: they run one after another, in no fixed order."""

    file: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything is in the order of `tasks`, and tasks are named by their index in it.

    `needs[i]` are the tasks that task i waits for; `holds[i]` the files and groups it takes as a whole at its start and
    keeps until it ends; `ranks[i]` the length in seconds of the longest path from its start to the end.
    """

    tasks: tuple[Task, ...]
    needs: tuple[tuple[int, ...], ...]
    holds: tuple[tuple[str, ...], ...]
    ranks: tuple[float, ...]
    phases: tuple[Phase, ...] = ()

    @property
    def is_consistent(self) -> bool:
        """Whether its parts belong together; a plan of `graph.build_checked_plan` does."""
        count = len(self.tasks)
        same = count == len(self.needs) == len(self.holds) == len(self.ranks)
        return same and all(0 <= need < count for needs in self.needs for need in needs)

    def without_texts(self) -> Plan:
        """Return the plan as the journal keeps it: without the texts that only agents read."""
        tasks = (
            replace(task, body="", run=None, env=(), job=None, sandbox=None, digest=task.text_digest)
            for task in self.tasks
        )
        return replace(self, tasks=tuple(tasks))
