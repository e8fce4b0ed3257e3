# ruff: noqa: FBT002, PLR0913, PLR0917 - a command's options are its parameters
"""Commands about existing batches: status, logs, control, diff, gc. A command's own module is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.cli.arguments import options as opt
from plait.cli.arguments.options import complete_batches, complete_batches_and_tasks

commands = typer.Typer()

BatchArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[BATCH]",
        help="Batch id or a unique prefix; default: the newest batch.",
        autocompletion=complete_batches,
    ),
]
TasksArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BATCH] [TASK...]",
        help="Ids or unique prefixes; without a batch: the newest.",
        autocompletion=complete_batches_and_tasks,
    ),
]
DiffArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BATCH] [TASK]",
        help="Ids or unique prefixes; without a batch: the newest; without a task: everything merged.",
        autocompletion=complete_batches_and_tasks,
    ),
]
TaskArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BATCH] TASK",
        help="Ids or unique prefixes; without a batch: the newest.",
        autocompletion=complete_batches_and_tasks,
    ),
]


@commands.command()
def status(
    context: typer.Context,
    batch: BatchArgument = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep watching and print changes.")] = False,
    json: opt.Json = False,
) -> None:
    """Show the status of all batches, or of one with its tasks."""
    from plait.cli.commands.status import status_command

    raise typer.Exit(status_command(context.obj, batch, watch=watch, as_json=json))


@commands.command()
def logs(
    context: typer.Context,
    words: TaskArgument = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing until the task ends.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print the raw output, byte for byte.")] = False,
    attempt: Annotated[
        int | None, typer.Option("--attempt", metavar="N", help="Show this attempt instead of the newest.")
    ] = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="write|verify", help="Only attempts at this step.")
    ] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate", help="Show the batch's newest gate run (--attempt: another one), or the one that ended a task."
        ),
    ] = False,
    json: opt.Json = False,
) -> None:
    """Show the output of a task's newest attempt."""
    from plait.cli.commands.logs import LogsArguments, logs_command

    arguments = LogsArguments(follow, raw, attempt, step, json, gate)
    raise typer.Exit(logs_command(context.obj, words or (), arguments))


@commands.command()
def explain(context: typer.Context, words: TaskArgument = None, json: opt.Json = False) -> None:
    """Explain a task's status: its history, and what would make it run."""
    from plait.cli.commands.explain import explain_command

    raise typer.Exit(explain_command(context.obj, words or (), as_json=json))


@commands.command()
def history(context: typer.Context, json: opt.Json = False) -> None:
    """List all batches: when they ran, how long, and how they ended."""
    from plait.cli.commands.history import history_command

    raise typer.Exit(history_command(context.obj, as_json=json))


@commands.command()
def cancel(
    context: typer.Context,
    words: TasksArgument = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't prompt.")] = False,
    json: opt.Json = False,
) -> None:
    """Cancel tasks, or a whole batch; running agents are stopped."""
    from plait.cli.commands.control import cancel_command

    raise typer.Exit(cancel_command(context.obj, words or (), yes=yes, as_json=json))


@commands.command()
def pause(context: typer.Context, words: TasksArgument = None, json: opt.Json = False) -> None:
    """Pause a batch: running tasks continue, nothing new starts."""
    from plait.cli.commands.control import pause_command

    raise typer.Exit(pause_command(context.obj, words or (), as_json=json))


@commands.command()
def unpause(context: typer.Context, words: TasksArgument = None, json: opt.Json = False) -> None:
    """Continue a paused batch."""
    from plait.cli.commands.control import unpause_command

    raise typer.Exit(unpause_command(context.obj, words or (), as_json=json))


@commands.command()
def approve(
    context: typer.Context,
    words: TasksArgument = None,
    everything: Annotated[bool, typer.Option("--all", help="Approve this task and all later ones.")] = False,
    json: opt.Json = False,
) -> None:
    """Approve the next task of a queue, or the named ones."""
    from plait.cli.commands.control import approve_command

    raise typer.Exit(approve_command(context.obj, words or (), everything=everything, as_json=json))


