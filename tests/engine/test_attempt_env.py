"""The environment of an attempt."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from plait.config.keys import KEYS_BY_VARIABLE
from plait.config.loading import ATTEMPT_VARIABLES, read_environment
from plait.core.task import Attempt, Step, Task
from plait.engine.attempt_inputs import build_environment, filter_task_variables, make_unique_name
from plait.git.command import Git
from plait.git.merge.change_merger import _run_command

ATTEMPT = Attempt("7f3a", "03-split", Step.WRITE, 2)
WANTED = {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}


def around(base: Mapping[str, str], *env: tuple[str, str], **more: object) -> dict[str, str]:
    given = {
        "attempt": ATTEMPT,
        "task_variables": filter_task_variables(Task("03-split", env=env)),
        "workspace": "/work",
        "ports": range(20010, 20020),
    }
    return build_environment(base, **{**given, "name": "plait_x", **more})  # type: ignore[arg-type]


def test_an_attempt_gets_variables_that_identify_it() -> None:
    seen = around({}, feedback_file="/state/feedback.md")
    assert {key: value for key, value in seen.items() if key.startswith("PLAIT_")} == {
        "PLAIT_BATCH": "7f3a",
        "PLAIT_TASK_ID": "03-split",
        "PLAIT_STEP": "write",
        "PLAIT_ATTEMPT": "2",
        "PLAIT_WORKSPACE": "/work",
        "PLAIT_NAME": "plait_x",
        "PLAIT_PORT": "20010",
        "PLAIT_PORTS": "20010-20019",
        "PLAIT_FEEDBACK_FILE": "/state/feedback.md",
    }
    assert seen["COMPOSE_PROJECT_NAME"] == "plait_x"
    assert seen["PWD"] == "/work"


def test_the_variables_of_an_attempt_are_not_read_as_settings() -> None:
    variables = {key: value for key, value in around({}, feedback_file="/f").items() if key.startswith("PLAIT_")}
    assert {*variables} <= ATTEMPT_VARIABLES
    assert not ATTEMPT_VARIABLES & {*KEYS_BY_VARIABLE}
    assert read_environment(variables).problems == []


@pytest.mark.parametrize("name", ["PLAIT_FORGE_TOKEN", "PLAIT_TOKEN", "PLAIT_SERVER_TOKEN", "PLAIT_NOTIFY_URLS"])
def test_tokens_of_plait_are_not_in_an_agents_environment(name: str) -> None:
    """Nor in that of setup, verify and gate, which have the same."""
    assert name not in around({name: "a secret of plait's own"})


def test_the_servers_token_is_not_in_an_agents_environment_under_any_name() -> None:
    seen = around({"MY_PLAIT_TOKEN": "f" * 64, "OTHER": "f" * 63}, server_tokens=["f" * 64])
    assert "MY_PLAIT_TOKEN" not in seen
    assert "OTHER" in seen


def test_git_and_regenerating_commands_get_no_token_of_plait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_FORGE_TOKEN", "a secret of plait's own")
    monkeypatch.setenv("PLAIT_RETRIES", "1")
    git = Git(tmp_path, settings=("alias.env=!env",))
    assert "PLAIT_RETRIES" in git.text("env")
    assert "PLAIT_FORGE_TOKEN" not in git.text("env")
    _run_command(tmp_path, "env > seen")
    assert "PLAIT_RETRIES" in (tmp_path / "seen").read_text()
    assert "PLAIT_FORGE_TOKEN" not in (tmp_path / "seen").read_text()


def test_the_environment_of_the_front_end_is_kept() -> None:
    base = {"PATH": "/bin", "VIRTUAL_ENV": "/venv", "API_KEY": "secret", "PLAIT_RETRIES": "0", "X": "\udcff"}
    seen = around(base)
    assert {**seen, **base} == seen


def test_variables_of_an_outer_attempt_are_not_passed_on() -> None:
    outer = around({}, feedback_file="/outer", name="plait_outer", extra=[("PLAIT_PROMPT_FILE", "/outer")])
    inner = around({**outer, "PLAIT_MARK": "outer"}, ports=range(0))
    assert "PLAIT_PORT" not in inner
    assert "PLAIT_PORTS" not in inner
    assert "PLAIT_FEEDBACK_FILE" not in inner
    assert "PLAIT_PROMPT_FILE" not in inner
    assert inner["PLAIT_NAME"] == "plait_x"
    assert inner["PLAIT_MARK"] == "outer", "the site sees to that"


def test_an_agent_does_not_see_notification_urls() -> None:
    secrets = {
        "PLAIT_NOTIFY_URLS": "ntfy://x",
        "PLAIT_NOTIFY_WEBHOOK": "https://h/x",
        "PLAIT_NOTIFY_SECRET": "s",
    }
    assert secrets.keys().isdisjoint(around({**secrets, "PATH": "/bin"}))


def test_variables_of_an_agent_that_started_plait_are_removed() -> None:
    inside = {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}
    assert inside.keys().isdisjoint(around({**inside, "PATH": "/bin"}))


def test_a_compose_project_name_that_is_set_is_kept() -> None:
    assert around({"COMPOSE_PROJECT_NAME": "mine"})["COMPOSE_PROJECT_NAME"] == "mine"


def test_variables_that_point_git_to_another_repository_are_removed() -> None:
    listed = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True)
    local = listed.stdout.split()
    seen = around(dict.fromkeys([*local, "GIT_AUTHOR_NAME", "OLDPWD"], "x"))
    assert {name for name in local if name in seen} == WANTED, "a person's settings"
    assert seen["GIT_AUTHOR_NAME"] == "x"
    assert "OLDPWD" not in seen


def test_git_finds_the_workspace_when_a_hook_started_plait(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    hook = {
        **os.environ,
        "GIT_DIR": "/nowhere/.git",
        "GIT_WORK_TREE": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere/index",
    }
    found = subprocess.run(
        ["git", "rev-parse", "--show-toplevel"],
        cwd=tmp_path,
        env=around(hook),
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(found.stdout.strip()).samefile(tmp_path)


def test_no_pager_or_editor_waits_for_a_key() -> None:
    seen = around({"TERM": "xterm", "PAGER": "less", "GIT_PAGER": "delta", "GIT_EDITOR": "vim", "PYTHONUNBUFFERED": ""})
    unattended = {
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "true",
        "GIT_TERMINAL_PROMPT": "0",
    }
    assert {**seen, **unattended} == seen
    assert seen["PYTHONUNBUFFERED"] == "", "it was said"
    assert around({})["PYTHONUNBUFFERED"] == "1"
    assert "CI" not in seen


def test_a_tasks_variables_override_all_but_plaits_own() -> None:
    own = [
        ("TERM", "xterm"),
        ("PATH", "/mine"),
        ("COMPOSE_PROJECT_NAME", "mine"),
        ("AGENT", "task"),
        ("PLAIT_RETRIES", "9"),
    ]
    seen = around(
        {"PATH": "/bin"},
        *own,
        ("PLAIT_TASK_ID", "x"),
        ("PLAIT_MARK", "x"),
        extra=[("AGENT", "x"), ("MODE", "a")],
    )
    assert {**seen, **dict(own)} == seen
    assert seen["MODE"] == "a"
    assert seen["PLAIT_TASK_ID"] == "03-split"
    assert "PLAIT_MARK" not in seen


def test_an_agents_variables_do_not_override_plaits_own() -> None:
    seen = around({}, ("PLAIT_TITLE", "mine"), extra=[("PLAIT_TITLE", "agent"), ("PLAIT_STEP", "agent")])
    assert (seen["PLAIT_TITLE"], seen["PLAIT_STEP"]) == ("agent", "write")


@pytest.mark.parametrize("name", ["", "=", "A=B", "A\0B"])
def test_an_invalid_variable_name_is_left_out(name: str) -> None:
    assert name not in around({}, (name, "x"))


def test_a_process_can_be_started_with_any_variables_of_a_task() -> None:
    odd = ("VALUE", "a\0b\ud800c\udcff")
    attempt = Attempt("b\0", "t\ud800", Step.VERIFY, 1)
    env = {**around({}, odd, ("\ud800", "x"), attempt=attempt), "PATH": os.environ["PATH"]}
    shown = subprocess.run(["env", "-0"], env=env, capture_output=True, check=True).stdout
    seen = dict(line.split(b"=", 1) for line in shown.split(b"\0") if line)
    assert seen[b"VALUE"].startswith(b"ab")
    assert seen[b"PLAIT_BATCH"] == b"b"
    assert seen[b"PLAIT_STEP"] == b"verify"


@given(st.text(), st.text(), st.text())
def test_a_unique_name_is_valid_for_databases(state: str, batch: str, task: str) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,47}", make_unique_name(state, batch, task))


def test_a_unique_name_belongs_to_one_task_and_contains_its_id() -> None:
    names = [
        make_unique_name(*words)
        for words in (("/a", "7f3a", "t"), ("/b", "7f3a", "t"), ("/a", "7f3b", "t"), ("/a", "7f3a", "T"))
    ]
    assert len({*names}) == 4
    assert names[0].startswith("plait_7f3a_t_")
    assert make_unique_name("/a", "7f3a", "t") == names[0]
    assert make_unique_name("/a", "7f3a" * 9, "03-Split_The \N{SNOWMAN} App" * 9).startswith(
        "plait_7f3a7f3a_03_split_the_app03_s"
    )
