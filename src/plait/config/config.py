"""The settings as the program sees them: typed, frozen, and each with who gave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Literal

from plait.config.key import AnyKey, ForgeKind, PermissionChoice, PromptDeliveryChoice, WhenDone
from plait.config.keys import KEYS
from plait.core.dependencies import UnknownNeeds
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.settings import (
    Budget,
    EngineSettings,
    FileConflicts,
    Isolation,
    Mode,
    NotificationKind,
    OnConflict,
    Order,
    Publish,
    Settings,
    WriteBack,
)
from plait.core.task import Origin

COMMAND_AGENT = "command"  # the agent that is whatever command was given


class Layer(StrEnum):
    """Who may give a value, the weakest first; the values are what `plait config --json` shows."""

    DEFAULT = "default"
    USER = "user"
    REPOSITORY = "repository"
    SAVED = "saved"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """Who gave a value: `at` is a line of a file, or the name of a variable, a flag or a saved setting."""

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
class RunConfig:
    agent: tuple[str, ...]
    agent_command: str | None
    agent_shell: bool
    prompt_by: PromptDeliveryChoice
    max_parallel: int | Literal["auto"]
    mode: Mode
    auto_approve: bool
    order: Order
    isolation: Isolation
    base: str | None
    verify: str | None
    gate: str | None
    timeout: float
    idle_timeout: float
    verify_timeout: float
    gate_timeout: float
    retries: int
    repairs: int
    stop_on_fail: bool
    on_conflict: OnConflict
    phase_gate: float
    budget: Budget | None
    task_budget: Budget | None
    model: str | None
    fallback: tuple[str, ...]
    prompt: str | None
    judge: str | None
    score: str | None


@dataclass(frozen=True, slots=True)
class AgentsConfig:
    models: tuple[tuple[str, str], ...]
    args: tuple[tuple[str, tuple[str, ...]], ...]
    programs: tuple[tuple[str, str], ...]
    permissions: tuple[tuple[str, PermissionChoice], ...]
    accounts: tuple[tuple[str, str], ...]
    prices: tuple[tuple[str, tuple[float, ...]], ...]
    replies: tuple[str, ...]

    @property
    def configured_agents(self) -> tuple[str, ...]:
        """The agents that something is set for."""
        tables = (self.models, self.args, self.programs, self.permissions, self.accounts)
        return tuple(dict.fromkeys([name for table in tables for name, _ in table] + list(self.replies)))


@dataclass(frozen=True, slots=True)
class ModelConfig:
    base_url: str
    name: str | None
    key: str | None
    context_tokens: int
    context_lines: int
    output_lines: int
    stall_timeout: float
    verify_replies: bool
    verify_model: str | None
    checks: tuple[str, ...]
    fixes: int
    temperature: float | None
    start_ollama: bool
    prompts: str | None


@dataclass(frozen=True, slots=True)
class SourcesConfig:
    paths: tuple[str, ...]
    format: str | None
    exclude: tuple[str, ...]
    tag: str
    write_back: WriteBack
    unknown_needs: UnknownNeeds
    file_conflicts: FileConflicts


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    location: str | None
    copy: tuple[str, ...]
    link: tuple[str, ...]
    setup: str | None
    setup_reads: tuple[str, ...]
    setup_makes: tuple[str, ...]
    sparse: tuple[str, ...]
    keep: int
    disk_cap: int
    largest_file: int
    hooks: bool


@dataclass(frozen=True, slots=True)
class MergeConfig:
    union: tuple[str, ...]
    regenerate: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PrConfig:
    when_done: WhenDone
    remote: str
    target: str | None
    title: str | None
    forge: ForgeKind


@dataclass(frozen=True, slots=True)
class EngineConfig:
    parallel_limit: int
    agent_limits: tuple[tuple[str, int], ...]
    keep_awake: bool
    transcript_cap: int
    traces: str | None


@dataclass(frozen=True, slots=True)
class NotifyConfig:
    urls: tuple[str, ...]
    webhook: str | None
    secret_file: str | None
    secret: str | None
    on: tuple[NotificationKind, ...]
    bell: bool


@dataclass(frozen=True, slots=True)
class Config:
    """All settings. `given` has every key."""

    run: RunConfig
    agents: AgentsConfig
    model: ModelConfig
    sources: SourcesConfig
    workspace: WorkspaceConfig
    merge: MergeConfig
    pr: PrConfig
    engine: EngineConfig
    notify: NotifyConfig
    origins: Mapping[str, ValueOrigin]
    warnings: tuple[Problem, ...] = ()

    def value(self, key: AnyKey) -> object:
        value: object = getattr(getattr(self, key.table), key.field)
        return value

    @property
    def default_agents(self) -> tuple[str, ...]:
        """Who serves the tasks that name no agent; none: whoever is at hand.

        A command is one, unless agents were named by a stronger layer.
        """
        named = self.run.agent
        if self.run.agent_command is None or COMMAND_AGENT in named:
            return named
        return named if named and self.agents_over_command > 0 else (COMMAND_AGENT,)

    @property
    def agents_over_command(self) -> int:
        """Which of the two was given by the stronger layer: more than 0 for the agents, less for the command."""
        return self.origins["run.agent"].strength - self.origins["run.agent_command"].strength

    def batch_settings(self, *, tasks: int, cores: int, agents: Sequence[str] = ()) -> Settings:
        """A batch's settings for a plan and a machine of this size; `agents` serve where no setting names any."""
        run = self.run
        return Settings(
            agents=self.default_agents or tuple(agents) or Settings().agents,
            max_parallel=choose_parallelism(tasks, cores) if run.max_parallel == "auto" else run.max_parallel,
            mode=run.mode,
            auto_approve=run.auto_approve,
            order=run.order,
            isolation=run.isolation,
            verify=run.verify,
            gate=run.gate,
            timeout=run.timeout,
            idle_timeout=run.idle_timeout,
            verify_timeout=run.verify_timeout,
            gate_timeout=run.gate_timeout,
            retries=run.retries,
            repairs=run.repairs,
            stop_on_fail=run.stop_on_fail,
            on_conflict=run.on_conflict,
            phase_gate=run.phase_gate,
            budget=run.budget,
            task_budget=run.task_budget,
            fallback=run.fallback,
            write_back=self.sources.write_back,
            file_conflicts=self.sources.file_conflicts,
            publish=Publish.OFF if self.pr.when_done is WhenDone.ASK else Publish(self.pr.when_done.value),
        )

    def engine_settings(self) -> EngineSettings:
        return EngineSettings(self.engine.parallel_limit, self.engine.agent_limits)


def choose_parallelism(tasks: int, cores: int) -> int:
    """Two to five: one more from 5, 10 and 20 tasks on, and never more than the machine has cores, save for two.

    Agents mostly wait for a model, but what verifies their work does not: hence the cores.
    """
    wanted = 2 + sum(tasks >= size for size in (5, 10, 20))
    return max(2, min(wanted, cores))


@dataclass(frozen=True, slots=True)
class RepositoryCommand:
    """Something that a repository's own file would have plait run."""

    key: str
    value: str
    given: ValueOrigin


def find_repository_commands(config: Config) -> list[RepositoryCommand]:
    """What asks for trust: the repository's own values that run code, as far as no stronger layer replaces them."""
    found = []
    for key in KEYS:
        given = config.origins[key.name]
        value = config.value(key)
        if given.layer is Layer.REPOSITORY and key.runs_code(value):
            found.append(RepositoryCommand(key.name, _format_value(value), given))
    return found


def _format_value(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return ", ".join(one if isinstance(one, str) else " = ".join(map(_format_words, one)) for one in value)


def _format_words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
