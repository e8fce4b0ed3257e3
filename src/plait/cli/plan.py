"""`plait plan`: the checked graph, before anything runs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from plait.cli.say import OK, USAGE, console, exit_code, tell_problems, trace, write_json
from plait.cli.trust import Trust, on_terminal
from plait.core.errors import PlaitError
from plait.core.plan import Plan
from plait.core.settings import Settings
from plait.front.planning.outlook import Outlook, look
from plait.front.problems import problems_of
from plait.sources.planning import Planned, Wish


class Shape(StrEnum):
    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"


def plan_command(  # noqa: PLR0913, PLR0917 - what was said on the command line
    where: Path,
    named: Sequence[str],
    wish: Wish,
    flags: Mapping[str, object],
    shape: Shape,
    prompt: str | None = None,
) -> int:
    """`prompt` names a task whose prompt is shown, in the place of the plan."""
    gc.disable()  # a process that ends when it has answered: looking for garbage costs more than it frees
    try:
        return _plan(where, named, wish, flags, shape, prompt)
    except PlaitError as error:
        if shape is not Shape.JSON:
            raise
        return _refuse(error)


def _plan(  # noqa: PLR0913, PLR0917
    where: Path,
    named: Sequence[str],
    wish: Wish,
    flags: Mapping[str, object],
    shape: Shape,
    prompt: str | None,
) -> int:
    trust = Trust(someone=on_terminal() and shape is Shape.TEXT, where=where)
    found = look(where, named, wish, flags, trust.before_reading)
    if prompt is not None:
        from plait.cli.plan_prompt import show_prompt  # noqa: PLC0415 - agents are many, and a plan needs none

        return show_prompt(found, prompt, as_json=shape is Shape.JSON)
    planned = found.planned
    if shape is Shape.JSON:
        show_json(found)
    else:
        _show(found, shape)
    return OK if planned.plan or planned.complete else USAGE


def show_json(found: Outlook) -> None:
    from plait.front.planning.shape import plan_json  # noqa: PLC0415 - each shape brings its own

    planned = found.planned
    write_json(plan_json(planned.plan, found.seen.pile.by_id, planned.problems, found.eta, found.cost))


def _refuse(error: PlaitError) -> int:
    """A program that asked for JSON gets JSON."""
    from plait.front.planning.shape import plan_json  # noqa: PLC0415

    trace(error)
    write_json(plan_json(None, {}, problems_of(error)))
    return exit_code(error)


def _show(found: Outlook, shape: Shape) -> None:
    plan = found.planned.plan
    if plan is None:
        tell_no_plan(found.planned)
    elif shape is Shape.TEXT:
        show_text(found, plan)
    else:
        from plait.cli.plan_graph import dot, mermaid  # noqa: PLC0415

        tell_problems(found.planned.problems)
        sys.stdout.write(mermaid(plan) if shape is Shape.MERMAID else dot(plan))


def tell_no_plan(planned: Planned) -> None:
    tell_problems(planned.problems)
    if planned.complete:
        console().print("Everything selected is complete: there is nothing to do.")


def show_text(found: Outlook, plan: Plan) -> None:
    from plait.cli.plan_text import plan_page, span  # noqa: PLC0415

    out = console()
    told = None if found.eta is None else f"{span(found.eta)} with {at_once(found.settings)}"
    page = plan_page(
        plan,
        found.seen.pile,
        found.planned.problems,
        width=out.width,
        gate=found.settings.phase_gate,
        longest=max(plan.ranks),
        eta=told,
    )
    page.show(out)


def at_once(settings: Settings) -> str:
    return f"{settings.max_parallel} at once" if settings.max_parallel else "no limit"
