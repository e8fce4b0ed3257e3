"""A hostile agent (tests/support/hostile_agent.py) reaches exactly what the table of docs/sandbox.md says."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import psutil
import pytest

from plait.config.loading import merge_layers
from plait.git.worktrees.worktree import find_worktrees_folder
from tests.support import hostile_agent
from tests.support.temp_project import TempProject, temp_project, use_environment
from tests.support.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
PAGE = Path(__file__).parents[3] / "docs" / "sandbox.md"
SCRIPT = Path(hostile_agent.__file__)
_ROW = re.compile(r"^\| (?P<name>[a-z ]+) \| (?P<off>\S+) \| (?P<worktree>\S+) \| (?P<strict>\S+) \|", re.MULTILINE)
HOME_FILES = (
    ".ssh/id_ed25519",
    ".gnupg/private-keys-v1.d/key",
    ".aws/credentials",
    ".netrc",
    ".git-credentials",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".kube/config",
    "diary.txt",
)
# Only root can do these without a sandbox.
ROOT_ONLY = {
    "read password hashes",
    "write system folder",
    "write kernel setting",
    "make a device",
    "mount a file system",
    "change root",
    "reach service in run",
}
# Without a sandbox, plait ends such a process only if it has seen it in time.
UNCERTAIN = {("outlive the attempt", "off")}


def read_table(mode: str) -> dict[str, bool]:
    """What the page says that the agent reaches."""
    text = PAGE.read_text().partition("## A hostile agent")[2]
    return {row["name"]: row[mode] == "yes" for row in _ROW.finditer(text) if row["off"] in {"yes", "no"}}


@dataclass
class Battlefield:
    project: TempProject
    targets: dict[str, str]
    received: list[bytes]

    def list_checks(self, mode: str) -> dict[str, Callable[[], bool]]:
        """Whether something was changed, as seen from outside."""
        top, home, targets = self.project.top, self.project.folder / "home", self.targets
        patience = 0.0 if mode == "off" else TIMEOUT_SECONDS
        git = self.project.git
        return {
            "write shell profile": (home / ".bashrc").exists,
            "write program": (home / ".local" / "bin" / "git").exists,
            "write agent settings": lambda: "hostile" in (home / ".claude" / "settings.json").read_text(),
            "write checkout": (top / "hostile.txt").exists,
            "write hook": (top / ".git" / "hooks" / "post-checkout").exists,
            "write other worktree": Path(targets["other_worktree"], "hostile.txt").exists,
            "write journal": (top / ".git" / "plait" / "journal.db-hostile").exists,
            "write shared temporary file": Path(targets["temporary"] + ".hostile").exists,
            "write system folder": Path(targets["system_file"]).exists,
            "write own exit status": lambda: bool(Path(targets["exit_target"]).read_text().strip()),
            "set repository setting": lambda: "pager = hostile" in (top / ".git" / "config").read_text(),
            "move branch of the user": lambda: bool(git("for-each-ref", "refs/heads/hostile")),
            "make tag": lambda: bool(git("tag", "--list", "hostile-tag")),
            "run program by nested repository": Path(targets["proof_nested"]).exists,
            "run program by other git folder": Path(targets["proof_git"]).exists,
            "stop other process": lambda: not _is_running(int(targets["victim"])),
            # The kernel kills what is left in a sandbox when its first process has ended, maybe a moment after bwrap has.
            "outlive the attempt": lambda: bool(psutil.wait_procs(_find_survivors(targets["survivor"]), patience)[1]),
            "send a datagram": lambda: b"hostile" in self.received,
        }

    def run(self, mode: str) -> dict[str, bool]:
        """What the agent reaches in this mode."""
        command = f"{sys.executable} -I {SCRIPT}"
        words = ("run", "tasks", "--yes", "--retries", "0", "--sandbox", mode, "--agent-command", command)
        limits = {"PLAIT_SANDBOX_MEMORY": "512MB", "PLAIT_SANDBOX_PROCESSES": "30", "PLAIT_SANDBOX_DISK": "16MB"}
        answer = self.project.plait(*words, env=limits)
        said = self.project.plait("logs", "--raw", "--step", "write").out
        lines = dict(line.split(": ", 1) for line in said.splitlines() if ": " in line)
        assert len(lines) > 40, (answer, said)
        checks = self.list_checks(mode)
        return {
            name: checks[name]() if name in checks else not text.startswith("refused") for name, text in lines.items()
        }


def _is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def _find_survivors(name: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if f"600.{int(name, 16)}" in process.cmdline():
                found.append(process)
    return found


def _kill_survivors(name: str) -> None:
    for process in _find_survivors(name):
        process.kill()


@contextmanager
def prepare_battlefield(folder: Path) -> Iterator[Battlefield]:
    with ExitStack() as stack:
        project = stack.enter_context(temp_project(folder, worktrees=True))
        home, name = folder / "home", token_hex(6)
        for file in HOME_FILES:
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text("secret\n")
        (home / ".claude").mkdir()
        (home / ".claude" / "settings.json").write_text("{}\n")
        project.env["AWS_SECRET_ACCESS_KEY"] = "secretsecretsecret"
        project.write(".gitignore", ".env")
        project.write(".env", "SECRET=1")
        project.write("tasks/01-a.md", "# a\n\nDo it.")
        project.commit_all()
        project.plait("token")
        with use_environment(project.env):
            other = find_worktrees_folder(project.place, merge_layers(())) / "batch-zz" / "task-other"
        other.mkdir(parents=True)
        (other / "other.txt").write_text("other\n")
        for file in ("other-project.txt", "temporary"):
            (folder / file).write_text("mine\n")
        (folder / "exit-target").write_text("    ")  # as the supervisor's file is before it ends
        victims = [_start_victim(stack) for _ in range(2)]
        received: list[bytes] = []
        run_socket = Path("/run" if os.access("/run", os.W_OK) else folder, f"plait-{name}.sock")
        stack.callback(run_socket.unlink, missing_ok=True)
        system_file = Path("/etc", f"plait-{name}")
        stack.callback(_remove_if_possible, system_file)
        stack.callback(_kill_survivors, name)
        targets = {
            "checkout": str(project.top),
            "other_project": str(folder / "other-project.txt"),
            "other_worktree": str(other),
            "token": str(home / "state" / "plait" / "token"),
            "victim": str(victims[0]),
            "traced": str(victims[1]),
            "temporary": str(folder / "temporary"),
            "system_file": str(system_file),
            "exit_target": str(folder / "exit-target"),
            "proof_nested": str(folder / "proof-nested"),
            "proof_git": str(folder / "proof-git"),
            "survivor": name,
            "ssh_agent": _listen(stack, str(folder / "ssh.sock")),
            "docker": _listen(stack, str(folder / "docker.sock")),
            "run_socket": _listen(stack, str(run_socket)),
            "abstract": _listen(stack, f"\0plait-{name}").removeprefix("\0"),
            "port": _listen_tcp(stack),
            "udp": _listen_udp(stack, received),
            "processes": "40",
            "memory": str(1 << 30),
        }
        project.env["HOSTILE_TARGETS"] = json.dumps(targets)
        yield Battlefield(project, targets, received)


def _remove_if_possible(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _start_victim(stack: ExitStack) -> int:
    process = subprocess.Popen(["sleep", "600"], env={**os.environ, "SIBLING": "secret"})
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process.pid


def _listen(stack: ExitStack, path: str) -> str:
    server = stack.enter_context(socket.socket(socket.AF_UNIX))
    server.bind(path)
    server.listen()
    return path


def _listen_tcp(stack: ExitStack) -> str:
    server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    return str(server.getsockname()[1])


def _listen_udp(stack: ExitStack, received: list[bytes]) -> str:
    server = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    server.bind(("127.0.0.1", 0))

    def receive() -> None:
        with suppress(OSError):
            while True:
                received.append(server.recv(100))

    threading.Thread(target=receive, daemon=True).start()
    return str(server.getsockname()[1])


@pytest.mark.parametrize("mode", ["off", "worktree", "strict"])
def test_a_hostile_agent_reaches_what_the_page_says(tmp_path: Path, mode: str) -> None:
    """Without a sandbox it reaches everything: the attempts are real."""
    expected = read_table(mode)
    skipped = {name for name in expected if (name, mode) in UNCERTAIN or (os.geteuid() and name in ROOT_ONLY)}
    with prepare_battlefield(tmp_path) as field:
        reached = field.run(mode)
        details = field.project.plait("logs", "--raw", "--step", "write").out
    assert {name: value for name, value in reached.items() if name not in skipped} == {
        name: value for name, value in expected.items() if name not in skipped
    }, details
