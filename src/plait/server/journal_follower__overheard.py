"""What agents say while they work, as events. It stands in no journal: whoever missed some asks for it by offset."""

from __future__ import annotations

from plait.agents.interface import OutputParser
from plait.client.logs.activity import LogStream, ParserFactory, make_parser_factory
from plait.client.stream_event import StreamEvent
from plait.core.state import AttemptState, State
from plait.core.task import Attempt
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_inputs import BatchInputsError


class LiveLogs:
    def __init__(self, place: RepoLocation) -> None:
        self._place = place
        self._listeners_by_batch: dict[str, ParserFactory | None] = {}
        self._log_reader = LogStream(project_files.open_state_paths(place), self._listen)
        self._running_attempts: dict[Attempt, AttemptState] = {}

    def read(self, state: State, at: float) -> list[StreamEvent]:
        """What was said since the last time, also by those that have ended meanwhile."""
        alive = {name: attempt for batch in state.open.values() for name, attempt in batch.alive.items()}
        gone = [attempt for name, attempt in self._running_attempts.items() if name not in alive]
        ended_events = [event for attempt in gone for event in self._log_reader.finish(attempt, at)]
        self._running_attempts = alive
        self._listeners_by_batch = {
            batch: listen for batch, listen in self._listeners_by_batch.items() if batch in state.open
        }
        return [*ended_events, *self._log_reader.read(alive.values(), at)]

    def _listen(self, attempt: AttemptState) -> OutputParser | None:
        batch = attempt.name.batch
        if batch not in self._listeners_by_batch:
            try:
                self._listeners_by_batch[batch] = make_parser_factory(
                    project_files.load_batch_inputs(self._place, batch)
                )
            except BatchInputsError:
                self._listeners_by_batch[batch] = None
        listen = self._listeners_by_batch[batch]
        return None if listen is None else listen(attempt)
