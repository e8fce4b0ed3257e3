"""`plait next`: the tasks that would start now, and why."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.commands.trust import TrustCheck
from plait.cli.format import MAX_NAMES
from plait.cli.output import OK, USAGE, Page, is_interactive, print_json, print_problems
from plait.client.planning.completed_tasks import mark_completed
from plait.client.project_sources import load_sources
from plait.client.project_state import read_past_batches
from plait.core.plan import Plan, Severity
from plait.core.text import join_names
from plait.sources.planning import NextTask, PlanOptions, list_next_tasks, plan_tasks
from plait.sources.selectors import select_tasks


def next_command(
    where: Path,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[N] [SOURCE...]", help="How many tasks, and from which sources."),
    ] = None,
    select: opt.Select = None,
    *,
    again: opt.Again = False,
    flags: Annotated[
        opt.Flags,
        opt.SettingOptions(
            "sources.format", "sources.tag", "sources.exclude", "sources.file_conflicts", "run.phase_gate"
        ),
    ],
    as_json: opt.Json = False,
) -> int:
    names = list(arguments or ())
    limit = int(names.pop(0)) if names and re.fullmatch(r"[1-9][0-9]{0,8}", names[0]) else None
    plan_options = PlanOptions(select, with_needs=True, again=again)
    trust = TrustCheck(interactive=is_interactive() and not as_json, where=where)
    loaded = load_sources(where, names, flags=flags, check_config=trust.check_before_reading)
    loaded, _, notes = mark_completed(loaded, read_past_batches(loaded.location).state, plan_options)
    settings = loaded.config.batch_settings(tasks=len(loaded.source_set.entries), cores=os.cpu_count() or 1)
    planned = plan_tasks(loaded.source_set, replace(plan_options, unknown=loaded.config.sources.unknown_needs))
    tasks = list_next_tasks(planned.plan, loaded.source_set.by_id, settings, datetime.now(UTC)) if planned.plan else []
    wanted = set(select_tasks(loaded.source_set, plan_options.select).ids)
    tasks = [item for item in tasks if item.entry.task.id in wanted]
    tasks = tasks[: limit if limit is not None else settings.max_parallel or len(tasks)]
    if as_json:
        print_json({"count": len(tasks), "tasks": [_describe_next_task(item) for item in tasks]})
    problems = (*loaded.problems, *planned.problems, *notes)
    if planned.plan is not None:  # the notes are the plan's business
        problems = tuple(problem for problem in problems if problem.severity is not Severity.INFO)
    print_problems(problems)
    if planned.plan is None and not planned.complete:
        return USAGE
    if not as_json:
        _print_tasks(tasks, planned.describe_complete("Everything") if planned.complete else "Nothing can start now.")
        if planned.plan and not tasks:
            _print_waiting(planned.plan, wanted)
    return OK


def _describe_next_task(item: NextTask) -> dict[str, object]:
    task, chain = item.entry.task, item.entry.chain
    return {
        "id": task.id,
        "description": task.title,
        "phase": int(task.phase) if task.phase and re.fullmatch(r"[0-9]{1,9}", task.phase) else task.phase,
        "status": item.entry.status.value,
        "reason": item.reason,
        "sequential": chain is not None,
        "sequentialGroup": chain.name if chain else None,
        "sequentialReason": (chain.reason or None) if chain else None,
        "conflictsWith": item.conflicts_with,
        "blockedBy": (),  # what waits for another task is not listed
    }


def _print_tasks(tasks: Sequence[NextTask], otherwise: str) -> None:
    page = Page()
    if not tasks:
        page.add_line(otherwise)
    width = max((len(item.entry.task.id) for item in tasks), default=0)
    for item in tasks:
        page.add_line(f"{item.entry.task.id:{width}}  {item.entry.task.title}")
        page.add_line((f"{'':{width}}  {_describe_reason(item)}", "dim"))
    page.show()


def _print_waiting(plan: Plan, wanted: Collection[str]) -> None:
    page = Page()
    planned = {task.id for task in plan.tasks}
    for task in [task for task in plan.tasks if task.id in wanted][:MAX_NAMES]:
        needs = dict.fromkeys(need.on for need in task.needs if need.on in planned)
        phase = f"phase {task.phase} to open" if task.phase else "a file that another task uses"
        page.add_line(f"{task.id} waits for {', '.join(needs) or phase}.")
    page.show()


def _describe_reason(item: NextTask) -> str:
    others = item.conflicts_with
    return f"{item.reason}; shares files with {join_names(others, MAX_NAMES)}" if others else item.reason
