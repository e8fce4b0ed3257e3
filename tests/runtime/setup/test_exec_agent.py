"""The process becomes the agent: the same pid, input, environment and signals, and its exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.git.interfaces import WorkspaceSetup
from plait.runtime.setup import setup_command
from plait.runtime.setup.setup_command import SETUP_FAILED_EXIT

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import SetupHarness

NONE = WorkspaceSetup()
TELL = "import json,os,sys; print(json.dumps([os.getpid(), os.getcwd(), sys.argv[1:], dict(os.environ), sys.stdin.read()]))"


def test_the_agent_gets_the_pid_folder_arguments_environment_and_input(harness: SetupHarness) -> None:
    odd = ["", "a b", "--", "new\nline", "$HOME `x` '\"", "ü", os.fsdecode(b"\xff"), "-c"]
    # Python itself adds LC_CTYPE where there is no locale: so it is asked not to.
    given = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": "/nowhere",
        "ODD": os.fsdecode(b"\xfe"),
        "PYTHONCOERCECLOCALE": "0",
    }
    harness.environment.clear()
    harness.environment.update(given)
    workspace = harness.worktree()
    process = harness.start(workspace, NONE, sys.executable, "-c", TELL, *odd, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write("some input")
    ended = harness.end(workspace, process)
    assert ended.code == 0
    pid, folder, words, environment, text = json.loads(ended.out)
    assert (pid, folder, words, text) == (process.pid, str(workspace), odd, "some input")
    assert environment == given


def test_the_locale_is_passed_on_unchanged(harness: SetupHarness) -> None:
    harness.environment.clear()
    harness.environment["PATH"] = os.environ["PATH"]
    workspace = harness.worktree()
    assert harness.fit(workspace, WorkspaceSetup(setup="env"), "sh", "-c", "env").out.count("LC_CTYPE") == 0
    harness.environment["LC_CTYPE"] = "C"
    assert harness.fit(workspace, NONE, "sh", "-c", "env").out.count("LC_CTYPE=C\n") == 1


def test_the_exit_status_is_the_agents(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    assert harness.fit(workspace, NONE, "sh", "-c", "exit 7").code == 7
    assert harness.fit(workspace, NONE, "sh", "-c", "kill -TERM $$").code == -signal.SIGTERM


def test_no_signal_is_ignored_and_no_descriptor_left_open(harness: SetupHarness) -> None:
    if sys.platform != "linux":
        pytest.skip("seen in /proc")
    out = harness.fit(
        harness.worktree(),
        WorkspaceSetup(setup="true"),
        "sh",
        "-c",
        "grep SigIgn /proc/$$/status; ls /proc/$$/fd",
    ).out
    ignored, *descriptors = out.splitlines()[1:]
    # Two belong to the C library and can't be set: they are inherited from the tests.
    settable = sum(1 << (number - 1) for number in signal.valid_signals())
    assert int(ignored.split()[1], 16) & settable == 0
    assert descriptors == ["0", "1", "2"]


def test_modules_in_the_workspace_are_not_imported(harness: SetupHarness) -> None:
    harness.environment["PYTHONPATH"] = "."
    workspace = harness.worktree()
    for name in ("json.py", "signal.py"):
        (workspace / name).write_text("raise SystemExit('the wrong module')")
    (workspace / "plait").mkdir()
    (workspace / "plait/__init__.py").write_text("raise SystemExit('the wrong plait')")
    assert harness.fit(workspace, NONE).out == "the agent runs\n"


def test_a_missing_command_exits_as_in_a_shell(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    ended = harness.fit(workspace, NONE, "no-such-command")
    assert (ended.code, ended.out) == (
        127,
        "plait: no-such-command can't be run: No such file or directory\n",
    )
    (workspace / "plain").touch()
    assert harness.fit(workspace, NONE, "./plain").code == 126


def test_a_script_without_a_shebang_is_run_by_the_shell(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    script = workspace / "agent"
    script.write_text('echo "$0 $1"\n')
    script.chmod(0o755)
    harness.environment["PATH"] = f"{workspace}:{harness.environment['PATH']}"
    assert harness.fit(workspace, NONE, "agent", "one word").out == f"{script} one word\n"


def test_an_unreadable_spec_is_reported(harness: SetupHarness, tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    for text in (None, "", "[]", "{}"):
        if text is not None:
            spec.write_text(text)
        done = subprocess.run(
            (*setup_command.build_setup_command(spec), "echo"),
            capture_output=True,
            text=True,
            check=False,
            cwd=harness.top,
        )
        assert done.returncode == SETUP_FAILED_EXIT
        assert done.stdout.startswith(f"plait: can't read the setup file {spec}: ")
        assert setup_command.read_failure(spec) is None


def test_a_workspace_that_is_not_a_worktree_is_reported(harness: SetupHarness) -> None:
    workspace = harness.worktree()
    (workspace / ".git").unlink()
    harness.write(".env")
    ended = harness.fit(workspace, WorkspaceSetup(copy=(".env",)))
    assert ended.code == SETUP_FAILED_EXIT
    assert ended.failure is not None
    assert harness.wanted(workspace, WorkspaceSetup(copy=(".env",)))
