"""`plait demo`: a small real repository in a temporary folder, and its tasks run for real."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import plait.demo
from plait.cli.commands.run_batch import RunOptions, run_tasks
from plait.cli.output import FAILED, INTERNAL, OK, Page, print_line
from plait.client.project_state import read_past_batches
from plait.core.settings import Backoff
from plait.core.state import BatchState
from plait.git.command import PLAIT_IDENTITY, Git
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
    print_line(("A small web site, built by ten real tasks: no keys, no network.", "bold"))
    print_line("Each task works in its own worktree; good results are merged into one branch, which is pushed.")
    print_line(
        "One fails at first and is retried, one fails for good and blocks another, two share a file, and two change "
        "the same line."
    )
    print_line()
    code = run_tasks(RunOptions(top, ("tasks",), flags=DEMO_FLAGS, yes=True, backoff=Backoff(base=1.5, jitter=0.0)))
    batch = _find_batch(top)
    if batch is None or code not in {OK, FAILED}:
        return code
    sys.stdout.flush()
    _print_next_steps(top, batch)
    statuses = {task.task.id: task.status.value for task in batch.tasks if task.status}
    return OK if statuses == EXPECTED_STATUSES else INTERNAL


def make_site(top: Path) -> None:
    source = Path(plait.demo.__file__).parent / "site"
    for file in filter(Path.is_file, source.rglob("*")):
        target = top / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())  # without its permissions, which may forbid writing
    (top / "gitignore").rename(top / ".gitignore")
    remote = top.parent / "remote.git"
    remote.mkdir()
    variables = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **PLAIT_IDENTITY}
    Git(remote, variables=variables).run("init", "--quiet", "--bare", "--initial-branch=main")
    git = Git(top, variables=variables)
    git.run("init", "--quiet", "--initial-branch=main")
    git.run("add", ".")
    git.run("commit", "--quiet", "-m", "A small web site")
    git.run("remote", "add", "origin", str(remote))
    git.run("push", "--quiet", "origin", "main")


def _find_batch(top: Path) -> BatchState | None:
    state = read_past_batches(find_repo(top)).state
    return next(iter(state.batches.values()), None) if state else None


def _print_next_steps(top: Path, batch: BatchState) -> None:
    program = "plait" if shutil.which("plait") else sys.argv[0]  # as it was called: plait may not be on PATH
    command = f"{shlex.quote(program)} -C {shlex.quote(str(top))}"
    page = Page()
    page.add_line()
    page.add_line(("What to try next", "bold"))
    for suggestion, why in (
        (f"git -C {shlex.quote(str(top))} log --oneline --graph {batch.branch}", "what was merged"),
        (f"{command} diff {batch.id} 02-colours", "what one task changed"),
        (f"{command} drop {batch.id} 02-colours", "remove it from the branch"),
        (f"{command} logs {batch.id} 06-translation", "its output before it failed"),
        (f"{command} explain {batch.id} 07-language-menu", "why it did not run"),
        (f"echo hello > {shlex.quote(str(top / 'dictionary.txt'))}", "provide what it needs …"),
        (f"{command} retry {batch.id} 06-translation", "… and retry: both tasks run and are merged"),
    ):
        page.add_line((f"  # {why}", "dim"))
        page.add_line(f"  {suggestion}")
    page.add_line()
    page.add_line(f"The checkout in {top} is unchanged: all results are on {batch.branch}.")
    page.add_line(f"Delete {top.parent} when you are done.")
    page.show()
