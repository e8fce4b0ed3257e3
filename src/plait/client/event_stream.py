"""Turn journal records into the events that front ends show. The cost grows with what a record changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, assert_never, get_args

from plait.client.event_types import EventFields, EventType, GateProgress, StreamEvent
from plait.client.json_encoding import Json, to_iso
from plait.client.record_context import (
    RecordContext,
    StatusTracker,
    capture_state,
    find_machine_shortage,
    find_subject,
)
from plait.core import decisions as d, reports as r, requests as q
from plait.core.events import Record
from plait.core.reducers import evolve
from plait.core.state import BatchState, State, TaskState
from plait.core.status import BatchStatus, TaskStatus
from plait.core.task import Step, Task
from plait.core.views import describe_password_wait, find_batch_status, why_no_pull_request

MACHINE_PROVIDER = "machine"  # shown like a provider that refuses work without a reset time

_END_EVENTS = {
    TaskStatus.DONE: EventType.TASK_COMPLETED,
    TaskStatus.FAILED: EventType.TASK_FAILED,
    TaskStatus.TIMED_OUT: EventType.TASK_TIMED_OUT,
    TaskStatus.BLOCKED: EventType.TASK_BLOCKED,
    TaskStatus.SKIPPED: EventType.TASK_SKIPPED,
    TaskStatus.CONFLICTED: EventType.TASK_CONFLICTED,
    TaskStatus.CANCELLED: EventType.TASK_CANCELLED,
}


class EventStream:
    """Folds records into `state`, which others only read."""

    def __init__(self, state: State | None = None) -> None:
        self.state = State() if state is None else state
        self._trackers: dict[str, StatusTracker] = {}

    def apply(self, record: Record) -> list[StreamEvent]:
        """Fold a record and return its events, which all have its seq."""
        name, task_name = subject = find_subject(self.state, record.event)
        earlier_batch = self.state.batches.get(name or "")
        if earlier_batch is not None and earlier_batch.id not in self._trackers:
            self._trackers[earlier_batch.id] = StatusTracker.from_state(self.state, earlier_batch)
        before = capture_state(self.state, record.event, subject)
        evolve(self.state, record)
        batch = self.state.batches.get(name or "")
        task = batch.find_task(task_name or "") if batch is not None else None
        if batch is not None and batch.id not in self._trackers:
            self._trackers[batch.id] = StatusTracker(batch)
        context = RecordContext(self.state, record, before, batch, task, self._trackers.get(name or ""))
        kind = type(record.event)
        events = [] if kind in SILENT_EVENTS else list(MAPPERS[kind](context, record.event))
        if batch is not None and batch.ended is not None:
            # A reopened batch has the same events, whether or not earlier ones were read.
            self._trackers.pop(batch.id, None)
        return events

    def replay(self, record: Record) -> None:
        """Fold a record without making events."""
        self._trackers.clear()
        evolve(self.state, record)


def _map_request_answer(context: RecordContext, answer: d.RequestDecision) -> Iterator[StreamEvent]:
    request = context.before.request
    match answer:
        case d.RequestGranted():
            if request is not None and context.batch is not None:
                yield from _map_granted_request(context, context.batch, request, answer.tasks)
        case d.RequestRefused():
            # The client that sent the request reports the refusal. Only a refused batch has no other event.
            if isinstance(request, q.Submit) and context.batch is None:
                fields = EventFields(error=answer.why, reason=answer.why)
                record = context.record
                yield StreamEvent(record.seq, record.at, EventType.BATCH_FAILED, request.batch, data=fields)
        case _:
            assert_never(answer)


def _describe_created_task(task: Task) -> Json:
    needs = [need.on for need in task.needs]
    return {"taskId": task.id, "title": task.title, "needs": needs, "entrantOf": task.entrant}


def _map_granted_request(
    context: RecordContext, batch: BatchState, request: q.Request, names: tuple[str, ...]
) -> Iterator[StreamEvent]:
    if not context.before.open and not isinstance(request, q.Submit) and batch.ended is None:
        yield context.make_event(EventType.BATCH_STARTED, again=True)
    match request:
        case q.Submit():
            yield context.make_event(
                EventType.BATCH_CREATED,
                mode=batch.settings.mode,
                total=sum(task.task.entrant is None for task in batch.tasks),
                tasks=[_describe_created_task(task) for task in batch.plan.tasks],
                sources=batch.sources,
                branch=batch.branch or None,
            )
            yield from context.make_waiting_events(range(len(batch.tasks)))
        case q.Pause() | q.Stop():
            cause, why = (batch.paused.cause, batch.paused.why) if batch.paused else (None, "")
            yield context.make_event(EventType.BATCH_PAUSED, cause=cause, reason=why)
        case q.Unpause() | q.Resume():
            yield context.make_event(EventType.BATCH_UNPAUSED, reason="by request")
            yield from context.make_waiting_events(context.before.interrupted)
            yield from context.make_queue_head_events()
        case q.Approve() | q.Retry() | q.Recheck() | q.Resolve() | q.Feedback():
            yield from context.make_waiting_events(batch.index[name] for name in names if name in batch.index)
        case q.CancelBatch() | q.CancelTask() | q.Drop() | q.Ship():
            return  # its effects have events of their own
        case q.ChangeSettings() | q.ChangeEngineSettings() | q.SaveSettings():
            return  # its effects have events of their own
        case _:
            assert_never(request)


def _map_batch_decision(context: RecordContext, decision: d.BatchDecision) -> Iterator[StreamEvent]:
    batch = context.batch
    if batch is None:
        return
    match decision:
        case d.PhaseOpened():
            phase = batch.phases.get(decision.phase)
            yield from context.make_waiting_events(phase.members if phase is not None else ())
            yield from context.make_queue_head_events()
        case d.BatchPaused():
            yield context.make_event(EventType.BATCH_PAUSED, cause=decision.cause, reason=decision.why)
        case d.BatchUnpaused():
            yield context.make_event(EventType.BATCH_UNPAUSED, reason=decision.why)
            yield from context.make_queue_head_events()
        case d.BatchHalted():
            return  # each skipped task has an event with this reason
        case d.BatchEnded():
            if context.before.open:
                yield _make_batch_end_event(context)
        case _:
            assert_never(decision)


def _make_batch_end_event(context: RecordContext) -> StreamEvent:
    assert context.batch is not None
    status, reason = find_batch_status(context.batch)
    url = _find_pull_request_url(context)
    match status:
        case BatchStatus.COMPLETED | BatchStatus.PARTIAL:
            return context.make_event(
                EventType.BATCH_COMPLETED, status=status, prUrl=url, progress=context.encode_progress(), reason=reason
            )
        case BatchStatus.CANCELLED:
            return context.make_event(EventType.BATCH_CANCELLED, reason=reason)
        case _:
            return context.make_event(EventType.BATCH_FAILED, error=reason, prUrl=url, reason=reason)


def _map_branch_decision(context: RecordContext, decision: d.BranchDecision) -> Iterator[StreamEvent]:
    task = context.task
    if task is not None:
        context.update_status(task)
    match decision:
        case d.MergeStarted():
            if task is not None:
                yield context.make_event(EventType.BATCH_MERGING, task)
        case d.RebuildStarted():
            yield context.make_event(EventType.BATCH_MERGING, without=decision.without)
        case d.GateStarted(n=gate, commit=commit, size=merges, command=command):
            yield context.make_event(EventType.BATCH_GATING, gate=gate, commit=commit, merges=merges, command=command)
        case d.PublishStarted():
            yield from _map_publishing(context, decision)
        case d.GateEnding():
            return
        case _:
            assert_never(decision)


def _map_branch_report(context: RecordContext, report: r.BranchReport) -> Iterator[StreamEvent]:
    task, batch = context.task, context.batch
    if task is not None:
        context.update_status(task)
    match report:
        case r.MergeDone():
            if task is not None and context.before.merging == report.n:
                yield context.make_event(EventType.TASK_MERGED, task, commit=report.commit)
        case r.RebuildDone():
            # What follows for tasks whose change no longer applies is a decision with its own event.
            index = batch.index if batch is not None else {}
            conflicted = (index[conflict.task] for conflict in report.clashes if conflict.task in index)
            yield from context.make_waiting_events(conflicted)
        case r.PublishWaiting():
            if batch is not None and batch.publishing is not None and batch.publishing.n == report.n:
                yield from _map_publishing(context, batch.publishing)
        case r.PublishDone() | r.PublishFailed():
            yield from _map_publish_ended(context, report)
        case r.GateDone() | r.GateLost():
            yield from _map_gate_ended(context, report)
        case r.MergeConflicted() | r.MergeFailed() | r.RebuildFailed():
            return
        case _:
            assert_never(report)


def _map_gate_ended(context: RecordContext, report: r.GateDone | r.GateLost) -> Iterator[StreamEvent]:
    gate = context.before.gate
    if gate is None or gate.n != report.n:
        return
    gating: GateProgress = {"gate": gate.n, "commit": gate.commit, "merges": gate.size}
    match report:
        case r.GateDone(passed=True):
            gating["result"] = "passed"
        case r.GateDone():
            gating |= {"result": "failed", "error": report.detail, "suspects": _list_suspects(context)}
        case r.GateLost():
            gating |= {"result": "lost", "error": report.why}
        case _:
            assert_never(report)
    yield from context.make_progress_events(gating=gating)


def _list_suspects(context: RecordContext) -> tuple[str, ...]:
    """Return the tasks one of which breaks the gate."""
    batch = context.batch
    if batch is None or batch.gate_bad_size is None:
        return ()
    return tuple(
        batch.tasks[entry.task_index].task.id for entry in batch.merges[batch.gate_good_size : batch.gate_bad_size]
    )


def _map_publish_ended(context: RecordContext, report: r.PublishDone | r.PublishFailed) -> Iterator[StreamEvent]:
    if context.before.publishing != report.n:
        return
    url = _find_pull_request_url(context)
    match report:
        case r.PublishDone():
            if context.batch is not None and (why := why_no_pull_request(context.batch)):
                hint = f"no pull request: {why}"
                yield from context.make_progress_events(prUrl=url, publishing="done", commit=report.commit, hint=hint)
                return
            yield from context.make_progress_events(prUrl=url, publishing="done", commit=report.commit)
        case r.PublishFailed():
            yield from context.make_progress_events(prUrl=url, publishing="failed", error=report.why, hint=report.hint)
        case _:
            assert_never(report)


def _map_publishing(context: RecordContext, decision: d.PublishStarted) -> Iterator[StreamEvent]:
    if context.batch is not None and context.batch.awaited_program:
        hint = describe_password_wait(context.batch.awaited_program)
        yield from context.make_progress_events(publishing="waiting", hint=hint)
    else:
        url, publish, commit = _find_pull_request_url(context), decision.publish, decision.commit
        yield from context.make_progress_events(prUrl=url, publishing="started", publish=publish, commit=commit)


def _find_pull_request_url(context: RecordContext) -> str | None:
    """Return the address of the batch's pull request."""
    published = context.batch.published if context.batch is not None else None
    return published.url or None if published is not None else None


