"""What the state forgets: attempts, gates, conflicts and the timeline of each batch, folded from the journal.

Memory grows with attempts, gates and tasks, not with records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from plait.client.task_notes import BatchNotes, FeedbackPart
from plait.core import decisions as d, reports as r, requests as q
from plait.core.events import Event, Record
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, TaskState
from plait.core.status import Category, EndWhy, TaskStatus
from plait.core.task import Attempt, Step


@dataclass(slots=True)
class TimelineSpan:
    """A span of time from `start` to `end`; None: it hasn't ended. `result` says in a word how it ended, `detail` in a
    sentence.
    """

    kind: str
    start: float
    end: float | None = None
    n: int | None = None
    agent: str | None = None
    result: str | None = None
    detail: str = ""
    why: EndWhy | None = None
    commit: str = ""  # that a merge made
    files: tuple[str, ...] = ()  # in which a merge conflicted

    def close(self, at: float, result: str | None = None, detail: str = "") -> None:
        """End the span; only the first report counts. A clock may be set back, but nothing ends before it starts."""
        if self.end is None:
            self.end, self.result, self.detail = max(at, self.start), result, detail or self.detail


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """An attempt, past or running (`outcome` None). `base` is the commit it started from. `then` says why the task was
    retried after it.

    `told` is the feedback that the agent got beyond the task; if there is any, it also got the end of the output of
    `told_check`.
    """

    attempt: Attempt
    agent: str
    started_at: float
    ended_at: float | None = None
    outcome: r.Outcome | None = None
    ending: EndWhy | None = None
    then: str = ""
    base: str = ""
    told: tuple[FeedbackPart, ...] = ()
    told_check: Attempt | None = None

    def to_span(self) -> TimelineSpan:
        attempt = self.attempt
        span = TimelineSpan(attempt.step.value, self.started_at, n=attempt.n, agent=self.agent, why=self.ending)
        if self.ended_at is not None and self.outcome is not None:
            span.close(self.ended_at, self.outcome.category.value, self.outcome.detail)
        return span


@dataclass(frozen=True, slots=True)
class GateRun:
    """A run of the gate. `verdict` None: it runs, or was lost. `dropped`: void, because the branch changed meanwhile."""

    decision: d.GateStarted
    started_at: float
    ended_at: float | None = None
    verdict: bool | None = None
    detail: str = ""
    dropped: bool = False

    @property
    def passed(self) -> bool | None:
        return None if self.dropped else self.verdict

    def to_span(self) -> TimelineSpan:
        span = TimelineSpan("gate", self.started_at, n=self.decision.n)
        if self.ended_at is not None:
            span.close(self.ended_at, "passed" if self.verdict else "failed", self.detail)
        return span


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A conflict. `onto` is the commit that the change was merged onto; "": the batch's base."""

    change: d.Change
    onto: str
    files: tuple[str, ...]


def has_conflict(task: TaskState) -> bool:
    """Whether the task ended with a conflict, is about to, or is repairing one."""
    return task.status is TaskStatus.CONFLICTED or task.conflict_files is not None or task.change_to_repair is not None


def find_earlier_changes(batch: BatchState, conflict: MergeConflict) -> dict[str, d.Change]:
    """Return the changes that the branch had at the conflict and still has, by task and in their order."""
    count = next((n for n, entry in enumerate(batch.merges, 1) if entry.commit == conflict.onto), len(batch.merges))
    changes = (entry.change for entry in batch.merges[:count] if conflict.onto)
    return {change.task: change for change in changes if change.task != conflict.change.task}


@dataclass(frozen=True, slots=True)
class PastResolution:
    """The nth time that a person resolved a conflict of the task. `attempt` made the change that conflicted."""

    n: int
    at: float
    request: q.Resolve
    attempt: Attempt | None


@dataclass(frozen=True, slots=True)
class RebuiltCommit:
    """A rebuild of the batch branch made the task's commit again, `without` the changes of these tasks."""

    at: float
    commit: str
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineRetry:
    """The task is retried, not before `retry_at`."""

    at: float
    retry_at: float
    why: str
    category: Category
    counted: bool


