"""Read back: what a draft asked for is what the sources say now. Else it is told which field is not so, and why."""

from __future__ import annotations

from collections.abc import Collection

from plait.client.api_errors__refusals import FieldError
from plait.client.project_sources import LoadedSources
from plait.client.task_drafts import TaskDraft
from plait.client.task_file_text__keys import FOLDER_FORMAT, KEYS_BY_FORMAT
from plait.client.task_lookup import LocatedTask, find_task_of_file
from plait.core.plan import Problem, Severity
from plait.sources.source_model import SourceStatus


def check_written_task(
    survey: LoadedSources,
    file: str,
    draft: TaskDraft,
    *,
    before: LocatedTask | None = None,
    unknown: Collection[str] = (),
) -> LocatedTask:
    """The task of this file. Raises FieldError.

    `before`: how the file's task was, if it was one. `unknown`: needs that no task answered to.
    """
    told = find_task_of_file(survey.pile, file)
    if told is None:
        raise FieldError(
            f"{file} is not read as a task by the sources of this repository",
            field=_likely_field(draft),
            hint="Look at [sources] paths, format and exclude in the settings.",
        )
    if told.source.format != (FOLDER_FORMAT if before is None else before.source.format):
        message = f"all of {told.source.path} would be read in the format {told.source.format}"
        raise FieldError(message, field=_likely_field(draft), hint="Look at the keys of its front matter.")
    if told.source_entry.status is SourceStatus.UNREADABLE and (
        before is None or before.source_entry.status is not SourceStatus.UNREADABLE
    ):
        raise _make_field_error(
            _likely_field(draft),
            _find_file_problems(survey, file),
            f"{file} would be no task that can be run",
        )
    _check_values(survey, told, draft)
    task = told.source_entry.task
    if draft.title is not None and task.title != draft.title:
        raise FieldError(
            f"the title would be read as {task.title!r}", field="title", hint="Say it in other words."
        )
    _check_lists(told, draft)
    if draft.needs:
        _check_known(survey, told, unknown)
    return told


def _check_values(survey: LoadedSources, located: LocatedTask, draft: TaskDraft) -> None:
    """A format's own words about a value that it can't use."""
    problems = _find_file_problems(survey, located.file)
    for name, value in (*draft.words.items(), *draft.lists.items()):
        keys = KEYS_BY_FORMAT[located.source.format].get(name, (name,))
        about = [
            problem for problem in problems if problem.message.startswith(tuple(f"{key} " for key in keys))
        ]
        if value and about:
            raise _make_field_error(name, about, f"{name} can't be used")


def _check_lists(located: LocatedTask, draft: TaskDraft) -> None:
    task = located.source_entry.task
    said = {
        "needs": {need.on: str(need.at or located.file) for need in task.needs},
        "touches": dict.fromkeys(task.touches, located.file),
    }
    for name, asked in draft.lists.items():
        missing = [item for item in asked if item not in said[name]]
        if missing:
            raise FieldError(
                f"{name}: {missing[0]} would not be read as such", field=name, hint="Spell it out."
            )
        more = [item for item in said[name] if item not in asked]
        if more:
            where = said[name][more[0]]
            message = f"{name}: {more[0]} is said at another place too ({where})"
            raise FieldError(message, field=name, hint="Change it there, or edit the whole text.")


def _check_known(survey: LoadedSources, located: LocatedTask, unknown: Collection[str]) -> None:
    """A need that a task was found for is that task's still: a new source may have given the others other names."""
    needs = (need.on for need in located.entry.task.needs if need.on not in unknown)
    lost = next((on for on in needs if on not in survey.pile.by_id), None)
    if lost is not None:
        raise FieldError(f"needs: no source has a task {lost}", field="needs", hint="Name it by its id.")


def _likely_field(draft: TaskDraft) -> str:
    """The field that the trouble is most likely with."""
    said = ("text", "run", "verify", "body", "title")
    return next((name for name in said if getattr(draft, name) is not None), "title")


def _find_file_problems(survey: LoadedSources, file: str) -> list[Problem]:
    found = (*survey.problems, *survey.pile.problems)
    serious = (problem for problem in found if problem.severity is not Severity.INFO)
    return [problem for problem in serious if problem.at is not None and problem.at.file == file]


def _make_field_error(field: str, problems: list[Problem], otherwise: str) -> FieldError:
    if not problems:
        return FieldError(otherwise, field=field)
    first = next((problem for problem in problems if "can't be" in problem.message), problems[0])
    return FieldError(f"{first.message} ({first.at})", field=field, hint=first.hint)