@commands.command()
def retry(
    context: typer.Context,
    words: TasksArgument = None,
    agent: Annotated[str | None, typer.Option("--agent", "-a", metavar="NAME", help="Use this agent.")] = None,
    json: opt.Json = False,
) -> None:
    """Retry failed tasks and the ones they blocked."""
    from plait.cli.commands.control import retry_command

    raise typer.Exit(retry_command(context.obj, words or (), agent=agent, as_json=json))


@commands.command()
def resume(context: typer.Context, words: TasksArgument = None, json: opt.Json = False) -> None:
    """Resume a stopped batch; finished tasks are not run again."""
    from plait.cli.commands.control import resume_command

    raise typer.Exit(resume_command(context.obj, words or (), as_json=json))


@commands.command()
def pr(
    context: typer.Context,
    words: TasksArgument = None,
    draft: opt.Draft = False,
    push: opt.Push = False,
    title: opt.Title = None,
    body_file: opt.BodyFile = None,
    json: opt.Json = False,
) -> None:
    """Push a batch's branch and open or update its pull request."""
    from plait.cli.commands.pr import PrArguments, pr_command
    from plait.cli.commands.run_options import choose_publish_mode
    from plait.core.settings import Publish

    publish = Publish(choose_publish_mode(pr=None, draft=draft, push=push) or Publish.PR)
    arguments = PrArguments(title, body_file)
    raise typer.Exit(pr_command(context.obj, words or (), publish, arguments, as_json=json))


@commands.command()
def drop(context: typer.Context, words: TasksArgument = None, json: opt.Json = False) -> None:
    """Drop tasks and remove their changes from the batch branch."""
    from plait.cli.commands.control import drop_command

    raise typer.Exit(drop_command(context.obj, words or (), as_json=json))


@commands.command()
def feedback(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[BATCH] TASK TEXT",
            help="The task, then the text; - reads it from standard input.",
            autocompletion=complete_batches_and_tasks,
        ),
    ],
    json: opt.Json = False,
) -> None:
    """Retry a task with feedback, or answer its question."""
    from plait.cli.commands.control import feedback_command

    raise typer.Exit(feedback_command(context.obj, words, as_json=json))


@commands.command()
def diff(
    context: typer.Context,
    words: DiffArgument = None,
    attempt: Annotated[
        int | None, typer.Option("--attempt", metavar="N", help="Show this attempt instead of the newest.")
    ] = None,
    stat: Annotated[bool, typer.Option("--stat", help="Show a diffstat only.")] = False,
    name_only: Annotated[bool, typer.Option("--name-only", help="Show file names only.")] = False,
    no_pager: Annotated[bool, typer.Option("--no-pager", help="Don't use a pager.")] = False,
    json: opt.Json = False,
) -> None:
    """Show what a task changed, or what its running attempt has changed so far; without a task, the whole batch."""
    from plait.cli.commands.diff import DiffArguments, diff_command

    arguments = DiffArguments(attempt, stat, name_only, pager=not no_pager, as_json=json)
    raise typer.Exit(diff_command(context.obj, words or (), arguments))


@commands.command()
def gc(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[restore NAME]", help="Create a branch from saved work with this name."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Show what would be removed without removing it.")
    ] = False,
    older: Annotated[
        str | None,
        typer.Option(
            "--older",
            metavar="SPAN",
            help="Only batches that ended this long ago, but of those also transcripts and unmerged branches: 14d.",
        ),
    ] = None,
    forget: Annotated[
        list[str] | None,
        typer.Option("--forget", metavar="BATCH", help="Remove everything of this batch except unmerged work."),
    ] = None,
    with_unmerged: Annotated[
        bool, typer.Option("--with-unmerged", help="With --forget: also delete unmerged work, permanently.")
    ] = False,
    forget_lost: Annotated[
        bool, typer.Option("--forget-lost", help="Also remove workspaces of repositories that no longer exist.")
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="List saved work by name.")] = False,
    branch: Annotated[str | None, typer.Option("--as", metavar="BRANCH", help="With restore: the branch name.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't prompt.")] = False,
    json: opt.Json = False,
) -> None:
    """Show what batches left behind, and remove what is merged, saved or orphaned."""
    from plait.cli.commands.gc import GcArguments, gc_command

    arguments = GcArguments(
        dry_run, older, tuple(forget or ()), with_unmerged, forget_lost, listing, branch, yes, as_json=json
    )
    raise typer.Exit(gc_command(context.obj, words or (), arguments))
