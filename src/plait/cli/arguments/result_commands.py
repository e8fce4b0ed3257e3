# ruff: noqa: FBT002, PLR0913, PLR0917 - a verb's options are its parameters
"""Commands about results: diff and gc. A command's own module is imported when it runs."""

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
        help="Ids or unique prefixes; without a batch: the newest; without a task: everything merged.",
        autocompletion=complete_batches_and_tasks,
    ),
]


@verbs.command()
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

    wish = DiffArguments(attempt, stat, name_only, pager=not no_pager, as_json=json)
    raise typer.Exit(diff_command(context.obj, words or (), wish))


@verbs.command()
def gc(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[restore NAME]", help="Create a branch from saved work with this name."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Show what would be removed, and remove nothing.")
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

    wish = GcArguments(
        dry_run, older, tuple(forget or ()), with_unmerged, forget_lost, listing, branch, yes, as_json=json
    )
    raise typer.Exit(gc_command(context.obj, words or (), wish))
