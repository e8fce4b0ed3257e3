"""`plait plan`: the checked graph, before anything runs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from plait.cli.commands.trust__trust import TrustCheck, is_interactive
from plait.cli.output import (
    OK,
    USAGE,
    get_error_exit_code,
    make_console,
    print_json,
    print_problems,
    print_traceback,
)
from plait.client.api_errors import list_error_problems
from plait.client.planning.plan_preview import PlanPreview, load_plan_preview
from plait.core.errors import PlaitError
from plait.core.plan import Plan
from plait.core.settings import Settings
from plait.sources.planning import PlanOptions, PlanResult


class PlanFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"


def plan_command(  # noqa: PLR0913, PLR0917 - what was said on the command line
    where: Path,
    source_names: Sequence[str],
    plan_options: PlanOptions,
    flags: Mapping[str, object],
    output_format: PlanFormat,
    prompt: str | None = None,
) -> int:
    """`prompt` names a task whose prompt is shown, in the place of the plan."""
    gc.disable()  # a process that ends when it has answered: looking for garbage costs more than it frees
    try:
        return _make_plan(where, source_names, plan_options, flags, output_format, prompt)
    except PlaitError as error:
        if output_format is not PlanFormat.JSON:
            raise
        return _print_error_json(error)


def _make_plan(  # noqa: PLR0913, PLR0917
    where: Path,
    source_names: Sequence[str],
    plan_options: PlanOptions,
    flags: Mapping[str, object],
    output_format: PlanFormat,
    prompt: str | None,
) -> int:
    trust = TrustCheck(interactive=is_interactive() and output_format is PlanFormat.TEXT, where=where)
    found = load_plan_preview(where, source_names, plan_options, flags, trust.check_before_reading)
    if prompt is not None:
        from plait.cli.commands.plan_prompt import print_prompt  # noqa: PLC0415 - agents are many, and a plan needs none

        return print_prompt(found, prompt, as_json=output_format is PlanFormat.JSON)
    planned = found.planned
    if output_format is PlanFormat.JSON:
        print_plan_json(found)
    else:
        _print_as(found, output_format)
    return OK if planned.plan or planned.complete else USAGE


def print_plan_json(found: PlanPreview) -> None:
    from plait.client.planning.plan_preview__shape import plan_json  # noqa: PLC0415 - each shape brings its own

    planned = found.planned
    print_json(plan_json(planned.plan, found.survey.pile.by_id, planned.problems, found.eta, found.cost))


def _print_error_json(error: PlaitError) -> int:
    """A program that asked for JSON gets JSON."""
    from plait.client.planning.plan_preview__shape import plan_json  # noqa: PLC0415

    print_traceback(error)
    print_json(plan_json(None, {}, list_error_problems(error)))
    return get_error_exit_code(error)


def _print_as(found: PlanPreview, output_format: PlanFormat) -> None:
    plan = found.planned.plan
    if plan is None:
        print_no_plan(found.planned)
    elif output_format is PlanFormat.TEXT:
        print_plan(found, plan)
    else:
        from plait.cli.commands.plan__plan_graph import render_dot, render_mermaid  # noqa: PLC0415

        print_problems(found.planned.problems)
        sys.stdout.write(render_mermaid(plan) if output_format is PlanFormat.MERMAID else render_dot(plan))


def print_no_plan(planned: PlanResult) -> None:
    print_problems(planned.problems)
    if planned.complete:
        make_console().print("Everything selected is complete: there is nothing to do.")


def print_plan(found: PlanPreview, plan: Plan) -> None:
    from plait.cli.commands.plan import format_rough_duration, make_plan_page  # noqa: PLC0415

    out = make_console()
    eta = (
        None
        if found.eta is None
        else f"{format_rough_duration(found.eta)} with {describe_parallel_limit(found.settings)}"
    )
    page = make_plan_page(
        plan,
        found.survey.pile,
        found.planned.problems,
        width=out.width,
        gate=found.settings.phase_gate,
        longest=max(plan.ranks),
        eta=eta,
    )
    page.show(out)


def describe_parallel_limit(settings: Settings) -> str:
    return f"{settings.max_parallel} at once" if settings.max_parallel else "no limit"
