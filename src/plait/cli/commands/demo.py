"""`plait demo`: a small repository in a temporary folder, whose tasks really run."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import plait.demo
from plait.cli.commands.run_batch import RunOptions, run_tasks
from plait.cli.commands.watch import watch_batch
from plait.cli.output import FAILED, INTERNAL, OK, Page, print_line, print_notice
from plait.client.event_stream import EventStream
from plait.client.project_state import load_project_config, read_past_batches
from plait.client.session import new_request_id, open_session
from plait.client.trust import list_repo_commands, save_trust
from plait.core.requests import Retry
from plait.core.settings import Backoff
from plait.core.state import BatchState
from plait.core.status import TaskStatus
from plait.git.command import PLAIT_IDENTITY, Git
from plait.store.state_claim import open_repo

# After the first run: one task is meant to fail until it gets what it needs.
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
FAILING_TASK, MISSING_FILE = "06-translation", "dictionary.txt"
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
    """Run the demo. The exit code is 0 if every task ended as designed: in the end, all are done."""
    top = Path(tempfile.mkdtemp(prefix="plait-demo-")).resolve() / "site"
    make_site(top)
    print_line(("A small web site, built by ten real tasks: no keys, no network.", "bold"))
    print_line("Each task works in its own worktree; good results are merged into one branch.")
    print_line("One task fails and is retried at once, one fails because a file is missing and")
    print_line("blocks another, two share a file, and two change the same line.")
    print_line()
    options = RunOptions(top, ("tasks",), flags=DEMO_FLAGS, yes=True, backoff=Backoff(base=1.5, jitter=0.0))
    code = run_tasks(options)
    batch = _find_batch(top)
    if batch is None or code not in {OK, FAILED}:
        return code
    if {task.task.id: task.status.value for task in batch.tasks if task.status} != EXPECTED_STATUSES:
        return INTERNAL
    code = _retry_failed_task(options, batch.id)
    batch = _find_batch(top)
    if code != OK or batch is None:
        return code
    sys.stdout.flush()
    _print_next_steps(top, batch)
    return OK


def _retry_failed_task(options: RunOptions, batch: str) -> int:
    """Provide what the task lacked, retry it, and show the batch until it ends."""
    print_line()
    print_line((f"{FAILING_TASK} failed because {MISSING_FILE} is missing. Now with that file:", "bold"))
    print_line(f"  echo hello > {MISSING_FILE}")
    print_line(f"  plait retry {batch} {FAILING_TASK}")
    print_line()
    (options.directory / MISSING_FILE).write_text("hello\n", encoding="utf-8")
    with open_session(open_repo(options.directory), EventStream()) as session:
        session.subscribe()
        answer = session.send(Retry(new_request_id(), batch, FAILING_TASK))
        if not answer.granted:
            print_notice(f"{FAILING_TASK} can't be retried: {answer.why or 'no engine answered'}")
            return INTERNAL
        return watch_batch(options, session, batch)


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
    git.run("config", "user.name", PLAIT_IDENTITY["GIT_AUTHOR_NAME"])
    git.run("config", "user.email", PLAIT_IDENTITY["GIT_AUTHOR_EMAIL"])
    git.run("add", ".")
    git.run("commit", "--quiet", "-m", "A small web site")
    git.run("remote", "add", "origin", str(remote))
    git.run("push", "--quiet", "origin", "main")
    location = open_repo(top)
    save_trust(location, list_repo_commands(load_project_config(top), location))  # plait's own


def _find_batch(top: Path) -> BatchState | None:
    state = read_past_batches(open_repo(top)).state
    return next(iter(state.batches.values()), None) if state else None


def _print_next_steps(top: Path, batch: BatchState) -> None:
    done = sum(task.status is TaskStatus.DONE for task in batch.tasks)
    steps = (
        (f"git log --oneline --graph {batch.branch}", "what was merged"),
        (f"plait diff {batch.id} 02-colours", "what one task changed"),
        (f"plait explain {batch.id} {FAILING_TASK}", "why it failed at first"),
        (f"plait drop {batch.id} 02-colours", "remove it from the branch"),
    )
    width = max(len(command) for command, _ in steps)
    page = Page()
    page.add_line()
    page.add_line(("What to try next", "bold"))
    page.add_line(f"  cd {shlex.quote(str(top))}")
    if shutil.which("plait") is None:
        page.add_line(f"  alias plait={shlex.quote(_find_program())}")
    for command, why in steps:
        page.add_line(f"  {command:<{width}}", (f"  # {why}", "dim"))
    page.add_line()
    page.add_line((f"{done} of {len(batch.tasks)} tasks are done, on one branch: {batch.branch}", "bold green"))
    page.add_line(f"In the checkout, only {MISSING_FILE} is new. To delete all of it:")
    page.add_line(f"  rm -rf {shlex.quote(str(top.parent))}")
    page.show()


def _find_program() -> str:
    """Return how plait was called, in a form that works from any directory."""
    program = Path(sys.argv[0]).absolute()
    return str(program) if os.access(program, os.X_OK) else f"{sys.executable} -m plait"
