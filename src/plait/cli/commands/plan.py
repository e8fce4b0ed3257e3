"""`plait plan`: the checked task graph as text, JSON, Mermaid or DOT, before anything runs."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt, output
from plait.cli.error_handling import get_error_exit_code, print_traceback
from plait.core.errors import PlaitError, UserError
from plait.core.settings import SandboxMode

PLAN_FORMATS = ("text", "json", "mermaid", "dot")


def plan_command(
    where: Path,
    source_names: opt.Sources = None,
    select: opt.Select = None,
    *,
    with_needs: opt.WithNeeds = False,
    ignore_needs: opt.IgnoreNeeds = False,
    again: opt.Again = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Include tasks that an earlier run started but did not finish.")
    ] = False,
    flags: Annotated[
        opt.Flags, opt.SettingOptions("sources.*", "run.max_parallel", "run.phase_gate", "run.agent", "run.sandbox")
    ],
    output_format: Annotated[str, typer.Option("--format", metavar="text|mermaid|dot", help="Output format.")] = "text",
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", metavar="TASK", help="Show the prompt that this task's agent would get."),
    ] = None,
    as_json: opt.Json = False,
) -> int:
    from plait.cli import plan_output  # `plait plan --help` needs none of these
    from plait.cli.commands.trust import TrustCheck
    from plait.client.api_errors import list_error_problems
    from plait.client.planning.plan_preview import describe_plan, load_plan_preview
    from plait.sources.planning import PlanOptions

    if output_format not in PLAN_FORMATS:
        raise UserError(
            f"there is no format called {output_format}", hint=f"--format is one of {', '.join(PLAN_FORMATS)}."
        )
    if as_json:
        output_format = "json"
    gc.disable()  # the process ends after its answer: garbage collection costs more than it frees
    plan_options = PlanOptions(select, with_needs, ignore_needs, resume, again=again)
    try:
        trust = TrustCheck(interactive=output.is_interactive() and output_format == "text", where=where)
        preview = load_plan_preview(where, source_names or (), plan_options, flags, trust.check_before_reading)
        if prompt is not None:
            return plan_output.print_prompt(preview, prompt, as_json=output_format == "json")
        plan = preview.planned.plan
        if (
            preview.settings.sandbox is not SandboxMode.OFF
            or preview.loaded.config.agents.sandboxes
            or (plan is not None and any(task.sandbox for task in plan.tasks))
        ):
            from plait.client.planning.sandbox import resolve_sandbox  # most plans have none

            preview = resolve_sandbox(preview)
        plan_output.print_preview(preview, output_format)
    except PlaitError as error:
        if output_format != "json":
            raise
        print_traceback(error)
        output.print_json(describe_plan(None, list_error_problems(error)))
        return get_error_exit_code(error)
    return output.OK if preview.planned.plan or preview.planned.complete else output.USAGE
