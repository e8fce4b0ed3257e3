# ruff: noqa: FBT002, PLR0913, PLR0917 - a verb's options are its parameters
"""The verbs about what batches leave: to look at it, and to tidy up. What a verb needs is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.cli.arguments import options as opt
from plait.cli.arguments.options import complete_batches_and_tasks

verbs = typer.Typer()

DiffArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BATCH] [TASK]",
        help="Their ids, or the beginnings of them; no batch: the newest; no task: all that was merged.",
        autocompletion=complete_batches_and_tasks,
    ),
]


@verbs.command()
def diff(
    context: typer.Context,
    words: DiffArgument = None,
    attempt: Annotated[
        int | None, typer.Option("--attempt", metavar="N", help="What this attempt made, not the newest.")
    ] = None,
    stat: Annotated[bool, typer.Option("--stat", help="How much of which files, and no text.")] = False,
    name_only: Annotated[bool, typer.Option("--name-only", help="Which files, and nothing else.")] = False,
    no_pager: Annotated[bool, typer.Option("--no-pager", help="All at once, not by pages.")] = False,
    json: opt.Json = False,
) -> None:
    """Show what a task changed, or what its attempt has changed so far; without a task, the whole batch."""
    from plait.cli.commands.diff import DiffArguments, diff_command

    wish = DiffArguments(attempt, stat, name_only, pager=not no_pager, as_json=json)
    raise typer.Exit(diff_command(context.obj, words or (), wish))


@verbs.command()
def gc(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[restore NAME]", help="Make a branch of what was saved under this name."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Show what could go, and remove nothing.")] = False,
    older: Annotated[
        str | None,
        typer.Option(
            "--older",
            metavar="SPAN",
            help="Only of batches that ended so long ago, but of those also transcripts and unmerged branches: 14d.",
        ),
    ] = None,
    forget: Annotated[
        list[str] | None,
        typer.Option("--forget", metavar="BATCH", help="All of this batch, but what was never merged."),
    ] = None,
    with_unmerged: Annotated[
        bool, typer.Option("--with-unmerged", help="With --forget: also what was never merged, for good.")
    ] = False,
    forget_lost: Annotated[
        bool, typer.Option("--forget-lost", help="Also the workspaces of repositories that are gone.")
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="Show what was saved, by name.")] = False,
    branch: Annotated[
        str | None, typer.Option("--as", metavar="BRANCH", help="With restore: the name of the branch.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    json: opt.Json = False,
) -> None:
    """Show what batches left behind, and remove what is merged, saved or nobody's."""
    from plait.cli.commands.gc import GcArguments, gc_command

    wish = GcArguments(
        dry_run, older, tuple(forget or ()), with_unmerged, forget_lost, listing, branch, yes, as_json=json
    )
    raise typer.Exit(gc_command(context.obj, words or (), wish))
