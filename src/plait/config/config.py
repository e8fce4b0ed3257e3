"""All settings as the program sees them: typed, frozen, each with its origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from typing import Any

from plait.config.agent_keys import AgentsConfig, ModelConfig
from plait.config.git_keys import MergeConfig, PrConfig, WhenDone, WorkspaceConfig
from plait.config.key import AnyKey
from plait.config.keys import KEYS, EngineConfig, RunConfig, SourcesConfig
from plait.config.notify_keys import NotifyConfig
from plait.config.ray_keys import RayConfig
from plait.config.sandbox_keys import SandboxConfig
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.settings import EngineSettings, ExecutorKind, MachineLimits, Publish, Settings
from plait.core.task import Origin

COMMAND_AGENT = "command"  # the agent that runs run.agent_command


class Layer(StrEnum):
    """The sources of values, weakest first; the names are shown by `plait config --json`."""

    DEFAULT = "default"
    USER = "user"
    REPOSITORY = "repository"
    SAVED = "saved"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """Where a value was set: `at` is a line of a file, or the name of a variable, a flag or a saved setting."""

    layer: Layer
    at: Origin | None = None

    @property
    def strength(self) -> int:
        return list(Layer).index(self.layer)

    @property
    def is_in_file(self) -> bool:
        return self.layer in {Layer.USER, Layer.REPOSITORY}

    def __str__(self) -> str:
        return str(self.at or self.layer.value)


@dataclass(frozen=True, slots=True)
class Config:
    """All settings; `origins` has an entry for every key."""

    run: RunConfig
    agents: AgentsConfig
    model: ModelConfig
    sandbox: SandboxConfig
    sources: SourcesConfig
    workspace: WorkspaceConfig
    merge: MergeConfig
    pr: PrConfig
    engine: EngineConfig
    ray: RayConfig
    notify: NotifyConfig
    origins: Mapping[str, ValueOrigin]
    warnings: tuple[Problem, ...] = ()

    def value(self, key: AnyKey) -> object:
        value: object = getattr(getattr(self, key.table), key.field)
        return value

    @property
    def default_agents(self) -> tuple[str, ...]:
        """The agents for tasks that name none; empty: the first one installed.

        A configured command is one of them, unless a stronger layer names agents.
        """
        named = self.run.agent
        if self.run.agent_command is None or COMMAND_AGENT in named:
            return named
        return named if named and self.agents_over_command > 0 else (COMMAND_AGENT,)

    @property
    def agents_over_command(self) -> int:
        """Which of the two the stronger layer set: more than 0 for the agents, less for the command."""
        return self.origins["run.agent"].strength - self.origins["run.agent_command"].strength

    def batch_settings(self, *, tasks: int, cores: int, agents: Sequence[str] = ()) -> Settings:
        """Return a batch's settings for a plan and a machine of this size; `agents` are used if no setting names any."""
        max_parallel, when_done = self.run.max_parallel, self.pr.when_done
        # Any: a key and the core's field of the same name have the same type.
        shared: dict[str, Any] = {**self.run.values, **self.sources.values}
        named = {field.name: shared[field.name] for field in fields(Settings) if field.name in shared}
        if max_parallel == "auto":  # a cluster says by itself how much it has room for
            max_parallel = 0 if self.run.executor is ExecutorKind.RAY else choose_parallelism(tasks, cores)
        return Settings(
            **named
            | {
                "agents": self.default_agents or tuple(agents) or Settings().agents,
                "max_parallel": max_parallel,
                "publish": Publish.OFF if when_done is WhenDone.ASK else Publish(when_done.value),
            }
        )

    def engine_settings(self) -> EngineSettings:
        return EngineSettings(self.engine.parallel_limit, self.engine.agent_limits)

    @property
    def machine_limits(self) -> MachineLimits:
        return MachineLimits(self.engine.max_load, self.engine.free_memory, self.engine.max_memory_stall)


def choose_parallelism(tasks: int, cores: int) -> int:
    """Choose from two to five: one more from 5, 10 and 20 tasks on, but no more than the machine has cores.

    Agents mostly wait for a model, but what verifies their work does not: hence the cores.
    """
    wanted = 2 + sum(tasks >= size for size in (5, 10, 20))
    return max(2, min(wanted, cores))


# What comes with a repository, or a copy of it, and not from the user alone.
SHARED_LAYERS = frozenset({Layer.REPOSITORY, Layer.SAVED})


@dataclass(frozen=True, slots=True)
class RepositoryCommand:
    """Code that a repository's own config, or its saved settings, would make plait run."""

    key: str
    value: str
    given: ValueOrigin


def find_repository_commands(config: Config) -> list[RepositoryCommand]:
    """Return what needs trust: values that run code, in the repository's file or saved in its state, unless a stronger
    layer replaces them.
    """
    commands = []
    for key in KEYS:
        origin = config.origins[key.name]
        value = config.value(key)
        if origin.layer in SHARED_LAYERS and key.runs_code(value):
            commands.append(RepositoryCommand(key.name, _format_value(value), origin))
    return commands


def _format_value(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return ", ".join(one if isinstance(one, str) else " = ".join(map(_format_words, one)) for one in value)


def _format_words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
