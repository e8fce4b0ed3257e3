"""The typer application: global options and the table of commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from plait import __version__
from plait.cli import output
from plait.cli.commands.help import GroupedCommands, GroupedOptions
from plait.cli.error_handling import exit_now, prepare_streams, run_guarded
from plait.cli.options import make_callback

# In the order of `plait --help`, by heading: the module of the function called NAME_command, and the help, which fits on a
# line of 80 columns. The modules are imported when they are needed.
COMMAND_GROUPS = {
    "Getting started": {
        "demo": ("demo", "See plait run ten real tasks, without keys or network."),
        "init": ("init", "Detect sources, agents and tests, and write a plait.toml."),
        "plan": ("plan", "Show the plan: order, dependencies, shared files, problems."),
        "next": ("next", "Show the tasks that would start now, and why."),
        "run": ("run", "Run tasks and watch them until the batch ends."),
        "help": ("help", "Show the help of a command."),
    },
    "Watch and control": {
        "watch": ("watch", "Show the live display of a batch that is running."),
        "status": ("history", "Show the status of all batches, or of one with its tasks."),
        "logs": ("logs", "Show the output of a task's newest attempt."),
        "explain": ("explain", "Explain a task's status, and what would make it run."),
        "approve": ("control", "Approve the next task of a queue, or the named ones."),
        "feedback": ("control", "Retry a task with feedback, or answer its question."),
        "pause": ("control", "Pause a batch: running tasks continue, nothing new starts."),
        "unpause": ("control", "Continue a paused batch."),
        "cancel": ("control", "Cancel tasks, or a whole batch; running agents are stopped."),
        "resume": ("control", "Resume a stopped batch; finished tasks are not run again."),
        "retry": ("control", "Retry failed tasks and the ones they blocked."),
        "recheck": ("control", "Verify finished work again and merge it; no agent runs."),
        "resolve": ("resolve", "Resolve a task's conflict: take a side of each file, or edit it."),
    },
    "Results": {
        "diff": ("diff", "Show what a task, its running attempt or the batch has changed."),
        "drop": ("control", "Drop tasks and remove their changes from the batch branch."),
        "pr": ("pr", "Push a batch's branch and open or update its pull request."),
        "history": ("history", "List all batches: when they ran, and how they ended."),
        "gc": ("gc", "Show what batches left behind, and remove what is merged or saved."),
    },
    "Configuration": {
        "config": ("config", "Show every setting, its value and where it comes from."),
        "agents": ("agents", "List installed agents, and how to install the others."),
        "trust": ("trust", "Show and trust the commands in the repository's settings."),
        "notify": ("notify", "Show where notifications go, and test them."),
        "doctor": ("doctor", "Check this machine and repository for problems."),
    },
    "Server": {
        "serve": ("serve", "Serve the web page and the HTTP API until Ctrl+C."),
        "token": ("serve", "Print the server's access token, creating it on first use."),
        "mcp": ("serve", "Serve this project to an agent over MCP on standard input."),
    },
}
COMMANDS = {name: (*entry, group) for group, entries in COMMAND_GROUPS.items() for name, entry in entries.items()}
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
    """Make the application with the options of the named command only, because typer inspects every option that it is
    given.

    `plait --help` shows none of them.
    """
    app = typer.Typer(
        name="plait",
        cls=GroupedCommands,
        help="Many agents, one pull request.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(apply_global_options)
    completing = _COMPLETION_VARIABLE in os.environ
    named = COMMANDS.keys() & (_read_completion_words() if completing else {find_command_name(argv)})
    for name, (module, help_text, group) in COMMANDS.items():
        if name in named or completing or not named:
            add_command = app.command(name, cls=GroupedOptions, help=help_text, rich_help_panel=group)
            add_command(_load_callback(name, module) if name in named else _show_help_only)
    return app


def _load_callback(name: str, module: str) -> Callable[..., None]:
    return make_callback(getattr(import_module(f"plait.cli.commands.{module}"), f"{name}_command"))


def _show_help_only() -> None:
    """Stand in for a command that doesn't run."""


def _read_completion_words() -> set[str]:
    """Return the words of the command line that the shell completes: bash has its own variable for them."""
    return {word for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS") for word in os.environ.get(name, "").split()}


def find_command_name(argv: Sequence[str]) -> str | None:
    rest = list(argv)
    while rest[:1] == ["-C"]:
        rest = rest[2:]
    return rest[0] if rest else None


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
