"""Bring a batch up to date before its tasks run again: the current settings, and the flags that it was started with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from plait.client.agent_specs import build_agent_specs, load_prompt_template
from plait.client.planning.sandbox import build_sandbox_options, resolve_agent_sandboxes, resolve_settings
from plait.client.programs import check_programs
from plait.client.project_state import read_saved_settings
from plait.client.session import new_request_id
from plait.client.task_actions import Overrides
from plait.config.config import Config
from plait.config.loading import load_config
from plait.core.contest import REFEREE
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.requests import ChangeSettings
from plait.core.settings import Isolation, Settings
from plait.core.state import BatchState
from plait.core.task import Task
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_files import BatchInputs, BatchInputsError, RepoOptions, write_batch_inputs

# The settings of another attempt or check. Parallelism, order and publishing stay as they are.
_REFRESHED_FIELDS = (
    "verify",
    "gate",
    "timeout",
    "idle_timeout",
    "verify_timeout",
    "gate_timeout",
    "retries",
    "repairs",
    "on_conflict",
    "sandbox",
)


@dataclass(frozen=True, slots=True)
class BatchRefresh:
    """Changes to a batch before its tasks run again. `change` is the request for its own settings, if any changed.

    `warnings` are about programs that may be missing.
    """

    location: RepoLocation
    batch: BatchState
    config: Config
    inputs: BatchInputs
    change: ChangeSettings | None
    warnings: tuple[Problem, ...]
    changes_setup: bool

    @property
    def settings(self) -> Settings:
        """The batch's settings after the change."""
        before = self.batch.settings
        return before if self.change is None else before.with_fields(self.change.settings, self.change.fields)

    @property
    def changes_checks(self) -> bool:
        """Whether setup, verify or gate are new, so that it is unknown whether they pass on the base."""
        return self.changes_setup or (self.change is not None and not {"verify", "gate"}.isdisjoint(self.change.fields))

    def save(self) -> None:
        """Write the inputs, for attempts that start from now on."""
        write_batch_inputs(project_files.open_state_paths(self.location), self.batch.id, self.inputs)


def plan_refresh(
    location: RepoLocation, batch: BatchState, overrides: Overrides, check_trust: Callable[[Config], None]
) -> BatchRefresh | None:
    """Plan the change to the current settings; None if the batch's files are gone, which the request will report.

    `check_trust` raises for untrusted commands. Raises ConfigError, and UserError for a command whose program is
    missing.
    """
    try:
        inputs = project_files.load_batch_inputs(location, batch.id)
    except BatchInputsError:
        return None
    saved, _ = read_saved_settings(location)
    config = load_config(location.top, flags={**(inputs.flags or {}), **overrides.flags}, saved=saved)
    check_trust(config)
    # Of a batch that an older version submitted, the flags are not known.
    given = tuple(name.removeprefix("run.") for name in overrides.flags)
    change = _make_change(batch, config, given if inputs.flags is None else _REFRESHED_FIELDS)
    new = _refresh_inputs(location, batch, inputs, config, overrides)
    changes_setup = new.options.setup != inputs.options.setup
    refresh = BatchRefresh(location, batch, config, new, change, (), changes_setup)
    tasks = [task.task for task in batch.tasks if task.task.id in overrides.tasks]
    return replace(refresh, warnings=require_programs(config, refresh.settings, tasks))


def require_programs(config: Config, settings: Settings, tasks: Sequence[Task]) -> tuple[Problem, ...]:
    """Return warnings about programs that may be missing. Raises UserError for one that is."""
    problems = check_programs(config, settings, tasks)
    for problem in problems:
        if problem.severity is Severity.ERROR:
            raise UserError(problem.message, hint=problem.hint)
    return tuple(problems)


def save_flags(location: RepoLocation, batch: str, flags: Mapping[str, object]) -> None:
    """Save settings that were given for the batch after its submission: a retry must not undo them."""
    if not flags:
        return
    with suppress(BatchInputsError):
        inputs = project_files.load_batch_inputs(location, batch)
        if inputs.flags is not None:
            new = msgspec.structs.replace(inputs, flags={**inputs.flags, **flags})
            write_batch_inputs(project_files.open_state_paths(location), batch, new)


def _refresh_inputs(
    location: RepoLocation, batch: BatchState, inputs: BatchInputs, config: Config, overrides: Overrides
) -> BatchInputs:
    isolated = batch.settings.isolation is Isolation.WORKTREE
    referees = tuple(spec for spec in inputs.agents if spec.name == REFEREE)
    model, chosen = overrides.model, overrides.tasks
    return msgspec.structs.replace(
        inputs,
        tasks=tuple(replace(task, model=model) if model and task.id in chosen else task for task in inputs.tasks),
        agents=(*resolve_agent_sandboxes(build_agent_specs(config), config), *referees),
        options=RepoOptions.from_config(config) if isolated else inputs.options,
        template=load_prompt_template(location, config),
        sandbox=build_sandbox_options(config),
        flags=None if inputs.flags is None else {**inputs.flags, **overrides.flags},
    )


def _make_change(batch: BatchState, config: Config, fields: tuple[str, ...]) -> ChangeSettings | None:
    settings = resolve_settings(config.batch_settings(tasks=len(batch.tasks), cores=1), config)
    if batch.settings.isolation is Isolation.IN_PLACE:
        settings = replace(settings, gate=None)
    names = (name for name in fields if name in Settings.__match_args__)
    changed = tuple(name for name in names if getattr(batch.settings, name) != getattr(settings, name))
    return ChangeSettings(new_request_id(), batch.id, settings, changed) if changed else None
