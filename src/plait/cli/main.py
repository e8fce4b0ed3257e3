"""`plait`: one file per verb; `verbs*.py` know their words, and this one what all of them have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from plait import __version__
from plait.cli import say, verbs, verbs_place, verbs_results, verbs_tasks
from plait.cli.guard import guarded, leave, prepare

app = typer.Typer(
    name="plait",
    help="Many agents, one pull request.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    prepare()
    leave(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run a verb; the exit code."""
    return guarded(lambda: _run(words), as_json="--json" in words)


def _run(words: Sequence[str]) -> int:
    try:
        app(words, prog_name="plait")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # typer's way to end then
            raise ended.__context__ from None
        return ended.code if isinstance(ended.code, int) else say.OK
    return say.OK


def _version(value: bool) -> None:  # noqa: FBT001 - typer's own way
    if value:
        print(f"plait {__version__}")  # noqa: T201 - the answer
        raise typer.Exit


@app.callback()
def plait(
    context: typer.Context,
    where: Annotated[
        list[Path] | None,
        typer.Option("-C", metavar="DIR", help="Work as if plait had been started in DIR."),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback answers
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which plait this is.")
    ] = False,
) -> None:
    context.obj = Path(*where or ())


# In the order in which a person meets them.
for group in (verbs_tasks, verbs, verbs_results, verbs_place):
    app.add_typer(group.verbs)
