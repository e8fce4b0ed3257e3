"""The engine, put together from this machine's parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from plait.adapters import kits
from plait.adapters.awake import SystemSleepInhibitor
from plait.adapters.commons import open_shared_state
from plait.adapters.local import LocalExecutor
from plait.adapters.sensors import MachineSensors
from plait.adapters.sqlite import open_journal_writer
from plait.adapters.trouble import EngineHealthFile
from plait.config.layers import merge_layers
from plait.config.load import load_config as load_config
from plait.config.model import Config
from plait.core.errors import ConfigError
from plait.core.task import Attempt
from plait.engine.discreet import redact_reports
from plait.engine.foresight import ConflictPredictor
from plait.engine.grounds import AttemptWorkspaces
from plait.engine.hands import WorkerPool
from plait.engine.launch import BatchInputsStore, JobBuilder
from plait.engine.line import MergeQueue
from plait.engine.loop import Engine, Dependencies
from plait.engine.machine import CapacityReporter
from plait.engine.perform import Performer
from plait.engine.reactor import SelectReactor
from plait.engine.settler import StatusWriter
from plait.engine.starting import AttemptStarter
from plait.engine.watch import AttemptWatcher
from plait.ports import Journal
from plait.wiring import (
    JOURNAL_FILE,
    HEALTH_FILE,
    RepoLocation,
    find_shared_state_folder,
    open_project_inbox,
    open_state_paths,
)
from plait.wiring.onlookers import open_listeners
from plait.wiring.repository import (
    open_integrator,
    open_publisher,
    find_setups_folder,
    open_workspaces,
    find_worktrees_folder,
)
from plait.wiring.writing import open_source_writer

STALE_ENVIRONMENT_SECONDS = 60.0  # seconds after which an environment that nobody waits for is nobody's


def lock_project_journal(place: RepoLocation) -> Journal:
    """The journal to write to. Raises JournalBusyError where another engine holds it."""
    return open_journal_writer(place.state / JOURNAL_FILE)


def load_engine_config(place: RepoLocation, journal: Journal, log: Callable[[str], None]) -> Config:
    """The settings that an engine goes by: a mistake in a file is the fronts' to tell, and no reason not to work."""
    try:
        return load_config(place.top, saved=journal.settings())
    except ConfigError as error:
        log(f"warning: the settings can't be read, the defaults hold: {error.message}")
        return merge_layers(())


def build_dependencies(
    place: RepoLocation, config: Config, journal: Journal, engine: Engine, reactor: SelectReactor
) -> Dependencies:
    """All that an engine works with, on this machine."""
    folder = open_state_paths(place)
    commons = open_shared_state(find_shared_state_folder(), engine=str(place.state))
    launcher = JobBuilder(
        folder,
        BatchInputsStore(
            partial(kits.read_batch_inputs, folder),
            partial(kits.read_batch_environment, folder),
            partial(kits.delete_environment, folder),
            partial(kits.delete_stale_environments, folder, older=STALE_ENVIRONMENT_SECONDS),
        ),
        commons,
        find_setups_folder(place, config),
    )
    hear = redact_reports(engine.enqueue, launcher.get_redactor)
    watch = AttemptWatcher(folder, hear, cap=config.engine.transcript_cap)
    executor = LocalExecutor(folder, watch, reactor, cap=config.engine.transcript_cap)
    hands = WorkerPool(reactor)
    line = MergeQueue(
        partial(open_integrator, place, config),
        partial(open_publisher, place),
        hands,
        engine.state,
        launcher,
        folder,
        hear,
    )
    grounds = AttemptWorkspaces(
        partial(open_workspaces, place, config),
        hands,
        launcher.get_inputs,
        line.write_conflict_file,
        partial(_find_base, engine),
        config.workspace.disk_cap,
    )
    foresight = ConflictPredictor(
        engine.state,
        lambda: grounds.workspaces,
        lambda: line.integrator,
        hands,
        launcher.get_inputs,
        hear,
    )
    starter = AttemptStarter(engine.state, executor, launcher, watch, grounds, hear)
    performer = Performer(engine.state, executor, launcher, starter, commons, grounds, line)
    settler = StatusWriter(open_source_writer(place), reactor, hear)
    sensors = MachineSensors((place.state, place.top, find_worktrees_folder(place, config)))
    machine = CapacityReporter(sensors, str(place.top), disk_full_reason=lambda: grounds.disk_full_reason)
    awake = SystemSleepInhibitor(enabled=config.engine.keep_awake)
    return Dependencies(
        journal,
        open_project_inbox(place),
        executor,
        performer,
        watch,
        settler,
        machine,
        commons,
        awake,
        EngineHealthFile(place.state / HEALTH_FILE),
        hands,
        grounds,
        foresight,
        tuple(open_listeners(place, config, journal.id)),
    )


def _find_base(engine: Engine, attempt: Attempt) -> str:
    """The commit that the task's change is made on, as far as is known."""
    batch = engine.state.batches.get(attempt.batch)
    task = batch.find_task(attempt.task) if batch is not None else None
    return (task.base or "") if task is not None else ""
