"""A sandbox that an ordinary user makes: its namespaces, owners and limits are others than those of root, as whom tests run
in containers and on many build machines.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plait.core.settings import SandboxMode
from plait.core.task import Attempt, Step
from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.workspaces import GitWorkspaces
from plait.runtime.executor import AttemptKind, AttemptSpec
from plait.runtime.sandbox.spec import SandboxLimits, SandboxSpec
from plait.runtime.sandbox.wrapping import build_sandbox_command
from tests.cli.worktree_runs.test_hostile_agent import SCRIPT, Battlefield, prepare_battlefield, read_table

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="all tests of sandboxes run as an ordinary user here")
USER = 65534
# env: setpriv itself can still run programs that the user can't.
AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "env")
LIMITS = SandboxLimits(memory=512 << 20, processes=30, disk=16 << 20)


def run_as_user(*command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run((*AS_USER, *command), env=env, cwd="/", capture_output=True, text=True, check=False)


@pytest.fixture
def python() -> str:
    """One that this user can run: root's own may be in root's home folder."""
    found = [sys.executable, *filter(None, [shutil.which("python3", path="/usr/bin:/usr/local/bin")])]
    is_new = "import sys; sys.exit(sys.version_info < (3, 11))"
    env = {"PATH": os.defpath}
    working = [path for path in found if run_as_user(path, "-I", "-c", is_new, env=env).returncode == 0]
    if not working:
        pytest.skip("no Python 3.11 here that an ordinary user can run")
    done = run_as_user("bwrap", "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true")
    if done.returncode:
        pytest.skip(f"ordinary users can't make a sandbox here: {done.stderr.strip()}")
    return working[0]


@pytest.fixture
def field() -> Iterator[Battlefield]:
    """In a folder that isn't below one of root's."""
    with TemporaryDirectory() as folder, prepare_battlefield(Path(folder)) as field:
        yield field


@pytest.mark.parametrize("mode", [SandboxMode.WORKTREE, SandboxMode.STRICT])
def test_a_hostile_agent_of_an_ordinary_user_reaches_no_more(
    field: Battlefield, python: str, mode: SandboxMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    words, env = build_as_user(field, mode, python)
    done = run_as_user(*words, python, "-I", str(field.project.folder / "agent.py"), env=env)
    give_to(0, field.project.folder)  # or git refuses to work there
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    checks = field.list_checks(mode)
    reached = {name: checks[name]() if name in checks else "refused" not in text[:7] for name, text in lines.items()}
    assert reached == read_table(mode), done


def build_as_user(field: Battlefield, mode: SandboxMode, python: str) -> tuple[list[str], dict[str, str]]:
    """The sandbox of an attempt in a worktree of the project, all of which is the user's, and its environment."""
    folder, top = field.project.folder, field.project.top
    attempt, base = Attempt("b", "a", Step.WRITE, 1), field.project.git("rev-parse", "HEAD").strip()
    worktrees, state = Path(field.targets["other_worktree"]).parents[1], top / ".git" / "plait"
    path = GitWorkspaces(top / ".git", worktrees).prepare("b", "a", base, WorkspaceSetup(), top=str(top))
    shutil.copyfile(SCRIPT, folder / "agent.py")
    env = {"PATH": os.defpath, "HOME": str(folder / "home"), "HOSTILE_TARGETS": json.dumps(field.targets)}
    spec = AttemptSpec(attempt, (python,), path, env, kind=AttemptKind.WORKTREE, checkout=str(top), base=base)
    spec = replace(spec, sandbox=SandboxSpec(mode, readable=(str(folder / "agent.py"),), limits=LIMITS))
    give_to(USER, folder)
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            os.setgroups([])
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
            command = build_sandbox_command(spec, folder / "attempt", state, top / ".git", worktrees)
            os.write(write, json.dumps(command).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        return json.load(file), env


def give_to(user: int, folder: Path) -> None:
    for parent, folders, files in os.walk(folder):
        for name in ("", *folders, *files):
            os.lchown(Path(parent, name), user, user)
