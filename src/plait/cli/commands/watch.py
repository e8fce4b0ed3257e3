"""`plait watch`: the live display of a batch that runs already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.commands.run_batch import RunOptions
from plait.cli.commands.run_follow import FollowedBatch, follow_batch, load_agents, wait_until_taken
from plait.cli.format import pluralize
from plait.cli.live.signals import SignalCounter, load_bell_setting
from plait.client.batch_lookup import find_batch
from plait.client.event_stream import EventStream
from plait.client.session import Session, open_session
from plait.core.state import BatchState, State
from plait.store.state_claim import open_repo


def watch_command(
    where: Path,
    batch: Annotated[
        str | None,
        typer.Argument(
            metavar="[BATCH]",
            help="Batch id or a unique prefix; default: the newest unfinished batch, else the newest.",
            autocompletion=opt.complete_batches,
        ),
    ] = None,
    *,
    as_json: opt.Json = False,
) -> int:
    """Watch a batch. The exit code is that of `plait run`. Ctrl+C ends watching, not the batch."""
    with open_session(open_repo(where), EventStream()) as session:
        name = _choose_batch(session.preview_state(), batch).id
        return watch_batch(RunOptions(where, as_json=as_json), session, name)


def watch_batch(options: RunOptions, session: Session, name: str) -> int:
    """Follow a batch of this session, which must have an event stream; an ended one only shows its summary."""
    with SignalCounter() as signals:
        batch = wait_until_taken(session, name)
        session.subscribe()
        followed = FollowedBatch(
            name,
            f"batch {name} · {_describe_rest(batch)}",
            load_agents(session, name),
            load_bell_setting(session.location.top),
            stops_on_interrupt=False,
        )
        return follow_batch(options, session, followed, signals)


def _choose_batch(state: State, name: str | None) -> BatchState:
    unfinished = [batch for batch in state.batches.values() if batch.ended is None]
    if name is None and unfinished:
        return max(unfinished, key=lambda batch: batch.order)
    return find_batch(state, name)


def _describe_rest(batch: BatchState) -> str:
    count = pluralize(len(batch.tasks), "task")
    return count if batch.ended is not None else f"{batch.unfinished_count} of {count} left"
