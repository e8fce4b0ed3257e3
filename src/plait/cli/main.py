"""`plait`: one file per verb; `verbs*.py` know their words, and this one what all of them have in common."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from plait import __version__
from plait.cli import say, verbs, verbs_place, verbs_tasks
from plait.core.errors import PlaitError, WorldError

app = typer.Typer(
    name="plait",
    help="Many agents, one pull request.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    if sys.stdout is None:  # it was closed by whoever started this
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - to the end of the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, TextIOWrapper
        ):  # a sign that a terminal does not know is no reason to say nothing
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run a verb; the exit code. Nothing ends in a traceback: whose fault it is, what it was and what to do is told."""
    as_json = "--json" in words
    try:
        code = _run(words)
        sys.stdout.flush()
    except PlaitError as error:
        return say.tell_error(error, as_json=as_json)
    except KeyboardInterrupt:
        return say.INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough
        _close_output()
        return say.OK
    except OSError as error:
        _close_output()
        return say.tell_error(WorldError(say.of_system(error)), cause=error)
    except Exception as error:  # noqa: BLE001 - the last one who can tell of it
        return say.tell_error(say.bug(error), as_json=as_json, cause=error)
    return code


def _run(words: Sequence[str]) -> int:
    try:
        app(words, prog_name="plait")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # typer's way to end then
            raise ended.__context__ from None
        return ended.code if isinstance(ended.code, int) else say.OK
    return say.OK


def _close_output() -> None:
    """What can't be written is dropped, so that Python does not complain about it once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
for group in (verbs_tasks, verbs, verbs_place):
    app.add_typer(group.verbs)
