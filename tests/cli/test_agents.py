"""`plait agents`: who is known, who is here, who can be driven."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.adapters.checkup.programs import Program, ask
from plait.agents.known import KNOWN
from plait.cli.agents import agents_command

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

    def write(name: str, script: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    assert agents_command(Path(), as_json=True) == 0
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)}


def test_a_program_that_is_here_says_its_version(install: Install) -> None:
    path = install("tool", 'test "$1" = --version && echo "tool-cli v2.1.197 (build abc)"')
    assert ask(["tool", "other"]) == {
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
def test_a_program_that_does_not_say_it_is_here_all_the_same(
    install: Install, script: str, trouble: str
) -> None:
    path = install("tool", script)
    assert ask(["tool"], patience=0.2 if "sleep" in script else 30) == {
        "tool": Program("tool", str(path), None, trouble)
    }


def test_a_program_that_can_t_be_run_is_told(install: Install) -> None:
    path = install("tool", "")
    path.write_bytes(b"\x7fELF nonsense")
    assert ask(["tool"])["tool"].trouble == "Exec format error"


def test_what_a_program_leaves_running_is_not_waited_for(install: Install, tmp_path: Path) -> None:
    """It holds the output open; a pipe would not end before it does."""
    install("tool", f"sleep 600 & echo $! >{tmp_path / 'pid'}; echo 1.2.3")
    try:
        assert ask(["tool"], patience=30)["tool"].version == "1.2.3"
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_a_program_that_reads_gets_nothing(install: Install) -> None:
    """Also where whoever asks has something to read, such as a terminal."""
    install("tool", "read -r line; echo 4.5.6")
    code = (
        "from plait.adapters.checkup.programs import ask; print(ask(['tool'], patience=30)['tool'].version)"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with asking:
        assert asking.stdout is not None
        assert asking.stdout.read() == "4.5.6\n"


def test_json_tells_every_agent(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    path = install("claude", "echo 2.1.197")
    told = rows(capsys)
    assert list(told) == [known.name for known in KNOWN]
    assert told["claude"] == {
        "name": "claude",
        "description": "Claude Code",
        "available": True,
        "path": str(path),
        "version": "2.1.197",
        "problem": None,
        "driven": False,
        "install": "npm install -g @anthropic-ai/claude-code",
        "command": "claude -p --permission-mode acceptEdits",
    }
    assert (told["codex"]["available"], told["codex"]["version"]) == (False, None)
    assert (told["shell"]["available"], told["shell"]["driven"]) == (True, True)


def test_people_see_who_is_here_first_and_how_to_get_the_others(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("codex", "echo codex-cli 0.166.0")
    assert agents_command(Path(), as_json=False) == 0
    here, _, missing = capsys.readouterr().out.partition("not here\n")
    assert [
        line.split()[:2] for line in here.splitlines() if line.strip() and not line.startswith("   ")
    ] == [
        ["shell", "driven"],
        ["command", "driven"],
        ["codex", "not"],
    ]
    assert "Codex 0.166.0" in here
    assert "--agent-command 'codex exec -s workspace-write -'" in here
    assert "npm install -g @anthropic-ai/claude-code" in missing
    assert "codex" not in missing