def _map_limit_decision(context: RecordContext, decision: d.LimitDecision) -> Iterator[StreamEvent]:
    match decision:
        case d.BreakerOpened(provider=provider, until=until, why=why):
            yield context.make_event(EventType.LIMIT_OPENED, provider=provider, until=to_iso(until), reason=why)
        case d.BreakerClosed():
            yield context.make_event(EventType.LIMIT_CLOSED, provider=decision.provider)
        case d.LimitRaised() | d.DeadlinesMoved():
            return
        case _:
            assert_never(decision)


def _map_machine_report(context: RecordContext, report: r.MachineReport) -> Iterator[StreamEvent]:
    match report:
        case r.EngineTaken():
            yield context.make_event(EventType.ENGINE_TAKEN, pid=report.pid, host=report.host, version=report.version)
        case r.EngineReleased():
            yield context.make_event(EventType.ENGINE_RELEASED, pid=report.pid)
        case r.PressureChanged() | r.CapacityChanged():
            pass
        case r.RateLimited() | r.ClockJumped():
            pass  # the decision that follows has its own event
        case _:
            assert_never(report)
    # Also with a new engine, which starts without sensor readings.
    was, now = context.before.short_of, find_machine_shortage(context.state)
    if was != now and now is not None:
        yield context.make_event(EventType.LIMIT_OPENED, provider=MACHINE_PROVIDER, until=None, reason=now)
    elif was != now:
        yield context.make_event(EventType.LIMIT_CLOSED, provider=MACHINE_PROVIDER)


