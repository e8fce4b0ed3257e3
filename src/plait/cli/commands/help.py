"""`plait help`, and how help pages list commands and options: in groups, and never cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand, TyperGroup

from plait.cli.output import OK

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter

# By command, the options under each heading; those that are not named here come last.
OPTION_GROUPS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "run": {
        "Common options": (
            "--select",
            "--interactive",
            "--agent",
            "--max-parallel",
            "--verify",
            "--budget",
            "--pr",
            "--dry-run",
            "--resume",
            "--yes",
        ),
        "Tasks": (
            "--with-needs",
            "--ignore-needs",
            "--again",
            "--source-format",
            "--exclude",
            "--tag",
            "--unknown-needs",
            "--file-conflicts",
        ),
        "Agents": ("--model", "--agent-command", "--agent-shell", "--fallback"),
        "Contests": ("--contest", "--times", "--judge", "--score"),
        "Order and limits": (
            "--mode",
            "--auto-approve",
            "--order",
            "--phase-gate",
            "--timeout",
            "--idle-timeout",
            "--retries",
            "--task-budget",
            "--stop-on-fail",
        ),
        "Checks and merging": ("--setup", "--gate", "--preflight", "--on-conflict", "--draft", "--push"),
        "Where it runs": ("--base", "--isolation", "--repo", "--executor", "--detach"),
    }
}
_OTHER_OPTIONS = "Other options"


class GroupedCommands(TyperGroup):
    """The help of `plait` itself: its commands in groups, then its options."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            assert command is not None
            groups.setdefault(_get_group(command), []).append((name, command.help or ""))
        width = max((len(name) for rows in groups.values() for name, _ in rows), default=0)
        for heading, rows in groups.items():
            _write_rows(formatter, heading, [(name.ljust(width), text) for name, text in rows])
        _write_rows(formatter, "Options", _collect_rows(self.get_params(ctx), ctx))


class GroupedOptions(TyperCommand):
    """The help of a command: its arguments, then its options in groups if it has them."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        params = self.get_params(ctx)
        options = [param for param in params if param.param_type_name == "option"]
        _write_rows(formatter, "Arguments", _collect_rows([param for param in params if param not in options], ctx))
        groups = OPTION_GROUPS.get(self.name or "", {})
        by_name = {name: param for param in options for name in param.opts}
        for heading, names in groups.items():
            _write_rows(formatter, heading, _collect_rows([by_name[name] for name in names if name in by_name], ctx))
        grouped = {name for names in groups.values() for name in names}
        rest = [param for param in options if grouped.isdisjoint(param.opts)]
        _write_rows(formatter, _OTHER_OPTIONS if groups else "Options", _collect_rows(rest, ctx))


def _get_group(command: Command) -> str:
    panel = getattr(command, "rich_help_panel", None)
    return panel if isinstance(panel, str) else "Commands"


def _collect_rows(params: Iterable[Parameter], ctx: Context) -> list[tuple[str, str]]:
    return [row for param in params if (row := param.get_help_record(ctx)) is not None]


def _write_rows(formatter: HelpFormatter, heading: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        with formatter.section(heading):
            formatter.write_dl(rows)


def complete_commands(incomplete: str) -> list[str]:
    from plait.cli.app import COMMANDS  # which imports this module

    return [name for name in COMMANDS if name.startswith(incomplete)]


def help_command(
    where: Path,  # noqa: ARG001 - as every command has it
    command: Annotated[
        str | None,
        typer.Argument(metavar="[COMMAND]", help="Default: the list of commands.", autocompletion=complete_commands),
    ] = None,
) -> int:
    from plait.cli.app import make_app  # which imports this module

    words = ["--help"] if command is None else [command, "--help"]
    make_app(words)(words, prog_name="plait")
    return OK
