"""What stands at the edge of a command: pipes that close, disks that are full, names that are no text, and our own bugs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from plait.sources.formats import todo
from plait.store.journal_writer import open_journal_writer
from plait.store.state_claim import claim_state
from plait.testing.script import Script
from tests.support.cli_runner import ask

TODO = "# TODO\n\n### 1. Lay the floor\n**Status**: [NOT STARTED]\n\n### 2. Paint the wall\n**Status**: [NOT STARTED]\n"
BROKEN = """\
from plait.sources.formats import Confidence, Format
def read(source): raise KeyError("surprise")
FORMAT = Format(lambda source: Confidence.NO, read)
"""


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository = tmp_path / "repository"
    repository.mkdir()
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    (repository / "TODO.md").write_text(TODO)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    monkeypatch.delenv("PLAIT_DEBUG", raising=False)
    return repository


def plait(top: Path, *words: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from plait.cli.app import main; main()", "-C", str(top), *words]
    return subprocess.Popen(command, text=True, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]  # a test's own words


@pytest.mark.parametrize("words", [("plan",), ("plan", "--json"), ("next",), ("config",)])
def test_a_closed_pipe_is_not_an_error(top: Path, words: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    run = plait(top, *words, stdout=write)
    os.close(write)
    assert (run.communicate(timeout=60)[1], run.returncode) == ("", 0)


@pytest.mark.parametrize("words", [("plan",), ("plan", "--json"), ("config",)])
def test_a_full_disk_is_reported(top: Path, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        run = plait(top, *words, stdout=full)
        assert run.communicate(timeout=60)[1] == "plait: No space left on device\n"
    assert run.returncode == 1


def test_a_closed_standard_output_is_not_an_error(top: Path) -> None:
    run = plait(top, "plan", preexec_fn=lambda: os.close(1))
    assert (run.communicate(timeout=60)[1], run.returncode) == ("", 0)


def test_the_plan_is_printed_in_an_ascii_terminal(top: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    run = plait(top, "plan", stdout=subprocess.PIPE, env=environment)
    assert run.communicate(timeout=60)[0].startswith("2 tasks ? 1 wave ? from TODO.md\n")


def test_an_interrupted_command_exits_silently_with_130(top: Path) -> None:
    code = (
        "import signal, os\nfrom plait.client import project_sources\nfrom plait.cli.app import run_cli\n"
        "project_sources.open_repo = lambda where: os.kill(os.getpid(), signal.SIGINT)\n"
        f"raise SystemExit(run_cli(['-C', {str(top)!r}, 'plan']))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + signal.SIGINT, "", "")


def test_a_name_that_is_not_utf_8_is_valid_json(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    (top / name).write_text(TODO)
    answer = ask(capsys, top, "plan", name, "--json")
    assert json.loads(answer.out)["tasks"][0]["source"] == f"{name}:3"


def test_a_file_name_in_a_task_may_have_any_length(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "01-one.md").write_text(f"---\ntouches: {'a' * 300}.py\n---\n# One\n")
    assert ask(capsys, top, "plan", "01-one.md").code == 0


def test_a_source_name_may_have_any_length(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "a" * 300
    answer = ask(capsys, top, "plan", name)
    assert (answer.code, answer.err) == (2, f"plait: {name} can't be read: File name too long\n")
    assert ask(capsys, top, "-C", name, "plan").code == 2


def surprise(*_: object) -> NoReturn:
    raise KeyError("surprise")


@pytest.mark.parametrize("words", [("plan",), ("next",), ("config",), ("init",)])
def test_a_bug_is_reported_in_two_lines(
    words: tuple[str, ...], top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("plait.client.project_sources", "plait.client.project_state", "plait.cli.commands.init"):
        monkeypatch.setattr(f"{module}.open_repo", surprise)
    answer = ask(capsys, top, *words)
    assert answer.code == 4
    first, second = answer.err.splitlines()
    assert first == "plait: this is a bug in plait: KeyError: 'surprise'"
    assert "report" in second
    data = json.loads(ask(capsys, top, *words, "--json").out)
    assert data["problems"][0]["message"] == "this is a bug in plait: KeyError: 'surprise'"
    monkeypatch.setenv("PLAIT_DEBUG", "1")
    assert "in surprise" in ask(capsys, top, *words).err


def test_a_failing_format_is_reported_as_a_bug_with_the_file_name(
    top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.sources.formats.todo.FORMAT", replace(todo.FORMAT, read=surprise))
    answer = ask(capsys, top, "plan")
    message = "this is a bug in plait: TODO.md: the format todo failed: KeyError: 'surprise'"
    assert (answer.code, answer.err.splitlines()[0]) == (4, f"plait: {message}")
    data = json.loads(ask(capsys, top, "plan", "--json").out)
    assert data["tasks"] == []
    assert data["problems"][0]["message"] == message
    monkeypatch.setattr("plait.sources.formats.todo.FORMAT", replace(todo.FORMAT, detect=surprise))
    assert "TODO.md: detecting its format failed" in ask(capsys, top, "plan").err


def test_a_failing_plugin_format_is_not_reported_as_a_bug(
    top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (top / "theirs").mkdir()
    (top / "theirs" / "broken_format.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(top)
    answer = ask(capsys, top, "plan", "TODO.md", "--source-format", "theirs.broken_format")
    assert answer.code == 4
    assert answer.err.startswith("plait: TODO.md: the format theirs.broken_format failed: KeyError: 'surprise'\n")
    assert "the author of theirs.broken_format" in answer.err


@pytest.mark.parametrize("words", [("next", "nowhere.md"), ("config", "retires"), ("init",)])
def test_errors_are_json_with_json(words: tuple[str, ...], top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "plait.toml").touch()
    answer = ask(capsys, top, *words, "--json")
    (problem,) = json.loads(answer.out)["problems"]
    assert (answer.code, answer.err, problem["severity"]) == (2, "", "error")


def test_invalid_settings_have_their_lines_in_json(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "plait.toml").write_text("[run]\nretires = 1\nmode = 3\n")
    data = json.loads(ask(capsys, top, "plan", "--json").out)
    places = [(problem["file"], problem["line"]) for problem in data["problems"]]
    assert places == [("plait.toml", 2), ("plait.toml", 3)]


def test_history_gives_an_eta(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = Script("a")
    script.wait(120)
    script.exit_attempt("a")
    state = top / ".git" / "plait"
    claim_state(state)
    assert json.loads(ask(capsys, top, "plan", "--json").out)["eta"] is None
    journal = open_journal_writer(state / "journal.db")
    journal.append(script.records)
    journal.close()
    data = json.loads(ask(capsys, top, "plan", "--json").out)
    assert data["eta"] > 0
    assert data["etaBasis"].startswith("by 1 earlier attempt of ")
    assert f"at once, {data['etaBasis']}\n" in ask(capsys, top, "plan").out


@pytest.mark.parametrize("words", [("plan",), ("next",), ("config", "retries")])
def test_a_damaged_journal_is_a_warning(words: tuple[str, ...], top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = top / ".git" / "plait"
    claim_state(state)
    (state / "journal.db").write_text("not a journal")
    answer = ask(capsys, top, *words)
    assert answer.code == 0
    assert (answer.out + answer.err).count("warning neither history nor saved settings are known: ") == 1


def test_several_directory_options_are_joined_as_in_git(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "a" / "b").mkdir(parents=True)
    assert ask(capsys, top, "-C", "a", "-C", "b", "plan", "../../TODO.md").code == 0
