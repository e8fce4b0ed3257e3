"""The files of a batch: its inputs and its environment, readable only by their owner, written atomically.

The journal has only what decisions need. Everything else that is submitted with a batch is in the inputs: task texts,
agents, and options of the repository. They stay in the batch's folder until gc removes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from plait.agents.interface import AgentSpec
from plait.config.git_keys import ForgeKind
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Task
from plait.git.interfaces import MergeRules, WorkspaceSetup
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.decoders import decode_json
from plait.system.flock import hold_lock
from plait.system.state_paths import StateFolder

if TYPE_CHECKING:
    from plait.config.config import Config

INPUTS_FILE = "kit.json"
ENVIRONMENT_FILE = "environment.json"
ENVIRONMENT_FILES = "environment*.json"  # also those that were replaced: attempts may still run with them


class BatchInputsError(WorldError):
    """A batch's inputs are missing or can't be read, so its tasks can't start."""


@dataclass(frozen=True, slots=True)
class PublishTarget:
    """Where a batch is published: the remote and its target branch ("": the default branch)."""

    remote: str = "origin"
    target: str = ""
    title: str = ""
    forge: ForgeKind = ForgeKind.AUTO


class RepoOptions(
    msgspec.Struct,
    frozen=True,
    rename={"setup": "outfit", "merge_rules": "blending", "publish_target": "shipping"},  # as stored
):
    """Options for batches with worktrees. `hooks`: commits run the repository's hooks. `largest_file`: limit in bytes
    for each file of a result; 0: none.
    """

    setup: WorkspaceSetup = WorkspaceSetup()
    merge_rules: MergeRules = MergeRules()
    publish_target: PublishTarget = PublishTarget()
    hooks: bool = False
    largest_file: int = 0

    @classmethod
    def from_config(cls, config: Config) -> RepoOptions:
        space, merge, pr = config.workspace, config.merge, config.pr
        return cls(
            WorkspaceSetup(space.copy, space.link, space.setup, space.setup_reads, space.setup_makes, space.sparse),
            MergeRules(merge.union, merge.regenerate),
            PublishTarget(pr.remote, pr.target or "", pr.title or "", pr.forge),
            space.hooks,
            space.largest_file,
        )


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """The settings of a batch's sandboxes (`SandboxConfig`): what attempts can reach besides their workspaces."""

    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    include_checks: bool = True
    hosts: tuple[str, ...] = ()
    memory: int = 0
    processes: int = 0
    disk: int = 0
    image: str = ""


class BatchInputs(msgspec.Struct, frozen=True, dict=True, rename={"options": "gear"}):
    """The inputs of a batch. `top` is the checkout that it was submitted from; its tasks were read from `sources`."""

    top: str
    tasks: tuple[Task, ...]
    agents: tuple[AgentSpec, ...] = ()
    options: RepoOptions = RepoOptions()
    sources: tuple[str, ...] = ()
    template: str = ""  # for prompts; "": plait's own
    flags: dict[str, Any] | None = None  # the settings given for this batch alone, by key (Any: as JSON); None: unknown

    sandbox: SandboxOptions = SandboxOptions()

    @cached_property
    def tasks_by_id(self) -> Mapping[str, Task]:
        return {task.id: task for task in self.tasks}

    @cached_property
    def source_files(self) -> frozenset[str]:
        """The files with the tasks."""
        return frozenset(task.origin.file for task in self.tasks if task.origin is not None)

    def find_agent(self, agent: str) -> AgentSpec:
        return next((spec for spec in self.agents if spec.name == agent), AgentSpec(agent))


def write_batch_files(folder: StateFolder, batch: str, inputs: BatchInputs, environment: Mapping[str, str]) -> None:
    """Write the files of a batch. They are durable on return, because a request for the batch may follow."""
    write_batch_inputs(folder, batch, inputs)
    write_batch_environment(folder, batch, environment)


def write_batch_inputs(folder: StateFolder, batch: str, inputs: BatchInputs) -> None:
    _write_durably(folder.batch(batch) / INPUTS_FILE, msgspec.json.encode(inputs))


def write_batch_environment(folder: StateFolder, batch: str, environment: Mapping[str, str]) -> None:
    """Write a batch's environment. A replaced one is kept until all are deleted: transcripts may hold it."""
    path = folder.batch(batch) / ENVIRONMENT_FILE
    # As bytes: a variable need not be UTF-8.
    pairs = [[os.fsencode(name), os.fsencode(value)] for name, value in environment.items()]
    data = msgspec.json.encode(pairs)
    with hold_lock(folder.environments_lock):
        if path.exists() and path.read_bytes() != data:
            _write_durably(path.with_name(f"environment-{os.urandom(4).hex()}.json"), path.read_bytes())
        _write_durably(path, data)


def read_batch_inputs(folder: StateFolder, batch: str) -> BatchInputs:
    try:
        return decode_json((folder.batch(batch) / INPUTS_FILE).read_bytes(), BatchInputs)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BatchInputsError(
            f"can't read the files of batch {batch}: {error}",
            hint="submit its tasks again with plait run",
        ) from error


def read_batch_environment(folder: StateFolder, batch: str) -> dict[str, str]:
    try:
        return read_environment_file(folder.batch(batch) / ENVIRONMENT_FILE)
    except (OSError, msgspec.DecodeError) as error:
        raise BatchInputsError(
            f"the environment of batch {batch} can't be read: {error}",
            hint=f"use yours with plait resume {batch}",
        ) from error


def read_environment_file(path: Path) -> dict[str, str]:
    """Read an environment; raises OSError and DecodeError."""
    pairs = decode_json(path.read_bytes(), list[tuple[bytes, bytes]])
    return {os.fsdecode(name): os.fsdecode(value) for name, value in pairs}


def has_environment(folder: StateFolder, batch: str) -> bool:
    return (folder.batch(batch) / ENVIRONMENT_FILE).exists()


def _write_durably(path: Path, data: bytes) -> None:
    make_private_folder(path.parent)
    replace_file(path, data, durable=True)
