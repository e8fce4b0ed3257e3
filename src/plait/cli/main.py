"""`plait`: one file per verb; `verbs*.py` know their words, and this one what all of them have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.models import CommandInfo

from plait import __version__
from plait.cli import say, verbs, verbs_place, verbs_results, verbs_tasks
from plait.cli.guard import guarded, leave, prepare

# In the order in which a person meets them.
_GROUPS = (verbs_tasks, verbs, verbs_results, verbs_place)


def main() -> None:
    prepare()
    leave(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run a verb; the exit code."""
    return guarded(lambda: _run(words), as_json="--json" in words)


def _run(words: Sequence[str]) -> int:
    try:
        app(words)(words, prog_name="plait")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # typer's way to end then
            raise ended.__context__ from None
        return ended.code if isinstance(ended.code, int) else say.OK
    return say.OK


def app(words: Sequence[str]) -> typer.Typer:
    """With the one verb that is named, or else with all: typer reads every option of every verb that it is given."""
    made = typer.Typer(
        name="plait",
        help="Many agents, one pull request.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(plait)
    known = [verb for group in _GROUPS for verb in group.verbs.registered_commands]
    made.registered_commands = [verb for verb in known if _name(verb) == _named(words)] or known
    return made


def _named(words: Sequence[str]) -> str | None:
    left = list(words)
    while left[:1] == ["-C"]:
        left = left[2:]
    return left[0] if left else None


def _name(verb: CommandInfo) -> str:
    return verb.name or str(getattr(verb.callback, "__name__", ""))


def _version(value: bool) -> None:  # noqa: FBT001 - typer's own way
    if value:
        print(f"plait {__version__}")  # noqa: T201 - the answer
        raise typer.Exit


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
