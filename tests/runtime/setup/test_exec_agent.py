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
from plait.runtime.setup import spec as spec_
from plait.runtime.setup.spec import SETUP_FAILED_EXIT

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import Bench

NONE = WorkspaceSetup()
TELL = "import json,os,sys; print(json.dumps([os.getpid(), os.getcwd(), sys.argv[1:], dict(os.environ), sys.stdin.read()]))"


def test_pid_folder_words_environment_and_input_are_the_agents(bench: Bench) -> None:
    odd = ["", "a b", "--", "new\nline", "$HOME `x` '\"", "ü", os.fsdecode(b"\xff"), "-c"]
    # Python itself adds LC_CTYPE where there is no locale: so it is asked not to.
    given = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": "/nowhere",
        "ODD": os.fsdecode(b"\xfe"),
        "PYTHONCOERCECLOCALE": "0",
    }
    bench.environment.clear()
    bench.environment.update(given)
    workspace = bench.worktree()
    process = bench.start(workspace, NONE, sys.executable, "-c", TELL, *odd, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write("some input")
    ended = bench.end(workspace, process)
    assert ended.code == 0
    pid, folder, words, environment, text = json.loads(ended.out)
    assert (pid, folder, words, text) == (process.pid, str(workspace), odd, "some input")
    assert environment == given


def test_the_locale_is_the_one_that_was_set_or_none(bench: Bench) -> None:
    bench.environment.clear()
    bench.environment["PATH"] = os.environ["PATH"]
    workspace = bench.worktree()
    assert bench.fit(workspace, WorkspaceSetup(setup="env"), "sh", "-c", "env").out.count("LC_CTYPE") == 0
    bench.environment["LC_CTYPE"] = "C"
    assert bench.fit(workspace, NONE, "sh", "-c", "env").out.count("LC_CTYPE=C\n") == 1


def test_its_exit_status_is_the_agents(bench: Bench) -> None:
    workspace = bench.worktree()
    assert bench.fit(workspace, NONE, "sh", "-c", "exit 7").code == 7
    assert bench.fit(workspace, NONE, "sh", "-c", "kill -TERM $$").code == -signal.SIGTERM


def test_no_signal_is_ignored_and_no_descriptor_left_open(bench: Bench) -> None:
    if sys.platform != "linux":
        pytest.skip("seen in /proc")
    out = bench.fit(
        bench.worktree(),
        WorkspaceSetup(setup="true"),
        "sh",
        "-c",
        "grep SigIgn /proc/$$/status; ls /proc/$$/fd",
    ).out
    ignored, *descriptors = out.splitlines()[1:]
    # The C library keeps two for itself, which nobody can set: they are as whoever started the tests had them.
    settable = sum(1 << (number - 1) for number in signal.valid_signals())
    assert int(ignored.split()[1], 16) & settable == 0
    assert descriptors == ["0", "1", "2"]


def test_modules_of_the_workspace_are_not_ours(bench: Bench) -> None:
    bench.environment["PYTHONPATH"] = "."
    workspace = bench.worktree()
    for name in ("json.py", "signal.py"):
        (workspace / name).write_text("raise SystemExit('the wrong module')")
    (workspace / "plait").mkdir()
    (workspace / "plait/__init__.py").write_text("raise SystemExit('the wrong plait')")
    assert bench.fit(workspace, NONE).out == "the agent runs\n"


def test_a_command_that_is_not_there_is_told_as_a_shell_would(bench: Bench) -> None:
    workspace = bench.worktree()
    ended = bench.fit(workspace, NONE, "no-such-command")
    assert (ended.code, ended.out) == (
        127,
        "plait: no-such-command can't be run: No such file or directory\n",
    )
    (workspace / "plain").touch()
    assert bench.fit(workspace, NONE, "./plain").code == 126


def test_a_script_without_a_first_line_is_the_shells(bench: Bench) -> None:
    workspace = bench.worktree()
    script = workspace / "agent"
    script.write_text('echo "$0 $1"\n')
    script.chmod(0o755)
    bench.environment["PATH"] = f"{workspace}:{bench.environment['PATH']}"
    assert bench.fit(workspace, NONE, "agent", "one word").out == f"{script} one word\n"


def test_a_spec_that_cannot_be_read_is_told(bench: Bench, tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    for text in (None, "", "[]", "{}"):
        if text is not None:
            spec.write_text(text)
        done = subprocess.run(
            (*spec_.build_setup_command(spec), "echo"),
            capture_output=True,
            text=True,
            check=False,
            cwd=bench.top,
        )
        assert done.returncode == SETUP_FAILED_EXIT
        assert done.stdout.startswith(f"plait: can't read the setup file {spec}: ")
        assert spec_.read_failure(spec) is None


def test_a_workspace_that_is_no_worktree_is_told(bench: Bench) -> None:
    workspace = bench.worktree()
    (workspace / ".git").unlink()
    bench.write(".env")
    ended = bench.fit(workspace, WorkspaceSetup(copy=(".env",)))
    assert ended.code == SETUP_FAILED_EXIT
    assert ended.failure is not None
    assert bench.wanted(workspace, WorkspaceSetup(copy=(".env",)))
