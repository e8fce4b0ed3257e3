"""Settings as the page and the API have them: shown with who gave them, judged as a whole, saved by name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from plait.client.json_encoding import encode_json
from plait.client.preferences import (
    GIVEN_FIELD,
    InvalidSettingsError,
    check_changes,
    describe_preferences,
    describe_settings,
    load_effective_config,
    trust_saved_commands,
)
from plait.client.trust import UntrustedError, list_repo_commands, require_trust
from plait.config.config import Layer, find_repository_commands
from plait.config.key import AnyKey
from plait.config.keys import KEYS, KEYS_BY_JSON_NAME, KEYS_BY_NAME
from plait.core.errors import ConfigError, Fault
from plait.core.settings import OnConflict
from plait.git.location import RepoLocation


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("PLAIT_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def describe(location: RepoLocation, **saved: str) -> dict[str, object]:
    return dict(
        json.loads(msgspec.json.encode(describe_preferences(load_effective_config(location, saved), saved).to_json()))
    )


def get_origin(location: RepoLocation, name: str, **saved: str) -> dict[str, object]:
    result = describe(location, **saved)[GIVEN_FIELD]
    assert isinstance(result, dict)
    return dict(result[name])


def find_error(location: RepoLocation, patch: dict[str, object], **saved: str) -> InvalidSettingsError:
    with pytest.raises(InvalidSettingsError) as caught:
        check_changes(location, saved, patch)
    return caught.value


def test_the_settings_have_exactly_the_documented_names(location: RepoLocation) -> None:
    result = describe(location)
    promised = {
        "parallelLimit": 4,
        "maxBatchSize": 4,
        "queueAutoApprove": False,
        "stopOnFailure": False,
        "conflictBehavior": "skip",
        "agent": [],
        "verify": None,
        "gate": None,
        "budget": None,
    }
    assert promised.items() <= result.items()
    assert result.keys() == {*KEYS_BY_JSON_NAME, GIVEN_FIELD}
    assert len(result) == len(KEYS) + 1


def test_each_setting_has_its_origin(location: RepoLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    (location.top / "plait.toml").write_text("[run]\nretries = 5\nrepairs = 5\n")
    monkeypatch.setenv("PLAIT_TIMEOUT", "5m")
    saved = {"repairs": "6", "timeout": "60"}
    nothing = {"layer": "default", "at": None, "saved": False, "hidden": False, "problem": None}
    assert get_origin(location, "mode", **saved) == nothing
    assert get_origin(location, "retries", **saved) == nothing | {"layer": "repository", "at": "plait.toml:2"}
    by_hand = {"layer": "saved", "at": "saved setting repairs", "saved": True}
    assert get_origin(location, "repairs", **saved) == nothing | by_hand
    hidden = {"layer": "environment", "at": "PLAIT_TIMEOUT", "saved": True, "hidden": True}
    assert get_origin(location, "timeout", **saved) == nothing | hidden
    result = describe(location, **saved)
    assert [result[name] for name in ("retries", "repairs", "timeout")] == [5, 6, 300.0]


def test_a_secret_is_not_shown(location: RepoLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_NOTIFY_URLS", "slack://hunter2/x")
    assert "hunter2" not in json.dumps(describe(location))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("parallelLimit", "number"),
        ("maxBatchSize", "number"),
        ("phaseGate", "number"),
        ("temperature", "number"),
        ("queueAutoApprove", "switch"),
        ("conflictBehavior", "choice"),
        ("notifyOn", "choices"),
        ("agent", "list"),
        ("agentLimits", "table"),
        ("permissions", "table"),
        ("verify", "text"),
        ("baseUrl", "text"),
        ("timeout", "duration"),
        ("diskCap", "size"),
        ("budget", "amount"),
    ],
)
def test_a_setting_is_described_for_a_form(name: str, kind: str) -> None:
    [described] = [each for each in describe_settings().settings if each.name == name]
    key = KEYS_BY_JSON_NAME[name]
    assert (described.kind, described.key) == (kind, key.name)
    assert described.choices == list(key.value_type.choices)
    assert described.about == key.about
    assert key.value_type.read(json.loads(msgspec.json.encode(described.default))) == key.default


def test_the_description_names_every_table_and_every_setting_once() -> None:
    result = json.loads(encode_json(describe_settings()))
    assert [each["name"] for each in result["settings"]] == list(KEYS_BY_JSON_NAME)
    assert {each["table"] for each in result["settings"]} <= result["tables"].keys()
    assert {each["name"] for each in result["settings"] if not each["canBeSaved"]} >= {"notifyUrls"}


def test_a_changed_setting_is_in_force_and_saved_as_json(location: RepoLocation) -> None:
    made = check_changes(
        location,
        {"retries": "7"},
        {"conflictBehavior": "repair", "timeout": "90m", "budget": "20usd", "agentLimits": {"claude": 2}},
    )
    assert dict(made.texts) == {
        "conflictBehavior": '"repair"',
        "timeout": "5400.0",
        "budget": '"20usd"',
        "agentLimits": '{"claude":2}',
    }
    assert (made.before.run.on_conflict, made.after.run.on_conflict) == (OnConflict.SKIP, OnConflict.REPAIR)
    assert (made.after.run.timeout, made.after.run.retries) == (5400.0, 7)


@pytest.mark.parametrize("key", [key for key in KEYS if not key.is_secret], ids=lambda key: key.name)
def test_a_shown_value_can_be_saved_and_means_the_same(location: RepoLocation, key: AnyKey) -> None:
    name = key.json_name
    value = describe(location)[name]
    made = check_changes(location, {}, {name: value})
    assert load_effective_config(location, {name: text for name, text in made.texts if text}).value(
        KEYS_BY_JSON_NAME[name]
    ) == (KEYS_BY_JSON_NAME[name].default)


def test_null_removes_a_saved_value_and_an_empty_text_is_none(location: RepoLocation) -> None:
    (location.top / "plait.toml").write_text('[run]\nverify = "make"\n')
    saved = {"verify": '"true"', "ofAnotherVersion": "1"}
    made = check_changes(location, saved, {"verify": None, "ofAnotherVersion": None})
    assert made.texts == (("verify", None), ("ofAnotherVersion", None))
    assert (made.before.run.verify, made.after.run.verify) == ("true", "make")
    made = check_changes(location, saved, {"verify": ""})
    assert (made.texts, made.after.run.verify) == ((("verify", "null"),), None)


def test_a_command_is_trusted_by_whoever_saves_it(location: RepoLocation) -> None:
    (location.top / "plait.toml").write_text('[run]\nverify = "make"\n')
    made = check_changes(location, {}, {"verify": "true", "gate": "make all", "agentCommand": "tool {task_file}"})
    assert [each.key for each in find_repository_commands(made.before)] == ["run.verify"]
    assert made.untrusted == frozenset()
    assert made.after.origins["run.verify"].layer is Layer.SAVED
    with pytest.raises(UntrustedError):
        require_trust(made.after, location)
    trust_saved_commands(location, made)
    require_trust(made.after, location)


def test_saved_settings_that_contain_commands_need_trust(location: RepoLocation) -> None:
    """They may have been copied with the repository."""
    config = load_effective_config(location, {"verify": '"rm -rf ~"', "maxBatchSize": "2"})
    assert [command.name for command in list_repo_commands(config, location)] == ["run.verify"]
    with pytest.raises(UntrustedError, match=r"saved setting verify: run\.verify = rm -rf ~"):
        require_trust(config, location)
    unrelated = check_changes(location, {"verify": '"rm -rf ~"'}, {"retries": 1})
    assert unrelated.untrusted == {"run.verify"}
    trust_saved_commands(location, unrelated)
    with pytest.raises(UntrustedError):
        require_trust(unrelated.after, location)


def test_a_command_of_the_repository_is_untrusted(location: RepoLocation) -> None:
    (location.top / "plait.toml").write_text('[run]\nverify = "make"\n')
    assert check_changes(location, {"verify": '"true"'}, {"verify": None}).untrusted == {"run.verify"}


@pytest.mark.parametrize(
    ("name", "said", "message", "hint"),
    [
        ("paralelLimit", 3, "there is no setting called paralelLimit", "Did you mean parallelLimit?"),
        ("run.max_parallel", 3, "there is no setting called run.max_parallel", "Did you mean maxBatchSize?"),
        ("stop_on_fail", True, "there is no setting called stop_on_fail", "Did you mean stopOnFailure?"),
        ("\x1b[31m", 3, "there is no setting called \\u001b[31m", "GET /api/settings lists them all."),
        (GIVEN_FIELD, {}, "given is the origin of each setting, and can't be set", "Send only settings."),
        ("zzzzzz", None, "there is no setting called zzzzzz", "GET /api/settings lists them all."),
        ("conflictBehavior", "repiar", 'conflictBehavior must be skip, fail or repair, not "repiar"', "Did you mean repair?"),
        ("parallelLimit", -1, "parallelLimit must be a whole number from 0 to 1000000, not -1", ""),
        ("parallelLimit", True, "parallelLimit must be a whole number from 0 to 1000000, not true", ""),
        ("parallelLimit", "4", 'parallelLimit must be a whole number from 0 to 1000000, not "4"', ""),
        ("stopOnFailure", "yes", 'stopOnFailure must be true or false, not "yes"', ""),
        ("agent", "claud", "there is no agent called claud", "Did you mean claude? `plait agents` lists them; --agent-command runs any command."),
        ("fallback", ["shell", "nobody"], "there is no agent called nobody", "`plait agents` lists them; --agent-command runs any command."),
        ("judge", "nobody", "there is no agent called nobody", "`plait agents` lists them; --agent-command runs any command."),
        ("permissions", {"nobody": "full"}, "there is no agent called nobody", "`plait agents` lists them; --agent-command runs any command."),
        ("agent", "referee", "referee only decides contests", ""),
        ("agentCommand", "tool 'x", "the agent's command can't be split into words: no closing quotation", "Check its quotes: tool 'x"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_reported_with_its_field(
    location: RepoLocation, name: str, said: object, message: str, hint: str
) -> None:
    error = find_error(location, {name: said})
    assert (error.message, error.hint, error.field, error.fields) == (message, hint, name, (name,))
    assert error.fault is Fault.USER


def test_all_invalid_values_are_reported_at_once(location: RepoLocation) -> None:
    error = find_error(location, {"retries": "x", "verify": "make", "mode": "fast"})
    assert error.fields == ("retries", "mode")
    assert [problem.message.partition(" ")[0] for problem in error.problems] == ["retries", "mode"]


@pytest.mark.parametrize("name", [key.json_name for key in KEYS if key.is_secret])
def test_a_secret_is_not_saved_and_not_repeated(location: RepoLocation, name: str) -> None:
    error = find_error(location, {name: "slack://hunter2/x"})
    assert error.fields == (name,)
    assert "stay in the journal" in error.message
    assert "hunter2" not in str(error)
    assert check_changes(location, {}, {name: None}).texts == ((name, None),)


def test_hostile_values_are_refused_like_any_other(location: RepoLocation) -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    for name, said in (
        ("agent", deep),
        ("verify", "\0"),
        ("verify", "\ud800"),
        ("verify", "x" * 20_000),
        ("prices", {"m": [float("nan"), 1.0]}),
        ("prices", {"m": [float("inf"), 1.0]}),
        ("phaseGate", float("nan")),
        ("agentLimits", {f"a{number}": 1 for number in range(5_000)}),
        ("n" * 100_000, 1),
    ):
        error = find_error(location, {name: said})
        assert error.fields == (name,)
        assert len(error.message) < 500


@pytest.mark.parametrize(
    ("saved", "patch"),
    [
        ({}, {"gate": "make", "isolation": "in-place"}),
        ({"gate": '"make"'}, {"isolation": "in-place"}),
        ({"isolation": '"in-place"'}, {"gate": "make"}),
    ],
)
def test_an_invalid_combination_is_reported_for_the_changed_settings(
    location: RepoLocation, saved: dict[str, str], patch: dict[str, object]
) -> None:
    error = find_error(location, patch, **saved)
    assert error.message.startswith("a gate runs on the merged result")
    assert set(error.fields) <= patch.keys()


def test_an_invalid_environment_variable_is_reported(location: RepoLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_ISOLATION", "in-place")
    assert find_error(location, {"gate": "make"}).fields == ("gate",)
    load_effective_config(location, {"gate": '"make"'})  # and yet it can be taken back
    assert check_changes(location, {"gate": '"make"'}, {"gate": None}).after.run.gate is None


def test_an_unreadable_saved_setting_does_not_prevent_saving_another(location: RepoLocation) -> None:
    saved = {"mode": '"fast"', "retries": "no JSON", "repairs": "3"}
    result = describe(location, **saved)
    assert (result["mode"], result["retries"], result["repairs"]) == ("parallel", 2, 3)
    broken = get_origin(location, "mode", **saved)
    assert (broken["layer"], broken["saved"], broken["hidden"]) == ("default", True, False)
    assert str(broken["problem"]).startswith("run.mode must be parallel or queue")
    made = check_changes(location, saved, {"repairs": 4})
    assert made.after.run.repairs == 4
    mended = check_changes(location, saved, {"mode": None, "retries": 1})
    assert dict(mended.texts) == {"mode": None, "retries": "1"}


def test_an_invalid_settings_file_is_reported(location: RepoLocation) -> None:
    (location.top / "plait.toml").write_text("[run]\nretries = 'x'\n")
    with pytest.raises(ConfigError, match=r"plait.toml:2: run.retries must be"):
        load_effective_config(location, {"repairs": "3"})
    with pytest.raises(ConfigError, match=r"plait.toml:2: run.retries must be"):
        check_changes(location, {}, {"repairs": 3})


def test_no_setting_has_the_name_of_another_json_field() -> None:
    assert GIVEN_FIELD not in KEYS_BY_JSON_NAME
    assert len(KEYS_BY_JSON_NAME) == len(KEYS_BY_NAME) == len(KEYS)
