"""The kit: what a front hands over with a batch, outside the journal.

The journal keeps what decisions need. The tasks' texts, and how agents are called, are needed where attempts start; they
lie in the batch's own folder until the batch is forgotten. The environment lies there too, in a file of its own that is
removed when the batch ends: it holds secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import msgspec

from plait.agents.model import AgentSpec
from plait.core.errors import WorldError
from plait.core.frozen import dataclass
from plait.core.task import Task


class KitError(WorldError):
    """A batch's kit is missing or can't be read; its tasks can't start."""


@dataclass(frozen=True)
class Kit:
    """`top` is the checkout that the batch was submitted from."""

    top: str
    tasks: tuple[Task, ...]
    agents: tuple[AgentSpec, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Task]:
        return {task.id: task for task in self.tasks}

    def spec(self, agent: str) -> AgentSpec:
        return next((spec for spec in self.agents if spec.name == agent), AgentSpec(agent))


def encode(kit: Kit) -> bytes:
    return msgspec.json.encode({"top": kit.top, "tasks": kit.tasks, "agents": kit.agents})


def decode(data: bytes) -> Kit:
    try:
        return msgspec.json.decode(data, type=Kit)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KitError(f"it is damaged: {error}") from error
