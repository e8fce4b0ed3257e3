"""Options that several commands share, those made from settings, and completion of batch and task ids.

A command is a function that returns an exit code. Its first parameter is the directory that -C names, the others are
its options: declared here, or beside it if no other command has them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plait.core.errors import PlaitError, UserError

if TYPE_CHECKING:
    from plait.config.key import AnyKey

Command = Callable[..., int]

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

NoPrompt = Annotated[bool, typer.Option("--yes", "-y", help="Don't prompt.")]

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

Again = Annotated[bool, typer.Option("--again", help="Also run what an earlier batch completed with the same text.")]

Draft = Annotated[bool, typer.Option("--draft", help="Open the pull request as a draft.")]

Push = Annotated[bool, typer.Option("--push", help="Push the result, without a pull request.")]


def choose_publish_mode(*, pr: bool | None, draft: bool, push: bool) -> str | None:
    """Return the value of pr.when_done that the flags ask for; None without a flag."""
    if pr is False and (draft or push):
        raise UserError("--no-pr contradicts --draft and --push", hint="Leave one of them out.")
    if push and (pr or draft):
        raise UserError("--push pushes without a pull request", hint="--pr pushes too: leave --push out.")
    if pr is False:
        return "off"
    if draft:
        return "draft"
    return "push" if push else "pr" if pr else None


AttemptNumber = Annotated[
    int | None, typer.Option("--attempt", metavar="N", help="Show this attempt instead of the newest.")
]


def complete_batches(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _find_names(context, tasks=False) if name.startswith(incomplete)]


def complete_batches_and_tasks(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _find_names(context, tasks=True) if name.startswith(incomplete)]


def _find_names(context: typer.Context, *, tasks: bool) -> list[str]:
    """Find names for completion; errors offer nothing, and are reported when the command runs."""
    # During completion, no command has been run that would know the directory.
    directories = context.parent.params.get("where") if context.parent is not None else None
    try:
        return list(_read_names(Path(*directories or ()), tasks=tasks))
    except (PlaitError, OSError):
        return []


def _read_names(where: Path, *, tasks: bool) -> Iterator[str]:
    from plait.cli.commands.status import sort_newest_first
    from plait.client.session import open_session
    from plait.git.location import find_repo
    from plait.store.state_claim import explain_foreign

    location = find_repo(where)
    if explain_foreign(location.state) is not None:  # a command reports it
        return
    with open_session(location) as session:
        batches = sort_newest_first(session.state)
    for number, batch in enumerate(batches):
        yield batch.id
        if tasks and not number:
            yield from (task.task.id for task in batch.tasks)


def make_names_argument(
    metavar: str, help_text: str = "Ids or unique prefixes; without a batch: the newest."
) -> Any:  # Any: typer's own type
    return typer.Argument(metavar=metavar, help=help_text, autocompletion=complete_batches_and_tasks)


Tasks = Annotated[list[str] | None, make_names_argument("[BATCH] [TASK...]")]

OneTask = Annotated[list[str] | None, make_names_argument("[BATCH] TASK")]


class SettingOptions:
    """Annotates a parameter that gets the settings given as options, by key: those whose key fits one of these globs."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    def list_keys(self) -> list[AnyKey]:
        from plait.config.keys import KEYS  # other commands don't load the settings

        return [key for pattern in self._patterns for key in KEYS if key.flag and fnmatch(key.name, pattern)]


Flags = Mapping[str, object]


def make_callback(command: Command) -> Callable[..., None]:
    """Make the function that typer calls: it has the command's options, and exits with the command's result."""
    _, *own = inspect.signature(command, eval_str=True).parameters.values()
    parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    settings: dict[str, list[AnyKey]] = {}
    for parameter in own:
        marker = next(iter(getattr(parameter.annotation, "__metadata__", ())), None)
        if isinstance(marker, SettingOptions):
            settings[parameter.name] = marker.list_keys()
            parameters += map(_make_parameter, settings[parameter.name])
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def run(context: typer.Context, **given: Any) -> None:  # Any: what typer has parsed
        for name, keys in settings.items():
            values = {key.name: given.pop(_make_parameter_name(key)) for key in keys}
            given[name] = {key: value for key, value in values.items() if value is not None}
        raise typer.Exit(command(context.obj, **given))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by inspect.signature
    return run


def _make_parameter(key: AnyKey) -> inspect.Parameter:
    from plait.config.value_types import ValueKind

    kind = bool if key.value_type.kind is ValueKind.SWITCH else list[str] if key.repeatable else str
    flag = f"{key.flag}/--no-{key.flag[2:]}" if kind is bool and key.default else key.flag
    names = [key.short_flag, flag] if key.short_flag else [flag]
    text = f"{key.summary} May be repeated." if key.repeatable else key.summary
    option = typer.Option(*names, metavar=key.metavar or None, help=text)
    return inspect.Parameter(
        _make_parameter_name(key),
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )


def _make_parameter_name(key: AnyKey) -> str:
    return key.name.replace(".", "_")
