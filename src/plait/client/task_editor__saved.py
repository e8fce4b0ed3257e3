"""What came of a draft: the task as the sources tell it now, and what a person should know of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from plait.client.planning.submission_checks import iter_task_keys
from plait.client.project_sources import LoadedSources
from plait.client.task_lookup import LocatedTask
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.state import State
from plait.sources.planning import PlanOptions, plan_tasks
from plait.sources.source_set import SourceSet
from plait.sources.text import encode


@dataclass(frozen=True, slots=True)
class SavedTask:
    """`seen` has the sources with the task in them. `version` is the one that the next edit goes by."""

    survey: LoadedSources
    located: LocatedTask
    version: str
    problems: tuple[Problem, ...]

    @property
    def id(self) -> str:
        return self.located.entry.task.id

    @property
    def file(self) -> str:
        return self.located.file


def hash_version(text: str) -> str:
    """The same bytes have the same one."""
    return hashlib.sha256(encode(text)).hexdigest()[:32]


def make_saved_task(survey: LoadedSources, located: LocatedTask, text: str) -> SavedTask:
    return SavedTask(
        survey, located, hash_version(text), tuple(dict.fromkeys(_find_plan_problems(survey, located)))
    )


def _find_plan_problems(survey: LoadedSources, located: LocatedTask) -> list[Problem]:
    """Those of its file, and whatever keeps the tasks from being planned: a cycle may have come with it."""
    wish = replace(PlanOptions(), unknown=survey.config.sources.unknown_needs)
    found = (*survey.problems, *plan_tasks(survey.pile, wish).problems)
    return [
        problem
        for problem in found
        if problem.severity is Severity.ERROR or (problem.at is not None and problem.at.file == located.file)
    ]


def find_running_copies(source_set: SourceSet, located: LocatedTask, state: State | None) -> list[Problem]:
    """A batch has the texts of its tasks from when it was submitted."""
    if state is None:
        return []
    ((mine, _),) = iter_task_keys([located.entry.task], [str(source) for source in source_set.sources])
    found = []
    for batch in state.open.values():
        left = (task.task for task in batch.tasks if task.status is None and task.task.entrant is None)
        if any(name == mine for name, _ in iter_task_keys(left, batch.sources)):
            message = f"batch {batch.id} has its own copy of {located.entry.task.id}, and goes on with that"
            found.append(Problem(Severity.INFO, message, hint="The next batch has what is written now."))
    return found
