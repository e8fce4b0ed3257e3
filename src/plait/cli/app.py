"""The typer application: global options and the commands declared in `plait.cli.arguments`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.models import CommandInfo

from plait import __version__
from plait.cli import output
from plait.cli.arguments import batch_commands, project_commands, task_commands
from plait.cli.error_handling import exit_now, prepare_streams, run_guarded

# In the order of `plait --help`.
_COMMAND_GROUPS = (task_commands, batch_commands, project_commands)
_COMPLETION_VARIABLE = "_PLAIT_COMPLETE"  # set by the shell while it completes a command line


def main() -> None:
    prepare_streams()
    exit_now(run_cli(sys.argv[1:]))


def run_cli(argv: Sequence[str]) -> int:
    """Run a command and return the exit code."""
    return run_guarded(lambda: _run_app(argv), as_json="--json" in argv)


def _run_app(argv: Sequence[str]) -> int:
    try:
        make_app(argv)(argv, prog_name="plait")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # typer exits on a closed pipe
            raise ended.__context__ from None
        return ended.code if isinstance(ended.code, int) else output.OK
    return output.OK


def make_app(argv: Sequence[str]) -> typer.Typer:
    """Only with the named command, because typer inspects every option of every command it is given.

    If no command is named, as in `plait --help`, all commands, but without their options.
    """
    root = typer.Typer(
        name="plait",
        help="Many agents, one pull request.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    root.callback()(apply_global_options)
    commands = [command for group in _COMMAND_GROUPS for command in group.commands.registered_commands]
    named = [command for command in commands if _get_command_name(command) == _find_command_name(argv)]
    if _COMPLETION_VARIABLE in os.environ:
        named = commands
    root.registered_commands = named or [_strip_options(command) for command in commands]
    return root


def _strip_options(command: CommandInfo) -> CommandInfo:
    """The command's name and help: `plait --help` shows no more, and the options would load all settings."""

    def show() -> None: ...

    show.__doc__ = command.callback.__doc__
    return CommandInfo(_get_command_name(command), callback=show)


def _find_command_name(argv: Sequence[str]) -> str | None:
    rest = list(argv)
    while rest[:1] == ["-C"]:
        rest = rest[2:]
    return rest[0] if rest else None


def _get_command_name(command: CommandInfo) -> str:
    return command.name or str(getattr(command.callback, "__name__", ""))


def _print_version(value: bool) -> None:  # noqa: FBT001 - typer's signature
    if value:
        print(f"plait {__version__}")
        raise typer.Exit


def apply_global_options(
    context: typer.Context,
    where: Annotated[
        list[Path] | None,
        typer.Option("-C", metavar="DIR", help="Work as if plait had been started in DIR."),
    ] = None,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    context.obj = Path(*where or ())
