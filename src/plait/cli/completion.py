"""What a shell offers after Tab: the ids of batches and of the newest one's tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer


def batches(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _names(context, tasks=False) if name.startswith(incomplete)]


def batches_and_tasks(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _names(context, tasks=True) if name.startswith(incomplete)]


def _names(context: typer.Context, *, tasks: bool) -> list[str]:
    """Whatever is wrong is told when the command runs; here there is nothing to offer."""
    from plait.core.errors import PlaitError  # noqa: PLC0415 - only while somebody types

    try:
        return list(_known(_where(context), tasks=tasks))
    except (PlaitError, OSError):
        return []


def _known(where: Path, *, tasks: bool) -> Iterator[str]:
    from plait.cli.status import newest_first  # noqa: PLC0415
    from plait.front.desk import open_desk  # noqa: PLC0415
    from plait.wiring import find_place  # noqa: PLC0415

    with open_desk(find_place(where)) as desk:
        found = newest_first(desk.state)
    for number, batch in enumerate(found):
        yield batch.id
        if tasks and not number:
            yield from (task.task.id for task in batch.tasks)


def _where(context: typer.Context) -> Path:
    """The folder that -C names: while somebody types, no command runs that would have told."""
    said = context.parent.params.get("where") if context.parent is not None else None
    return Path(*said or ())
