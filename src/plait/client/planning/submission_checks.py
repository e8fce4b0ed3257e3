"""Checks before a batch is submitted, besides those of the plan."""

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

# Identifies a task across batches: the file that declares it, and its id there.
TaskKey = tuple[str, str]


def resolve_isolation(settings: Settings, config: Config, place: RepoLocation) -> Settings:
    """Worktrees, or the checkout itself where there is no repository, unless the user chose worktrees."""
    if settings.isolation is Isolation.WORKTREE and not place.repository:
        given = config.origins["run.isolation"]
        if given.layer is not Layer.DEFAULT:
            raise UserError(
                f"{given}: worktrees need a git repository, and {place.top} isn't one",
                hint="Run git init and make a first commit, or use --isolation in-place.",
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
            hint="Remove it; --verify checks each task.",
        )
    if config.origins["run.base"].layer is Layer.FLAG:
        raise UserError(
            "in place, the base is always what is checked out",
            hint="Leave --base out, or use --isolation worktree.",
        )
    if settings.publish is not Publish.OFF and config.origins["pr.when_done"].layer is Layer.FLAG:
        raise UserError(
            "in place nothing is merged, so there is no branch to push",
            hint="Leave --pr, --draft and --push out, or use --isolation worktree.",
        )


def refuse_duplicates(state: State, found: PlanPreview, plan: Plan) -> None:
    """Raise StateError if an open batch hasn't finished a task of this plan."""
    wanted = {name: task.id for name, task in iter_task_keys(plan.tasks, _list_sources(found.loaded.source_set))}
    for batch in state.open.values():
        left = (task.task for task in batch.tasks if task.status is None)
        both = [wanted[name] for name, _ in iter_task_keys(left, batch.sources) if name in wanted]
        if both:
            shown = ", ".join(both[:_MAX_NAMES])
            more = f" and {len(both) - _MAX_NAMES} more" if len(both) > _MAX_NAMES else ""
            raise StateError(
                f"batch {batch.id} has not finished with {shown}{more}",
                state=find_batch_status(batch)[0].value,
                hint=f"Continue it: plait run --resume. Or cancel it: plait cancel {batch.id}.",
            )


def find_open_batch(state: State, source_set: SourceSet) -> BatchState | None:
    """The newest unfinished batch with one of these sources."""
    mine = set(_list_sources(source_set))
    return max(
        (batch for batch in state.open.values() if mine & set(batch.sources)),
        key=lambda batch: batch.order,
        default=None,
    )


def iter_task_keys(tasks: Iterable[Task], sources: Sequence[str]) -> Iterator[tuple[TaskKey, Task]]:
    """Ids have their source's name only where they clash, so a task may have two ids."""
    short = make_source_names([SourceAddress.parse(source).path for source in sources])
    for task in tasks:
        source, _, own = task.id.partition(":")
        file = task.origin.file if task.origin else ""
        yield (file, own if source in short else task.id), task


def _list_sources(source_set: SourceSet) -> tuple[str, ...]:
    return tuple(str(source) for source in source_set.sources)
