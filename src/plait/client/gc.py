"""What batches leave behind, for `plait gc`: which batch each leftover belongs to, and which batches can be forgotten."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from plait.client.batch_lookup import find_batch
from plait.client.session import Session
from plait.config.config import Config
from plait.core.errors import UserError
from plait.core.state import BatchState, State
from plait.git.command import Git
from plait.git.gc.collector import GarbageCollector
from plait.git.gc.inventory import RefNames
from plait.git.gc.removal_rules import GcBatch, GcFacts
from plait.git.location import RepoLocation
from plait.git.worktrees.worktree import Repository, WorkspaceLayout, find_worktrees_folder
from plait.store.project_files import open_state_paths
from plait.store.trust_store import ignore_untrusted_location


def open_repository_git(location: RepoLocation) -> Git:
    """Open git in the repository's own folder, whichever of its worktrees this is."""
    return Repository(location.git_dir).git


def open_session_collector(session: Session, config: Config) -> GarbageCollector:
    """Open a collector that reads the session's batches again before each removal."""

    def read_batches() -> Mapping[str, GcBatch]:
        session.refresh()
        state = session.preview_state()
        return _list_gc_batches(state, {getattr(request, "batch", "") for request in session.list_pending()})

    location = session.location
    layout = WorkspaceLayout(find_worktrees_folder(location, ignore_untrusted_location(location, config)).resolve())
    return GarbageCollector(Repository(location.git_dir), layout, open_state_paths(location), read_batches)


def collect_names(state: State) -> RefNames:
    return RefNames.from_batches(_list_gc_batches(state))


def find_batch_to_forget(state: State, facts: GcFacts, word: str) -> str:
    """Return the batch with this name. One that isn't in the journal is found by its files and refs."""
    try:
        batch = find_batch(state, word)
    except UserError:
        if any(item.batch == word for item in facts.items):
            return word
        raise
    if not facts.batches[batch.id].is_over:
        raise UserError(
            f"batch {batch.id} has not ended, and only ended batches can be forgotten",
            hint=f"`plait cancel {batch.id}` gives it up.",
        )
    return batch.id


def _list_gc_batches(state: State, pending: Collection[str] = ()) -> dict[str, GcBatch]:
    """List the batches by id. Those with a request in `pending` are about to be reopened."""
    return {batch.id: _view_gc_batch(state, batch, pending=batch.id in pending) for batch in state.batches.values()}


def _view_gc_batch(state: State, batch: BatchState, *, pending: bool) -> GcBatch:
    active = batch.ended is None or batch.id in state.open or batch.id in state.publishing_batches
    tasks = tuple(task.task.id for task in batch.tasks)
    return GcBatch(batch.id, not (active or pending), batch.ended_at or 0.0, tasks, batch.branch)
