"""`plait`: one file per verb; this one knows their words only. What a verb needs is imported when it runs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt, say
from plait.core.errors import PlaitError, UserError, WorldError

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
        from importlib.metadata import version  # noqa: PLC0415 - slow, and seldom asked for

        print(f"plait {version('plait')}")  # noqa: T201 - the answer
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


@app.command()
def plan(
    context: typer.Context,
    sources: opt.Sources = None,
    select: opt.Select = None,
    with_needs: opt.WithNeeds = False,
    ignore_needs: opt.IgnoreNeeds = False,
    resume: opt.Resume = False,
    source_format: opt.SourceFormat = None,
    tag: opt.Tag = None,
    exclude: opt.Exclude = None,
    unknown_needs: opt.UnknownNeeds = None,
    file_conflicts: opt.FileConflicts = None,
    max_parallel: opt.MaxParallel = None,
    phase_gate: opt.PhaseGate = None,
    agent: opt.Agent = None,
    shape: Annotated[
        str, typer.Option("--format", metavar="text|mermaid|dot", help="How to show it.")
    ] = "text",
    json: opt.Json = False,
) -> None:
    """Show the checked graph: waves, needs with reasons, shared files, longest path, problems."""
    from plait.cli.plan import Shape, plan_command  # noqa: PLC0415
    from plait.sources.planning import Wish  # noqa: PLC0415

    if shape not in set(Shape):
        raise UserError(f"there is no shape called {shape}", hint=f"--format is one of {', '.join(Shape)}.")
    flags = {
        "sources.format": source_format,
        "sources.tag": tag,
        "sources.exclude": exclude,
        "sources.unknown_needs": unknown_needs,
        "sources.file_conflicts": file_conflicts,
        "run.max_parallel": max_parallel,
        "run.phase_gate": phase_gate,
        "run.agent": agent,
    }
    wish = Wish(select, with_needs, ignore_needs, resume)
    chosen = Shape.JSON if json else Shape(shape)
    raise typer.Exit(plan_command(context.obj, sources or (), wish, _given(flags), chosen))


@app.command("next")
def next_(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[N] [SOURCE...]", help="How many, and from which sources."),
    ] = None,
    select: opt.Select = None,
    source_format: opt.SourceFormat = None,
    tag: opt.Tag = None,
    exclude: opt.Exclude = None,
    file_conflicts: opt.FileConflicts = None,
    phase_gate: opt.PhaseGate = None,
    json: opt.Json = False,
) -> None:
    """Show the tasks that would start now, and why."""
    from plait.cli.next import next_command  # noqa: PLC0415
    from plait.sources.planning import Wish  # noqa: PLC0415

    said = list(words or ())
    most = int(said.pop(0)) if said and re.fullmatch(r"[1-9][0-9]{0,8}", said[0]) else None
    flags = {
        "sources.format": source_format,
        "sources.tag": tag,
        "sources.exclude": exclude,
        "sources.file_conflicts": file_conflicts,
        "run.phase_gate": phase_gate,
    }
    wish = Wish(select, with_needs=True)
    raise typer.Exit(next_command(context.obj, said, wish, _given(flags), most, as_json=json))


@app.command()
def init(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a plait.toml that is there.")] = False,
    json: opt.Json = False,
) -> None:
    """Find sources, agents and the test command, and write a plait.toml."""
    from plait.cli.init import init_command  # noqa: PLC0415

    raise typer.Exit(init_command(context.obj, yes=yes, force=force, as_json=json))


@app.command()
def config(
    context: typer.Context,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="One setting only.")] = None,
    json: opt.Json = False,
) -> None:
    """Show every setting, its value, and who gave it."""
    from plait.cli.config import config_command  # noqa: PLC0415

    raise typer.Exit(config_command(context.obj, key, json, say.console()))


def _given(flags: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in flags.items() if value is not None}
