"""Engine, front end, git processes or all of them are killed at any instant of batches with worktrees: nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from subprocess import Popen

import pytest

from plait.core.state import BatchState
from plait.core.status import TaskStatus
from plait.git.location import find_repo
from plait.store.inbox import open_inbox
from plait.store.project_files import INBOX_FILE
from tests.support import batch_checks
from tests.support.engine_killer import EngineKiller
from tests.support.git_repository import ReferenceMerger
from tests.support.random_agent import signature_path
from tests.support.temp_project import TempProject, temp_project as make
from tests.support.waiting import TIMEOUT_SECONDS

LAYERS, WIDTH = 3, 4
MOST = 8  # kills in one batch: then it is left to come to its end
PAUSES = (0.05, 0.2, 1.0)  # seconds: some are over before the next engine comes, some live through it
SCRIPT = """echo "begin $PLAIT_BATCH $PLAIT_TASK_ID $PLAIT_ATTEMPT" >> "$TOLD"
sleep {pause}
mkdir -p signed
{work}
sleep {pause}
echo "end $PLAIT_BATCH $PLAIT_TASK_ID $PLAIT_ATTEMPT" >> "$TOLD"
{end}
"""
SIGN = "echo $PLAIT_TASK_ID > signed/$PLAIT_TASK_ID-$PLAIT_ATTEMPT.txt"
WORK = {
    "dirty": f"{SIGN}; echo $PLAIT_TASK_ID >> pages/{{place}}.txt",
    "commits": f"rm pages/{{place}}.txt; git add -A; git commit -qm by-the-agent; {SIGN}; git add -A; git commit -qm more",
    "staged": f"{SIGN}; git add signed; echo more >> signed/$PLAIT_TASK_ID-$PLAIT_ATTEMPT.txt",
    "detached": f"git checkout -q --detach; {SIGN}; git add -A; git commit -qm nowhere; echo x > left.$PLAIT_TASK_ID",
    "clash": f"{SIGN}; echo $PLAIT_TASK_ID > clash.txt",
    "idle": "true",
    "wrong": f"{SIGN}; touch wrong",
    "guilty": f"{SIGN}; touch guilty",
    "dies": f"{SIGN}; echo half > half.txt; git add half.txt",
}
GOOD = ("dirty", "commits", "staged", "detached")
# Those that come to nothing in each batch, and those that stand in each other's way.
ALWAYS = ("clash", "clash", "clash", "wrong", "guilty", "dies", "idle")
VERIFY = 'echo "check $PLAIT_BATCH $PLAIT_TASK_ID $PLAIT_ATTEMPT" >> "$TOLD"; test ! -e wrong'
GATE = 'echo "gate $PLAIT_BATCH $PLAIT_ATTEMPT" >> "$TOLD"; test ! -e guilty'
Kinds = Mapping[str, str]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with make(tmp_path, worktrees=True, forks=False) as made:
        yield made


def test_kills_at_random_instants(project: TempProject, tmp_path: Path, *, long: bool) -> None:
    """The batches and what is done to them follow from a seed; when it happens does not."""
    chance = Random(404)
    killer = EngineKiller(project, chance, wanted=200 if long else 6)
    before = _furnish(project)
    oracle = ReferenceMerger(project.top / ".git", tmp_path / "oracle")
    batches: dict[str, Kinds] = {}
    while not killer.is_done:
        folder = f"tasks{len(batches) + 1}"
        kinds = _write_tasks(project, folder, chance)
        before = {
            **before,
            **{name: own for name, own in project.snapshot_user_files().items() if folder in name},
        }
        _run(project, folder, killer)
        late = chance.random() < 0.3
        if late:  # what it had no time to put away is put away by the next one
            killer.kill_engine()
        batches[_newest(project).id] = kinds
        project.wait_for_exit()
        _check(project, oracle, batches)
        assert project.snapshot_user_files() == before
        if not late:
            batch_checks.check_no_leftovers(project)
    assert project.plait("gc", "--yes").code == 0
    batch_checks.check_no_leftovers(project)
    print(f"{killer.count} kills, {killer.engines} of engines, {len(batches)} batches")  # noqa: T201


def _furnish(project: TempProject) -> dict[str, object]:
    """All that a person may have lying about."""
    for page in range(LAYERS * WIDTH):
        project.write(f"pages/{page}.txt", f"page {page}")
    project.write("clash.txt", "base")
    project.commit_all()
    project.write("stashed.txt", "later")
    project.git("stash", "push", "--quiet", "--include-untracked")
    project.write("untracked.txt", "mine")
    project.write("staged.txt", "mine too")
    project.git("add", "staged.txt")
    project.write("pages/0.txt", "not committed")
    return project.snapshot_user_files()


def _write_tasks(project: TempProject, folder: str, chance: Random) -> Kinds:
    kinds = [*ALWAYS, *(chance.choice(GOOD) for _ in range(LAYERS * WIDTH - len(ALWAYS)))]
    chance.shuffle(kinds)
    named: dict[str, str] = {}
    for place, kind in enumerate(kinds):
        layer = place // WIDTH
        name = f"{folder}-{layer}-{place % WIDTH}"
        needs = [f"{folder}-{layer - 1}-{chance.randrange(WIDTH)}"] if layer and chance.random() < 0.6 else []
        script = SCRIPT.format(
            work=WORK[kind].format(place=place),
            pause=chance.choice(PAUSES),
            end="exit 1" if kind == "dies" else "",
        )
        project.task(name, script, folder=folder, needs=f"[{', '.join(needs)}]")
        named[name] = kind
    return named


def _run(project: TempProject, folder: str, killer: EngineKiller) -> None:
    submitted, enough = len(project.state().batches), killer.count + MOST
    front = _front(project, folder)
    while not _ended(project, submitted):
        if killer.is_done or killer.count >= enough:
            project.finish(front)
        else:
            killer.kill_random(front)
        if front.poll() is not None:
            there = len(project.state().batches) > submitted or _pending(project)
            front = _front(project, folder, *(["--resume"] if there else []))
    front.communicate(timeout=TIMEOUT_SECONDS)


def _front(project: TempProject, folder: str, *more: str) -> Popen[str]:
    words = ("--yes", "-p", "4", "--retries", "0", "--push", "--verify", VERIFY, "--gate", GATE)
    return project.start("run", folder, *words, *more, env={"TOLD": str(_log_path(project))})


def _log_path(project: TempProject) -> Path:
    return project.top.parent / "told"


def _newest(project: TempProject) -> BatchState:
    return list(project.state().batches.values())[-1]


def _ended(project: TempProject, submitted: int) -> bool:
    return len(project.state().batches) > submitted and _newest(project).ended is not None


def _pending(project: TempProject) -> bool:
    """Something was asked for that no engine has taken yet."""
    with suppress(Exception), closing(open_inbox(find_repo(project.top).state / INBOX_FILE)) as inbox:
        return bool(inbox.pending())
    return False


def _check(project: TempProject, oracle: ReferenceMerger, batches: Mapping[str, Kinds]) -> None:
    records = batch_checks.read_records(project)  # the chain of checksums holds, or this raises
    batch_checks.check_laws(project, records)
    batch = _newest(project)
    kinds = batches[batch.id]
    _check_statuses(batch, kinds)
    batch_checks.check_merges(
        [record for record in records if getattr(record.event, "batch", "") == batch.id], batch.base, oracle
    )
    batch_checks.check_branch(project, batch, oracle)
    batch_checks.check_results_kept(project, records, _log_path(project))
    batch_checks.check_signatures(
        project,
        [task.last_write.name for task in batch.tasks if task.last_write and kinds[task.task.id] != "idle"],
    )
    _check_files(project, batch, kinds)
    assert batch.head in batch.gate_passed_commits
    assert project.git("ls-remote", "origin", f"refs/heads/{batch.branch}").split()[0] == batch.head


def _check_statuses(batch: BatchState, kinds: Kinds) -> None:
    statuses = {task.task.id: task.status for task in batch.tasks}
    for task in batch.tasks:
        name, kind = task.task.id, kinds[task.task.id]
        if any(statuses[need.on] is not TaskStatus.DONE for need in task.task.needs):
            expected = {TaskStatus.BLOCKED}
        elif kind == "clash":
            expected = {TaskStatus.DONE, TaskStatus.CONFLICTED}  # git says which
        else:
            expected = {TaskStatus.DONE if kind in GOOD else TaskStatus.FAILED}
        assert task.status in expected, (name, kind, task.status, task.reason)


def _check_files(project: TempProject, batch: BatchState, kinds: Kinds) -> None:
    """Every task that is done is seen in the branch once, and none of the others."""
    names = project.git("ls-tree", "-r", "--name-only", batch.head).splitlines()
    signed = [name for name in names if name.startswith("signed/")]
    done = [task for task in batch.tasks if task.status is TaskStatus.DONE]
    assert sorted(signed) == sorted(signature_path(task.task.id, 1) for task in done)
    for task in done:
        page, kind = f"pages/{task.index}.txt", kinds[task.task.id]
        assert (page in names) == (kind != "commits")
        if kind == "dirty":
            text = project.git("show", f"{batch.head}:{page}")
            assert text == f"page {task.index}\n{task.task.id}", "its change is lost, or there twice"