@dataclass(slots=True)
class TaskHistory:
    """The history of one task. `lifetimes`: the time from when it could have run until it ended, once for each retry by
    a person.

    `entries` are its attempts and merges in order, `deciding_gates` the numbers of the gates by which it ended.
    """

    task: str
    title: str = ""
    lifetimes: list[TimelineSpan] = field(default_factory=list)
    entries: list[Attempt | TimelineSpan] = field(default_factory=list)
    attempts: dict[Attempt, PastAttempt] = field(default_factory=dict)
    retries: list[TimelineRetry] = field(default_factory=list)
    resolutions: list[PastResolution] = field(default_factory=list)
    rebuilt: list[RebuiltCommit] = field(default_factory=list)
    status: TaskStatus | None = None
    commit: str = ""  # its newest one on the batch branch
    merge: d.MergeStarted | None = None
    conflict: MergeConflict | None = None
    gate: GateRun | None = None
    deciding_gates: list[int] = field(default_factory=list)

    @property
    def spans(self) -> list[TimelineSpan]:
        return [self.attempts[entry].to_span() if isinstance(entry, Attempt) else entry for entry in self.entries]

    def find_newest(self, step: Step) -> PastAttempt | None:
        return next((past for past in reversed(self.attempts.values()) if past.attempt.step is step), None)

    def add_resolution(self, at: float, request: q.Resolve) -> None:
        newest = self.find_newest(Step.WRITE)
        attempt = newest.attempt if newest is not None else None
        self.resolutions.append(PastResolution(len(self.resolutions) + 1, at, request, attempt))

    def list_waits(self) -> list[tuple[float, float | None]]:
        """List the times when the task could have run and nothing of it was running."""
        spans = sorted(self.spans, key=lambda span: span.start)
        return [gap for lifetime in self.lifetimes for gap in _find_gaps(lifetime, spans)]


def _find_gaps(lifetime: TimelineSpan, spans: Iterable[TimelineSpan]) -> list[tuple[float, float | None]]:
    """Return the parts of a lifetime in which nothing was running; the last one is open if the lifetime is."""
    gaps: list[tuple[float, float | None]] = []
    at: float | None = lifetime.start
    for span in spans:
        if at is None or (lifetime.end is not None and span.start >= lifetime.end):
            break
        if span.end is not None and span.end <= at:
            continue
        if span.start > at:
            gaps.append((at, span.start))
        at = span.end if span.end is None else max(at, span.end)
    if at is not None and (lifetime.end is None or at < lifetime.end):
        gaps.append((at, lifetime.end))
    return gaps


