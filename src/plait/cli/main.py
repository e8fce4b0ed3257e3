"""`plait`: one file per verb; this one knows their words only. What a verb needs is imported when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt, say
from plait.core.errors import PlaitError, UserError

app = typer.Typer(
    name="plait",
    help="Many agents, one pull request.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run a verb; the exit code. An error of a person, a file or the world is told, never traced."""
    try:
        app(words, prog_name="plait")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else say.OK
    except PlaitError as error:
        return say.tell_error(error)
    except KeyboardInterrupt:
        return say.INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not complain about it once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return say.OK
    return say.OK


def _version(value: bool) -> None:  # noqa: FBT001 - typer's own way
    if value:
        from importlib.metadata import version  # noqa: PLC0415 - slow, and seldom asked for

        print(f"plait {version('plait')}")  # noqa: T201 - the answer
        raise typer.Exit


@app.callback()
def plait(
    context: typer.Context,
    where: Annotated[
        Path, typer.Option("-C", metavar="DIR", help="Work as if plait had been started in DIR.")
    ] = Path(),
    version: Annotated[  # noqa: ARG001 - its callback answers
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which plait this is.")
    ] = False,
) -> None:
    if not where.is_dir():
        raise UserError(f"there is no folder {where}")
    context.obj = where


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
    most = int(said.pop(0)) if said and said[0].isdecimal() else None
    flags = {
        "sources.format": source_format,
        "sources.tag": tag,
        "sources.exclude": exclude,
        "sources.file_conflicts": file_conflicts,
        "run.phase_gate": phase_gate,
    }
    wish = Wish(select, ignore_needs=select is not None)
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
    from plait.wiring import saved_settings  # noqa: PLC0415

    place, saved = saved_settings(context.obj)
    raise typer.Exit(config_command(place.top, key, json, say.console(), saved=saved))


def _given(flags: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in flags.items() if value is not None}
