"""`plait next`: the tasks that would start now, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from plait.cli.say import OK, USAGE, Page, console, tell_problems, write_json
from plait.sources.planning import Planned, Wish, plan
from plait.sources.upcoming import Upcoming, upcoming
from plait.wiring import survey


def next_command(  # noqa: PLR0913 - what was said on the command line
    where: Path,
    named: Sequence[str],
    wish: Wish,
    flags: Mapping[str, object],
    most: int | None,
    *,
    as_json: bool,
) -> int:
    seen = survey(where, named, flags=flags)
    wish = Wish(
        wish.select, wish.with_needs, wish.ignore_needs, wish.resume, seen.config.sources.unknown_needs
    )
    settings = seen.config.settings(tasks=len(seen.pile.entries), cores=os.cpu_count() or 1)
    planned = plan(seen.pile, wish)
    planned = Planned(planned.plan, (*seen.problems, *planned.problems), planned.complete)
    found = upcoming(planned.plan, seen.pile.by_id, settings, datetime.now(UTC)) if planned.plan else []
    found = found[: most if most is not None else settings.max_parallel or len(found)]
    if as_json:
        write_json({"count": len(found), "tasks": [_task(each) for each in found]})
    if planned.plan is None:
        tell_problems(console(stderr=True), planned.problems)
        if not planned.complete:
            return USAGE
    if not as_json:
        _show(found, complete=planned.complete)
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
    page.show(console())


def _why(each: Upcoming) -> str:
    others = each.conflicts_with
    shown = ", ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
    return f"{each.reason}; shares files with {shown}" if others else each.reason
