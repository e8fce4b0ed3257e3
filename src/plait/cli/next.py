"""`plait next`: the tasks that would start now, and why."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from plait.cli.say import OK, USAGE, Page, tell_problems, write_json
from plait.cli.trust import Trust, on_terminal
from plait.core.plan import Plan, Severity
from plait.sources.planning import Wish, plan
from plait.sources.select import select
from plait.sources.upcoming import Upcoming, upcoming
from plait.wiring.sources import survey

_MOST = 4  # tasks that are named together


def next_command(  # noqa: PLR0913 - what was said on the command line
    where: Path,
    named: Sequence[str],
    wish: Wish,
    flags: Mapping[str, object],
    most: int | None,
    *,
    as_json: bool,
) -> int:
    trust = Trust(someone=on_terminal() and not as_json, where=where)
    seen = survey(where, named, flags=flags, vet=trust.before_reading)
    settings = seen.config.settings(tasks=len(seen.pile.entries), cores=os.cpu_count() or 1)
    planned = plan(seen.pile, replace(wish, unknown=seen.config.sources.unknown_needs))
    found = upcoming(planned.plan, seen.pile.by_id, settings, datetime.now(UTC)) if planned.plan else []
    wanted = set(select(seen.pile, wish.select).ids)
    found = [each for each in found if each.entry.task.id in wanted]
    found = found[: most if most is not None else settings.max_parallel or len(found)]
    if as_json:
        write_json({"count": len(found), "tasks": [_task(each) for each in found]})
    problems = (*seen.problems, *planned.problems)
    if planned.plan is not None:  # the notes are the plan's business
        problems = tuple(problem for problem in problems if problem.severity is not Severity.INFO)
    tell_problems(problems)
    if planned.plan is None and not planned.complete:
        return USAGE
    if not as_json:
        _show(found, complete=planned.complete)
        if planned.plan and not found:
            _show_waiting(planned.plan, wanted)
    return OK


def _task(each: Upcoming) -> dict[str, object]:
    task, chain = each.entry.task, each.entry.chain
    return {
        "id": task.id,
        "description": task.title,
        "phase": task.phase,
        "status": each.entry.mark.value,
        "reason": each.reason,
        "sequential": chain is not None,
        "sequentialGroup": chain.name if chain else None,
        "sequentialReason": (chain.reason or None) if chain else None,
        "conflictsWith": each.conflicts_with,
        "blockedBy": each.blocked_by,
    }


def _show(found: Sequence[Upcoming], *, complete: bool) -> None:
    page = Page()
    if not found:
        page.line("Everything is complete: there is nothing to do." if complete else "Nothing can start now.")
    width = max((len(each.entry.task.id) for each in found), default=0)
    for each in found:
        page.line(f"{each.entry.task.id:{width}}  {each.entry.task.title}")
        page.line((f"{'':{width}}  {_why(each)}", "dim"))
    page.show()


def _show_waiting(plan: Plan, wanted: Collection[str]) -> None:
    page = Page()
    inside = {task.id for task in plan.tasks}
    for task in [task for task in plan.tasks if task.id in wanted][:_MOST]:
        needs = dict.fromkeys(need.on for need in task.needs if need.on in inside)
        phase = f"phase {task.phase} to open" if task.phase else "a file that another task holds"
        page.line(f"{task.id} waits for {', '.join(needs) or phase}.")
    page.show()


def _why(each: Upcoming) -> str:
    others = each.conflicts_with
    shown = ", ".join(others[:_MOST]) + (f" and {len(others) - _MOST} more" if len(others) > _MOST else "")
    return f"{each.reason}; shares files with {shown}" if others else each.reason
