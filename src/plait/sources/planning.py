"""From a pile and a selection to a checked plan."""

from __future__ import annotations

from collections.abc import Callable

from plait.core.frozen import dataclass
from plait.core.graph import Checked, UnknownNeeds, build
from plait.core.plan import Plan, Problem, Severity
from plait.core.task import Task
from plait.sources.pile import Pile
from plait.sources.select import Selection, named, select, with_needs


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for: which tasks, and what to do about needs that the selection does not meet.

    `ids` are exact: a program names tasks by them, where a person selects.
    """

    select: str | None = None
    with_needs: bool = False
    ignore_needs: bool = False
    resume: bool = False
    unknown: UnknownNeeds = UnknownNeeds.DONE
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, or the reasons why there is none; `complete`: there is nothing left to do, and that is no mistake.

    `unreadable` tasks were asked for, and are in no plan: whoever runs the plan has not done all.
    """

    plan: Plan | None
    problems: tuple[Problem, ...]
    complete: bool = False
    unreadable: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return any(problem.severity is Severity.ERROR for problem in self.problems)


def plan(pile: Pile, wish: Wish, durations: Callable[[Task], float] | None = None) -> Planned:
    if any(problem.severity is Severity.ERROR for problem in pile.problems) and not pile.entries:
        return Planned(None, pile.problems)
    selection = (
        named(pile, wish.ids, resume=wish.resume)
        if wish.ids
        else select(pile, wish.select, resume=wish.resume)
    )
    problems = pile.problems + selection.problems
    if selection.failed or not selection.ids:
        return Planned(None, problems, complete=selection.complete and not selection.failed)
    checked = _check(pile, selection, wish, durations)
    problems += checked.problems
    failed = any(problem.severity is Severity.ERROR for problem in problems)
    return Planned(None if failed else checked.plan, problems, unreadable=selection.unreadable)


def _check(
    pile: Pile, selection: Selection, wish: Wish, durations: Callable[[Task], float] | None
) -> Checked:
    ids = with_needs(pile, selection.ids) if wish.with_needs else selection.ids
    chosen = set(ids)
    return build(
        [pile.task(entry) for entry in pile.entries if entry.task.id in chosen],
        phases=pile.phases,
        finished=pile.finished,
        known=pile.by_id.keys() - pile.finished,
        unknown=wish.unknown,
        ignore_needs=wish.ignore_needs,
        durations=durations,
    )
