"""Bring a batch up to date before its tasks run again: the settings of today, and the flags that it was started with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace

import msgspec

from plait.client.agent_specs import build_agent_specs, load_prompt_template
from plait.client.project_state import read_saved_settings
from plait.client.session import new_request_id
from plait.client.task_actions import Overrides
from plait.config.config import Config
from plait.config.loading import load_config
from plait.core.contest import REFEREE
from plait.core.requests import ChangeSettings
from plait.core.settings import Isolation, Settings
from plait.core.state import BatchState
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_files import BatchInputs, BatchInputsError, RepoOptions, write_batch_inputs

# What another attempt or check is made with. How much runs at once, in which order, and what is published stay.
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
)


def refresh_batch(
    location: RepoLocation, batch: BatchState, overrides: Overrides, check_trust: Callable[[Config], None]
) -> ChangeSettings | None:
    """Write the inputs of the batch as the settings are now; returns the request that changes its own settings, if any.

    `check_trust` raises for untrusted commands, before anything is written. Raises ConfigError.
    """
    try:
        inputs = project_files.load_batch_inputs(location, batch.id)
    except BatchInputsError:  # the request will say so
        return None
    saved, _ = read_saved_settings(location)
    known = inputs.flags is not None  # else it was submitted by an older version
    config = load_config(location.top, flags={**(inputs.flags or {}), **overrides.flags}, saved=saved)
    check_trust(config)
    _write_inputs(location, batch, inputs, config, overrides)
    fields = _REFRESHED_FIELDS if known else tuple(name.removeprefix("run.") for name in overrides.flags)
    return _make_change(batch, config, fields)


def save_flags(location: RepoLocation, batch: str, flags: Mapping[str, object]) -> None:
    """These settings were given for the batch later: a retry must not undo them."""
    if not flags:
        return
    with suppress(BatchInputsError):
        inputs = project_files.load_batch_inputs(location, batch)
        if inputs.flags is not None:
            new = msgspec.structs.replace(inputs, flags={**inputs.flags, **flags})
            write_batch_inputs(project_files.open_state_paths(location), batch, new)


def _write_inputs(
    location: RepoLocation, batch: BatchState, inputs: BatchInputs, config: Config, overrides: Overrides
) -> None:
    isolated = batch.settings.isolation is Isolation.WORKTREE
    referees = tuple(spec for spec in inputs.agents if spec.name == REFEREE)
    chosen = {name: replace(task, model=overrides.model) for name, task in inputs.tasks_by_id.items()}
    new = msgspec.structs.replace(
        inputs,
        tasks=tuple(
            chosen[task.id] if overrides.model and task.id in overrides.tasks else task for task in inputs.tasks
        ),
        agents=(*build_agent_specs(config), *referees),
        options=RepoOptions.from_config(config) if isolated else inputs.options,
        template=load_prompt_template(location, config),
        flags=None if inputs.flags is None else {**inputs.flags, **overrides.flags},
    )
    if new != inputs:
        write_batch_inputs(project_files.open_state_paths(location), batch.id, new)


def _make_change(batch: BatchState, config: Config, fields: Collection[str]) -> ChangeSettings | None:
    settings = config.batch_settings(tasks=len(batch.tasks), cores=1)
    if batch.settings.isolation is Isolation.IN_PLACE:
        settings = replace(settings, gate=None)
    changed = tuple(name for name in fields if _is_changed(batch.settings, settings, name))
    return ChangeSettings(new_request_id(), batch.id, settings, changed) if changed else None


def _is_changed(before: Settings, after: Settings, name: str) -> bool:
    return name in Settings.__match_args__ and getattr(before, name) != getattr(after, name)
