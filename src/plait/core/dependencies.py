"""Needs: from ids to places, and what is said about those that no task of the plan answers to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from itertools import chain, islice

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import NeedKind, Origin, Task

DependencyRow = tuple[int, ...]
MissingNeeds = dict[str, list[Task]]

# Looking for a near id costs about a millisecond per hundred ids: past these bounds the message goes without.
_MAX_SUGGESTIONS = 5
_MAX_CANDIDATES = 2_000


class UnknownNeeds(StrEnum):
    """What a need on an id that no source knows means: sources often drop their finished tasks."""

    DONE = "done"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class UnplannedTasks:
    """What is known of tasks that are not in the plan: the finished ones, and those that exist but were not selected."""

    finished: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    unknown: UnknownNeeds = UnknownNeeds.DONE
    ignore_needs: bool = False

    def unknown_id_problem(
        self, what: str, on: str, at: Origin | None, index: Iterable[str], *, suggest: bool = True
    ) -> Problem:
        """The error for an unknown id, with the nearest one that exists."""
        near = suggest and get_close_matches(on, islice(self._list_ids(index), _MAX_CANDIDATES), n=1)
        hint = (
            f"Did you mean {near[0]}?"
            if near
            else "Correct the id, or take it as finished: --unknown-needs done."
        )
        return Problem(Severity.ERROR, f"{what}, which no source knows", at, hint)

    def _list_ids(self, index: Iterable[str]) -> Iterator[str]:
        return chain(index, sorted(self.known), sorted(self.finished))


def resolve_needs(
    tasks: Sequence[Task], index: Mapping[str, int]
) -> tuple[list[DependencyRow], MissingNeeds]:
    """For each task the places it needs, sorted and without doubles; and, by id, who needs a task that is not in the plan."""
    rows: list[DependencyRow] = []
    missing: MissingNeeds = {}
    for task in tasks:
        try:
            rows.append(tuple(sorted({index[need.on] for need in task.needs})))
        except KeyError:
            rows.append(tuple(sorted({index[need.on] for need in task.needs if need.on in index})))
            for on in dict.fromkeys(need.on for need in task.needs if need.on not in index):
                missing.setdefault(on, []).append(task)
    return rows, missing


def check_missing_needs(
    missing: MissingNeeds, index: Mapping[str, int], outside: UnplannedTasks
) -> list[Problem]:
    """One problem for each missing id, unless it is finished."""
    problems = []
    suggestions = _MAX_SUGGESTIONS
    for on, needed_by in missing.items():
        if on in outside.finished:
            continue
        who, at = _describe_dependents(needed_by), describe_need(needed_by[0], on)[1]
        if on in outside.known:
            problems.append(_unselected_problem(on, who, at, outside))
        elif outside.unknown is UnknownNeeds.DONE:
            problems.append(_assumed_done_problem(f"{who} {on}", at))
        else:
            problems.append(outside.unknown_id_problem(f"{who} {on}", on, at, index, suggest=suggestions > 0))
            suggestions -= 1
    return problems


def _describe_dependents(tasks: Sequence[Task]) -> str:
    return f"{tasks[0].id} needs" if len(tasks) == 1 else f"{tasks[0].id} and {len(tasks) - 1} more need"


def _unselected_problem(on: str, who: str, at: Origin | None, outside: UnplannedTasks) -> Problem:
    message = f"{who} {on}, which is neither finished nor selected"
    if outside.ignore_needs:
        return Problem(Severity.INFO, f"{message}: going without it", at)
    hint = "--with-needs pulls it in, --ignore-needs goes without it."
    return Problem(Severity.ERROR, message, at, hint)


def _assumed_done_problem(what: str, at: Origin | None) -> Problem:
    hint = "With --unknown-needs fail this would be an error."
    return Problem(Severity.INFO, f"{what}, which no source knows: taken as finished", at, hint)


def describe_need(task: Task, on: str) -> tuple[str, Origin | None]:
    """The edge from `task` to `on` in words, with the reason that was given first, and where that was."""
    need = next(need for need in task.needs if need.on == on)
    verb = "follows" if need.kind is NeedKind.CHAIN else "needs"
    at = need.at or task.origin
    return f"{task.id} {verb} {on}{describe_origin(at, need.reason)}", at


def describe_origin(at: Origin | None, reason: str) -> str:
    """` (file:line: "what it says")`, as far as it is known."""
    parts = [*([str(at)] if at else []), *([f'"{reason}"'] if reason else [])]
    return f" ({': '.join(parts)})" if parts else ""