def _map_task_decision(context: RecordContext, decision: d.TaskDecision) -> Iterator[StreamEvent]:
    batch, task = context.batch, context.task
    if batch is None or task is None:
        return
    match decision:
        case d.RetryGranted():
            context.update_status(task)
            # `at` is when this was decided, as in every event.
            yield context.make_event(
                EventType.TASK_RETRY,
                task,
                retryAt=to_iso(decision.at),
                why=decision.why,
                category=decision.category,
                counted=decision.counted,
            )
        case d.BackoffEnded():
            yield from context.make_waiting_events([task.index])
        case d.AnswerAwaited():
            context.update_status(task)
            yield context.make_event(EventType.TASK_NEEDS_INPUT, task, question=decision.question)
        case d.TaskInterrupted():
            context.update_status(task)
            yield context.make_event(EventType.TASK_INTERRUPTED, task, reason=decision.reason)
        case d.TaskEnded():
            # A finished task can still be dropped, or fail the gate.
            if task.status is not None and task.status is not context.before.status:
                yield from _map_task_end(context, batch, task, decision)
        case _:
            assert_never(decision)


def _map_task_end(
    context: RecordContext, batch: BatchState, task: TaskState, decision: d.TaskEnded
) -> Iterator[StreamEvent]:
    context.update_status(task)
    yield context.make_event(_END_EVENTS[decision.status], task, **_list_end_fields(context, decision))
    yield from context.make_waiting_events(index for index in task.dependents if not batch.tasks[index].pending_needs)
    yield from context.make_queue_head_events()
    yield from context.make_progress_events()


