"""What changed settings mean for what is going on: they count at once, and whoever has a value of its own keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from plait import wiring
from plait.agents.model import AgentSpec
from plait.config.key import AnyKey
from plait.config.model import Layer
from plait.config.schema import BY_NAME, of_table
from plait.core.frozen import dataclass
from plait.core.plan import Problem, Severity
from plait.core.requests import ChangeEngineSettings, ChangeSettings, Request, SaveSettings
from plait.core.settings import Isolation, Settings
from plait.core.state import BatchState, State
from plait.front.asking import request_id
from plait.front.planning.fitting import following
from plait.front.planning.outlook import machine_size
from plait.front.planning.purse import unkept
from plait.front.preferences.changing import Changes
from plait.kit import KitError
from plait.wiring import Place

_KNOWN = {one.name for one in fields(Settings)}
# What of a batch may change while it is open. Where it works is settled when it is submitted.
_FOLLOWED = tuple(key for key in of_table("run") if key.field in _KNOWN and key.name != "run.isolation")
_BUDGETS = frozenset({"budget", "task_budget"})
_LIMIT = "engine.parallel_limit"


@dataclass(frozen=True, slots=True)
class Course:
    """What to ask for, in this order; `notes` say which open batches keep what they have, and why."""

    requests: tuple[Request, ...]
    notes: tuple[Problem, ...] = ()


def course(place: Place, state: State, changes: Changes) -> Course:
    """A batch that went by the old value of a changed setting goes by the new one; one with a value of its own keeps it."""
    if not changes.texts:
        return Course(())
    size, notes = machine_size(), list[Problem]()
    found = [_Batch(place, batch, changes, size) for batch in state.open.values()]
    batches = [request for each in found if (request := each.request(notes)) is not None]
    limits = _limits(state, changes, batches)
    save = SaveSettings(request_id(), changes.texts)
    return Course((save, *((limits,) if limits else ()), *batches), tuple(notes))


class _Batch:
    """An open batch, and what the changes mean for it."""

    def __init__(self, place: Place, batch: BatchState, changes: Changes, size: int) -> None:
        self._place, self._batch, self._changes = place, batch, changes
        self._old = changes.before.settings(tasks=len(batch.tasks), cores=size)
        self._new = changes.after.settings(tasks=len(batch.tasks), cores=size)

    def request(self, notes: list[Problem]) -> ChangeSettings | None:
        names = [key.field for key in _FOLLOWED if self._goes_by(key)]
        kept = dict(self._kept(names))
        notes += [_note(self._batch, name, why) for name, why in kept.items()]
        wanted = tuple(name for name in names if name not in kept)
        return ChangeSettings(request_id(), self._batch.id, self._new, wanted) if wanted else None

    def _goes_by(self, key: AnyKey) -> bool:
        old, new, own = (getattr(each, key.field) for each in (self._old, self._new, self._batch.settings))
        return bool(own == old != new)

    def _kept(self, names: list[str]) -> Iterator[tuple[str, str]]:
        """What this batch can't have, or nobody has agreed to."""
        for name in names:
            if f"run.{name}" in self._changes.untrusted:
                yield name, "only the repository's own settings say the new one, and nobody has trusted it"
        if "gate" in names and self._new.gate and self._batch.settings.isolation is Isolation.IN_PLACE:
            yield "gate", "it merges nothing that a gate could run on"
        budgets = tuple(name for name in names if name in _BUDGETS)
        settings = self._batch.settings.patched(self._new, budgets)
        tasks = [task.task for task in self._batch.tasks]
        for problem in unkept(settings, tasks, self._agents()) if budgets else ():
            yield from ((name, problem.message) for name in budgets)

    def _agents(self) -> tuple[AgentSpec, ...]:
        """As they were submitted."""
        try:
            return wiring.load_kit(self._place, self._batch.id).agents
        except KitError:
            return ()


def _note(batch: BatchState, name: str, why: str) -> Problem:
    called = BY_NAME[f"run.{name}"].saved
    return Problem(Severity.WARNING, f"batch {batch.id} goes on with the {called} that it has: {why}")


def _limits(state: State, changes: Changes, batches: list[ChangeSettings]) -> ChangeEngineSettings | None:
    before, after = changes.before, changes.after
    wanted = replace(after.engine_settings(), parallel_limit=_parallel_limit(state, changes, batches))
    moved = {
        "parallel_limit": wanted.parallel_limit != state.settings.parallel_limit,
        "agent_limits": wanted.agent_limits != before.engine.agent_limits,
    }
    names = tuple(name for name, changed in moved.items() if changed)
    return ChangeEngineSettings(request_id(), wanted, names) if names else None


def _parallel_limit(state: State, changes: Changes, batches: list[ChangeSettings]) -> int:
    """What is set; what nobody has set follows the open batches."""
    before, after = changes.before, changes.after
    wider = {request.batch: request.settings for request in batches if "max_parallel" in request.fields}
    same = before.given[_LIMIT] == after.given[_LIMIT] and before.engine == after.engine
    if same and not wider:
        return state.settings.parallel_limit
    if after.given[_LIMIT].layer is not Layer.DEFAULT:
        return after.engine.parallel_limit
    open_ = {name: batch.settings for name, batch in state.open.items()}
    return following(settings.max_parallel for settings in (open_ | wider).values())
