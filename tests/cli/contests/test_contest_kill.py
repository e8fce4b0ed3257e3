"""The engine killed at random instants of a contest whose provider refuses now and then: nothing is lost, nothing twice."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random
from subprocess import Popen

from plait.core.reports import AttemptExited
from plait.core.state import BatchState
from plait.core.status import BatchStatus, Category, TaskStatus
from plait.core.task import Step
from tests.support import batch_checks
from tests.support.contest_project import AMBER, BIRCH, ContestProject
from tests.support.engine_killer import EngineKiller, resume_until
from tests.support.git_repository import ReferenceMerger

KILLS = 100 if os.environ.get("PLAIT_CRASH_LONG") else 4
TASKS = ("a", "b", "c")
# Each entrant is refused the first time; kills cost no retry, and a refusal neither: there is none to lose.
WRITES = """echo "begin $PLAIT_BATCH $PLAIT_TASK_ID $PLAIT_ATTEMPT" >>"$TOLD"
sleep 0.3
if mkdir "$CONTENDERS/refused-$PLAIT_TASK_ID" 2>/dev/null; then
  echo "Error: 429 rate limit exceeded, try again in 1 second"
  exit 1
fi
name=${{PLAIT_TASK_ID%%@*}}
for line in {lines}; do echo "$PLAIT_TASK_ID" >>$name.txt; done
"""
CHECK = 'sleep 0.2; test -s "${PLAIT_TASK_ID%%@*}.txt"'
SCORE = 'sleep 0.2; echo "score $PLAIT_TASK_ID" >>"$TOLD"; wc -l <"${PLAIT_ENTRANT%%@*}.txt"'


def test_a_contest_survives_kills_at_random_instants(contest_project: ContestProject, tmp_path: Path) -> None:
    project, log_file = contest_project.project, tmp_path / "log"
    project.forks = False
    log_file.touch()
    project.env["TOLD"] = str(log_file)
    for name in TASKS:
        project.task(name)
    contest_project.write_agent("amber", WRITES.format(lines="1"))
    contest_project.write_agent("birch", WRITES.format(lines="1 2"))
    project.commit_all()
    killer = EngineKiller(project, Random(606), KILLS)
    front = _front(contest_project)
    while not _over(contest_project) and not killer.is_done:
        killer.kill_engine_at_random(front)
        if front.poll() is not None and not _over(contest_project):
            front = _front(contest_project, "--resume")
    resume_until(project, lambda: _over(contest_project), lambda: _front(contest_project, "--resume"))
    _check(contest_project, log_file, ReferenceMerger(project.top / ".git", tmp_path / "oracle"))


def _front(contest_project: ContestProject, *more: str) -> Popen[str]:
    words = ("--yes", "--retries", "0", "-p", "4", "--verify", CHECK)
    contest = () if more else ("--contest", f"{AMBER},{BIRCH}", "--score", SCORE)
    return contest_project.project.start("run", "tasks", *words, *contest, *more)


def _over(contest_project: ContestProject) -> bool:
    batches = list(contest_project.project.state().batches.values())
    return bool(batches) and batches[-1].ended is not None


def _check(contest_project: ContestProject, log_file: Path, oracle: ReferenceMerger) -> None:
    project = contest_project.project
    records, batch = batch_checks.read_records(project), project.batch()
    batch_checks.check_laws(project, records)
    batch_checks.check_merges(records, batch.base, oracle)
    assert batch.ended is BatchStatus.COMPLETED, (batch.reason, _reasons(batch))
    assert {task.status for task in batch.tasks} == {TaskStatus.DONE}
    assert sorted(entry.change.task for entry in batch.merges) == sorted(TASKS)
    assert project.read_merged_files() == {f"{name}.txt": f"{name}@Birch\n{name}@Birch" for name in TASKS}
    starts = Counter(line for line in log_file.read_text().splitlines() if line.startswith("begin"))
    assert set(starts.values()) == {1}, starts
    exits = [record.event for record in records if isinstance(record.event, AttemptExited)]
    writes = [one for one in exits if one.attempt.step is Step.WRITE and "@" in one.attempt.task]
    assert Counter(one.outcome.category for one in writes) == {Category.RATE_LIMIT: 6, Category.OK: 6}


def _reasons(batch: BatchState) -> dict[str, str]:
    return {task.task.id: task.reason for task in batch.tasks}
