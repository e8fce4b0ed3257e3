"""A story: a random repository, a random batch on it, and then drops and retries as a person might ask for them.

After each of them, what is left is compared with what plain git makes of it.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from random import Random
from subprocess import Popen

from tests.support import batch_checks
from tests.support.engine_killer import Killer, go_on
from tests.support.git_repository import put
from tests.support.git_repository__oracle import Oracle, Replay
from tests.support.random_agent import first_files
from tests.support.random_agent__handiwork import TOLD
from tests.support.temp_project__estate import Estate

from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Step


class Story:
    """The same seed tells the same story, but for who is quicker."""

    def __init__(self, estate: Estate, seed: int) -> None:
        self.estate = estate
        self._seed = seed
        self._rng = Random(seed)  # noqa: S311 - chance, not secrets
        self._told = estate.top.parent / "told"
        estate.env[TOLD] = str(self._told)  # whoever asks hands over an environment
        self._oracle = Oracle(estate.top / ".git", estate.top.parent / "oracle")
        self._killer = Killer(estate, self._rng, wanted=sys.maxsize)
        self._furnish()
        self._own = estate.own()

    @property
    def batch(self) -> BatchState:
        return self.estate.batch()

    def run(self) -> None:
        self._go_on(self._front())
        self.check()

    def turn(self) -> None:
        self._rng.choice((self.drop, self.retry))()

    def drop(self) -> None:
        """One that ended, whichever way: what is merged of it and of those that need it is taken out, and no more."""
        before = self.batch
        task = self._droppable(before)
        left = self._left(before, task)
        self._ask("drop", task)
        after = self.batch
        assert tuple(entry.change.task for entry in after.merges) == left.kept, f"after {task} was dropped"
        assert self._oracle.tree(batch_checks.head(self.estate, after)) == left.tree
        assert self._status(after, task) is TaskStatus.SKIPPED

    def retry(self) -> None:
        """One that ended, whichever way, is done again, and so are those that waited for it."""
        before = self.batch
        task = self._any(task for task in before.tasks if _can_be_retried(before, task))
        attempts = self._attempts(before, task)
        self._ask("retry", task)
        after = self.batch
        state = after.tasks[after.index[task]]
        assert self._attempts(after, task) > attempts, f"{task} was not tried again"
        for entry in after.merges:
            if entry.change.task == task:
                assert state.last_write is not None
                assert entry.change.base == state.last_write.decision.base, "what is merged is not its newest"

    def check(self) -> None:
        told, batch = batch_checks.records(self.estate), self.batch
        batch_checks.prove_laws(self.estate, told)
        batch_checks.prove_merges(told, batch.base, self._oracle)
        batch_checks.prove_branch(self.estate, batch, self._oracle)
        batch_checks.prove_kept(self.estate, told, self._told)
        batch_checks.prove_tidy(self.estate)
        assert self.estate.own() == self._own

    def _furnish(self) -> None:
        for name, content in first_files(self._rng).items():
            put(self.estate.top / name, content)
        committed = self._rng.random() < 0.5  # tasks may be part of the repository, or not
        if not committed:
            self.estate.begin()
        words = shlex.join(
            [sys.executable, "-P", "-m", "tests.support.random_agent__handiwork", str(self._seed)]
        )
        names = [f"t{place}" for place in range(self._rng.randint(4, 6))]
        for place, name in enumerate(names):
            needs = [need for need in names[:place] if self._rng.random() < 0.25]
            self.estate.task(name, words, needs=f"[{', '.join(needs)}]")
        if committed:
            self.estate.begin()
        self.estate.write("untracked.txt", "mine")

    def _ask(self, verb: str, task: str) -> None:
        asked = self.estate.start(verb, task)
        if self._rng.random() < 0.5:
            self._killer.strike_engine(asked)
        answer = self.estate.answer(asked)
        assert answer.code == 0, answer
        self._go_on(None)
        self.check()

    def _go_on(self, front: Popen[str] | None) -> None:
        if front is not None and self._rng.random() < 0.5:
            self._killer.strike_engine(front)
        if front is not None:
            self.estate.answer(front)
        go_on(self.estate, lambda: self._ended, lambda: self._front("--resume"))

    @property
    def _ended(self) -> bool:
        return self.batch.ended is not None and not self.estate.state().unanswered

    def _front(self, *more: str) -> Popen[str]:
        words = ("run", "tasks", "--yes", "-p", "2", "--retries", "0", *more)
        return self.estate.start(*words)

    def _left(self, batch: BatchState, dropped: str) -> Replay:
        """What git makes of the line without the task: those that need it go with it, and those that clash then."""
        gone = {dropped, *_above(batch, [dropped])}
        while True:
            line = [entry.change for entry in batch.merges if entry.change.task not in gone]
            replay = self._oracle.replay(batch.base, line)
            if not replay.clashes:
                return replay
            gone |= {*replay.clashes, *_above(batch, replay.clashes)}

    def _droppable(self, batch: BatchState) -> str:
        """Mostly one that others were merged after: they began with its code, whether they need it or not."""
        if len(batch.merges) > 1 and self._rng.random() < 0.7:
            return batch.merges[0].change.task
        return self._any(task for task in batch.tasks if task.status is not TaskStatus.SKIPPED)

    def _any(self, tasks: Iterable[TaskState]) -> str:
        return self._rng.choice([task.task.id for task in tasks])

    def _status(self, batch: BatchState, task: str) -> TaskStatus | None:
        return batch.tasks[batch.index[task]].status

    def _attempts(self, batch: BatchState, task: str) -> int:
        return batch.tasks[batch.index[task]].attempt_counts.get(Step.WRITE, 0)


def _can_be_retried(batch: BatchState, task: TaskState) -> bool:
    """All that it needs is there, and nothing that is there needs it."""
    needs = [batch.tasks[batch.index[need.on]] for need in task.task.needs]
    above = [batch.tasks[place] for place in task.dependents]
    done = task.status is TaskStatus.DONE
    return all(need.status is TaskStatus.DONE for need in needs) and not (
        done and any(other.status is TaskStatus.DONE for other in above)
    )


def _above(batch: BatchState, tasks: Iterable[str]) -> set[str]:
    """All that need them, and all that need those."""
    found: set[str] = set()
    rest = [batch.index[task] for task in tasks]
    while rest:
        for place in batch.tasks[rest.pop()].dependents:
            if (name := batch.tasks[place].task.id) not in found:
                found.add(name)
                rest.append(place)
    return found
