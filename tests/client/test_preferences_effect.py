"""Changed settings count at once: for the engine, and for open batches that have no value of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from plait.client.preferences import ChangePlan, check_changes, load_effective_config, plan_change
from plait.client.session import open_session
from plait.client.trust import list_repo_commands, save_trust
from plait.core.requests import ChangeEngineSettings, ChangeSettings, Request, SaveSettings
from plait.core.settings import Budget, EngineSettings, Isolation, Mode, OnConflict, Settings
from plait.core.state import State
from plait.git.location import RepoLocation
from plait.testing.script import Script
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import wait_until

PLAIN = Settings(agents=("claude",), max_parallel=4)


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("PLAIT_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def plan_patch(
    location: RepoLocation, state: State, patch: Mapping[str, object], saved: Mapping[str, str] | None = None
) -> ChangePlan:
    return plan_change(location, state, check_changes(location, saved or {}, patch))


def get_batch_changes(found: ChangePlan) -> dict[str, object]:
    """What is asked for the one batch."""
    wishes = [each for each in found.requests if isinstance(each, ChangeSettings)]
    return {name: getattr(each.settings, name) for each in wishes for name in each.fields}


def get_engine_changes(found: ChangePlan) -> dict[str, object]:
    wishes = [each for each in found.requests if isinstance(each, ChangeEngineSettings)]
    return {name: getattr(each.settings, name) for each in wishes for name in each.fields}


def list_kinds(found: ChangePlan) -> list[type[Request]]:
    return [type(each) for each in found.requests]


def test_without_changes_there_are_no_requests(location: RepoLocation) -> None:
    assert plan_patch(location, State(), {}) == ChangePlan(())


def test_without_an_open_batch_settings_are_only_saved(location: RepoLocation) -> None:
    [save] = plan_patch(location, State(), {"verify": "make", "gate": None}).requests
    assert isinstance(save, SaveSettings)
    assert save.changes == (("verify", '"make"'), ("gate", None))


def test_an_open_batch_with_the_old_value_gets_the_new_one(location: RepoLocation) -> None:
    script = Script("a", settings=PLAIN)
    patch = {"verify": "make", "conflictBehavior": "repair", "timeout": 60, "mode": "queue", "budget": "5usd"}
    assert get_batch_changes(plan_patch(location, script.state, patch)) == {
        "verify": "make",
        "on_conflict": OnConflict.REPAIR,
        "timeout": 60.0,
        "mode": Mode.QUEUE,
        "budget": Budget(5_000_000),
    }


def test_an_open_batch_with_its_own_value_keeps_it(location: RepoLocation) -> None:
    script = Script("a", settings=replace(PLAIN, verify="true", retries=0))
    patch = {"verify": "make", "retries": 5, "repairs": 1}
    assert get_batch_changes(plan_patch(location, script.state, patch)) == {"repairs": 1}


def test_a_value_overridden_by_a_stronger_layer_changes_no_batch(
    location: RepoLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_RETRIES", "2")
    monkeypatch.setenv("PLAIT_ENGINE_PARALLEL_LIMIT", "4")
    found = plan_patch(location, Script("a", settings=PLAIN).state, {"retries": 5, "parallelLimit": 9})
    assert list_kinds(found) == [SaveSettings]


def test_isolation_does_not_change_after_submission(location: RepoLocation) -> None:
    patch = {"isolation": "in-place", "agent": "codex", "whenDone": "pr", "sourcesWriteBack": "off"}
    found = plan_patch(location, Script("a", settings=PLAIN).state, patch)
    assert list_kinds(found) == [SaveSettings]


def test_removing_a_saved_value_restores_the_one_below(location: RepoLocation) -> None:
    (location.top / "plait.toml").write_text("[run]\nretries = 7\n")
    script = Script("a", settings=replace(PLAIN, retries=1))
    assert get_batch_changes(plan_patch(location, script.state, {"retries": None}, {"retries": "1"})) == {"retries": 7}


def test_an_ended_batch_is_not_changed(location: RepoLocation) -> None:
    script = Script("a", settings=PLAIN)
    script.exit_attempt("a")
    assert not script.state.open
    assert list_kinds(plan_patch(location, script.state, {"retries": 5})) == [SaveSettings]


def test_a_command_of_the_repository_needs_trust_before_an_open_batch_gets_it(location: RepoLocation) -> None:
    (location.top / "plait.toml").write_text('[run]\nverify = "make"\nretries = 7\n')
    script = Script("a", settings=replace(PLAIN, verify="true", retries=1))
    saved, patch = {"verify": '"true"', "retries": "1"}, {"verify": None, "retries": None}
    found = plan_patch(location, script.state, patch, saved)
    assert get_batch_changes(found) == {"retries": 7}
    [note] = found.notes
    assert note.message == (
        "batch b1 keeps its verify: the new value comes from the repository's settings, which are not trusted"
    )
    save_trust(location, list_repo_commands(load_effective_config(location, {}), location))
    assert get_batch_changes(plan_patch(location, script.state, patch, saved)) == {"verify": "make", "retries": 7}


def test_an_in_place_batch_gets_no_gate(location: RepoLocation) -> None:
    script = Script("a", settings=replace(PLAIN, isolation=Isolation.IN_PLACE))
    found = plan_patch(location, script.state, {"gate": "make", "verify": "make"})
    assert get_batch_changes(found) == {"verify": "make"}
    assert [note.message for note in found.notes] == [
        "batch b1 keeps its gate: it merges nothing that a gate could run on"
    ]


def test_a_batch_gets_no_budget_that_it_can_not_enforce(location: RepoLocation) -> None:
    script = Script("a", settings=replace(PLAIN, agents=("cube",)))
    found = plan_patch(location, script.state, {"budget": "5usd", "retries": 5})
    assert get_batch_changes(found) == {"retries": 5}
    [note] = found.notes
    assert note.message.startswith("batch b1 keeps its budget: a budget can't be enforced")


def test_engine_limits_are_changed_before_the_batches(location: RepoLocation) -> None:
    script = Script("a", settings=PLAIN)
    patch = {"parallelLimit": 9, "agentLimits": {"claude": 2}, "maxBatchSize": 8}
    found = plan_patch(location, script.state, patch)
    assert list_kinds(found) == [SaveSettings, ChangeEngineSettings, ChangeSettings]
    assert get_engine_changes(found) == {"parallel_limit": 9, "agent_limits": (("claude", 2),)}
    assert get_batch_changes(found) == {"max_parallel": 8}


def test_a_limit_that_holds_already_is_not_requested(location: RepoLocation) -> None:
    script = Script("a", settings=PLAIN)
    script.state.settings = EngineSettings(parallel_limit=9)
    assert list_kinds(plan_patch(location, script.state, {"parallelLimit": 9})) == [SaveSettings]


def test_an_unset_engine_limit_follows_the_open_batches(location: RepoLocation) -> None:
    script = Script("a", settings=PLAIN)
    assert get_engine_changes(plan_patch(location, script.state, {"maxBatchSize": 8})) == {"parallel_limit": 8}
    assert get_engine_changes(plan_patch(location, script.state, {"maxBatchSize": 0})) == {"parallel_limit": 0}
    assert get_engine_changes(plan_patch(location, script.state, {"maxBatchSize": 2})) == {}
    own = Script("a", settings=replace(PLAIN, max_parallel=6))
    own.state.settings = EngineSettings(parallel_limit=2)
    saved = {"parallelLimit": "2"}
    assert get_engine_changes(plan_patch(location, own.state, {"maxBatchSize": 8}, saved)) == {}
    assert get_engine_changes(plan_patch(location, own.state, {"parallelLimit": None}, saved)) == {"parallel_limit": 6}
    assert get_engine_changes(plan_patch(location, own.state, {"retries": 1})) == {}, "that is nobody's business here"


def test_a_batch_with_the_automatic_size_gets_a_saved_one(location: RepoLocation) -> None:
    config = load_effective_config(location, {"maxBatchSize": '"auto"'})
    script = Script("a", settings=config.batch_settings(tasks=1, cores=2, agents=("claude",)))
    assert get_batch_changes(plan_patch(location, script.state, {"maxBatchSize": 3}, {"maxBatchSize": '"auto"'})) == {
        "max_parallel": 3
    }


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TempProject]:
    """With its surroundings as this process's own: what is started from here is at home there."""
    with temp_project(tmp_path / "project", repository=False) as made:
        for name in os.environ.keys() - made.env.keys():
            monkeypatch.delenv(name)
        for name, value in made.env.items():
            monkeypatch.setenv(name, value)
        yield made


