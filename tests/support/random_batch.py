"""A random batch in a random repository, followed by random drops and retries.

After each of them the result is compared with that of plain git.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from random import Random
from subprocess import Popen

from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Step
from tests.support import batch_checks
from tests.support.engine_killer import EngineKiller, resume_until
from tests.support.git_repository import ReferenceMerger, ReferenceResult, write_path
from tests.support.random_agent import LOG_VARIABLE, make_initial_files
from tests.support.temp_project import TempProject


class RandomBatch:
    """The same seed gives the same tasks and requests; only the timing differs."""

    def __init__(self, project: TempProject, seed: int) -> None:
        self.project = project
        self._seed = seed
        self._rng = Random(seed)
        self._told = project.top.parent / "told"
        project.env[LOG_VARIABLE] = str(self._told)  # the front end passes its environment on
        self._oracle = ReferenceMerger(project.top / ".git", project.top.parent / "oracle")
        self._killer = EngineKiller(project, self._rng, wanted=sys.maxsize)
        self._write_project()
        self._user_files = project.snapshot_user_files()

    @property
    def batch(self) -> BatchState:
        return self.project.batch()

    def run(self) -> None:
        self._run_to_end(self._start_run())
        self.check()

    def step(self) -> None:
        self._rng.choice((self.drop, self.retry))()

    def drop(self) -> None:
        """Drop a task: the branch loses its change and those of its dependents, and no others."""
        before = self.batch
        task = self._choose_dropped(before)
        left = self._expected_after_drop(before, task)
        self._request("drop", task)
        after = self.batch
        assert tuple(entry.change.task for entry in after.merges) == left.kept, f"after {task} was dropped"
        assert self._oracle.tree(batch_checks.find_branch_head(self.project, after)) == left.tree
        assert self._status(after, task) is TaskStatus.SKIPPED

    def retry(self) -> None:
        """Retry a task: it gets a new attempt, and its newest result is merged."""
        before = self.batch
        task = self._choose_task(task for task in before.tasks if _can_retry(before, task))
        attempts = self._attempts(before, task)
        self._request("retry", task)
        after = self.batch
        state = after.tasks[after.index[task]]
        assert self._attempts(after, task) > attempts, f"{task} was not retried"
        for entry in after.merges:
            if entry.change.task == task:
                assert state.last_write is not None
                assert entry.change.base == state.last_write.decision.base, "an older result was merged"

    def check(self) -> None:
        told, batch = batch_checks.read_records(self.project), self.batch
        batch_checks.check_laws(self.project, told)
        batch_checks.check_merges(told, batch.base, self._oracle)
        batch_checks.check_branch(self.project, batch, self._oracle)
        batch_checks.check_results_kept(self.project, told, self._told)
        batch_checks.check_no_leftovers(self.project)
        assert self.project.snapshot_user_files() == self._user_files

    def _write_project(self) -> None:
        for name, content in make_initial_files(self._rng).items():
            write_path(self.project.top / name, content)
        committed = self._rng.random() < 0.5  # task files may be tracked or not
        if not committed:
            self.project.commit_all()
        words = shlex.join([sys.executable, "-P", "-m", "tests.support.random_agent", str(self._seed)])
        names = [f"t{place}" for place in range(self._rng.randint(4, 6))]
        for place, name in enumerate(names):
            needs = [need for need in names[:place] if self._rng.random() < 0.25]
            self.project.task(name, words, needs=f"[{', '.join(needs)}]")
        if committed:
            self.project.commit_all()
        self.project.write("untracked.txt", "mine")

    def _request(self, verb: str, task: str) -> None:
        asked = self.project.start(verb, task)
        if self._rng.random() < 0.5:
            self._killer.kill_engine_at_random(asked)
        answer = self.project.finish(asked)
        assert answer.code in {0, 1}, answer  # a task that is retried may fail again
        self._run_to_end(None)
        self.check()

    def _run_to_end(self, front: Popen[str] | None) -> None:
        if front is not None and self._rng.random() < 0.5:
            self._killer.kill_engine_at_random(front)
        if front is not None:
            self.project.finish(front)
        resume_until(self.project, lambda: self._has_ended, lambda: self._start_run("--resume"))

    @property
    def _has_ended(self) -> bool:
        return self.batch.ended is not None and not self.project.state().unanswered

    def _start_run(self, *more: str) -> Popen[str]:
        words = ("run", "tasks", "--yes", "-p", "2", "--retries", "0", *more)
        return self.project.start(*words)

    def _expected_after_drop(self, batch: BatchState, dropped: str) -> ReferenceResult:
        """Git's result without the task, its dependents, and the tasks that conflict without it."""
        gone = {dropped, *_find_dependents(batch, [dropped])}
        while True:
            line = [entry.change for entry in batch.merges if entry.change.task not in gone]
            replay = self._oracle.replay(batch.base, line)
            if not replay.clashes:
                return replay
            gone |= {*replay.clashes, *_find_dependents(batch, replay.clashes)}

    def _choose_dropped(self, batch: BatchState) -> str:
        """Mostly the first merged task: the later ones were built on its code, needed or not."""
        if len(batch.merges) > 1 and self._rng.random() < 0.7:
            return batch.merges[0].change.task
        return self._choose_task(task for task in batch.tasks if task.status is not TaskStatus.SKIPPED)

    def _choose_task(self, tasks: Iterable[TaskState]) -> str:
        return self._rng.choice([task.task.id for task in tasks])

    def _status(self, batch: BatchState, task: str) -> TaskStatus | None:
        return batch.tasks[batch.index[task]].status

    def _attempts(self, batch: BatchState, task: str) -> int:
        return batch.tasks[batch.index[task]].attempt_counts.get(Step.WRITE, 0)


def _can_retry(batch: BatchState, task: TaskState) -> bool:
    """Its dependencies are done, and no done task depends on it."""
    needs = [batch.tasks[batch.index[need.on]] for need in task.task.needs]
    above = [batch.tasks[place] for place in task.dependents]
    done = task.status is TaskStatus.DONE
    return all(need.status is TaskStatus.DONE for need in needs) and not (
        done and any(other.status is TaskStatus.DONE for other in above)
    )


def _find_dependents(batch: BatchState, tasks: Iterable[str]) -> set[str]:
    """Direct and indirect dependents."""
    found: set[str] = set()
    rest = [batch.index[task] for task in tasks]
    while rest:
        for place in batch.tasks[rest.pop()].dependents:
            if (name := batch.tasks[place].task.id) not in found:
                found.add(name)
                rest.append(place)
    return found
