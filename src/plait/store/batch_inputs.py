"""What is submitted with a batch besides the journal's records: task texts, agents, and options of the repository.

The journal has only what decisions need. These inputs stay in the batch's folder until gc removes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from plait.agents.interface import AgentSpec
from plait.config.git_keys import ForgeKind
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Task
from plait.git.interfaces import MergeRules, WorkspaceSetup

if TYPE_CHECKING:
    from plait.config.config import Config


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


class BatchInputs(msgspec.Struct, frozen=True, dict=True, rename={"options": "gear"}):
    """`top` is the checkout that the batch was submitted from; its tasks were read from `sources`."""

    top: str
    tasks: tuple[Task, ...]
    agents: tuple[AgentSpec, ...] = ()
    options: RepoOptions = RepoOptions()
    sources: tuple[str, ...] = ()
    template: str = ""  # for prompts; "": plait's own

    @cached_property
    def tasks_by_id(self) -> Mapping[str, Task]:
        return {task.id: task for task in self.tasks}

    def find_agent(self, agent: str) -> AgentSpec:
        return next((spec for spec in self.agents if spec.name == agent), AgentSpec(agent))


def encode_inputs(inputs: BatchInputs) -> bytes:
    return msgspec.json.encode(inputs)


def decode_inputs(data: bytes) -> BatchInputs:
    try:
        return msgspec.json.decode(data, type=BatchInputs)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BatchInputsError(f"it is damaged: {error}") from error
