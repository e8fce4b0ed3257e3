"""What agents say while they work, as events. It stands in no journal: whoever missed some asks for it by offset."""

from __future__ import annotations

from plait import wiring
from plait.agents.model import Listener
from plait.core.state import AttemptState, State
from plait.core.task import Attempt
from plait.front.activity import Listen, Logs, listening
from plait.front.event import Event
from plait.kit import KitError
from plait.wiring import Place


class Overheard:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._listens: dict[str, Listen | None] = {}
        self._logs = Logs(wiring.state_folder(place), self._listen)
        self._heard: dict[Attempt, AttemptState] = {}

    def read(self, state: State, at: float) -> list[Event]:
        """What was said since the last time, also by those that have ended meanwhile."""
        alive = {name: attempt for batch in state.open.values() for name, attempt in batch.alive.items()}
        gone = [attempt for name, attempt in self._heard.items() if name not in alive]
        said = [event for attempt in gone for event in self._logs.finish(attempt, at)]
        self._heard = alive
        self._listens = {batch: listen for batch, listen in self._listens.items() if batch in state.open}
        return [*said, *self._logs.read(alive.values(), at)]

    def _listen(self, attempt: AttemptState) -> Listener | None:
        batch = attempt.name.batch
        if batch not in self._listens:
            try:
                self._listens[batch] = listening(wiring.load_kit(self._place, batch))
            except KitError:
                self._listens[batch] = None
        listen = self._listens[batch]
        return None if listen is None else listen(attempt)