def _list_end_fields(context: RecordContext, decision: d.TaskEnded) -> EventFields:
    match decision.status:
        case TaskStatus.FAILED | TaskStatus.TIMED_OUT:
            return {"reason": decision.reason, "error": decision.reason, "category": decision.category}
        case TaskStatus.CONFLICTED:
            return {"reason": decision.reason, "files": context.before.conflict_files}
        case TaskStatus.BLOCKED | TaskStatus.SKIPPED:
            return {"reason": decision.reason, "by": decision.by}
        case _:
            return {"reason": decision.reason}


def _map_attempt_decision(context: RecordContext, decision: d.AttemptDecision) -> Iterator[StreamEvent]:
    task = context.task
    if task is None:
        return
    context.update_status(task)
    match decision:
        case d.AttemptStarted():
            if context.before.attempt is None and decision.attempt in task.alive:
                yield from _map_attempt_started(context, task, decision)
        case d.StepPassed():
            if decision.attempt.step is Step.VERIFY:
                yield context.make_event(EventType.TASK_VERIFIED, task)
        case d.AttemptEnding():
            yield from context.make_progress_events(task)  # it may take a while to stop
        case d.CommitStarted():
            return
        case _:
            assert_never(decision)


def _map_attempt_started(context: RecordContext, task: TaskState, decision: d.AttemptStarted) -> Iterator[StreamEvent]:
    if not context.before.started:
        yield context.make_event(EventType.BATCH_STARTED, again=False)
    title = task.task.title
    if decision.attempt.step is Step.VERIFY:
        yield context.make_event(EventType.TASK_VERIFYING, task, title=title, command=decision.command)
    else:
        yield context.make_event(EventType.TASK_STARTED, task, title=title, agent=decision.agent)


