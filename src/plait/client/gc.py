"""What batches leave behind, for `plait gc`: which batch each thing belongs to, and which batches can be forgotten."""

from __future__ import annotations

from collections.abc import Callable

from plait.client.batch_lookup import find_batch
from plait.client.session import Session
from plait.config.config import Config
from plait.core.errors import UserError
from plait.core.state import BatchState, State
from plait.git.command import Git
from plait.git.gc.collector import GarbageCollector, JournalFacts
from plait.git.gc.items import (
    GcBatch,
    GcFacts,
)
from plait.git.gc.ref_inventory import RefNames
from plait.git.location import RepoLocation
from plait.git.worktrees.worktree import Repository, WorkspaceLayout, find_worktrees_folder
from plait.store.project_files import open_state_paths


def open_collector(place: RepoLocation, config: Config, known: Callable[[], JournalFacts]) -> GarbageCollector:
    layout = WorkspaceLayout(find_worktrees_folder(place, config).resolve())
    return GarbageCollector(Repository(place.git_dir), layout, open_state_paths(place), known)


def open_repository_git(place: RepoLocation) -> Git:
    """Git in the repository's own folder, whichever of its worktrees this is."""
    return Repository(place.git_dir).git


def open_session_collector(session: Session, config: Config) -> GarbageCollector:
    """It asks the session again before each removal."""

    def known() -> JournalFacts:
        session.refresh()
        return _collect_known(session)

    return open_collector(session.place, config, known)


def collect_names(state: State) -> RefNames:
    return RefNames.from_batches(
        {batch.id: _list_task_ids(batch) for batch in state.batches.values()},
        {batch.id: batch.branch for batch in state.batches.values()},
    )


def find_batch_to_forget(state: State, facts: GcFacts, word: str) -> str:
    """The batch with this name. One that isn't in the journal is found by its files and refs."""
    try:
        batch = find_batch(state, word)
    except UserError:
        if any(getattr(thing, "batch", "") == word for thing in facts.items):
            return word
        raise
    if not facts.batches[batch.id].is_over:
        raise UserError(
            f"batch {batch.id} is not over, and only what is over can be forgotten",
            hint=f"`plait cancel {batch.id}` gives it up.",
        )
    return batch.id


def _collect_known(session: Session) -> JournalFacts:
    state = session.preview_state()
    asked = {getattr(request, "batch", "") for request in session.list_pending()}
    batches = {each.id: _view_gc_batch(state, each, asked=each.id in asked) for each in state.batches.values()}
    return JournalFacts(
        batches,
        {each.id: _list_task_ids(each) for each in state.batches.values()},
        {each.id: each.branch for each in state.batches.values()},
    )


def _view_gc_batch(state: State, batch: BatchState, *, asked: bool) -> GcBatch:
    """`asked`: a request for the batch is pending, so it is about to be reopened."""
    going = batch.ended is None or batch.id in state.open or batch.id in state.publishing_batches
    return GcBatch(batch.id, is_over=not (going or asked), since=batch.ended_at or 0.0)


def _list_task_ids(batch: BatchState) -> tuple[str, ...]:
    return tuple(task.task.id for task in batch.tasks)
