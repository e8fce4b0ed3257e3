"""What must hold before a batch is submitted, besides a sound plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from plait.cli.planning import Outlook
from plait.config.model import Config, Layer
from plait.core.errors import ConfigError, UserError
from plait.core.plan import Plan
from plait.core.settings import Isolation, Settings
from plait.core.state import BatchState, State
from plait.core.task import Task
from plait.sources.address import Address, names
from plait.sources.pile import Pile

_MOST_NAMES = 4

# One task of one source, whatever else was in the batch: the file that told of it, and its own id.
Name = tuple[str, str]


def in_place(settings: Settings, config: Config) -> Settings:
    """Worktrees come with a later version: who asked for them is told, the others work in the checkout."""
    given = config.given["run.isolation"]
    if settings.isolation is Isolation.WORKTREE and given.layer is not Layer.DEFAULT:
        raise UserError(
            f"{given}: this version has no worktrees yet; all tasks work in the checkout itself",
            hint="Say --isolation in-place to have them work there.",
        )
    if settings.gate is not None:
        raise ConfigError(
            f"{config.given['run.gate']}: a gate runs on the merged result, and in place nothing is merged",
            hint="Take it out; --verify checks each task.",
        )
    return replace(settings, isolation=Isolation.IN_PLACE)


def refuse_twice(state: State, found: Outlook, plan: Plan) -> None:
    """A task that an open batch has not finished is not begun a second time beside it."""
    wanted = {name: task.id for name, task in named(plan.tasks, _sources(found.seen.pile))}
    for batch in state.open.values():
        left = (task.task for task in batch.tasks if task.status is None)
        both = [wanted[name] for name, _ in named(left, batch.sources) if name in wanted]
        if both:
            shown = ", ".join(both[:_MOST_NAMES])
            more = f" and {len(both) - _MOST_NAMES} more" if len(both) > _MOST_NAMES else ""
            raise UserError(
                f"batch {batch.id} has not finished with {shown}{more}",
                hint=f"Go on with it: plait run --resume. Or give it up first: plait cancel {batch.id}.",
            )


def newest(state: State, pile: Pile) -> BatchState | None:
    """The newest unfinished batch that has a source of these."""
    mine = set(_sources(pile))
    return max(
        (batch for batch in state.open.values() if mine & set(batch.sources)),
        key=lambda batch: batch.order,
        default=None,
    )


def named(tasks: Iterable[Task], sources: Sequence[str]) -> Iterator[tuple[Name, Task]]:
    """Ids are told apart by their source only where they clash, so the same task may go by two ids."""
    short = names([Address.of(source).path for source in sources])
    for task in tasks:
        source, _, own = task.id.partition(":")
        file = task.origin.file if task.origin else ""
        yield (file, own if source in short else task.id), task


def _sources(pile: Pile) -> tuple[str, ...]:
    return tuple(str(source) for source in pile.sources)
