"""The stronger layer wins, every value knows who gave it, and nothing wrong goes untold."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, strategies as st

from plait.config import loading, toml_file
from plait.config.config import Config, Layer, RepositoryCommand, ValueOrigin, find_repository_commands
from plait.config.keys import KEYS_BY_VARIABLE
from plait.config.loading import ConfigDocument, LayerValues, SettingsError, merge_layers, read_document
from plait.core.plan import Severity
from plait.core.settings import OnConflict
from plait.core.task import Origin


def user(text: str) -> LayerValues:
    return read_document(ConfigDocument("config.toml", toml_file.parse_toml(text, "config.toml")), Layer.USER)


def repository(text: str, under: tuple[str, ...] = ()) -> LayerValues:
    return read_document(
        ConfigDocument("plait.toml", toml_file.parse_toml(text, "plait.toml"), under), Layer.REPOSITORY
    )


def refused(*layers: LayerValues) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        merge_layers(layers)
    return str(caught.value).split("\n")


LAYERS: dict[Layer, tuple[LayerValues, str]] = {
    Layer.USER: (user("[run]\nretries = 11"), "config.toml:2"),
    Layer.REPOSITORY: (repository("\n[run]\nretries = 12"), "plait.toml:3"),
    Layer.SAVED: (loading.read_saved({"retries": "13"}), "saved setting retries"),
    Layer.ENVIRONMENT: (loading.read_environment({"PLAIT_RETRIES": "14"}), "PLAIT_RETRIES"),
    Layer.FLAG: (loading.read_flags({"run.retries": "15"}), "--retries"),
}


@given(st.sets(st.sampled_from(sorted(LAYERS, key=list(Layer).index))))
def test_the_strongest_layer_that_sets_a_key_wins(speaking: set[Layer]) -> None:
    order = [layer for layer in Layer if layer in speaking]
    config = merge_layers(LAYERS[layer][0] for layer in order)
    given_by = config.origins["run.retries"]
    if not order:
        assert (config.run.retries, given_by) == (2, ValueOrigin(Layer.DEFAULT))
    else:
        assert config.run.retries == 10 + list(Layer).index(order[-1])
        assert (given_by.layer, str(given_by)) == (order[-1], LAYERS[order[-1]][1])


def test_a_stronger_layer_replaces_only_what_it_sets() -> None:
    config = merge_layers([user('[run]\nverify = "v"\ngate = "g"'), repository('[run]\nverify = ""')])
    assert (config.run.verify, config.run.gate) == (None, "g")
    assert str(config.origins["run.verify"]) == "plait.toml:2"
    assert str(config.origins["run.gate"]) == "config.toml:3"


def test_a_table_of_limits_is_replaced_as_a_whole() -> None:
    config = merge_layers([user("[engine.agent_limits]\na = 1\nb = 1"), repository("engine.agent_limits = {b = 2}")])
    assert config.engine.agent_limits == (("b", 2),)


def test_pyproject_has_settings_under_tool_plait() -> None:
    text = '[project]\nname = "x"\n[tool.plait.run]\nretries = 7\n[tool.plait.sources]\npaths = "tasks"\n'
    config = merge_layers([repository(text, ("tool", "plait"))])
    assert (config.run.retries, config.sources.paths) == (7, ("tasks",))
    assert str(config.origins["run.retries"]) == "plait.toml:4"


def test_an_unknown_key_is_an_error_with_its_line_and_a_suggestion() -> None:
    assert refused(repository("[run]\nretries = 3\n\n\n\n\nmax_paralell = 3")) == [
        "plait.toml:7: there is no setting called run.max_paralell",
        "  Did you mean max_parallel?",
    ]


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("[rnu]", 1, "there is no table called rnu", "Did you mean [run]?"),
        (
            "[quux]",
            1,
            "there is no table called quux",
            "The tables: run, agents, model, sandbox, sources, workspace, merge, pr, engine, ray, notify.",
        ),
        ("retries = 1", 1, "there is no setting called retries", "Did you mean run.retries?"),
        (
            "[sources]\ntimeout = 1",
            2,
            "there is no setting called sources.timeout",
            "Did you mean run.timeout?",
        ),
        (
            "[run]\nMax-Parallel = 1",
            2,
            "there is no setting called run.Max-Parallel",
            "Did you mean max_parallel?",
        ),
        ("[run]\nxyzzy = 1", 2, "there is no setting called run.xyzzy", ""),
        ("[run]\n'a\tb' = 1", 2, 'there is no setting called run."a\\tb"', ""),
        ("[run.verify]\nx = 1", 1, 'run.verify must be a command, or "" for none, not { x = 1 }', ""),
        ("run = 3", 1, "run must be a table", "Write [run] on a line, with its settings below."),
        ("[[run]]\nretries = 1", 1, "run must be a table", "Write [run] on a line, with its settings below."),
        (
            "[run]\non_conflict = 'repare'",
            2,
            'run.on_conflict must be skip, fail or repair, not "repare"',
            "Did you mean repair?",
        ),
        ("[run]\nretries = -1", 2, "run.retries must be a whole number from 0 to 1000000, not -1", ""),
        (
            "[run]\nretries = 1979-05-27",
            2,
            "run.retries must be a whole number from 0 to 1000000, not 1979-05-27",
            "",
        ),
        ("[run]\nauto_approve = 'yes'", 2, 'run.auto_approve must be true or false, not "yes"', ""),
    ],
)
def test_an_error_has_a_hint(text: str, line: int, message: str, hint: str) -> None:
    [problem] = repository(text).problems
    assert (problem.message, problem.hint, problem.severity) == (message, hint, Severity.ERROR)
    assert problem.at == Origin("plait.toml", line)


def test_all_errors_of_all_layers_are_reported_at_once_in_line_order() -> None:
    lines = refused(
        repository("[run]\nretries = 'x'\n[sources]\nwrite_back = 1\n[run.nope]\n[nothing]\n"),
        loading.read_environment({"PLAIT_MODE": "fast"}),
        loading.read_flags({"run.timeout": "soon"}),
    )
    assert [line.partition(": ")[0] for line in lines if not line.startswith(" ")] == [
        "plait.toml:2",
        "plait.toml:4",
        "plait.toml:5",
        "plait.toml:6",
        "PLAIT_MODE",
        "--timeout",
    ]


def test_a_long_value_does_not_fill_the_message() -> None:
    [problem] = repository(f"[run]\nretries = '{'x' * 10_000}'").problems
    assert len(problem.message) < 150


def test_a_deeply_nested_value_is_refused_like_any_other() -> None:
    [problem] = repository(f"run.verify.{'a.' * 5_000}b = 1").problems
    assert problem.message.endswith("not something too deeply nested")


def test_a_gate_without_merges_is_an_error_with_its_origin() -> None:
    lines = refused(repository("[run]\ngate = 'make'"), loading.read_flags({"run.isolation": "in-place"}))
    assert lines == [
        "--isolation: a gate runs on the merged result, and in-place batches merge nothing: use worktrees or drop the gate"
    ]


def test_saved_settings_are_json_by_their_json_names() -> None:
    saved = {
        "parallelLimit": "3",
        "maxBatchSize": '"auto"',
        "conflictBehavior": '"repair"',
        "agent": '["claude", "codex"]',
        "budget": "null",
        "agentLimits": '{"claude": 2}',
    }
    config = merge_layers([user("[run]\nbudget = '1usd'"), loading.read_saved(saved)])
    assert config.engine.parallel_limit == 3
    assert config.run.max_parallel == "auto"
    assert config.run.on_conflict is OnConflict.REPAIR
    assert config.run.agent == ("claude", "codex")
    assert config.run.budget is None
    assert config.engine.agent_limits == (("claude", 2),)


@pytest.mark.parametrize("text", ["", "{", "NaN", "'x'", "[" * 5000, "\ud800"])
def test_a_saved_setting_that_is_no_json_is_an_error_with_its_name(text: str) -> None:
    assert refused(loading.read_saved({"retries": text}))[0] == "saved setting retries: this is not JSON"


def test_a_saved_setting_is_as_strict_as_a_file() -> None:
    assert refused(loading.read_saved({"retries": '"3"'}))[0].startswith("saved setting retries: run.retries must be")


def test_a_saved_setting_of_another_version_is_only_a_warning() -> None:
    config = merge_layers([loading.read_saved({"parallelLimits": "3"})])
    [warning] = config.warnings
    assert (str(warning.at), warning.hint) == ("saved setting parallelLimits", "Did you mean parallelLimit?")
    assert config.engine.parallel_limit == 4


def test_an_empty_variable_is_unset() -> None:
    assert (
        merge_layers([repository("[run]\nverify = 'v'"), loading.read_environment({"PLAIT_VERIFY": ""})]).run.verify
        == "v"
    )


def test_a_variable_without_the_prefix_is_ignored() -> None:
    config = merge_layers([loading.read_environment({"RETRIES": "9", "plait_retries": "9", "XPLAIT_RETRIES": "9"})])
    assert (config.run.retries, config.warnings) == (2, ())


@pytest.mark.parametrize(
    "name",
    [
        "TASK_ID",
        "TASK_FILE",
        "PROMPT_FILE",
        "TITLE",
        "BATCH",
        "ATTEMPT",
        "STEP",
        "WORKSPACE",
        "PORT",
        "PORTS",
        "NAME",
        "MARK",
        "FEEDBACK_FILE",
        "DEBUG",
        "CRASH_LONG",
        "TOKEN",
    ],
)
def test_variables_of_attempts_and_plugins_cause_no_warning(name: str) -> None:
    assert merge_layers([loading.read_environment({f"PLAIT_{name}": "x"})]).warnings == ()


def test_no_variable_of_an_attempt_is_a_setting() -> None:
    assert not loading.ATTEMPT_VARIABLES & KEYS_BY_VARIABLE.keys()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PLAIT_MAX_PARALELL", "PLAIT_MAX_PARALLEL"),
        ("PLAIT_RUN_RETRIES", "PLAIT_RETRIES"),
        ("PLAIT_WRITE_BACK", "PLAIT_SOURCES_WRITE_BACK"),
    ],
)
def test_a_misspelt_variable_is_a_warning(name: str, meant: str) -> None:
    [warning] = merge_layers([loading.read_environment({name: "3"})]).warnings
    assert (str(warning.at), warning.hint, warning.severity) == (
        name,
        f"Did you mean {meant}?",
        Severity.WARNING,
    )


def test_flags_are_texts_or_values_and_none_is_not_given() -> None:
    given_flags: Mapping[str, object] = {
        "run.max_parallel": "auto",
        "run.stop_on_fail": True,
        "run.retries": 0,
        "run.agent": ["claude", "codex"],
        "run.verify": None,
    }
    config = merge_layers([repository("[run]\nverify = 'v'"), loading.read_flags(given_flags)])
    assert (config.run.max_parallel, config.run.stop_on_fail, config.run.retries) == ("auto", True, 0)
    assert (config.run.agent, config.run.verify) == (("claude", "codex"), "v")


TOOL = "[run]\nagent_command = 'tool'"


@pytest.mark.parametrize(
    ("layers", "agents"),
    [
        ([repository("[run]")], ()),
        ([repository(TOOL)], ("command",)),
        ([repository("[run]\nagent = 'claude'")], ("claude",)),
        (
            [
                repository("[run]\nagent = 'claude'"),
                loading.read_flags({"run.agent_command": "tool"}),
            ],
            ("command",),
        ),
        ([repository(TOOL), loading.read_flags({"run.agent": "claude"})], ("claude",)),
        (
            [repository(TOOL), loading.read_flags({"run.agent": "command, shell"})],
            ("command", "shell"),
        ),
        ([repository(f"{TOOL}\nagent = ['command', 'shell']")], ("command", "shell")),
        ([repository(TOOL), loading.read_flags({"run.agent_command": ""})], ()),
        ([repository(TOOL), loading.read_flags({"run.agent": ""})], ("command",)),
    ],
)
def test_a_command_is_the_agent_unless_a_stronger_layer_names_others(
    layers: list[LayerValues], agents: tuple[str, ...]
) -> None:
    config = merge_layers(layers)
    assert config.default_agents == agents
    assert config.batch_settings(tasks=1, cores=1).agents == (agents or ("shell",))


def test_a_command_and_other_agents_in_one_layer_are_refused() -> None:
    assert refused(loading.read_flags({"run.agent": "claude,codex", "run.agent_command": "tool"})) == [
        "--agent-command: run.agent_command and run.agent (claude, codex) both set the agent for tasks that name none",
        "  Leave one of them out, or share the tasks: claude, codex, command.",
    ]


def trusted(config: Config) -> list[tuple[str, str, str]]:
    return [(one.key, one.value, str(one.given)) for one in find_repository_commands(config)]


def test_commands_of_the_repository_need_trust() -> None:
    config = merge_layers(
        [repository("[run]\nverify = 'v'\nretries = 1\ngate = 'g'\n[sources]\nformat = 'our.format'")]
    )
    assert trusted(config) == [
        ("run.verify", "v", "plait.toml:2"),
        ("run.gate", "g", "plait.toml:4"),
        ("sources.format", "our.format", "plait.toml:6"),
    ]
    assert find_repository_commands(config)[0] == RepositoryCommand(
        "run.verify", "v", ValueOrigin(Layer.REPOSITORY, Origin("plait.toml", 2))
    )


def test_an_agent_that_is_a_command_or_a_module_needs_trust() -> None:
    config = merge_layers(
        [repository("[run]\nagent = ['shell', 'our.agents:Ours', 'command']\nagent_command = 'tool'")]
    )
    assert trusted(config) == [
        ("run.agent", "shell, our.agents:Ours, command", "plait.toml:2"),
        ("run.agent_command", "tool", "plait.toml:3"),
    ]
    assert trusted(merge_layers([repository("[run]\nagent = ['shell', 'claude']\nagent_shell = true")])) == []


def test_permissions_of_agents_need_trust() -> None:
    mine = user("[agents.permissions]\nclaude = 'edits'")
    assert trusted(merge_layers([mine])) == []
    assert trusted(merge_layers([mine, repository("[agents.permissions]\nclaude = 'full'")])) == [
        ("agents.permissions", "claude = full", "plait.toml:1")
    ]
    [(key, value, _)] = trusted(merge_layers([mine, repository("[agents.permissions]")]))
    assert (key, value) == ("agents.permissions", "")


def test_personal_and_harmless_settings_need_no_trust() -> None:
    layers = [
        user("[run]\ngate = 'g'"),
        repository("[run]\nverify = 'v'\n[sources]\nformat = 'plan'"),
        loading.read_flags({"run.verify": "mine"}),
    ]
    assert trusted(merge_layers(layers)) == []
    assert trusted(merge_layers([user("[run]\ngate = 'g'"), repository("[run]\ngate = ''")])) == []


@pytest.mark.parametrize(
    ("own", "repositorys", "used"),
    [
        ("strict", "off", "strict"),
        ("worktree", "auto", "worktree"),
        ("off", "worktree", "worktree"),
        (None, "strict", "strict"),
    ],
)
def test_a_repository_can_strengthen_the_users_sandbox_but_not_weaken_it(
    own: str | None, repositorys: str, used: str
) -> None:
    layers = [user(f'[run]\nsandbox = "{own}"' if own else ""), repository(f'[run]\nsandbox = "{repositorys}"')]
    config = merge_layers(layers)
    assert config.run.sandbox == used
    assert [problem.message for problem in config.warnings] == (
        [f"run.sandbox = {repositorys} is weaker than your own setting, {own}, which applies"] if used == own else []
    )


def test_a_flag_can_weaken_the_sandbox() -> None:
    config = merge_layers([user('[run]\nsandbox = "strict"'), loading.read_flags({"run.sandbox": "off"})])
    assert config.run.sandbox == "off"
