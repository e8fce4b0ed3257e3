"""Histories written by hand, to show what each law forbids and that the Auditor notices it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from plait.core import decisions as d, reports as r, requests as q
from plait.core.events import Event, Record
from plait.core.plan import Plan
from plait.core.reducers import evolve
from plait.core.settings import Settings
from plait.core.state import State
from plait.core.status import Category, TaskStatus
from plait.core.task import Attempt, Phase, Step, Task
from plait.testing.simulator.observer import Violation
from tests.support.laws.auditor import Auditor

SETTINGS = Settings(agents=("amber",), providers=(("amber", "north"),), max_parallel=2, retries=1)
WRITE, VERIFY = Step.WRITE, Step.VERIFY

# Any, below: fields of the event that is to differ from the plain one.


def expect_violation(law: str) -> Callable[[Callable[[], object]], Callable[[], None]]:
    """Make a test of a history: it passes when the history breaks this law and no other."""

    def made(history: Callable[[], object]) -> Callable[[], None]:
        @wraps(history)
        def test() -> None:
            broken = _find_violation(history)
            assert broken is not None, f"nobody noticed that {law!r} was broken"
            assert broken.law == law, broken

        return test

    return made


def _find_violation(history: Callable[[], object]) -> Violation | None:
    try:
        history()
    except Violation as violation:
        return violation
    return None


class History:
    """Two tasks, `a` and `b`, told one record at a time; commits are named by what is in them.

    `b` needs `a`, or (`apart`) they are independent, or (`shared`) they touch one file; `wants` is a file that `b` alone
    touches. `task` are fields of `a`.
    """

    def __init__(
        self,
        settings: Settings = SETTINGS,
        *,
        apart: bool = False,
        shared: bool = False,
        wants: str = "",
        **task: Any,
    ) -> None:
        self.auditor = Auditor(lambda commit: frozenset(commit.split("+")[1:]), ("B",))
        self.now = 1000.0
        self._seq = 0
        self._state = State()
        tasks = (replace(Task("a"), **task), Task("b"))
        holds = (("file:x",), ("file:x",)) if shared else ((), (f"file:{wants}",) if wants else ())
        phases = (Phase("1", total=1), Phase("2", after=("1",), total=1)) if "phase" in task else ()
        plan = Plan(tasks, ((), () if apart or shared else (0,)), holds, (2.0, 1.0), phases)
        self(r.EngineTaken(1), q.Submit("s", "B", plan, settings, base="base"), d.RequestGranted("s"))

    def __call__(self, *events: Event) -> History:
        for event in events:
            self._seq += 1
            record = Record(self._seq, self.now, event)
            self.auditor.observe(record)
            evolve(self._state, record)
        return self

    def advance(self, seconds: float = 5.0) -> History:
        self.now += seconds
        return self

    def check_idle(self, wake: float | None = None) -> None:
        self.auditor.check_idle(self.now, wake, self._state)

    def grant(self, request: q.Request, *tasks: str) -> History:
        return self(request, d.RequestGranted(request.id, tasks))

    def start_attempt(self, task: str = "a", **other: Any) -> History:
        return self(attempt_started(task, **other))

    def exit_attempt(self, task: str = "a", category: Category = Category.OK, n: int = 1, **other: Any) -> History:
        tip = f"base+{task}" if category is Category.OK else None
        outcome = replace(r.Outcome(category, tip=tip), **other)
        return self.advance()(r.AttemptExited(attempt_of(task, n), outcome))

    def merge(self, task: str = "a", onto: str = "base") -> History:
        self(
            d.StepPassed(attempt_of(task), Step.MERGE),
            d.MergeStarted("B", task, 1, onto, f"base+{task}", onto),
        )
        return self.advance()(r.MergeDone("B", task, 1, f"{onto}+{task}"))

    def finish(self, task: str = "a") -> History:
        return self.start_attempt(task).exit_attempt(task).merge(task)(task_ended(task, TaskStatus.DONE))


def attempt_of(task: str = "a", n: int = 1, step: Step = WRITE) -> Attempt:
    return Attempt("B", task, step, n)


def attempt_started(task: str = "a", n: int = 1, step: Step = WRITE, **other: Any) -> d.AttemptStarted:
    plain = d.AttemptStarted(attempt_of(task, n, step), "amber", "north", 3600.0, 1800.0, base="base")
    return replace(plain, **other)


def task_ended(task: str, status: TaskStatus, **other: Any) -> d.TaskEnded:
    return replace(d.TaskEnded("B", task, status, "because"), **other)


def retry_granted(task: str = "a", at: float = 2000.0, *, counted: bool = True, **other: Any) -> d.RetryGranted:
    plain = d.RetryGranted("B", task, WRITE, at, Category.TASK, "again", counted)
    return replace(plain, **other)