@dataclass(slots=True)
class BatchHistory:
    """The history of one batch. Reports may come twice: the first one counts."""

    batch: str
    start: float | None = None
    end: float | None = None
    tasks: dict[str, TaskHistory] = field(default_factory=dict)
    notes: BatchNotes = field(default_factory=BatchNotes)
    _entries: list[int | TimelineSpan] = field(default_factory=list)  # numbers of gates; pauses, rebuilds, publishing
    _gates: dict[int, GateRun] = field(default_factory=dict)
    _open: dict[object, TimelineSpan] = field(default_factory=dict)
    _rebuild: d.RebuildStarted | None = None

    @property
    def gates(self) -> list[GateRun]:
        return list(self._gates.values())

    @property
    def spans(self) -> list[TimelineSpan]:
        """The spans of the whole batch: gates, pauses, rebuilds, publishing."""
        return [self._gates[entry].to_span() if isinstance(entry, int) else entry for entry in self._entries]

    def list_attempts(self, task: str) -> list[PastAttempt]:
        return list(self.tasks[task].attempts.values()) if task in self.tasks else []

    def list_resolutions(self, task: str) -> list[PastResolution]:
        return self.tasks[task].resolutions if task in self.tasks else []

    def find_deciding_gate(self, task: str) -> GateRun | None:
        """Return the gate by which a task ended last: the one that it failed, or the one that it passed."""
        return self.tasks[task].gate if task in self.tasks else None

    def find_gate(self, n: int) -> GateRun | None:
        return self._gates.get(n)

    def find_conflict(self, task: str) -> MergeConflict | None:
        """Return the task's last conflict, unless it was merged since."""
        return self.tasks[task].conflict if task in self.tasks else None

    def apply(self, record: Record, request: q.Request | None) -> None:
        """Fold a record of this batch; `request` is the one that it answers."""
        at, event = record.at, record.event
        self.notes.apply(at, event, request)
        match event:
            case d.RequestGranted():
                self._apply_granted(at, event, request)
            case d.AttemptStarted() | d.AttemptEnding() | r.AttemptExited() | r.AttemptLost() | r.CommitDone():
                self._apply_attempt(at, event)
            case d.MergeStarted() | r.MergeDone() | r.MergeConflicted() | r.MergeFailed():
                self._apply_merge(at, event)
            case d.GateStarted() | d.GateEnding() | r.GateDone() | r.GateLost():
                self._apply_gate(at, event)
            case d.RetryGranted():
                self._apply_retry(at, event)
            case d.TaskEnded():
                self._end_task(at, event)
            case d.BatchEnded():
                self.end = at
                self._close("pause", at)
            case _:
                self._apply_batch_step(at, event)

    def _apply_granted(self, at: float, granted: d.RequestGranted, request: q.Request | None) -> None:
        match request:
            case q.Submit():
                self.start = at
                for task in request.plan.tasks:
                    self.tasks[task.id] = TaskHistory(task.id, task.title, [TimelineSpan("life", at)])
            case q.Pause() | q.Stop():
                self._begin("pause", TimelineSpan("pause", at, detail="by a person"))
            case q.Unpause() | q.Resume():
                self._close("pause", at)
            case q.Retry() | q.Recheck() | q.Resolve() | q.Feedback():
                for history in map(self._get_task, granted.tasks):
                    if history.lifetimes and history.lifetimes[-1].end is not None:
                        history.lifetimes.append(TimelineSpan("life", at))
                        history.status = self.end = None
                if isinstance(request, q.Resolve):
                    self._get_task(request.task).add_resolution(at, request)
            case _:
                pass

    def _apply_attempt(
        self, at: float, event: d.AttemptStarted | d.AttemptEnding | r.AttemptExited | r.AttemptLost | r.CommitDone
    ) -> None:
        name = event.attempt
        attempt = self.tasks[name.task].attempts.get(name) if name.task in self.tasks else None
        if isinstance(event, d.AttemptStarted):
            if attempt is None:
                self._start_attempt(at, event)
            return
        if attempt is None:
            return
        if isinstance(event, d.AttemptEnding):
            attempt = replace(attempt, ending=attempt.ending or event.why)
        elif isinstance(event, r.CommitDone):
            attempt = replace(attempt, outcome=event.outcome)
        elif attempt.outcome is None:
            outcome = (
                event.outcome
                if isinstance(event, r.AttemptExited)
                else r.Outcome(Category.OUTAGE if event.outage else Category.LOST, detail=event.why)
            )
            attempt = replace(attempt, ended_at=at, outcome=outcome)
        self.tasks[name.task].attempts[name] = attempt

    def _start_attempt(self, at: float, event: d.AttemptStarted) -> None:
        name, task = event.attempt, self._get_task(event.attempt.task)
        told = self.notes.get(name.task).deliver(at, event.feedback) if name.step is Step.WRITE else ()
        check = task.find_newest(Step.VERIFY) if told else None
        last_check = check.attempt if check is not None else None
        task.attempts[name] = PastAttempt(name, event.agent, at, base=event.base, told=told, told_check=last_check)
        task.entries.append(name)

    def _apply_retry(self, at: float, event: d.RetryGranted) -> None:
        task = self._get_task(event.task)
        task.retries.append(TimelineRetry(at, event.at, event.why, event.category, event.counted))
        if task.attempts:
            last = next(reversed(task.attempts))
            task.attempts[last] = replace(task.attempts[last], then=event.why)

    def _end_task(self, at: float, event: d.TaskEnded) -> None:
        task = self._get_task(event.task)
        task.status = event.status
        for lifetime in task.lifetimes[-1:]:
            lifetime.close(at, event.status.value, event.reason)
        passed = event.status is TaskStatus.DONE
        by_gate = passed or event.category is Category.GATE
        runs = (run for run in reversed(self._gates.values()) if by_gate and run.passed is passed)
        task.gate = next(runs, None)
        if task.gate is not None and task.gate.decision.n not in task.deciding_gates:
            task.deciding_gates.append(task.gate.decision.n)

    def _apply_merge(self, at: float, event: d.MergeStarted | r.MergeDone | r.MergeConflicted | r.MergeFailed) -> None:
        key = ("merge", event.task)
        if isinstance(event, d.MergeStarted):
            self._get_task(event.task).merge = event
            self._begin(key, TimelineSpan("merge", at, n=event.n), event.task)
            return
        task = self.tasks.get(event.task)
        match event:
            case r.MergeDone():
                if key in self._open:
                    self._open[key].commit = event.commit
                self._close(key, at, "merged")
                if task is not None:
                    task.conflict, task.commit = None, event.commit
            case r.MergeConflicted():
                if key in self._open:
                    self._open[key].files = event.files
                self._close(key, at, "conflicted", ", ".join(event.files))
                merge = task.merge if task is not None else None
                if task is not None and merge is not None and merge.n == event.n:
                    task.conflict = MergeConflict(d.Change(event.task, merge.base, merge.tip), merge.onto, event.files)
            case r.MergeFailed():
                self._close(key, at, "failed", event.why)

    def _apply_gate(self, at: float, event: d.GateStarted | d.GateEnding | r.GateDone | r.GateLost) -> None:
        gate = self._gates.get(event.n)
        if isinstance(event, d.GateStarted):
            if gate is None:
                self._gates[event.n] = GateRun(event, at)
                self._entries.append(event.n)
            return
        if gate is None:
            return
        if isinstance(event, d.GateEnding):
            self._gates[event.n] = replace(gate, dropped=event.why is EndWhy.DROP)
        elif gate.ended_at is None:
            verdict, detail = (event.passed, event.detail) if isinstance(event, r.GateDone) else (None, event.why)
            self._gates[event.n] = replace(gate, ended_at=at, verdict=verdict, detail=detail)

    def _apply_batch_step(self, at: float, event: Event) -> None:
        match event:
            case d.BatchPaused():
                self._begin("pause", TimelineSpan("pause", at, detail=event.why))
            case d.BatchUnpaused():
                self._close("pause", at)
            case d.RebuildStarted():
                self._rebuild = event
                self._begin("rebuild", TimelineSpan("rebuild", at, n=event.n))
            case r.RebuildDone():
                if self._rebuild is not None and self._rebuild.n == event.n:
                    self._apply_rebuild(at, self._rebuild, event)
                self._close("rebuild", at, "done")
            case r.RebuildFailed():
                self._close("rebuild", at, "failed", event.why)
            case d.PublishStarted():
                self._begin("publish", TimelineSpan("publish", at, n=event.n))
            case r.PublishDone():
                self._close("publish", at, "done", event.url)
            case r.PublishFailed():
                self._close("publish", at, "failed", event.why)
            case _:
                pass

    def _apply_rebuild(self, at: float, started: d.RebuildStarted, done: r.RebuildDone) -> None:
        commits = {merged.task: merged.commit for merged in done.line}
        conflicts = {conflict.task: conflict.files for conflict in done.clashes}
        head = ""
        for change in started.line:
            if change.task in conflicts:
                self._get_task(change.task).conflict = MergeConflict(change, head, conflicts[change.task])
            elif change.task in commits:
                head, task = commits[change.task], self._get_task(change.task)
                if task.commit != head:
                    task.commit = head
                    task.rebuilt.append(RebuiltCommit(at, head, started.without))

    def _get_task(self, task: str) -> TaskHistory:
        if task not in self.tasks:
            self.tasks[task] = TaskHistory(task)
        return self.tasks[task]

    def _begin(self, key: object, span: TimelineSpan, task: str | None = None) -> None:
        """Begin a span, unless the same decision was performed before a crash."""
        open_span = self._open.get(key)
        if open_span is not None and open_span.n == span.n and open_span.end is None:
            return
        self._open[key] = span
        if task is None:
            self._entries.append(span)
        else:
            self._get_task(task).entries.append(span)

    def _close(self, key: object, at: float, result: str | None = None, detail: str = "") -> None:
        span = self._open.pop(key, None)
        if span is not None:
            span.close(at, result, detail)


