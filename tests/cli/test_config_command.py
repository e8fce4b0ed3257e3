"""`plait config`: what people and programs see."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from plait.cli.commands.config import config_command
from plait.config.keys import KEYS
from plait.core.errors import ConfigError, UserError

TOML = r"""[run]
agent = ["claude", "codex"]
max_parallel = 3
verify = "make\n[bold]test[/]\u001b[31m"
retries = 2

[engine.agent_limits]
claude = 2
"""


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.delenv(key.env_variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PLAIT_TIMEOUT", "90m")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "plait.toml").write_text(TOML)
    return tmp_path


def show_config(where: Path, key: str | None = None, *, width: int = 100) -> str:
    out = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setenv("COLUMNS", str(width))
        assert config_command(where, key) == 0
    return out.getvalue()


def test_the_list_shows_every_value_its_origin_and_its_help(repo: Path) -> None:
    lines = show_config(repo).splitlines()
    rows = {line[2:].split()[0]: line for line in lines if line[:3].strip() and not line.startswith("[")}
    assert rows["max_parallel"].split() == ["*", "max_parallel", "3", "plait.toml:3"]
    assert rows["timeout"].split() == ["*", "timeout", '"1h30m"', "PLAIT_TIMEOUT"]
    assert rows["retries"].split() == ["retries", "2", "plait.toml:5"]
    assert rows["gate"].split() == ["gate", "none", "default"]
    assert rows["agent_limits"].split() == ["*", "agent_limits", "{", "claude", "=", "2", "}", "plait.toml:7"]
    for key in KEYS:
        assert key.field in rows
        assert key.about.split(";")[0][:40] in "\n".join(lines)
    assert lines[-1] == "* differs from the default"


def test_control_characters_in_a_file_are_escaped(repo: Path) -> None:
    assert r'"make\n[bold]test[/]\u001b[31m"' in show_config(repo)
    assert show_config(repo, "run.verify") == "make\n[bold]test[/]\\u001b[31m\n"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_narrow_terminal_loses_nothing(repo: Path, width: int) -> None:
    shown = show_config(repo, width=width)
    for key in KEYS:
        assert key.field in shown
    assert not any(line.endswith(" ") and not line.strip() for line in shown.splitlines())


def test_json_contains_every_setting(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert config_command(repo, None, as_json=True) == 0
    rows = {row["key"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == [key.name for key in KEYS]
    assert rows["run.max_parallel"] == {
        "key": "run.max_parallel",
        "value": 3,
        "default": 4,
        "source": "repository",
        "file": "plait.toml",
        "line": 3,
        "name": None,
    }
    assert rows["run.timeout"] == {
        "key": "run.timeout",
        "value": 5400.0,
        "default": 3600.0,
        "source": "environment",
        "file": None,
        "line": None,
        "name": "PLAIT_TIMEOUT",
    }
    assert rows["run.gate"]["value"] is None
    assert rows["run.gate"]["source"] == "default"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("run.max_parallel", "3\n"),
        ("max_parallel", "3\n"),
        ("run.agent", "claude\ncodex\n"),
        ("run.gate", ""),
        ("run.timeout", "1h30m\n"),
        ("run.stop_on_fail", "false\n"),
        ("engine.agent_limits", "claude=2\n"),
        ("sources.paths", ""),
    ],
)
def test_one_value_is_printed_unquoted_for_scripts(repo: Path, key: str, value: str) -> None:
    assert show_config(repo, key) == value


def test_one_value_can_be_printed_as_json(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert config_command(repo, "agent", as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["value"] == ["claude", "codex"]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("run.max_paralell", "Did you mean max_parallel?"),
        ("max-parallel", "Did you mean run.max_parallel?"),
        ("sources.retries", "Did you mean run.retries?"),
        ("xyzzy", "`plait config` lists them all."),
        ("", "`plait config` lists them all."),
    ],
)
def test_an_unknown_key_is_an_error_with_a_suggestion(repo: Path, key: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        show_config(repo, key)
    assert caught.value.message.startswith("there is no setting called ")
    assert caught.value.hint == hint


def test_invalid_settings_are_an_error(repo: Path) -> None:
    (repo / "plait.toml").write_text("[run]\nretires = 1\n")
    with pytest.raises(ConfigError, match=r"plait.toml:2: there is no setting called run.retires"):
        show_config(repo)


def test_warnings_go_to_standard_error(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLAIT_RETRYS", "3")
    assert show_config(repo, "run.retries") == "2\n"
    output = capsys.readouterr()
    assert output.err == "warning PLAIT_RETRYS: there is no setting of this name\n  Did you mean PLAIT_RETRIES?\n"
    assert output.out == ""


def test_importing_the_settings_imports_no_slow_libraries() -> None:
    heavy = "{'rich', 'tomllib', 'platformdirs', 'msgspec', 'typer', 'json', 'markdown_it', 'yaml'}"
    code = f"import sys, plait.config.keys, plait.config.reference; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
