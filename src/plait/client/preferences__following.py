"""What changed settings mean for what is going on: they count at once, and whoever has a value of its own keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from plait.agents.interface import AgentSpec
from plait.client.planning.agent_assignment__purse import check_budgets
from plait.client.planning.plan_preview import measure_agent_capacity
from plait.client.planning.submission__fitting import derive_parallel_limit
from plait.client.preferences import SettingsChanges
from plait.client.session__asking import new_request_id
from plait.config.config import Layer
from plait.config.key import AnyKey
from plait.config.keys import KEYS_BY_NAME, list_table_keys
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.requests import ChangeEngineSettings, ChangeSettings, Request, SaveSettings
from plait.core.settings import Isolation, Settings
from plait.core.state import BatchState, State
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_inputs import BatchInputsError

_BATCH_FIELDS = {one.name for one in fields(Settings)}
# What of a batch may change while it is open. Where it works is settled when it is submitted.
_LIVE_KEYS = tuple(
    key for key in list_table_keys("run") if key.field in _BATCH_FIELDS and key.name != "run.isolation"
)
_BUDGETS = frozenset({"budget", "task_budget"})
_PARALLEL_LIMIT_KEY = "engine.parallel_limit"


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """What to ask for, in this order; `notes` say which open batches keep what they have, and why."""

    requests: tuple[Request, ...]
    notes: tuple[Problem, ...] = ()


def plan_change(place: RepoLocation, state: State, changes: SettingsChanges) -> ChangePlan:
    """A batch that went by the old value of a changed setting goes by the new one; one with a value of its own keeps it."""
    if not changes.texts:
        return ChangePlan(())
    size, notes = measure_agent_capacity(), list[Problem]()
    found = [_BatchChange(place, batch, changes, size) for batch in state.open.values()]
    batches = [request for each in found if (request := each.make_request(notes)) is not None]
    limits = _make_engine_request(state, changes, batches)
    save = SaveSettings(new_request_id(), changes.texts)
    return ChangePlan((save, *((limits,) if limits else ()), *batches), tuple(notes))


class _BatchChange:
    """An open batch, and what the changes mean for it."""

    def __init__(self, place: RepoLocation, batch: BatchState, changes: SettingsChanges, size: int) -> None:
        self._place, self._batch, self._changes = place, batch, changes
        self._old = changes.before.batch_settings(tasks=len(batch.tasks), cores=size)
        self._new = changes.after.batch_settings(tasks=len(batch.tasks), cores=size)

    def make_request(self, notes: list[Problem]) -> ChangeSettings | None:
        names = [key.field for key in _LIVE_KEYS if self._follows(key)]
        kept = dict(self._find_kept_fields(names))
        notes += [_kept_value_problem(self._batch, name, why) for name, why in kept.items()]
        wanted = tuple(name for name in names if name not in kept)
        return ChangeSettings(new_request_id(), self._batch.id, self._new, wanted) if wanted else None

    def _follows(self, key: AnyKey) -> bool:
        old, new, own = (getattr(each, key.field) for each in (self._old, self._new, self._batch.settings))
        return bool(own == old != new)

    def _find_kept_fields(self, names: list[str]) -> Iterator[tuple[str, str]]:
        """What this batch can't have, or nobody has agreed to."""
        for name in names:
            if f"run.{name}" in self._changes.untrusted:
                yield name, "only the repository's own settings say the new one, and nobody has trusted it"
        if "gate" in names and self._new.gate and self._batch.settings.isolation is Isolation.IN_PLACE:
            yield "gate", "it merges nothing that a gate could run on"
        budgets = tuple(name for name in names if name in _BUDGETS)
        settings = self._batch.settings.with_fields(self._new, budgets)
        tasks = [task.task for task in self._batch.tasks]
        for problem in check_budgets(settings, tasks, self._agents()) if budgets else ():
            yield from ((name, problem.message) for name in budgets)

    def _agents(self) -> tuple[AgentSpec, ...]:
        """As they were submitted."""
        try:
            return project_files.load_batch_inputs(self._place, self._batch.id).agents
        except BatchInputsError:
            return ()


def _kept_value_problem(batch: BatchState, name: str, why: str) -> Problem:
    called = KEYS_BY_NAME[f"run.{name}"].saved_name
    return Problem(Severity.WARNING, f"batch {batch.id} goes on with the {called} that it has: {why}")


def _make_engine_request(
    state: State, changes: SettingsChanges, batches: list[ChangeSettings]
) -> ChangeEngineSettings | None:
    before, after = changes.before, changes.after
    wanted = replace(after.engine_settings(), parallel_limit=_find_parallel_limit(state, changes, batches))
    moved = {
        "parallel_limit": wanted.parallel_limit != state.settings.parallel_limit,
        "agent_limits": wanted.agent_limits != before.engine.agent_limits,
    }
    names = tuple(name for name, changed in moved.items() if changed)
    return ChangeEngineSettings(new_request_id(), wanted, names) if names else None


def _find_parallel_limit(state: State, changes: SettingsChanges, batches: list[ChangeSettings]) -> int:
    """What is set; what nobody has set follows the open batches."""
    before, after = changes.before, changes.after
    wider = {request.batch: request.settings for request in batches if "max_parallel" in request.fields}
    same = (
        before.origins[_PARALLEL_LIMIT_KEY] == after.origins[_PARALLEL_LIMIT_KEY]
        and before.engine == after.engine
    )
    if same and not wider:
        return state.settings.parallel_limit
    if after.origins[_PARALLEL_LIMIT_KEY].layer is not Layer.DEFAULT:
        return after.engine.parallel_limit
    open_ = {name: batch.settings for name, batch in state.open.items()}
    return derive_parallel_limit(settings.max_parallel for settings in (open_ | wider).values())
