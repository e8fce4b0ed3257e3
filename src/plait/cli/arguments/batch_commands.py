# ruff: noqa: FBT002 - a verb's options are its parameters
"""The verbs about batches that are there: to look at them and to steer them. What a verb needs is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.cli.arguments import options as opt
from plait.cli.arguments.options import complete_batches, complete_batches_and_tasks

verbs = typer.Typer()

BatchArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[BATCH]",
        help="Its id, or the beginning of it; none: the newest.",
        autocompletion=complete_batches,
    ),
]
TasksArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BATCH] [TASK...]",
        help="Their ids, or the beginnings of them; no batch: the newest.",
        autocompletion=complete_batches_and_tasks,
    ),
]
TaskArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BATCH] TASK",
        help="Their ids, or the beginnings of them; no batch: the newest.",
        autocompletion=complete_batches_and_tasks,
    ),
]


@verbs.command()
def status(
    context: typer.Context,
    batch: BatchArgument = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it again whenever something changes.")] = False,
    json: opt.Json = False,
) -> None:
    """Show where all batches stand, or one with its tasks."""
    from plait.cli.commands.status import status_command

    raise typer.Exit(status_command(context.obj, batch, watch=watch, as_json=json))


@verbs.command()
def logs(  # noqa: PLR0913, PLR0917 - a verb's options are its parameters
    context: typer.Context,
    words: TaskArgument = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the task has ended.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="All that was printed, byte for byte.")] = False,
    attempt: Annotated[int | None, typer.Option("--attempt", metavar="N", help="This attempt, not the newest.")] = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="write|verify", help="The attempts at this step.")
    ] = None,
    gate: Annotated[
        bool,
        typer.Option("--gate", help="The batch's newest gate (--attempt: another), or the one a task ended by."),
    ] = False,
    json: opt.Json = False,
) -> None:
    """Show what a task's newest attempt prints."""
    from plait.cli.commands.logs import LogsArguments, logs_command

    wish = LogsArguments(follow, raw, attempt, step, json, gate)
    raise typer.Exit(logs_command(context.obj, words or (), wish))


@verbs.command()
def explain(context: typer.Context, words: TaskArgument = None, json: opt.Json = False) -> None:
    """Show why a task is where it is, what it has been through, and what would make it run."""
    from plait.cli.commands.explain import explain_command

    raise typer.Exit(explain_command(context.obj, words or (), as_json=json))


@verbs.command()
def history(context: typer.Context, json: opt.Json = False) -> None:
    """Show all batches: when, how long, and how they ended."""
    from plait.cli.commands.history import history_command

    raise typer.Exit(history_command(context.obj, as_json=json))


@verbs.command()
def cancel(
    context: typer.Context,
    words: TasksArgument = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    json: opt.Json = False,
) -> None:
    """Give up tasks, or a whole batch; what runs is ended."""
    from plait.cli.commands.control import cancel_command

    raise typer.Exit(cancel_command(context.obj, words or (), yes=yes, as_json=json))


@verbs.command()
def pause(context: typer.Context, words: TasksArgument = None, json: opt.Json = False) -> None:
    """Start nothing new in a batch; what runs goes on."""
    from plait.cli.commands.control import pause_command

    raise typer.Exit(pause_command(context.obj, words or (), as_json=json))


@verbs.command()
def unpause(context: typer.Context, words: TasksArgument = None, json: opt.Json = False) -> None:
    """Let a paused batch go on."""
    from plait.cli.commands.control import unpause_command

    raise typer.Exit(unpause_command(context.obj, words or (), as_json=json))


@verbs.command()
def approve(
    context: typer.Context,
    words: TasksArgument = None,
    everything: Annotated[
        bool, typer.Option("--all", help="This one and all that come after it: ask no more.")
    ] = False,
    json: opt.Json = False,
) -> None:
    """Let the next task of a queue start, or the ones named."""
    from plait.cli.commands.control import approve_command

    raise typer.Exit(approve_command(context.obj, words or (), everything=everything, as_json=json))


@verbs.command()
def retry(
    context: typer.Context,
    words: TasksArgument = None,
    agent: Annotated[str | None, typer.Option("--agent", "-a", metavar="NAME", help="Let this agent do it.")] = None,
    json: opt.Json = False,
) -> None:
    """Take up tasks that have ended, or all that failed, with what they held back."""
    from plait.cli.commands.control import retry_command

    raise typer.Exit(retry_command(context.obj, words or (), agent=agent, as_json=json))


@verbs.command()
def resume(context: typer.Context, words: TasksArgument = None, json: opt.Json = False) -> None:
    """Go on with a batch that was stopped: interrupted steps again, done tasks not."""
    from plait.cli.commands.control import resume_command

    raise typer.Exit(resume_command(context.obj, words or (), as_json=json))


@verbs.command()
def pr(  # noqa: PLR0913, PLR0917 - its options
    context: typer.Context,
    words: TasksArgument = None,
    draft: opt.Draft = False,
    push: opt.Push = False,
    title: opt.Title = None,
    body_file: opt.BodyFile = None,
    json: opt.Json = False,
) -> None:
    """Push a batch's branch and open its pull request, or bring the one that is open up to date."""
    from plait.cli.commands.pr import PrArguments as Said, pr_command
    from plait.cli.commands.run_options import choose_publish_mode
    from plait.core.settings import Publish

    publish = Publish(choose_publish_mode(pr=None, draft=draft, push=push) or Publish.PR)
    said = Said(title, body_file)
    raise typer.Exit(pr_command(context.obj, words or (), publish, said, as_json=json))


@verbs.command()
def drop(context: typer.Context, words: TasksArgument = None, json: opt.Json = False) -> None:
    """Go on without tasks: what they merged is taken out again."""
    from plait.cli.commands.control import drop_command

    raise typer.Exit(drop_command(context.obj, words or (), as_json=json))


@verbs.command()
def feedback(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[BATCH] TASK TEXT",
            help="The text last; - reads it from the standard input.",
            autocompletion=complete_batches_and_tasks,
        ),
    ],
    json: opt.Json = False,
) -> None:
    """Give a task words for a new attempt, or the answer to its question."""
    from plait.cli.commands.control import feedback_command

    raise typer.Exit(feedback_command(context.obj, words, as_json=json))
