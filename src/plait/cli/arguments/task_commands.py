"""Commands about tasks that are not in a batch yet: plan, next, run, demo. A command's own module is imported when it runs."""
# ruff: noqa: FBT002, PLR0913, PLR0917 - a command's options are its parameters

from __future__ import annotations

import re
from typing import Annotated

import typer

from plait.cli.arguments import options as opt
from plait.core.errors import UserError

commands = typer.Typer()


@commands.command()
@opt.takes_settings("sources.*", "run.max_parallel", "run.phase_gate", "run.agent")
def plan(
    context: typer.Context,
    sources: opt.Sources = None,
    select: opt.Select = None,
    with_needs: opt.WithNeeds = False,
    ignore_needs: opt.IgnoreNeeds = False,
    resume: opt.Resume = False,
    *,
    flags: opt.Flags,
    output_format: Annotated[str, typer.Option("--format", metavar="text|mermaid|dot", help="Output format.")] = "text",
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", metavar="TASK", help="Show the prompt that this task's agent would get."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Show the plan: waves, dependencies with reasons, shared files, critical path, problems."""
    from plait.cli.commands.plan import PlanFormat, plan_command
    from plait.sources.planning import PlanOptions

    if output_format not in set(PlanFormat):
        raise UserError(
            f"there is no format called {output_format}", hint=f"--format is one of {', '.join(PlanFormat)}."
        )
    options = PlanOptions(select, with_needs, ignore_needs, resume)
    chosen = PlanFormat.JSON if json else PlanFormat(output_format)
    raise typer.Exit(plan_command(context.obj, sources or (), options, flags, chosen, prompt))


@commands.command("next")
@opt.takes_settings("sources.format", "sources.tag", "sources.exclude", "sources.file_conflicts", "run.phase_gate")
def next_(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[N] [SOURCE...]", help="How many tasks, and from which sources."),
    ] = None,
    select: opt.Select = None,
    *,
    flags: opt.Flags,
    json: opt.Json = False,
) -> None:
    """Show the tasks that would start now, and why."""
    from plait.cli.commands.next import next_command
    from plait.sources.planning import PlanOptions

    names = list(words or ())
    limit = int(names.pop(0)) if names and re.fullmatch(r"[1-9][0-9]{0,8}", names[0]) else None
    options = PlanOptions(select, with_needs=True)
    raise typer.Exit(next_command(context.obj, names, options, flags, limit, as_json=json))


@commands.command("run")
@opt.takes_settings("sources.*", "run.*")
def run_(
    context: typer.Context,
    sources: opt.Sources = None,
    select: opt.Select = None,
    with_needs: opt.WithNeeds = False,
    ignore_needs: opt.IgnoreNeeds = False,
    *,
    flags: opt.Flags,
    contest: opt.Contest = None,
    times: opt.Times = 1,
    repo: opt.Repo = None,
    pr: opt.Pr = None,
    draft: opt.Draft = False,
    push: opt.Push = False,
    executor: opt.Executor = "local",
    resume: opt.ResumeBatch = False,
    dry_run: opt.DryRun = False,
    detach: opt.Detach = False,
    web: opt.Web = False,
    yes: opt.Yes = False,
    json: opt.Json = False,
) -> None:
    """Run tasks and watch them until the batch ends."""
    from plait.cli.commands.run import run_command
    from plait.cli.commands.run_options import RunOptions, choose_agents, choose_publish_mode
    from plait.sources.planning import PlanOptions

    values = flags | {
        "run.agent": choose_agents(contest, flags.get("run.agent")),
        "pr.when_done": choose_publish_mode(pr=pr, draft=draft, push=push),
    }
    options = RunOptions(
        context.obj,
        tuple(sources or ()),
        PlanOptions(select, with_needs, ignore_needs),
        {key: value for key, value in values.items() if value is not None},
        repo=repo,
        executor=executor,
        resume=resume,
        dry_run=dry_run,
        detach=detach,
        web=web,
        yes=yes,
        as_json=json,
        contest=contest is not None or times != 1,
        times=times,
    )
    raise typer.Exit(run_command(options))


@commands.command()
def demo() -> None:
    """Create a small repository in a temporary folder and run its tasks for real; no keys, no network."""
    from plait.cli.commands.demo import demo_command

    raise typer.Exit(demo_command())