@dataclass(slots=True)
class HistoryIndex:
    """The histories of all batches, or of the batch `only`. It follows from the records alone, from the first one on."""

    only: str | None = None
    _batches: dict[str, BatchHistory] = field(default_factory=dict)
    _unanswered: dict[str, tuple[str, q.Request]] = field(default_factory=dict)  # with their batches

    def get_batch(self, batch: str) -> BatchHistory:
        """Return the history of a batch; an empty one if the batch is unknown."""
        return self._batches.get(batch) or BatchHistory(batch)

    def apply(self, record: Record) -> None:
        event = record.event
        request: q.Request | None = None
        if isinstance(event, d.RequestGranted | d.RequestRefused):
            batch, request = self._unanswered.pop(event.request, (None, None))
        else:
            attempt: Attempt | None = getattr(event, "attempt", None)
            batch = getattr(event, "batch", None) if attempt is None else attempt.batch
        if batch is None or self.only not in {None, batch}:
            return
        if isinstance(event, q.Request):
            self._unanswered[event.id] = (batch, event)
        if batch not in self._batches:
            self._batches[batch] = BatchHistory(batch)
        self._batches[batch].apply(record, request)


def read_history(records: Iterable[Record], batch: str) -> BatchHistory:
    index = HistoryIndex(batch)
    for record in records:
        index.apply(record)
    return index.get_batch(batch)