def _map_attempt_progress(context: RecordContext, report: r.AttemptProgress) -> Iterator[StreamEvent]:
    before, task = context.before, context.task
    if task is None or before.attempt is None:
        return
    context.update_status(task)
    match report:
        case r.AttemptPhase():
            if report.name != before.phase:
                yield context.make_event(EventType.TASK_PHASE, task, phase=report.name)
        case r.AttemptAsked():
            if report.question != before.question:
                yield context.make_event(EventType.TASK_NEEDS_INPUT, task, question=report.question)
        case r.AttemptLaunched() | r.AttemptActive() | r.AttemptUsed() | r.AttemptSession():
            return
        case _:
            assert_never(report)


def _map_attempt_end(context: RecordContext, _: r.AttemptEnd) -> Iterator[StreamEvent]:
    """Yield no event: the decision about the outcome has one."""
    if context.task is not None:
        context.update_status(context.task)
    yield from ()


def _map_commit_report(context: RecordContext, report: r.CommitReport) -> Iterator[StreamEvent]:
    task = context.task
    if task is None:
        return
    match report:
        case r.CommitWaiting():
            yield from context.make_waiting_events([task.index])
        case r.CommitDone() | r.CommitFailed():
            context.update_status(task)  # the decision about it has an event
        case _:
            assert_never(report)


def _map_conflict_prediction(context: RecordContext, report: r.ConflictPrediction) -> Iterator[StreamEvent]:
    task, predicted = context.task, context.before.predicted_conflicts
    if task is None:
        return
    match report:
        case r.ConflictPredicted():
            files = task.predicted_conflicts.get(report.other, ())
        case r.ConflictCleared():
            files = ()
        case _:
            assert_never(report)
    if files != predicted.get(report.other, ()):
        yield from context.make_progress_events(task, conflictsWith=report.other or None, files=files)


def _map_source_report(context: RecordContext, report: r.SourceReport) -> Iterator[StreamEvent]:
    match report:
        case r.SourcesUnwritten():
            yield from context.make_progress_events(unwritten=report.source, error=report.why, hint=report.hint)
        case r.SourcesWritten():
            if context.before.unwritten and context.batch is not None and not context.batch.unwritten:
                yield from context.make_progress_events(unwritten=None)
        case _:
            assert_never(report)


# Any: each mapper takes its own union, and the table below gives it nothing else.
RecordMapper = Callable[[RecordContext, Any], Iterator[StreamEvent]]

_MAPPERS_BY_UNION: Iterable[tuple[object, RecordMapper]] = (
    (d.RequestDecision, _map_request_answer),
    (d.AttemptDecision, _map_attempt_decision),
    (d.TaskDecision, _map_task_decision),
    (d.BranchDecision, _map_branch_decision),
    (d.LimitDecision, _map_limit_decision),
    (d.BatchDecision, _map_batch_decision),
    (r.AttemptProgress, _map_attempt_progress),
    (r.AttemptEnd, _map_attempt_end),
    (r.CommitReport, _map_commit_report),
    (r.BranchReport, _map_branch_report),
    (r.ConflictPrediction, _map_conflict_prediction),
    (r.MachineReport, _map_machine_report),
    (r.SourceReport, _map_source_report),
)
MAPPERS = {event: mapper for union, mapper in _MAPPERS_BY_UNION for event in get_args(union)}

# Without events of their own: a request has some when it is granted.
SILENT_EVENTS = frozenset(get_args(q.Request))
