"""`plait agents`: who is known, who is here, who is logged in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.agents.table import AGENTS, AgentLogin
from plait.cli.commands.agents import agents_command
from plait.client.installed_agents import LoggedIn, LoginStatus, Program, detect_login, probe_programs
from tests.support.temp_project import temp_project

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a program on a PATH that has nothing else but what scripts need."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "sleep"):
        found = next(Path(each, name) for each in os.get_exec_path() if Path(each, name).exists())
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    for name in [name for name in os.environ if name.endswith(("_KEY", "_TOKEN")) or name.startswith("PLAIT_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "top").mkdir()
    monkeypatch.chdir(tmp_path / "top")

    def write(name: str, script: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write


def rows(capsys: pytest.CaptureFixture[str], where: Path = Path()) -> dict[str, dict[str, object]]:
    assert agents_command(where, as_json=True) == 0
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)}


def test_an_installed_program_is_listed_with_its_version(install: Install) -> None:
    path = install("tool", 'test "$1" = --version && echo "tool-cli v2.1.197 (build abc)"')
    assert probe_programs(["tool", "other"]) == {
        "tool": Program("tool", str(path), "2.1.197"),
        "other": Program("other"),
    }


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        ("exit 3", "--version ended with exit status 3"),
        ("echo 1.2.3; exit 1", "--version ended with exit status 1"),
        ("sleep 600", "no answer in 0.2 seconds"),
        ("echo no number", ""),
        ("cat", "--version ended with exit status 127"),
    ],
)
def test_a_program_without_a_version_is_listed(install: Install, script: str, trouble: str) -> None:
    path = install("tool", script)
    assert probe_programs(["tool"], timeout=0.2 if "sleep" in script else 30) == {
        "tool": Program("tool", str(path), None, trouble)
    }


def test_a_program_that_cannot_run_is_reported(install: Install) -> None:
    path = install("tool", "")
    path.write_bytes(b"\x7fELF nonsense")
    assert probe_programs(["tool"])["tool"].problem == "Exec format error"


def test_processes_left_by_a_program_are_not_waited_for(install: Install, tmp_path: Path) -> None:
    """It holds the output open; a pipe would not end before it does."""
    install("tool", f"sleep 600 & echo $! >{tmp_path / 'pid'}; echo 1.2.3")
    try:
        assert probe_programs(["tool"], timeout=30)["tool"].version == "1.2.3"
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_a_program_gets_no_standard_input(install: Install) -> None:
    """Also if standard input can be read, such as a terminal."""
    install("tool", "read -r line; echo 4.5.6")
    code = "from plait.client.installed_agents import probe_programs; print(probe_programs(['tool'], timeout=30)['tool'].version)"
    asking = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with asking:
        assert asking.stdout is not None
        assert asking.stdout.read() == "4.5.6\n"


def test_json_lists_every_agent(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    path = install("claude", "echo 2.1.197")
    result = rows(capsys)
    assert list(result)[: len(AGENTS)] == list(AGENTS)
    assert result["claude"] == {
        "name": "claude",
        "description": "Claude Code",
        "available": True,
        "path": str(path),
        "version": "2.1.197",
        "problem": None,
        "tested": True,
        "install": "npm install -g @anthropic-ai/claude-code",
        "login": {"loggedIn": "no", "by": None, "how": "claude, then /login"},
        "default": True,
        "model": None,
        "permission": "full",
        "account": None,
    }
    assert (result["codex"]["available"], result["codex"]["version"]) == (False, None)
    assert (result["amp"]["tested"], result["shell"]["available"]) == (False, True)
    assert [name for name, row in result.items() if row["default"]] == ["claude"]


def test_without_a_tool_the_default_is_shell(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("amp", "echo 1.0")
    assert [name for name, row in rows(capsys).items() if row["default"]] == ["shell"]


def test_settings_of_an_agent_are_shown(install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install("claude", "echo 2.1.197")
    install("codex", "echo 1.0")
    (tmp_path / "top" / "plait.toml").write_text(
        "[run]\nagent = 'codex'\n[agents.models]\ncodex = 'gpt-5'\n[agents.permissions]\ncodex = 'edits'\n"
        "[agents.accounts]\ncodex = 'work'\n"
    )
    row = rows(capsys, tmp_path / "top")["codex"]
    assert (row["default"], row["model"], row["permission"], row["account"]) == (
        True,
        "gpt-5",
        "edits",
        "work",
    )
    agents_command(tmp_path / "top", as_json=False)
    assert "default · model gpt-5 · permission edits · account work" in capsys.readouterr().out


def test_programs_named_by_a_repository_are_not_run(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = install("theirs", f"touch {tmp_path}/ran; echo 6.6.6")
    (tmp_path / "top" / "plait.toml").write_text("[agents.programs]\ncodex = 'theirs'\n")
    row = rows(capsys, tmp_path / "top")["codex"]
    assert (row["available"], row["path"], row["version"]) == (True, str(path), None)
    assert not (tmp_path / "ran").exists()


def test_installed_agents_come_first_then_how_to_install_others(
    install: Install, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install("codex", "echo codex-cli 0.166.0")
    install("goose", "echo 1.2")
    monkeypatch.setenv("OPENAI_API_KEY", "hush-hush-hush")
    monkeypatch.delenv("CODEX_API_KEY", raising=False)
    assert agents_command(Path(), as_json=False) == 0
    out = capsys.readouterr().out
    here, _, missing = out.partition("not installed\n")
    here, _, permissions = here.partition("\n\n")
    assert [line[:10].split() for line in here.splitlines() if line.strip()] == [
        ["*", "codex"],
        ["goose"],
        ["model"],
        ["shell"],
        ["command"],
    ]
    # It takes no notice of that key: it has one of its own.
    assert "0.166.0  Codex · default · not logged in: codex login" in here
    assert "Goose (untested) · logged in (OPENAI_API_KEY)" in here
    assert "npm install -g @anthropic-ai/claude-code" in missing
    assert "codex" not in missing
    assert "hush" not in out
    assert permissions == (
        "codex (--dangerously-bypass-approvals-and-sandbox), goose (GOOSE_MODE=auto) run with permission prompts disabled and"
        ' can do anything you can. To change that: codex = "edits" under [agents.permissions].\n\n'
    )


def test_a_restricted_agent_is_not_among_those_that_can_do_anything(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("codex", "echo 1.0")
    (tmp_path / "top" / "plait.toml").write_text("[agents.permissions]\ncodex = 'own'\n")
    agents_command(tmp_path / "top", as_json=False)
    assert "permission prompts" not in capsys.readouterr().out


LOGIN = AgentLogin(("ONE_KEY", "OTHER_KEY"), (".tool/auth.json",), "tool login")


def test_an_environment_variable_counts_as_logged_in(tmp_path: Path) -> None:
    seen = detect_login(LOGIN, {"ONE_KEY": " ", "OTHER_KEY": "hush"}, tmp_path)
    assert seen == LoginStatus(LoggedIn.YES, "OTHER_KEY", "tool login")


def test_a_non_empty_login_file_counts_as_logged_in(tmp_path: Path) -> None:
    (tmp_path / ".tool").mkdir()
    file = tmp_path / ".tool" / "auth.json"
    assert detect_login(LOGIN, {}, tmp_path).logged_in is LoggedIn.NO
    file.write_text("{}")
    assert detect_login(LOGIN, {}, tmp_path).logged_in is LoggedIn.NO
    file.write_text('{"token": "hush"}')
    assert detect_login(LOGIN, {}, tmp_path) == LoginStatus(LoggedIn.YES, "~/.tool/auth.json", "tool login")
    file.unlink()
    file.mkdir()
    assert detect_login(LOGIN, {}, tmp_path).logged_in is LoggedIn.NO


def test_without_a_known_sign_the_login_is_unknown(tmp_path: Path) -> None:
    assert detect_login(LOGIN, {}, tmp_path, keychain=True).logged_in is LoggedIn.UNKNOWN
    assert detect_login(AgentLogin(("ONE_KEY",)), {}, tmp_path).logged_in is LoggedIn.UNKNOWN
    assert detect_login(None, {"ONE_KEY": "x"}, tmp_path).logged_in is LoggedIn.UNKNOWN


@pytest.mark.parametrize("verb", ["run", "run --dry-run", "agents", "doctor", "plan --prompt 01"])
def test_settings_of_a_module_agent_do_not_load_it(tmp_path: Path, verb: str) -> None:
    with temp_project(tmp_path) as made:
        made.task("01-walls", "true")
        made.write("spy/__init__.py", f"open({str(made.top / 'loaded')!r}, 'w').close()")
        made.write("plait.toml", '[agents.models]\n"spy.agent:Agent" = "m"')
        made.plait(*verb.split(), env=made.python_path(made.top))
        assert not (made.top / "loaded").exists()
