"""`plait demo`: a small real repository in a temporary folder, and its tasks run for real."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from plait.cli.commands.run import RunOptions, run_tasks
from plait.cli.output import FAILED, INTERNAL, OK, Page
from plait.client.project_state import read_past_batches
from plait.core.errors import WorldError
from plait.core.settings import Backoff
from plait.core.state import BatchState
from plait.git.location import find_repo

# One task is meant to fail.
EXPECTED_STATUSES = {
    "01-pages": "done",
    "02-colours": "done",
    "03-dark-colours": "done",
    "04-logo": "done",
    "05-search": "done",
    "06-translation": "failed",
    "07-language-menu": "blocked",
    "08-site-map": "done",
    "09-slogan": "done",
    "10-promise": "done",
}
# The demo doesn't depend on the user's settings.
DEMO_FLAGS = {
    "run.agent": "shell",
    "run.agent_command": "",
    "run.auto_approve": "false",
    "run.budget": "",
    "run.gate": "",
    "run.idle_timeout": "1m",
    "run.isolation": "worktree",
    "run.max_parallel": "4",
    "run.mode": "parallel",
    "run.on_conflict": "repair",
    "run.order": "critical-path",
    "run.retries": "1",
    "run.stop_on_fail": "false",
    "run.timeout": "1m",
    "run.verify": "",
    "sources.exclude": [],
    "sources.file_conflicts": "inferred",
    "sources.format": "",
    "pr.when_done": "push",
    "pr.remote": "origin",
    "pr.target": "",
}


def demo_command(where: Path) -> int:  # noqa: ARG001 - it makes its own directory
    """The exit code is 0 if every task ended as designed."""
    top = Path(tempfile.mkdtemp(prefix="plait-demo-")).resolve() / "site"
    make_site(top)
    page = Page()
    page.add_line(("A small web site, built by ten real tasks: no keys, no network.", "bold"))
    page.add_line("Each task works in its own worktree; good results are merged into one branch, which is pushed.")
    page.add_line(
        "One fails at first and is retried, one fails for good and blocks another, two share a file, and two change "
        "the same line."
    )
    page.add_line()
    page.show()
    code = run_tasks(RunOptions(top, ("tasks",), flags=DEMO_FLAGS, yes=True, backoff=Backoff(base=1.5, jitter=0.0)))
    batch = _find_batch(top)
    if batch is None or code not in {OK, FAILED}:
        return code
    sys.stdout.flush()
    _print_next_steps(top, batch)
    statuses = {task.task.id: task.status.value for task in batch.tasks if task.status}
    return OK if statuses == EXPECTED_STATUSES else INTERNAL


def make_site(top: Path) -> None:
    _copy(resources.files("plait.demo") / "site", top)
    names = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=plait", "-c", "user.email=plait@localhost"]
    (top / "gitignore").rename(top / ".gitignore")
    remote = top.parent / "remote.git"
    remote.mkdir()
    _git(remote, ["init", "--quiet", "--bare", "--initial-branch=main"], names)
    for words in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "."],
        [*who, "commit", "--quiet", "-m", "A small web site"],
        ["remote", "add", "origin", str(remote)],
        ["push", "--quiet", "origin", "main"],
    ):
        _git(top, words, names)


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _copy(entry, target / entry.name)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())


def _git(top: Path, words: list[str], names: dict[str, str]) -> None:
    try:
        made = subprocess.run(
            ["git", "-C", str(top), *words],
            env={**os.environ, **names},
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise WorldError("git is not installed", hint="Install git 2.38 or newer.") from None
    if made.returncode:
        raise WorldError(f"git {words[0]} failed in {top}: {made.stderr.strip()}")


def _find_batch(top: Path) -> BatchState | None:
    state = read_past_batches(find_repo(top)).state
    return next(iter(state.batches.values()), None) if state else None


def _print_next_steps(top: Path, batch: BatchState) -> None:
    plait = _format_plait_command(top)
    page = Page()
    page.add_line()
    page.add_line(("What to try next", "bold"))
    for command, why in (
        (f"git -C {shlex.quote(str(top))} log --oneline --graph {batch.branch}", "what was merged"),
        (f"{plait} diff {batch.id} 02-colours", "what one task changed"),
        (f"{plait} drop {batch.id} 02-colours", "remove it from the branch"),
        (f"{plait} logs {batch.id} 06-translation", "its output before it failed"),
        (f"{plait} explain {batch.id} 07-language-menu", "why it did not run"),
        (f"echo hello > {shlex.quote(str(top / 'dictionary.txt'))}", "provide what it needs …"),
        (f"{plait} retry {batch.id} 06-translation", "… and retry: both tasks run and are merged"),
    ):
        page.add_line((f"  # {why}", "dim"))
        page.add_line(f"  {command}")
    page.add_line()
    page.add_line(f"The checkout in {top} is unchanged: all results are on {batch.branch}.")
    page.add_line(f"Delete {top.parent} when you are done.")
    page.show()


def _format_plait_command(top: Path) -> str:
    """The program as it was called: plait may not be on PATH."""
    program = "plait" if shutil.which("plait") else sys.argv[0]
    return f"{shlex.quote(program)} -C {shlex.quote(str(top))}"