def test_a_saved_batch_size_widens_a_running_batch_and_the_next_one(project: TempProject) -> None:
    (project.top / "plait.toml").write_text("[run]\nmax_parallel = 1\n")
    for name in ("a", "b", "c"):
        project.task(name, f"echo > {name}.begun; until [ -e go ]; do sleep 0.02; done")
    assert project.plait("run", "tasks", "--detach", "--yes").code == 0
    with open_session(project.place) as session:
        wait_until(lambda: _begun(project) == 1)
        session.refresh()
        made = check_changes(project.place, session.state.saved, {"maxBatchSize": 3, "retries": 6})
        assert all(
            answer.granted for answer in session.send_all(plan_change(project.place, session.state, made).requests)
        )
        assert session.state.saved == {"maxBatchSize": "3", "retries": "6"}
        wait_until(lambda: _begun(project) == 3)
        (project.top / "go").touch()
    answer = project.plait("config", "retries", "--json")
    assert (answer.code, '"source": "saved"' in answer.output, '"value": 6' in answer.output) == (0, True, True)
    project.wait_for_exit()


def test_an_engine_uses_the_saved_limit(project: TempProject) -> None:
    """Also one that has just come, to a batch that asks for more."""
    with open_session(project.place) as session:
        made = check_changes(project.place, {}, {"parallelLimit": 1})
        assert session.send_all(plan_change(project.place, session.state, made).requests)[0].granted
    project.wait_for_exit()
    (project.top / "plait.toml").write_text("[engine]\nparallel_limit = 3\n")
    project.task("a", "true")
    assert project.plait("run", "tasks", "--yes").code == 0
    with open_session(project.place) as session:
        session.refresh()
        assert session.state.settings.parallel_limit == 1


def _begun(project: TempProject) -> int:
    return len(list(project.top.glob("*.begun")))
