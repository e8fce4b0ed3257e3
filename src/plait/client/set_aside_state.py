"""What state from elsewhere holds and would run, for the user to review before adopting it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from plait.client.session import with_pending_submits
from plait.config.config import Layer, find_repository_commands
from plait.config.loading import SettingsError, merge_layers, read_saved
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.reducers import evolve
from plait.core.state import BatchState, State
from plait.git.location import RepoLocation
from plait.store.batch_files import BatchInputs, BatchInputsError, read_batch_inputs, write_batch_inputs
from plait.store.inbox import open_inbox
from plait.store.interfaces import JournalMissingError
from plait.store.journal_reader import open_journal_reader
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE
from plait.store.state_claim import adopt_state, explain_foreign, list_set_aside
from plait.system.state_paths import StateFolder


@dataclass(frozen=True, slots=True)
class StateCommand:
    """A command that state would run; `name` says what it is for."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class StateSummary:
    """What state from elsewhere holds. `checkouts` are the folders from which its batches were submitted, by their own
    account. `problem`: why it can't be read.
    """

    folder: Path
    batches: int
    unfinished: tuple[str, ...]
    checkouts: tuple[str, ...]
    commands: tuple[StateCommand, ...]
    problem: str = ""


def find_foreign_state(location: RepoLocation) -> Path | None:
    """Return the state that the user may adopt: what is in its place and isn't known, else what was set aside last."""
    if explain_foreign(location.state) is not None:
        return location.state
    return next(reversed(list_set_aside(location.state)), None)


def summarize_state(folder: Path) -> StateSummary:
    try:
        state, saved = _read_requests(folder)
    except PlaitError as error:
        return StateSummary(folder, 0, (), (), (), error.message)
    commands, checkouts = [*_list_saved_commands(saved)], dict[str, None]()
    for batch in state.batches.values():
        inputs = _read_inputs(folder, batch.id)
        if inputs is not None:
            checkouts[inputs.top] = None
        if batch.id in state.open:
            commands += _list_batch_commands(batch, inputs)
    unique = tuple(dict.fromkeys(commands))
    return StateSummary(folder, len(state.batches), tuple(state.open), tuple(checkouts), unique)


def _read_requests(folder: Path) -> tuple[State, dict[str, str]]:
    state = State()
    try:
        with closing(open_journal_reader(folder / JOURNAL_FILE)) as reader:
            for record in reader.read():
                evolve(state, record)
            saved = dict(reader.settings())
    except JournalMissingError:
        saved = {}
    if not (folder / INBOX_FILE).exists():
        return state, saved
    with closing(open_inbox(folder / INBOX_FILE)) as inbox:
        return with_pending_submits(state, inbox.pending()), saved


def _read_inputs(folder: Path, batch: str) -> BatchInputs | None:
    try:
        return read_batch_inputs(StateFolder(folder), batch)
    except BatchInputsError:
        return None


def _list_saved_commands(saved: dict[str, str]) -> Iterator[StateCommand]:
    try:
        config = merge_layers([read_saved(saved)])
    except SettingsError:
        yield from (StateCommand(f"saved setting {name}", text) for name, text in saved.items())
        return
    for command in find_repository_commands(config):
        assert command.given.layer is Layer.SAVED
        yield StateCommand(str(command.given), command.value)


def _list_batch_commands(batch: BatchState, inputs: BatchInputs | None) -> Iterator[StateCommand]:
    named = {"verify": batch.settings.verify, "gate": batch.settings.gate}
    if inputs is not None:
        named["setup"] = inputs.options.setup.setup
        for agent in inputs.agents:
            words = (agent.program, *agent.command, *agent.args)
            named[f"agent {agent.name}"] = " ".join(filter(None, words))
        named |= {f"regenerate {pattern}": command for pattern, command in inputs.options.merge_rules.regenerate}
        named |= {f"run of {task.id}": task.run for task in inputs.tasks}
        named |= {f"verify of {task.id}": task.verify for task in inputs.tasks}
    yield from (StateCommand(f"batch {batch.id}, {name}", value) for name, value in named.items() if value)


def adopt_foreign_state(location: RepoLocation, folder: Path) -> Path | None:
    """Make this the repository's own state; return where the state that it replaces is now. Raises WorldError.

    Batches of a checkout that is gone continue in this one.
    """
    replaced = adopt_state(location.state, folder)
    paths = StateFolder(location.state)
    for path in paths.batches.glob("*"):
        inputs = _read_inputs(location.state, path.name)
        if inputs is not None and not os.path.isdir(inputs.top):  # noqa: PTH112 - it never raises
            write_batch_inputs(paths, path.name, msgspec.structs.replace(inputs, top=str(location.top)))
    return replaced


def to_json(summary: StateSummary, *, accepted: bool) -> dict[str, object]:
    return {
        "state": str(summary.folder),
        "accepted": accepted,
        "batches": summary.batches,
        "unfinished": list(summary.unfinished),
        "checkouts": list(summary.checkouts),
        "commands": [{"name": command.name, "value": command.value} for command in summary.commands],
        "problem": summary.problem or None,
    }
