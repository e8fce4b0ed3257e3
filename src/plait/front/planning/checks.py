"""What must hold before a batch is submitted, besides a sound plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from plait.config.model import Config, Layer
from plait.core.errors import ConfigError, UserError
from plait.core.plan import Plan
from plait.core.settings import Isolation, Publish, Settings
from plait.core.state import BatchState, State
from plait.core.task import Task
from plait.core.views import batch_standing
from plait.front.planning.outlook import Outlook
from plait.front.refusals import StateError
from plait.sources.address import Address, names
from plait.sources.pile import Pile
from plait.wiring import Place

_MOST_NAMES = 4

# One task of one source, whatever else was in the batch: the file that told of it, and its own id.
Name = tuple[str, str]


def grounded(settings: Settings, config: Config, place: Place) -> Settings:
    """Each task in a worktree of its own; where there can be none, in the checkout, unless somebody said otherwise."""
    if settings.isolation is Isolation.WORKTREE and not place.repository:
        given = config.given["run.isolation"]
        if given.layer is not Layer.DEFAULT:
            raise UserError(
                f"{given}: {place.top} is no git repository, and worktrees belong to one",
                hint="Make one with git init and a first commit, or say --isolation in-place.",
            )
        settings = replace(settings, isolation=Isolation.IN_PLACE)
    if settings.isolation is Isolation.IN_PLACE:
        _refuse_merging(settings, config)
        return replace(settings, publish=Publish.OFF)
    return settings


def _refuse_merging(settings: Settings, config: Config) -> None:
    if settings.gate is not None:
        raise ConfigError(
            f"{config.given['run.gate']}: a gate runs on the merged result, and in place nothing is merged",
            hint="Take it out; --verify checks each task.",
        )
    if config.given["run.base"].layer is Layer.FLAG:
        raise UserError(
            "in place there is no other base than what is checked out",
            hint="Leave --base out, or have worktrees: --isolation worktree.",
        )
    if settings.publish is not Publish.OFF and config.given["pr.when_done"].layer is Layer.FLAG:
        raise UserError(
            "in place nothing is merged, so there is no branch to push",
            hint="Leave --pr, --draft and --push out, or have worktrees: --isolation worktree.",
        )


def refuse_twice(state: State, found: Outlook, plan: Plan) -> None:
    """A task that an open batch has not finished is not begun a second time beside it."""
    wanted = {name: task.id for name, task in named(plan.tasks, _sources(found.seen.pile))}
    for batch in state.open.values():
        left = (task.task for task in batch.tasks if task.status is None)
        both = [wanted[name] for name, _ in named(left, batch.sources) if name in wanted]
        if both:
            shown = ", ".join(both[:_MOST_NAMES])
            more = f" and {len(both) - _MOST_NAMES} more" if len(both) > _MOST_NAMES else ""
            raise StateError(
                f"batch {batch.id} has not finished with {shown}{more}",
                state=batch_standing(batch)[0].value,
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
