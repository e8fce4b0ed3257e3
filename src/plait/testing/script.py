"""A scripted history for tests that read like a specification:

    script = Script("a", task_needing("b", "a"))
    script.exit_attempt("a", Category.TASK)
    assert script.status("b") == "waiting"

Every call is one moment, a second after the last one unless `wait` is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from plait.core.decisions import AttemptStarted, Decision, GateStarted, MergeStarted, RebuildStarted
from plait.core.events import Event, Record
from plait.core.explain import explain_in_words, explain_status
from plait.core.graph import build_checked_plan
from plait.core.reports import (
    AttemptExited,
    GateDone,
    MergeConflicted,
    MergeDone,
    MergedTask,
    Outcome,
    PublishDone,
    PublishFailed,
    RebuildDone,
    Report,
)
from plait.core.requests import Request, Submit
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import Settings
from plait.core.state import BatchState, State, TaskState
from plait.core.status import Category
from plait.core.task import Need, NeedKind, Phase, Task

BATCH = "b1"


def task_needing(name: str, *others: str, kind: NeedKind = NeedKind.NEED) -> Task:
    return Task(name, needs=tuple(Need(other, kind) for other in others))


class Script:
    checks: ClassVar[list[Callable[[State], list[str]]]] = []  # each lists what is wrong with the state after a step

    def __init__(
        self,
        *tasks: Task | str,
        settings: Settings | None = None,
        phases: tuple[Phase, ...] = (),
        start: bool = True,
    ) -> None:
        self.state = State()
        self.records: list[Record] = []
        self.now = 1000.0
        self._requests = 0
        self.answers_merges = True  # answer every merge and rebuild at once
        if start:
            self.submit(*tasks, settings=settings, phases=phases)

    def submit(
        self,
        *tasks: Task | str,
        settings: Settings | None = None,
        phases: tuple[Phase, ...] = (),
        batch: str = BATCH,
    ) -> list[Decision]:
        named = [Task(task) if isinstance(task, str) else task for task in tasks]
        checked = build_checked_plan(named, phases=phases)
        plan = checked.plan
        assert plan is not None, checked.problems
        return self.request(lambda name: Submit(name, batch, plan, settings or Settings(), base="base"))

    def request(self, make: Callable[[str], Request]) -> list[Decision]:
        self._requests += 1
        return self.apply(make(f"r{self._requests}"))

    def apply(self, *events: Request | Report) -> list[Decision]:
        """Fold these and all that follows at once; return the decisions made."""
        self.now += 1
        return self._fold(*events)

    def wait(self, seconds: float) -> list[Decision]:
        """Let time pass as an engine does: waking whenever something is due."""
        until, decided = self.now + seconds, list[Decision]()
        while True:
            _, wake = decide_due(self.state, self.now)
            if wake is None or wake > until:
                self.now = until
                return decided + self._fold()
            self.now = max(self.now, wake)
            decided += self._fold()

    def exit_attempt(
        self, name: str, category: Category = Category.OK, batch: str = BATCH, **outcome: object
    ) -> list[Decision]:
        """Let the task's running attempt exit; a successful one leaves a commit named after the task."""
        task = self.task(name, batch)
        attempt = next(iter(task.alive))
        usual = Outcome(category, tip=f"tip-{name}" if category is Category.OK else None)
        return self.apply(AttemptExited(attempt, replace(usual, **outcome)))  # type: ignore[arg-type]  # fields of Outcome

    def batch(self, name: str = BATCH) -> BatchState:
        return self.state.batches[name]

    def task(self, name: str, batch: str = BATCH) -> TaskState:
        found = self.batch(batch).find_task(name)
        assert found is not None
        return found

    def status(self, name: str, batch: str = BATCH) -> str:
        return explain_status(self.state, self.batch(batch), self.task(name, batch)).status.value

    def explain(self, name: str, batch: str = BATCH) -> str:
        return explain_in_words(self.state, self.batch(batch), self.task(name, batch))

    def running_tasks(self) -> list[str]:
        return [attempt.task for batch in self.state.open.values() for attempt in batch.alive]

    def _fold(self, *events: Event) -> list[Decision]:
        decided: list[Decision] = []
        incoming: list[Event] = list(events)
        while True:
            self.records += fold_incoming(self.state, incoming, self.now)  # type: ignore[arg-type]  # requests and reports only
            records, _ = decide_due(self.state, self.now)
            self.records += records
            for check in self.checks:
                assert check(self.state) == []
            made: list[Decision] = [record.event for record in records]  # type: ignore[misc]  # decide makes decisions
            decided += made
            incoming = [report for decision in made if (report := self._answer_merge(decision)) is not None]
            if not incoming:
                return decided

    def _answer_merge(self, decision: Decision) -> Report | None:
        if not self.answers_merges:
            return None
        match decision:
            case MergeStarted():
                return MergeDone(decision.batch, decision.task, decision.n, f"{decision.onto}+{decision.task}")
            case RebuildStarted():
                return self.make_rebuild_done(decision)
            case _:
                return None

    def make_rebuild_done(self, decision: RebuildStarted) -> RebuildDone:
        batch = self.batch(decision.batch)
        head, line = batch.base, list[MergedTask]()
        for entry in batch.merges:
            name = batch.tasks[entry.task_index].task.id
            if name not in decision.without:
                head = f"{head}+{name}"
                line.append(MergedTask(name, head))
        return RebuildDone(batch.id, decision.n, tuple(line))

    def finish_gate(self, passed: bool) -> list[Decision]:  # noqa: FBT001 - it reads as said
        gate = self.batch().gate
        assert gate is not None
        return self.apply(GateDone(BATCH, gate.n, passed))

    def finish_publish(self, url: str = "") -> list[Decision]:
        """Report that what is being published has arrived."""
        order = self.batch().publishing
        assert order is not None
        return self.apply(PublishDone(BATCH, order.n, url, order.commit))

    def fail_publish(self, why: str, hint: str = "", commit: str = "") -> list[Decision]:
        order = self.batch().publishing
        assert order is not None
        return self.apply(PublishFailed(BATCH, order.n, why, hint, commit))

    def conflict_merge(self, name: str, *files: str) -> list[Decision]:
        merging = self.task(name).merging
        assert merging is not None
        return self.apply(MergeConflicted(BATCH, name, merging, files))


def started_tasks(decisions: list[Decision]) -> list[str]:
    return [decision.attempt.task for decision in decisions if isinstance(decision, AttemptStarted)]


def gate_sizes(decisions: list[Decision]) -> list[int]:
    return [decision.size for decision in decisions if isinstance(decision, GateStarted)]
