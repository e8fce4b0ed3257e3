"""The options of `plait run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.core.errors import UserError


def run_command(
    where: Path,
    sources: opt.Sources = None,
    select: opt.Select = None,
    *,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Choose the tasks from a list; what they need is included.")
    ] = False,
    with_needs: opt.WithNeeds = False,
    ignore_needs: opt.IgnoreNeeds = False,
    again: opt.Again = False,
    flags: Annotated[opt.Flags, opt.SettingOptions("sources.*", "run.*", "workspace.setup")],
    contest: Annotated[
        str | None,
        typer.Option(
            "--contest", metavar="NAME,...", help="Run each task with each of these agents and merge the best result."
        ),
    ] = None,
    times: Annotated[
        int, typer.Option("--times", "-n", metavar="N", help="Run each task N times per agent and keep the best.")
    ] = 1,
    repo: Annotated[
        str | None, typer.Option("--repo", metavar="URL", help="Work on another repository, which plait mirrors.")
    ] = None,
    pr: Annotated[
        bool | None, typer.Option("--pr/--no-pr", help="Push the result and open a pull request, or don't.")
    ] = None,
    draft: opt.Draft = False,
    push: opt.Push = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the newest unfinished batch of these sources.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan without starting anything.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Run in the background.")] = False,
    web: Annotated[
        bool, typer.Option("--web", help="Serve the web page while the batch runs, and print its link.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", "--autonomous", help="Don't prompt.")] = False,
    as_json: opt.Json = False,
) -> int:
    from plait.cli.commands.run_batch import RunOptions, run_tasks  # `plait run --help` doesn't need it
    from plait.sources.planning import PlanOptions

    agents = flags.get("run.agent")
    if contest is not None and agents is not None:
        raise UserError(
            "--contest and --agent both name the agents",
            hint="Use --contest for a contest between them, or --agent to share the tasks.",
        )
    values = {
        **flags,
        "run.agent": agents if contest is None else contest,
        "pr.when_done": opt.choose_publish_mode(pr=pr, draft=draft, push=push),
    }
    return run_tasks(
        RunOptions(
            where,
            tuple(sources or ()),
            PlanOptions(select, with_needs, ignore_needs, again=again),
            {key: value for key, value in values.items() if value is not None},
            interactive=interactive,
            repo=repo,
            resume=resume,
            dry_run=dry_run,
            detach=detach,
            web=web,
            yes=yes,
            as_json=as_json,
            contest=contest is not None or times != 1,
            times=times,
        )
    )
