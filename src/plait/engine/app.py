"""The engine's parts, assembled for this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from plait.config.config import Config
from plait.config.loading import load_config, merge_layers
from plait.core.errors import ConfigError
from plait.engine.attempt_inputs import AttemptSpecBuilder
from plait.engine.attempts import Attempts
from plait.engine.capacity_reporter import CLOCK_FILE, CapacityReporter, MachineClock
from plait.engine.conflict_prediction import ConflictPredictor
from plait.engine.context import BatchInputsCache, EngineContext, redact_reports
from plait.engine.daemon import HEALTH_FILE, HealthFile
from plait.engine.executors import BatchExecutors
from plait.engine.loop import Dependencies, Engine
from plait.engine.merge_queue import MergeQueue
from plait.engine.nodes_file import NODES_FILE, NodesFile
from plait.engine.perform import Performer
from plait.engine.status_writeback import StatusWriter, open_source_writer
from plait.git.location import RepoLocation
from plait.git.worktrees.worktree import PIN_FILE, WorkspaceLayout, find_worktrees_folder
from plait.observe.listeners import open_listeners
from plait.runtime.executor import Executor, ExecutorCallbacks
from plait.runtime.local_executor import LocalExecutor
from plait.runtime.local_workspaces import LocalWorkspaces
from plait.runtime.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool
from plait.store.interfaces import Journal
from plait.store.project_files import open_project_inbox, open_state_paths
from plait.store.trust_store import ignore_untrusted_location
from plait.system import log
from plait.system.sensors import MachineSensors
from plait.system.shared_state import SharedState, find_shared_state_folder
from plait.system.sleep_inhibitor import SleepInhibitor

if TYPE_CHECKING:
    from plait.forges.publisher import GitPublisher
    from plait.git.merge.branch_merger import GitBranchMerger
    from plait.git.worktrees.workspaces import GitWorkspaces


def load_engine_config(location: RepoLocation, journal: Journal) -> Config:
    """Load the engine's settings. Front ends report a mistake in a file; the engine then runs with the defaults."""
    try:
        return ignore_untrusted_location(location, load_config(location.top, saved=journal.settings()))
    except ConfigError as error:
        log.write_line(f"warning: can't read the settings, using the defaults: {error.message}")
        return merge_layers(())


def build_dependencies(
    location: RepoLocation, config: Config, journal: Journal, engine: Engine, reactor: SelectReactor
) -> Dependencies:
    folder = open_state_paths(location)
    shared = SharedState(find_shared_state_folder(), engine=str(location.state))
    inputs = BatchInputsCache(folder)
    emit = redact_reports(engine.enqueue, inputs.get_redactor)
    workers = WorkerPool(reactor)
    context = EngineContext(engine.state, emit, workers, inputs, folder)
    merge_queue = MergeQueue(context, partial(open_branch_merger, location, config), partial(open_publisher, location))
    open_local = partial(open_executor, location, config, workers, reactor)
    open_remote = partial(open_cluster_executor, location, config, workers, reactor)
    attempts = Attempts(
        context,
        AttemptSpecBuilder(context, shared, config.engine.transcript_cap),
        merge_queue.describe_conflict,
        lambda callbacks: BatchExecutors(
            engine.state,
            open_local(callbacks),
            partial(open_remote, callbacks),
            lambda batch: folder.nodes_file(batch).exists(),
        ),
    )
    executors = attempts.executors
    sensors = MachineSensors((location.state, location.top, find_worktrees_folder(location, config)))
    return Dependencies(
        journal=journal,
        inbox=open_project_inbox(location),
        inputs=inputs,
        performer=Performer(context, attempts, merge_queue, shared),
        attempts=attempts,
        status_writer=StatusWriter(open_source_writer(location), reactor, workers, emit),
        capacity=CapacityReporter(
            sensors.read,
            str(location.top),
            MachineClock(location.state / CLOCK_FILE),
            disk_full_reason=executors.find_disk_problem,
            limits=config.machine_limits,
        ),
        shared=shared,
        sleep_inhibitor=SleepInhibitor(enabled=config.engine.keep_awake),
        health=HealthFile(location.state / HEALTH_FILE),
        nodes=NodesFile(location.state / NODES_FILE),
        workers=workers,
        conflict_predictor=ConflictPredictor(
            context,
            lambda batch, task, base: executors.workspaces_of(batch).preview_commit(batch, task, base),
            lambda: merge_queue.merger,
        ),
        listeners=tuple(open_listeners(location, config, journal.id)),
    )


BRANCH_MERGER_FOLDER = "integrator"


def open_cluster_executor(
    location: RepoLocation,
    config: Config,
    workers: WorkerPool,
    reactor: SelectReactor,
    callbacks: ExecutorCallbacks,
) -> Executor:
    """Open the executor for attempts on a Ray cluster, to which a thread connects."""
    from plait.runtime.ray.executor import RayExecutor  # only for batches that use it

    return RayExecutor(config.ray, location.git_dir, open_state_paths(location), workers, reactor, callbacks)


def open_executor(
    location: RepoLocation,
    config: Config,
    workers: WorkerPool,
    reactor: SelectReactor,
    callbacks: ExecutorCallbacks,
) -> Executor:
    """Open the executor for attempts on this machine."""
    workspaces = LocalWorkspaces(
        partial(open_workspaces, location, config),
        workers,
        open_state_paths(location),
        WorkspaceLayout(find_worktrees_folder(location, config)).setups,
        disk_cap=config.workspace.disk_cap,
    )
    return LocalExecutor(callbacks, reactor, workspaces)


def open_workspaces(location: RepoLocation, config: Config) -> GitWorkspaces:
    from plait.git.worktrees.workspaces import GitWorkspaces  # only for batches that have worktrees

    root = find_worktrees_folder(location, config)
    with suppress(OSError):  # making a workspace reports what is wrong
        (location.state / PIN_FILE).write_bytes(os.fsencode(root))
        if location.top in root.parents:  # or it would show in git status of the checkout
            root.mkdir(parents=True, exist_ok=True)
            (root / ".gitignore").write_text("*\n")
    return GitWorkspaces(location.git_dir, root, keep=config.workspace.keep, on_warning=log.write_line)


def open_branch_merger(location: RepoLocation, config: Config) -> GitBranchMerger:
    from plait.git.merge.branch_merger import GitBranchMerger
    from plait.git.merge.change_merger import build_regenerator

    return GitBranchMerger(
        location.git_dir,
        location.state / BRANCH_MERGER_FOLDER,
        regenerate=build_regenerator(location.git_dir, find_worktrees_folder(location, config)),
    )


def open_publisher(location: RepoLocation) -> GitPublisher:
    from plait.forges import publisher  # only for batches that are published

    return publisher.GitPublisher(location)
