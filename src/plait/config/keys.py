"""The table of all settings. A key is added here and to its dataclass in `model`, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from plait.config import agent_keys, git_keys, notify_keys, value_types
from plait.config.key import AnyKey, Key, PromptDeliveryChoice
from plait.core.dependencies import UnknownNeeds
from plait.core.settings import (
    EngineSettings,
    FileConflicts,
    Isolation,
    Mode,
    OnConflict,
    Order,
    Settings,
    WriteBack,
)

_MIN_SIMILARITY = 0.65  # how like a word must be to a name it is not next to
TABLES: Mapping[str, str] = MappingProxyType(
    {
        "run": "How a batch is run.",
        "agents": "How agents are called, each by its name.",
        "model": "The agent that is a model itself, behind a server.",
        "sources": "Where tasks are read from, and what is written back.",
        "workspace": "The worktrees that tasks work in.",
        "merge": "How files are merged that many tasks change.",
        "pr": "Where a batch branch goes.",
        "engine": "Over all batches of this repository.",
        "notify": "What you are told of, and where. It counts in your own file, and not in a repository's.",
    }
)


def _is_dotted_path(name: str) -> bool:
    """A dotted path names a module to import, and importing runs it."""
    return "." in name or ":" in name


_BATCH_DEFAULTS = Settings()
_ENGINE_DEFAULTS = EngineSettings()

KEYS: tuple[AnyKey, ...] = (
    Key(
        "run.agent",
        value_types.text_list("an agent's name or a list of names", split=True),
        (),
        "the agents for tasks that name none, who share the work; none: the first one available",
        flag="--agent",
        runs_code=lambda names: any(map(_is_dotted_path, names)),
    ),
    Key(
        "run.agent_command",
        value_types.optional_text("a command"),
        None,
        "the command that is run as the agent; {task_file}, {prompt_file}, {task_id}, {title} … are filled in",
        flag="--agent-command",
        runs_code=bool,
    ),
    Key(
        "run.agent_shell",
        value_types.boolean(),
        default=False,
        about="give that command to a shell as one line, instead of splitting it into words",
        flag="--agent-shell",
    ),
    Key(
        "run.prompt_by",
        value_types.choice(PromptDeliveryChoice),
        PromptDeliveryChoice.AUTO,
        "how that command gets the prompt: on its standard input, or from a file; auto: by a file if it names one",
    ),
    Key(
        "run.max_parallel",
        value_types.whole_number_or_auto(),
        _BATCH_DEFAULTS.max_parallel,
        "attempts at once in one batch; 0: no limit but the engine's; auto: 2 to 5, by plan and machine",
        flag="--max-parallel",
        page="maxBatchSize",
    ),
    Key(
        "run.mode",
        value_types.choice(Mode),
        _BATCH_DEFAULTS.mode,
        "many tasks at a time, or in a queue: one at a time, each after approval",
        flag="--mode",
    ),
    Key(
        "run.auto_approve",
        value_types.boolean(),
        _BATCH_DEFAULTS.auto_approve,
        "in a queue, start the next task without approval",
        flag="--auto-approve",
        page="queueAutoApprove",
    ),
    Key(
        "run.order",
        value_types.choice(Order),
        _BATCH_DEFAULTS.order,
        "which of the tasks that could start goes first",
        flag="--order",
    ),
    Key(
        "run.isolation",
        value_types.choice(Isolation),
        _BATCH_DEFAULTS.isolation,
        "a worktree for each task, or all in the checkout (in-place)",
        flag="--isolation",
    ),
    Key(
        "run.base",
        value_types.optional_text("a commit, branch or tag"),
        None,
        "the commit that a batch with worktrees starts from; none: the one that is checked out",
        flag="--base",
    ),
    Key(
        "run.verify",
        value_types.optional_text("a command"),
        _BATCH_DEFAULTS.verify,
        "the command that must pass in a task's workspace before the task counts",
        flag="--verify",
        runs_code=bool,
    ),
    Key(
        "run.gate",
        value_types.optional_text("a command"),
        _BATCH_DEFAULTS.gate,
        "the command that must pass on the merged result",
        flag="--gate",
        runs_code=bool,
    ),
    Key(
        "run.timeout",
        value_types.duration(),
        _BATCH_DEFAULTS.timeout,
        "how long an attempt may take",
        flag="--timeout",
    ),
    Key(
        "run.idle_timeout",
        value_types.duration(),
        _BATCH_DEFAULTS.idle_timeout,
        "how long an attempt may go without a sign of life",
        flag="--idle-timeout",
    ),
    Key(
        "run.verify_timeout",
        value_types.duration(),
        _BATCH_DEFAULTS.verify_timeout,
        "how long verification may take",
    ),
    Key("run.gate_timeout", value_types.duration(), _BATCH_DEFAULTS.gate_timeout, "how long the gate may take"),
    Key(
        "run.retries",
        value_types.whole_number(),
        _BATCH_DEFAULTS.retries,
        "how often a failed task is tried again",
        flag="--retries",
    ),
    Key(
        "run.repairs",
        value_types.whole_number(),
        _BATCH_DEFAULTS.repairs,
        "how often an agent may repair one task's conflicts, where on_conflict is repair",
    ),
    Key(
        "run.stop_on_fail",
        value_types.boolean(),
        _BATCH_DEFAULTS.stop_on_fail,
        "start nothing more once a task has failed",
        flag="--stop-on-fail",
        page="stopOnFailure",
    ),
    Key(
        "run.on_conflict",
        value_types.choice(OnConflict),
        _BATCH_DEFAULTS.on_conflict,
        "what a merge conflict means: leave the task out, stop the batch, or have an agent repair it",
        flag="--on-conflict",
        page="conflictBehavior",
    ),
    Key(
        "run.phase_gate",
        value_types.fraction(),
        _BATCH_DEFAULTS.phase_gate,
        "the share of the earlier phases that must be done before a phase opens",
        flag="--phase-gate",
    ),
    Key(
        "run.budget",
        value_types.budget(),
        _BATCH_DEFAULTS.budget,
        "never start what could take the batch over it: 20usd, 500ktok, or one of each",
        flag="--budget",
    ),
    Key(
        "run.task_budget",
        value_types.budget(),
        _BATCH_DEFAULTS.task_budget,
        "never start what could take one task over it: 2usd, 100ktok, or one of each",
        flag="--task-budget",
    ),
    Key(
        "run.model",
        value_types.optional_text("a model's name"),
        None,
        "the model of all agents; one of their own under [agents.models] counts before it, unless this was said by a stronger layer",
        flag="--model",
    ),
    Key(
        "run.fallback",
        value_types.text_list("an agent's name or a list of names", split=True),
        (),
        "the agents that take over while the provider of a task's own refuses; none: its tasks wait",
        flag="--fallback",
        runs_code=lambda names: any(map(_is_dotted_path, names)),
    ),
    Key(
        "run.prompt",
        value_types.optional_text("a file"),
        None,
        "the file with the template of prompts, in the place of plait's own; {task}, {rules}, {feedback} … are filled in",
    ),
    Key(
        "run.judge",
        value_types.optional_text("an agent's name"),
        None,
        "the agent that puts the results of a contest in order",
        flag="--judge",
        runs_code=lambda name: name is not None and _is_dotted_path(name),
    ),
    Key(
        "run.score",
        value_types.optional_text("a command"),
        None,
        "the command that prints a number for each result of a contest: the highest wins",
        flag="--score",
        runs_code=bool,
    ),
    *agent_keys.AGENTS_KEYS,
    *agent_keys.MODEL_KEYS,
    Key(
        "sources.paths",
        value_types.text_list("a path or a list of paths"),
        (),
        "files, folders and globs that tasks are read from; none: the ones found",
    ),
    Key(
        "sources.format",
        value_types.optional_text("a format's name"),
        None,
        "the format of these sources; none: each is recognised by its name and content",
        flag="--source-format",
        # A dotted path names a module to import, and importing runs it.
        runs_code=lambda name: name is not None and "." in name,
    ),
    Key(
        "sources.exclude",
        value_types.text_list("a glob or a list of globs"),
        (),
        "files that no task is read from",
        flag="--exclude",
    ),
    Key(
        "sources.tag",
        value_types.required_text("a tag's name"),
        "master",
        "the tag whose tasks are read, in formats that have tags",
        flag="--tag",
    ),
    Key(
        "sources.write_back",
        value_types.choice(WriteBack),
        _BATCH_DEFAULTS.write_back,
        "where statuses are written to: the checkout, the batch branch, both or neither",
    ),
    Key(
        "sources.unknown_needs",
        value_types.choice(UnknownNeeds),
        UnknownNeeds.DONE,
        "what a need on a task that no source knows means: it is done, or the plan fails",
        flag="--unknown-needs",
    ),
    Key(
        "sources.file_conflicts",
        value_types.choice(FileConflicts),
        FileConflicts.INFERRED,
        "which files keep two tasks from running at once: also those their texts name, declared ones, or none",
        flag="--file-conflicts",
    ),
    *git_keys.WORKSPACE_KEYS,
    *git_keys.MERGE_KEYS,
    *git_keys.PR_KEYS,
    Key(
        "engine.parallel_limit",
        value_types.whole_number(),
        _ENGINE_DEFAULTS.parallel_limit,
        "attempts at once over all batches; 0: no limit; set by nobody: 4, or what an open batch asks for",
    ),
    Key(
        "engine.agent_limits",
        value_types.count_table("agents"),
        _ENGINE_DEFAULTS.agent_limits,
        "attempts at once of one agent, for each agent named; 0: no limit",
    ),
    Key(
        "engine.keep_awake",
        value_types.boolean(),
        default=True,
        about="keep the machine from sleeping while a batch runs, where the system allows it",
    ),
    Key(
        "engine.transcript_cap",
        value_types.size(),
        2**26,
        "the most that is kept of what one attempt prints: of a longer transcript, the beginning and the end",
    ),
    Key(
        "engine.traces",
        notify_keys.http_url(),
        None,
        "the OTLP/HTTP address that gets traces of what the engine does; none: that of OTEL_EXPORTER_OTLP_ENDPOINT",
        user_only=True,
        mask=lambda url: url and notify_keys.mask_to_host(url),
    ),
    *notify_keys.NOTIFY_KEYS,
)

KEYS_BY_NAME: Mapping[str, AnyKey] = MappingProxyType({key.name: key for key in KEYS})
KEYS_BY_VARIABLE: Mapping[str, AnyKey] = MappingProxyType({key.env_variable: key for key in KEYS})
KEYS_BY_SAVED_NAME: Mapping[str, AnyKey] = MappingProxyType({key.saved_name: key for key in KEYS})
KEYS_BY_FIELD: Mapping[str, AnyKey] = MappingProxyType({key.field: key for key in KEYS})


def list_table_keys(table: str) -> tuple[AnyKey, ...]:
    return tuple(key for key in KEYS if key.table == table)


def find_similar(word: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    return next(iter(get_close_matches(word, list(names), n=1, cutoff=cutoff)), None)


def suggest_key(table: str, field: str) -> str:
    """A hint for a key that is not there: the same name in another table, a near one in this, a near one in another."""
    tidy = field.lower().replace("-", "_")
    if tidy in KEYS_BY_FIELD:
        there = KEYS_BY_FIELD[tidy]
        return f"Did you mean {there.field if there.table == table else there.name}?"
    here = find_similar(tidy, (key.field for key in list_table_keys(table)))
    anywhere = here or find_similar(tidy, KEYS_BY_FIELD, _MIN_SIMILARITY)
    if anywhere is None:
        return ""
    return f"Did you mean {anywhere if here else KEYS_BY_FIELD[anywhere].name}?"
