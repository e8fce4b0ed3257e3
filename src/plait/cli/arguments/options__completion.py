"""What a shell offers after Tab: the ids of batches and of the newest one's tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer


def complete_batches(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _find_names(context, tasks=False) if name.startswith(incomplete)]


def complete_batches_and_tasks(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _find_names(context, tasks=True) if name.startswith(incomplete)]


def _find_names(context: typer.Context, *, tasks: bool) -> list[str]:
    """Whatever is wrong is told when the command runs; here there is nothing to offer."""
    from plait.core.errors import PlaitError  # noqa: PLC0415 - only while somebody types

    try:
        return list(_read_names(_get_directory(context), tasks=tasks))
    except (PlaitError, OSError):
        return []


def _read_names(where: Path, *, tasks: bool) -> Iterator[str]:
    from plait.cli.commands.status import sort_newest_first  # noqa: PLC0415
    from plait.client.session import open_session  # noqa: PLC0415
    from plait.git.location import find_repo  # noqa: PLC0415

    with open_session(find_repo(where)) as desk:
        found = sort_newest_first(desk.state)
    for number, batch in enumerate(found):
        yield batch.id
        if tasks and not number:
            yield from (task.task.id for task in batch.tasks)


def _get_directory(context: typer.Context) -> Path:
    """The folder that -C names: while somebody types, no command runs that would have told."""
    given = context.parent.params.get("where") if context.parent is not None else None
    return Path(*given or ())
