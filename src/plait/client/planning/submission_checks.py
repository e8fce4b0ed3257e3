"""What must hold before a batch is submitted, besides a sound plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from plait.client.api_errors import StateError
from plait.client.planning.plan_preview import PlanPreview
from plait.config.config import Config, Layer
from plait.core.errors import ConfigError, UserError
from plait.core.plan import Plan
from plait.core.settings import Isolation, Publish, Settings
from plait.core.state import BatchState, State
from plait.core.task import Task
from plait.core.views import find_batch_status
from plait.git.location import RepoLocation
from plait.sources.source_set import SourceAddress, SourceSet, make_source_names

_MAX_NAMES = 4

# One task of one source, whatever else was in the batch: the file that told of it, and its own id.
TaskKey = tuple[str, str]


def resolve_isolation(settings: Settings, config: Config, place: RepoLocation) -> Settings:
    """Each task in a worktree of its own; where there can be none, in the checkout, unless somebody said otherwise."""
    if settings.isolation is Isolation.WORKTREE and not place.repository:
        given = config.origins["run.isolation"]
        if given.layer is not Layer.DEFAULT:
            raise UserError(
                f"{given}: {place.top} is no git repository, and worktrees belong to one",
                hint="Make one with git init and a first commit, or say --isolation in-place.",
            )
        settings = replace(settings, isolation=Isolation.IN_PLACE)
    if settings.isolation is Isolation.IN_PLACE:
        _refuse_merge_settings(settings, config)
        return replace(settings, publish=Publish.OFF)
    return settings


def _refuse_merge_settings(settings: Settings, config: Config) -> None:
    if settings.gate is not None:
        raise ConfigError(
            f"{config.origins['run.gate']}: a gate runs on the merged result, and in place nothing is merged",
            hint="Take it out; --verify checks each task.",
        )
    if config.origins["run.base"].layer is Layer.FLAG:
        raise UserError(
            "in place there is no other base than what is checked out",
            hint="Leave --base out, or have worktrees: --isolation worktree.",
        )
    if settings.publish is not Publish.OFF and config.origins["pr.when_done"].layer is Layer.FLAG:
        raise UserError(
            "in place nothing is merged, so there is no branch to push",
            hint="Leave --pr, --draft and --push out, or have worktrees: --isolation worktree.",
        )


def refuse_duplicates(state: State, found: PlanPreview, plan: Plan) -> None:
    """A task that an open batch has not finished is not begun a second time beside it."""
    wanted = {name: task.id for name, task in iter_task_keys(plan.tasks, _list_sources(found.survey.pile))}
    for batch in state.open.values():
        left = (task.task for task in batch.tasks if task.status is None)
        both = [wanted[name] for name, _ in iter_task_keys(left, batch.sources) if name in wanted]
        if both:
            shown = ", ".join(both[:_MAX_NAMES])
            more = f" and {len(both) - _MAX_NAMES} more" if len(both) > _MAX_NAMES else ""
            raise StateError(
                f"batch {batch.id} has not finished with {shown}{more}",
                state=find_batch_status(batch)[0].value,
                hint=f"Go on with it: plait run --resume. Or give it up first: plait cancel {batch.id}.",
            )


def find_open_batch(state: State, pile: SourceSet) -> BatchState | None:
    """The newest unfinished batch that has a source of these."""
    mine = set(_list_sources(pile))
    return max(
        (batch for batch in state.open.values() if mine & set(batch.sources)),
        key=lambda batch: batch.order,
        default=None,
    )


def iter_task_keys(tasks: Iterable[Task], sources: Sequence[str]) -> Iterator[tuple[TaskKey, Task]]:
    """Ids are told apart by their source only where they clash, so the same task may go by two ids."""
    short = make_source_names([SourceAddress.parse(source).path for source in sources])
    for task in tasks:
        source, _, own = task.id.partition(":")
        file = task.origin.file if task.origin else ""
        yield (file, own if source in short else task.id), task


def _list_sources(pile: SourceSet) -> tuple[str, ...]:
    return tuple(str(source) for source in pile.sources)
