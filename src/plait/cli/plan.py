"""`plait plan`: the checked graph, before anything runs."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from plait.cli.say import OK, USAGE, console, exit_code, problems_of, tell_problems, trace, write_json
from plait.core.errors import PlaitError
from plait.core.plan import Plan
from plait.core.settings import Settings
from plait.sources.planning import Planned, Wish, plan
from plait.wiring import Survey, history, survey


class Shape(StrEnum):
    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"


def plan_command(
    where: Path, named: Sequence[str], wish: Wish, flags: Mapping[str, object], shape: Shape
) -> int:
    gc.disable()  # a process that ends when it has answered: looking for garbage costs more than it frees
    try:
        return _plan(where, named, wish, flags, shape)
    except PlaitError as error:
        if shape is not Shape.JSON:
            raise
        return _refuse(error)


def _plan(where: Path, named: Sequence[str], wish: Wish, flags: Mapping[str, object], shape: Shape) -> int:
    seen = survey(where, named, flags=flags)
    past = history(seen.place)
    settings = seen.config.settings(tasks=len(seen.pile.entries), cores=os.cpu_count() or 1)
    wish = replace(wish, unknown=seen.config.sources.unknown_needs)
    planned = plan(seen.pile, wish, past.durations(settings))
    problems = dict.fromkeys((*seen.problems, *planned.problems, *past.problems))
    planned = replace(planned, problems=tuple(problems))
    eta = past.length(planned.plan, settings) if planned.plan else None
    if shape is Shape.JSON:
        from plait.cli.plan_json import plan_json  # noqa: PLC0415 - each shape brings its own

        write_json(plan_json(planned.plan, seen.pile.by_id, planned.problems, eta))
    else:
        _show(seen, planned, settings, shape, eta)
    return OK if planned.plan or planned.complete else USAGE


def _refuse(error: PlaitError) -> int:
    """A program that asked for JSON gets JSON."""
    from plait.cli.plan_json import plan_json  # noqa: PLC0415

    trace(error)
    write_json(plan_json(None, {}, problems_of(error), None))
    return exit_code(error)


def _show(seen: Survey, planned: Planned, settings: Settings, shape: Shape, eta: float | None) -> None:
    if planned.plan is None or shape is not Shape.TEXT:
        tell_problems(console(stderr=True), planned.problems)
    if planned.plan is None:
        if planned.complete:
            console().print("Everything selected is complete: there is nothing to do.")
    elif shape is Shape.TEXT:
        _show_text(seen, planned.plan, planned, settings, eta)
    else:
        from plait.cli.plan_graph import dot, mermaid  # noqa: PLC0415

        sys.stdout.write(mermaid(planned.plan) if shape is Shape.MERMAID else dot(planned.plan))


def _show_text(seen: Survey, plan: Plan, planned: Planned, settings: Settings, eta: float | None) -> None:
    from plait.cli.plan_text import plan_page, span  # noqa: PLC0415

    out = console()
    at_once = f"{settings.max_parallel} at once" if settings.max_parallel else "no limit"
    told = None if eta is None else f"{span(eta)} with {at_once}"
    page = plan_page(
        plan,
        seen.pile,
        planned.problems,
        width=out.width,
        gate=settings.phase_gate,
        longest=max(plan.ranks),
        eta=told,
    )
    page.show(out)
