"""Options that several commands share, those made from settings, and completion of batch and task ids."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from plait.config.key import AnyKey

# What `takes_settings` passes: the values of settings that were given as options, by key.
Flags = dict[str, object]

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE...]", help="Folders, files or globs. Default: those in plait.toml, else those found."
    ),
]

Select = Annotated[
    str | None,
    typer.Option(
        "--select",
        "-s",
        metavar="TEXT",
        help='Which tasks: "63, 65-67", "1.1 1.2", "phase:1", ids, globs, words.',
    ),
]

WithNeeds = Annotated[bool, typer.Option("--with-needs", help="Also select what the selected tasks need.")]

IgnoreNeeds = Annotated[bool, typer.Option("--ignore-needs", help="Ignore dependencies that are not selected.")]

Resume = Annotated[bool, typer.Option("--resume", help="Include tasks that an earlier run started but did not finish.")]

Contest = Annotated[
    str | None,
    typer.Option(
        "--contest", metavar="NAME,...", help="Run each task with each of these agents and merge the best result."
    ),
]

Times = Annotated[
    int, typer.Option("--times", "-n", metavar="N", help="Run each task N times per agent and keep the best.")
]

Repo = Annotated[
    str | None,
    typer.Option("--repo", metavar="URL", help="Work on another repository, which plait mirrors."),
]

Pr = Annotated[bool | None, typer.Option("--pr/--no-pr", help="Push the result and open a pull request, or don't.")]

Draft = Annotated[bool, typer.Option("--draft", help="Open the pull request as a draft.")]

Push = Annotated[bool, typer.Option("--push", help="Push the result, without a pull request.")]

Title = Annotated[
    str | None,
    typer.Option("--title", metavar="TEXT", help="Title of the pull request, kept in later updates."),
]

BodyFile = Annotated[
    str | None,
    typer.Option(
        "--body-file", metavar="FILE", help="Description of the pull request in Markdown; - reads standard input."
    ),
]

Executor = Annotated[str, typer.Option("--executor", metavar="local", help="Where attempts run.")]

ResumeBatch = Annotated[bool, typer.Option("--resume", help="Continue the newest unfinished batch of these sources.")]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan without starting anything.")]

Detach = Annotated[bool, typer.Option("--detach", help="Run in the background.")]

Web = Annotated[bool, typer.Option("--web", help="Serve the web page while the batch runs, and print its link.")]

Yes = Annotated[bool, typer.Option("--yes", "-y", "--autonomous", help="Don't prompt.")]

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def takes_settings(*patterns: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each setting with a flag whose key fits one of these globs, as its `flags`."""
    return lambda command: _SettingsCommand(command, patterns)


class _SettingsCommand:
    """The options are made when typer asks for the signature: the other commands don't load the settings."""

    def __init__(self, command: Callable[..., None], patterns: tuple[str, ...]) -> None:
        update_wrapper(self, command)
        self._command, self._patterns = command, patterns

    @property
    def __signature__(self) -> inspect.Signature:
        own = inspect.signature(self._command, eval_str=True)
        options = [_make_parameter(key) for key in self._list_keys()]
        parameters = [
            each for name, own_one in own.parameters.items() for each in (options if name == "flags" else [own_one])
        ]
        return own.replace(parameters=[each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters])

    def __call__(self, **given: Any) -> None:  # Any: what typer has parsed
        values = {key.name: given.pop(_parameter_name(key)) for key in self._list_keys()}
        self._command(**given, flags={name: value for name, value in values.items() if value is not None})

    def _list_keys(self) -> list[AnyKey]:
        from plait.config.keys import KEYS

        return [key for pattern in self._patterns for key in KEYS if key.flag and fnmatch(key.name, pattern)]


def _make_parameter(key: AnyKey) -> inspect.Parameter:
    from plait.config.value_types import ValueKind

    kind = bool if key.value_type.kind is ValueKind.SWITCH else list[str] if key.repeatable else str
    names = [key.short_flag, key.flag] if key.short_flag else [key.flag]
    text = f"{key.summary} May be repeated." if key.repeatable else key.summary
    option = typer.Option(*names, metavar=key.metavar or None, help=text)
    return inspect.Parameter(
        _parameter_name(key), inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
    )


def _parameter_name(key: AnyKey) -> str:
    return key.name.replace(".", "_")


def complete_batches(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _find_names(context, tasks=False) if name.startswith(incomplete)]


def complete_batches_and_tasks(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _find_names(context, tasks=True) if name.startswith(incomplete)]


def _find_names(context: typer.Context, *, tasks: bool) -> list[str]:
    """Errors are reported when the command runs; completion just offers nothing."""
    from plait.core.errors import PlaitError  # only for completion

    try:
        return list(_read_names(_get_directory(context), tasks=tasks))
    except (PlaitError, OSError):
        return []


def _read_names(where: Path, *, tasks: bool) -> Iterator[str]:
    from plait.cli.commands.status import sort_newest_first
    from plait.client.session import open_session
    from plait.git.location import find_repo

    with open_session(find_repo(where)) as session:
        found = sort_newest_first(session.state)
    for number, batch in enumerate(found):
        yield batch.id
        if tasks and not number:
            yield from (task.task.id for task in batch.tasks)


def _get_directory(context: typer.Context) -> Path:
    """The folder that -C names: during completion, no command has been run that would know it."""
    given = context.parent.params.get("where") if context.parent is not None else None
    return Path(*given or ())
