"""What came of a draft: the task as the sources tell it now, and what a person should know of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from plait.core.frozen import dataclass
from plait.core.plan import Problem, Severity
from plait.core.state import State
from plait.front.planning.checks import named
from plait.front.taskfiles.told import Told
from plait.sources.pile import Pile
from plait.sources.planning import Wish, plan
from plait.sources.text import encode
from plait.wiring.sources import Survey


@dataclass(frozen=True, slots=True)
class Saved:
    """`seen` has the sources with the task in them. `version` is the one that the next edit goes by."""

    seen: Survey
    told: Told
    version: str
    problems: tuple[Problem, ...]

    @property
    def id(self) -> str:
        return self.told.entry.task.id

    @property
    def file(self) -> str:
        return self.told.file


def version_of(text: str) -> str:
    """The same bytes have the same one."""
    return hashlib.sha256(encode(text)).hexdigest()[:32]


def saved(seen: Survey, told: Told, text: str) -> Saved:
    return Saved(seen, told, version_of(text), tuple(dict.fromkeys(_problems(seen, told))))


def _problems(seen: Survey, told: Told) -> list[Problem]:
    """Those of its file, and whatever keeps the tasks from being planned: a cycle may have come with it."""
    wish = replace(Wish(), unknown=seen.config.sources.unknown_needs)
    found = (*seen.problems, *plan(seen.pile, wish).problems)
    return [
        problem
        for problem in found
        if problem.severity is Severity.ERROR or (problem.at is not None and problem.at.file == told.file)
    ]


def copies(pile: Pile, told: Told, state: State | None) -> list[Problem]:
    """A batch has the texts of its tasks from when it was submitted."""
    if state is None:
        return []
    ((mine, _),) = named([told.entry.task], [str(source) for source in pile.sources])
    found = []
    for batch in state.open.values():
        left = (task.task for task in batch.tasks if task.status is None and task.task.entrant is None)
        if any(name == mine for name, _ in named(left, batch.sources)):
            message = f"batch {batch.id} has its own copy of {told.entry.task.id}, and goes on with that"
            found.append(Problem(Severity.INFO, message, hint="The next batch has what is written now."))
    return found
