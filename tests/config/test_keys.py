"""The table of settings agrees with the typed result, with the core, and with itself."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import get_type_hints

import pytest

from plait.config.agent_keys import PromptDelivery
from plait.config.config import Config, choose_parallelism
from plait.config.git_keys import PrConfig, WhenDone
from plait.config.key import AnyKey
from plait.config.keys import (
    CONFIG_TABLES,
    KEYS,
    KEYS_BY_FIELD,
    KEYS_BY_JSON_NAME,
    KEYS_BY_NAME,
    KEYS_BY_VARIABLE,
    RunConfig,
    SourcesConfig,
)
from plait.config.loading import merge_layers
from plait.config.value_types import InvalidValueError
from plait.core.settings import (
    Budget,
    EngineSettings,
    ExecutorKind,
    Isolation,
    Mode,
    NotificationKind,
    OnConflict,
    Order,
    Publish,
    SandboxMode,
    Settings,
    WriteBack,
)

each_key = pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)


def test_every_table_is_part_of_the_settings() -> None:
    assert [f"{table.__module__}.{table.__name__}" for table in CONFIG_TABLES] == [
        f"{kind.__module__}.{kind.__name__}"
        for name, kind in get_type_hints(Config).items()
        if name not in {"origins", "warnings"}
    ]
    assert [table.name_in_file for table in CONFIG_TABLES] == [field.name for field in fields(Config)][:-2]


def test_a_table_has_its_keys_and_no_others_and_never_changes() -> None:
    table = RunConfig(retries=7)
    assert (table.retries, table.order) == (7, RunConfig.order.default)
    with pytest.raises(TypeError, match="no key retrys"):
        RunConfig(retrys=7)
    with pytest.raises(AttributeError):
        table.retries = 8
    assert table == RunConfig(retries=7) != RunConfig()


def test_no_two_keys_share_a_name_in_any_layer() -> None:
    flags = [key.flag for key in KEYS if key.flag]
    assert len(KEYS_BY_NAME) == len(KEYS_BY_FIELD) == len(KEYS_BY_JSON_NAME) == len(KEYS_BY_VARIABLE) == len(KEYS)
    assert len(set(flags)) == len(flags)


@each_key
def test_a_flag_is_called_as_in_toml(key: AnyKey) -> None:
    """And the page derives its title from the name in TOML."""
    others = {"sources.format": "--source-format", "pr.when_done": "--pr"}  # without their table they'd say nothing
    assert key.flag in {"", others.get(key.name, f"--{key.field.replace('_', '-')}")}


@each_key
def test_a_default_can_be_read_back_in_every_form(key: AnyKey) -> None:
    assert key.value_type.read(key.value_type.plain(key.default)) == key.default
    assert key.value_type.read(key.value_type.format_for_file(key.default)) == key.default


@each_key
def test_the_help_of_a_key_is_one_line(key: AnyKey) -> None:
    assert key.about
    assert "\n" not in key.about
    assert not key.about.endswith(".")


@each_key
@pytest.mark.parametrize(
    "said", [b"x", ..., [1], {"a": [["b"]]}, float("nan"), -1, "\0", "\udcff", ["\udcff"]], ids=ascii
)
def test_invalid_values_raise_only_invalid_value_error(key: AnyKey, said: object) -> None:
    with pytest.raises(InvalidValueError):
        key.value_type.read(said)


def test_without_any_layer_the_defaults_of_the_core_apply() -> None:
    config = merge_layers([])
    assert config.batch_settings(tasks=9, cores=8) == Settings()
    assert config.engine_settings() == EngineSettings()


def test_every_setting_of_a_run_reaches_the_batch() -> None:
    config = merge_layers([])
    run = RunConfig(
        agent=("a", "b"),
        agent_command=None,
        agent_shell=True,
        prompt_by=PromptDelivery.FILE,
        max_parallel=7,
        mode=Mode.QUEUE,
        auto_approve=True,
        order=Order.FIFO,
        isolation=Isolation.IN_PLACE,
        sandbox=SandboxMode.STRICT,
        executor=ExecutorKind.RAY,
        base="main",
        verify="v",
        gate="g",
        preflight=False,
        timeout=1.0,
        idle_timeout=2.0,
        verify_timeout=3.0,
        gate_timeout=4.0,
        retries=5,
        repairs=6,
        stop_on_fail=True,
        on_conflict=OnConflict.FAIL,
        phase_gate=0.5,
        budget=Budget(1),
        task_budget=Budget(2),
        model="m",
        fallback=("c",),
        prompt="p",
        judge=("j", "k"),
        score="s",
    )
    settings = replace(config, run=run).batch_settings(tasks=1, cores=1)
    for key in RunConfig.keys:
        if key.field in {
            "agent_command",
            "agent_shell",
            "prompt_by",
            "base",
            "preflight",
            "model",
            "prompt",
            "judge",
            "score",
        }:  # how an agent is called is not the core's business, nor how a commit is spelt
            continue
        name = "agents" if key.field == "agent" else key.field
        assert getattr(settings, name) == run.values[key.field] != getattr(Settings(), name)


def test_sources_write_back_reaches_the_batch() -> None:
    config = merge_layers([])
    config = replace(config, sources=SourcesConfig(write_back=WriteBack.OFF))
    assert config.batch_settings(tasks=1, cores=1).write_back is WriteBack.OFF


@pytest.mark.parametrize("done", [done for done in WhenDone if done is not WhenDone.ASK])
def test_pr_when_done_reaches_the_batch(done: WhenDone) -> None:
    config = merge_layers([])
    assert config.batch_settings(tasks=1, cores=1).publish is Publish.OFF
    config = replace(config, pr=PrConfig(when_done=done))
    assert config.batch_settings(tasks=1, cores=1).publish.value == done.value


def test_installed_agents_are_used_if_no_setting_names_one() -> None:
    config = merge_layers([])
    assert config.batch_settings(tasks=1, cores=1, agents=["codex"]).agents == ("codex",)
    config = replace(config, run=RunConfig(agent=("claude",)))
    assert config.batch_settings(tasks=1, cores=1, agents=["codex"]).agents == ("claude",)


@pytest.mark.parametrize(
    ("tasks", "cores", "parallel"),
    [
        (0, 0, 2),
        (1, 64, 2),
        (4, 64, 2),
        (5, 64, 3),
        (10, 64, 4),
        (20, 64, 5),
        (10_000, 64, 5),
        (20, 4, 4),
        (20, 1, 2),
    ],
)
def test_auto_is_two_to_five_by_plan_and_machine(tasks: int, cores: int, parallel: int) -> None:
    assert choose_parallelism(tasks, cores) == parallel
    config = merge_layers([])
    config = replace(config, run=RunConfig(max_parallel="auto"))
    assert config.batch_settings(tasks=tasks, cores=cores).max_parallel == parallel


@pytest.mark.parametrize(
    ("name", "said", "value"),
    [
        ("run.agent", "claude, codex", ("claude", "codex")),
        ("run.agent", "", ()),
        ("run.max_parallel", "auto", "auto"),
        ("run.max_parallel", " 8 ", 8),
        ("run.auto_approve", "Yes", True),
        ("run.auto_approve", "0", False),
        ("run.timeout", "90", 90.0),
        ("run.timeout", "1h30m", 5400.0),
        ("run.phase_gate", "0.5", 0.5),
        ("run.verify", "make test", "make test"),
        ("run.verify", "", None),
        ("sources.paths", "tasks,docs/tasks", ("tasks", "docs/tasks")),
        ("engine.agent_limits", "claude=2, codex = 1", (("claude", 2), ("codex", 1))),
        ("run.agent_command", "tool {task_file}", "tool {task_file}"),
        ("run.prompt_by", "stdin", PromptDelivery.STDIN),
        ("engine.keep_awake", "no", False),
        ("engine.max_load", "0", 0.0),
        ("engine.max_load", "2.5", 2.5),
        ("engine.free_memory", "4GB", 4 * 2**30),
        ("engine.free_memory", "0", 0),
        ("engine.free_memory", "", None),
        ("engine.max_memory_stall", "1", 1.0),
        ("engine.transcript_cap", "1GB", 2**30),
        ("engine.transcript_cap", "65536", 2**16),
        (
            "notify.urls",
            "slack://a/b, mailto://c?to=d,e\njson://f",
            ("slack://a/b", "mailto://c?to=d,e", "json://f"),
        ),
        ("notify.urls", "", ()),
        ("notify.on", "finished, limit,finished", (NotificationKind.FINISHED, NotificationKind.LIMIT)),
        ("notify.on", "", ()),
        ("notify.webhook", "https://a.example/b?c=d", "https://a.example/b?c=d"),
        ("notify.secret_file", "~/secret", "~/secret"),
    ],
)
def test_a_variable_is_parsed(name: str, said: str, value: object) -> None:
    kind = KEYS_BY_NAME[name].value_type
    assert kind.read(kind.parse_text(said)) == value


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("run.max_parallel", "many"),
        ("run.max_parallel", "4.0"),
        ("run.max_parallel", "9" * 30),
        ("run.auto_approve", "maybe"),
        ("run.timeout", "inf"),
        ("run.timeout", "0"),
        ("run.phase_gate", "nan"),
        ("run.phase_gate", "1.1"),
        ("run.agent", "claude,,codex"),
        ("engine.agent_limits", "claude"),
        ("engine.agent_limits", "claude=x"),
        ("run.prompt_by", "mail"),
        ("engine.transcript_cap", "0"),
        ("engine.max_load", "-1"),
        ("engine.free_memory", "some"),
        ("engine.max_memory_stall", "2"),
        ("engine.transcript_cap", "1KB"),
        ("engine.transcript_cap", "9999999TB"),
        ("engine.transcript_cap", "many"),
        ("notify.urls", "slack"),
        ("notify.urls", "slack://\x1b[31m"),
        ("notify.on", "finished,everything"),
        ("notify.webhook", "ftp://a.example"),
        ("notify.webhook", "https://"),
        ("notify.webhook", "https://a.example:x/"),
        ("notify.webhook", "https://a.example/b c"),
        ("notify.secret_file", "secret"),
    ],
)
def test_a_variable_with_an_invalid_value_is_an_error(name: str, said: str) -> None:
    kind = KEYS_BY_NAME[name].value_type
    with pytest.raises(InvalidValueError):
        kind.read(kind.parse_text(said))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("run.max_parallel", True),
        ("run.retries", 2.0),
        ("run.phase_gate", True),
        ("run.timeout", True),
        ("run.timeout", float("inf")),
        ("run.auto_approve", 1),
        ("run.auto_approve", "true"),
        ("run.retries", "2"),
        ("run.agent", [""]),
        ("sources.paths", ""),
        ("sources.tag", " "),
        ("engine.transcript_cap", 65536.0),
        ("engine.transcript_cap", True),
    ],
)
def test_a_valid_file_is_read(name: str, said: object) -> None:
    with pytest.raises(InvalidValueError):
        KEYS_BY_NAME[name].value_type.read(said)


def test_only_agents_are_split_at_commas_in_a_file() -> None:
    assert KEYS_BY_NAME["run.agent"].value_type.read("a, b") == ("a", "b")
    assert KEYS_BY_NAME["sources.paths"].value_type.read("a, b.md") == ("a, b.md",)


def test_names_follow_one_rule() -> None:
    assert KEYS_BY_NAME["run.max_parallel"].env_variable == "PLAIT_MAX_PARALLEL"
    assert KEYS_BY_NAME["sources.write_back"].env_variable == "PLAIT_SOURCES_WRITE_BACK"
    assert KEYS_BY_NAME["engine.parallel_limit"].env_variable == "PLAIT_ENGINE_PARALLEL_LIMIT"
    assert KEYS_BY_NAME["run.idle_timeout"].json_name == "idleTimeout"
    assert KEYS_BY_NAME["sources.write_back"].json_name == "sourcesWriteBack"


@pytest.mark.parametrize(
    ("saved", "name"),
    [
        ("parallelLimit", "engine.parallel_limit"),
        ("maxBatchSize", "run.max_parallel"),
        ("queueAutoApprove", "run.auto_approve"),
        ("stopOnFailure", "run.stop_on_fail"),
        ("conflictBehavior", "run.on_conflict"),
        ("agent", "run.agent"),
        ("verify", "run.verify"),
        ("gate", "run.gate"),
        ("budget", "run.budget"),
    ],
)
def test_the_json_names_are_kept(saved: str, name: str) -> None:
    assert KEYS_BY_JSON_NAME[saved].name == name
