"""The settings of runs, sources and the engine; and all settings together, by every name they have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from plait.config import value_types
from plait.config.agent_keys import AgentsConfig, ModelConfig, PromptDelivery, is_dotted_path
from plait.config.git_keys import MergeConfig, PrConfig, WorkspaceConfig
from plait.config.key import ENV_PREFIX, AnyKey, ConfigTable, Key
from plait.config.notify_keys import NotifyConfig, mask_to_host
from plait.config.ray_keys import RayConfig
from plait.config.sandbox_keys import SandboxConfig, pick_stronger
from plait.core.dependencies import UnknownNeeds
from plait.core.settings import (
    EngineSettings,
    ExecutorKind,
    FileConflicts,
    Isolation,
    MachineLimits,
    Mode,
    OnConflict,
    Order,
    SandboxMode,
    Settings,
    WriteBack,
)

_MIN_SIMILARITY = 0.65  # for suggesting a key of another table
_BATCH = Settings()
_ENGINE = EngineSettings()
_MACHINE = MachineLimits()


class RunConfig(ConfigTable, name="run", about="How a batch runs.", per_batch=True):
    agent = Key(
        value_types.text_list("an agent's name or a list of names", split=True),
        (),
        "agents for tasks that name none; several share the work; empty: the first one installed",
        flag="--agent",
        short_flag="-a",
        metavar="NAME,...",
        runs_code=lambda names: any(map(is_dotted_path, names)),
    )
    agent_command = Key(
        value_types.optional_text("a command"),
        None,
        "command to run as the agent, such as 'tool {task_file}'; {prompt_file}, {task_id}, {title}, {workspace} and "
        "{batch} are filled in, too",
        flag="--agent-command",
        metavar="COMMAND",
        runs_code=bool,
    )
    agent_shell = Key(
        value_types.boolean(),
        default=False,
        about="have a shell run that command: pipes and redirections work",
        flag="--agent-shell",
    )
    prompt_by = Key(
        value_types.choice(PromptDelivery),
        PromptDelivery.AUTO,
        "how that command gets the prompt: on standard input, or from a file; auto: from a file if it names one",
    )
    max_parallel = Key(
        value_types.whole_number_or_auto(),
        _BATCH.max_parallel,
        "attempts at once in one batch; 0: no limit but the engine's; auto: 2 to 5, by plan and machine; on a cluster, all it has room for",
        flag="--max-parallel",
        short_flag="-p",
        metavar="N|auto",
        json_name="maxBatchSize",
    )
    mode = Key(
        value_types.choice(Mode),
        _BATCH.mode,
        "run tasks in parallel, or in a queue: one at a time, each after approval",
        flag="--mode",
    )
    auto_approve = Key(
        value_types.boolean(),
        _BATCH.auto_approve,
        "in a queue, start the next task without approval",
        flag="--auto-approve",
        json_name="queueAutoApprove",
    )
    order = Key(value_types.choice(Order), _BATCH.order, "order of ready tasks", flag="--order")
    isolation = Key(
        value_types.choice(Isolation),
        _BATCH.isolation,
        "a worktree for each task, or all in the checkout (in-place)",
        flag="--isolation",
    )
    sandbox = Key(
        value_types.choice(SandboxMode),
        _BATCH.sandbox,
        "what confines agents: their worktree only (worktree), with listed hosts only (strict), a container, nothing (off); "
        "auto: the strongest that works here",
        flag="--sandbox",
        pick=pick_stronger,
    )
    executor = Key(
        value_types.choice(ExecutorKind),
        _BATCH.executor,
        "where attempts run: on this machine (local), or on the nodes of a Ray cluster (ray)",
        flag="--executor",
    )
    base = Key(
        value_types.optional_text("a commit, branch or tag"),
        None,
        "commit that worktrees start from; empty: the one checked out",
        flag="--base",
        metavar="REF",
    )
    verify = Key(
        value_types.optional_text("a command"),
        _BATCH.verify,
        "command that must pass in a task's workspace before the task is done",
        flag="--verify",
        metavar="COMMAND",
        runs_code=bool,
    )
    gate = Key(
        value_types.optional_text("a command"),
        _BATCH.gate,
        "command that must pass on the merged result",
        flag="--gate",
        metavar="COMMAND",
        runs_code=bool,
    )
    preflight = Key(
        value_types.boolean(),
        default=True,
        about="before the first agent starts, check that programs are installed, and that setup, verify and gate pass on "
        "the base",
        flag="--preflight",
    )
    timeout = Key(value_types.duration(), _BATCH.timeout, "time limit of an attempt: 60m", flag="--timeout")
    idle_timeout = Key(
        value_types.duration(),
        _BATCH.idle_timeout,
        "time limit of an attempt that shows no activity: 30m",
        flag="--idle-timeout",
    )
    verify_timeout = Key(value_types.duration(), _BATCH.verify_timeout, "time limit of verify")
    gate_timeout = Key(value_types.duration(), _BATCH.gate_timeout, "time limit of gate")
    retries = Key(value_types.whole_number(), _BATCH.retries, "how often to retry a failed task", flag="--retries")
    repairs = Key(
        value_types.whole_number(),
        _BATCH.repairs,
        "how often an agent may repair one task's conflicts, if on_conflict is repair",
    )
    stop_on_fail = Key(
        value_types.boolean(),
        _BATCH.stop_on_fail,
        "start no more tasks once one has failed",
        flag="--stop-on-fail",
        json_name="stopOnFailure",
    )
    on_conflict = Key(
        value_types.choice(OnConflict),
        _BATCH.on_conflict,
        "on a merge conflict: leave the task out (skip), stop the batch (fail), or have an agent repair it",
        flag="--on-conflict",
        json_name="conflictBehavior",
    )
    phase_gate = Key(
        value_types.fraction(),
        _BATCH.phase_gate,
        "share of the earlier phases that must be done before a phase starts",
        flag="--phase-gate",
        metavar="SHARE",
    )
    budget = Key(
        value_types.amount(),
        _BATCH.budget,
        "start nothing that could take the batch over this: 20usd, 500ktok, or one of each",
        flag="--budget",
    )
    task_budget = Key(
        value_types.amount(),
        _BATCH.task_budget,
        "ask before starting what could take one task over this: 2usd, 100ktok, or one of each",
        flag="--task-budget",
    )
    model = Key(
        value_types.optional_text("a model's name"),
        None,
        "model of all agents; one under [agents.models] comes first, unless this is set by a stronger layer",
        flag="--model",
        short_flag="-m",
        metavar="NAME",
    )
    fallback = Key(
        value_types.text_list("an agent's name or a list of names", split=True),
        (),
        "agents that take over while the provider of a task's agent refuses; empty: its tasks wait",
        flag="--fallback",
        metavar="NAME,...",
        runs_code=lambda names: any(map(is_dotted_path, names)),
    )
    prompt = Key(
        value_types.optional_text("a file"),
        None,
        "file with a prompt template to use instead of plait's own; {task}, {rules}, {feedback} … are filled in",
        per_batch=False,
    )
    judge = Key(
        value_types.text_list("an agent's name or a list of names", split=True),
        (),
        "agents that judge the results of a contest: each votes, and the majority decides",
        flag="--judge",
        metavar="NAME,...",
        runs_code=lambda names: any(map(is_dotted_path, names)),
    )
    score = Key(
        value_types.optional_text("a command"),
        None,
        "command that prints a number for each result of a contest: the highest wins",
        flag="--score",
        metavar="COMMAND",
        runs_code=bool,
    )


class SourcesConfig(ConfigTable, name="sources", about="Where tasks are read from, and where statuses are written."):
    paths = Key(
        value_types.text_list("a path or a list of paths"),
        (),
        "files, folders and globs to read tasks from; empty: those found",
    )
    format = Key(
        value_types.optional_text("a format's name"),
        None,
        "format of the sources; empty: detected by name and content",
        flag="--source-format",
        metavar="NAME",
        runs_code=lambda name: name is not None and "." in name,  # a module to import
    )
    exclude = Key(
        value_types.text_list("a glob or a list of globs"),
        (),
        "files to read no tasks from",
        flag="--exclude",
        metavar="GLOB",
        repeatable=True,
    )
    tag = Key(
        value_types.required_text("a tag's name"),
        "master",
        "tag whose tasks are read, in formats that have tags",
        flag="--tag",
        metavar="NAME",
    )
    write_back = Key(
        value_types.choice(WriteBack),
        _BATCH.write_back,
        "where to write statuses: the checkout, the batch branch, both or neither",
        per_batch=True,
    )
    unknown_needs = Key(
        value_types.choice(UnknownNeeds),
        UnknownNeeds.DONE,
        "how to treat unknown dependencies: as done, or fail the plan",
        flag="--unknown-needs",
        per_batch=True,
    )
    file_conflicts = Key(
        value_types.choice(FileConflicts),
        FileConflicts.INFERRED,
        "which files keep two tasks from running at once: declared ones and those their texts name, declared ones, or none",
        flag="--file-conflicts",
        per_batch=True,
    )


class EngineConfig(ConfigTable, name="engine", about="Limits over all batches of this repository."):
    parallel_limit = Key(
        value_types.whole_number(),
        _ENGINE.parallel_limit,
        "attempts at once over all batches; 0: no limit; if not set: 4, or what an open batch asks for",
    )
    agent_limits = Key(
        value_types.count_table("agents"), _ENGINE.agent_limits, "attempts at once of each agent; 0: no limit"
    )
    max_load = Key(
        value_types.number(),
        _MACHINE.max_load,
        "load per core above which nothing new starts; 0: no limit",
    )
    free_memory = Key(
        value_types.optional_size(),
        _MACHINE.free_memory,
        "memory to keep free when starting tasks; empty: 1 GB or a twentieth, at most an eighth; 0: no limit by memory",
    )
    max_memory_stall = Key(
        value_types.fraction(),
        _MACHINE.max_memory_stall,
        "share of the time that work may stall for lack of memory, above which nothing new starts; 1: no limit",
    )
    keep_awake = Key(
        value_types.boolean(),
        default=True,
        about="keep the machine from sleeping while a batch runs, where the system allows it",
    )
    transcript_cap = Key(
        value_types.size(),
        2**26,
        "how much of an attempt's output to keep: of a longer transcript, the beginning and the end",
    )
    traces = Key(
        value_types.http_url(),
        None,
        "OTLP/HTTP endpoint for traces of the engine; empty: that of OTEL_EXPORTER_OTLP_ENDPOINT",
        user_only=True,
        mask=lambda url: url and mask_to_host(url),
    )


CONFIG_TABLES: tuple[type[ConfigTable], ...] = (
    RunConfig,
    AgentsConfig,
    ModelConfig,
    SandboxConfig,
    SourcesConfig,
    WorkspaceConfig,
    MergeConfig,
    PrConfig,
    EngineConfig,
    RayConfig,
    NotifyConfig,
)
TABLES: Mapping[str, str] = MappingProxyType({table.name_in_file: table.about for table in CONFIG_TABLES})
KEYS: tuple[AnyKey, ...] = tuple(key for table in CONFIG_TABLES for key in table.keys)
KEYS_BY_NAME: Mapping[str, AnyKey] = MappingProxyType({key.name: key for key in KEYS})
KEYS_BY_VARIABLE: Mapping[str, AnyKey] = MappingProxyType({key.env_variable: key for key in KEYS})
KEYS_BY_JSON_NAME: Mapping[str, AnyKey] = MappingProxyType({key.json_name: key for key in KEYS})
KEYS_BY_FIELD: Mapping[str, AnyKey] = MappingProxyType({key.field: key for key in KEYS})


def list_table_keys(table: str) -> tuple[AnyKey, ...]:
    return tuple(key for key in KEYS if key.table == table)


def find_similar(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    return next(iter(get_close_matches(name, list(names), n=1, cutoff=cutoff)), None)


def suggest_key(table: str, field: str) -> str:
    """Suggest a name for an unknown key: the same name in another table, a similar one in this table, or in another."""
    tidy = field.lower().replace("-", "_")
    if tidy in KEYS_BY_FIELD:
        key = KEYS_BY_FIELD[tidy]
        return f"Did you mean {key.field if key.table == table else key.name}?"
    in_table = find_similar(tidy, (key.field for key in list_table_keys(table)))
    anywhere = in_table or find_similar(tidy, KEYS_BY_FIELD, _MIN_SIMILARITY)
    if anywhere is None:
        return ""
    return f"Did you mean {anywhere if in_table else KEYS_BY_FIELD[anywhere].name}?"


_SECRET_NAME = re.compile(r"(?:TOKEN|SECRET|PASSWORD|KEY)\Z")


def is_own_secret(variable: str) -> bool:
    """Whether a variable holds one of plait's own secrets, such as a token, which agents must not see."""
    if not variable.startswith(ENV_PREFIX):
        return False
    key = KEYS_BY_VARIABLE.get(variable)
    return key.is_secret if key is not None else _SECRET_NAME.search(variable) is not None
