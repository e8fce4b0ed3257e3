"""Every request gets one answer: granted, or refused with a reason that names the state it found.

A submitted plan is checked again here. A retry also takes the tasks that nothing else holds back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core import requests, settings
from plait.core.contest import is_refereed, why_invalid
from plait.core.decisions import Decision, RequestDecision, RequestGranted, RequestRefused
from plait.core.graph import sort_topologically
from plait.core.plan import Plan
from plait.core.scheduler.batches import find_end_status, why_not_ship
from plait.core.scheduler.starts import find_queue_head, why_over_budget
from plait.core.settings import EngineSettings, Isolation, Mode, Settings
from plait.core.state import BatchState, State, TaskState
from plait.core.status import BatchStatus, Category, PauseCause, TaskStatus
from plait.core.text import join_names

# Requests about a batch that need no more than a yes or a no.
_YesNoRequest = (
    requests.CancelBatch
    | requests.Pause
    | requests.Unpause
    | requests.Stop
    | requests.Resume
    | requests.Ship
    | requests.ChangeSettings
)


MAX_NAMED_TASKS = 5  # in the reason of a refusal


def schedule_answers(state: State) -> Iterator[Decision]:
    for request in state.unanswered.values():
        yield _answer_request(state, request)


def _answer_request(state: State, request: requests.Request) -> RequestDecision:
    if isinstance(request, requests.Submit):
        return _grant_unless(request, why_not_submit(state, request))
    if isinstance(request, requests.ChangeEngineSettings):
        why = _why_not_change(state.settings, request.settings, request.fields)
        return _grant_unless(request, why)
    if isinstance(request, requests.SaveSettings):
        return _grant_unless(request, settings.why_not_save(state.saved, request.changes))
    batch = state.batches.get(request.batch)
    if batch is None:
        return RequestRefused(request.id, f"there is no batch {request.batch}")
    if isinstance(request, requests.TaskRequest):
        task = batch.find_task(request.task)
        if task is None:
            return RequestRefused(request.id, f"batch {batch.id} has no task {request.task}")
        return answer_task_request(batch, task, request)
    if batch.ended is not None and not isinstance(request, requests.Ship | requests.ChangeSettings):
        status = find_end_status(batch)
        is_retryable = isinstance(request, requests.Resume) and status is not BatchStatus.COMPLETED
        instead = f": {requests.RETRY_INSTEAD}" if is_retryable else ""
        return RequestRefused(request.id, f"batch {batch.id} has ended ({status}){instead}")
    if isinstance(request, requests.Approve):
        return _answer_approve(state, batch, request)
    return _grant_unless(request, _why_not_batch(state, batch, request))


def _grant_unless(request: requests.Request, why: str | None) -> RequestDecision:
    return RequestGranted(request.id) if why is None else RequestRefused(request.id, why)


def _why_not_batch(state: State, batch: BatchState, request: _YesNoRequest) -> str | None:
    match request:
        case requests.CancelBatch():
            return f"batch {batch.id} is already being cancelled" if batch.cancelled else None
        case requests.Pause():
            held = batch.paused is not None and batch.paused.cause in {PauseCause.PERSON, PauseCause.STOP}
            return f"batch {batch.id} is already paused" if held else None
        case requests.Unpause():
            stopped = batch.paused is not None and batch.paused.cause is PauseCause.STOP
            return f"batch {batch.id} was stopped: resume it" if stopped else _why_not_resume(state, batch)
        case requests.Resume():
            return _why_not_resume(state, batch)
        case requests.Stop():
            done = batch.stopping and (batch.stop_now or not request.now)
            return f"batch {batch.id} is already stopped" if done else None
        case requests.Ship():
            return why_not_ship(batch, request)
        case requests.ChangeSettings():
            if "isolation" in request.fields and request.settings.isolation is not batch.settings.isolation:
                return "the isolation of a submitted batch can't be changed"
            if "executor" in request.fields and request.settings.executor is not batch.settings.executor:
                return "the executor of a submitted batch can't be changed"
            return _why_not_change(batch.settings, request.settings, request.fields)
        case _:
            assert_never(request)


def _why_not_resume(state: State, batch: BatchState) -> str | None:
    if batch.paused is None:
        return f"batch {batch.id} is not paused"
    return why_over_budget(state, batch) if batch.paused.cause is PauseCause.BUDGET else None


def _why_not_change(
    old: Settings | EngineSettings, new: Settings | EngineSettings, names: tuple[str, ...]
) -> str | None:
    unknown = old.unknown_fields(names)
    if unknown:
        return f"there is no setting {unknown[0]}"
    return old.with_fields(new, names).problem()  # type: ignore[arg-type]  # both are of one kind


def _answer_approve(state: State, batch: BatchState, request: requests.Approve) -> RequestDecision:
    if batch.settings.mode is not Mode.QUEUE or batch.settings.auto_approve:
        return RequestRefused(request.id, f"batch {batch.id} needs no approval")
    if request.task is not None:
        task = batch.find_task(request.task)
        if task is None:
            return RequestRefused(request.id, f"batch {batch.id} has no task {request.task}")
        needs_approval = task.status is None and not task.approved
        why = None if needs_approval else f"{request.task} does not need approval"
        return RequestRefused(request.id, why) if why else RequestGranted(request.id, (request.task,))
    head = find_queue_head(state, batch)
    if head is None or head.approved or head.holds_locks:
        return RequestRefused(request.id, "no task needs approval now")
    return RequestGranted(request.id, (head.task.id,))


def why_not_submit(state: State, request: requests.Submit) -> str | None:
    if request.batch in state.batches:
        return f"batch {request.batch} already exists"
    return request.settings.problem() or _why_invalid_plan(request.plan) or _why_invalid_contest(request)


def _why_invalid_contest(request: requests.Submit) -> str | None:
    if request.settings.isolation is Isolation.IN_PLACE and any(task.entrant for task in request.plan.tasks):
        return "a contest needs worktrees: its entrants can't run in place"
    return why_invalid(request.plan)


def _why_invalid_plan(plan: Plan) -> str | None:
    count = len(plan.tasks)
    if not count:
        return "the plan has no tasks"
    if len({task.id for task in plan.tasks}) != count:
        return "two tasks of the plan have the same id"
    if not plan.is_consistent:
        return "the plan is inconsistent"
    return None if sort_topologically(plan.needs) is not None else "the plan's needs form a cycle"


def answer_task_request(batch: BatchState, task: TaskState, request: requests.TaskRequest) -> RequestDecision:
    why = why_not_task(batch, task, request)
    if why is not None:
        return RequestRefused(request.id, why)
    if isinstance(request, requests.CancelTask | requests.Drop):
        return RequestGranted(request.id, (task.task.id, *_find_unended_entrants(batch, task)))
    if task.status is None or isinstance(request, requests.Recheck | requests.Resolve):
        return RequestGranted(request.id, (task.task.id,))
    agent = request.agent if isinstance(request, requests.Retry) else None
    return RequestGranted(request.id, _find_retried(batch, task, agent))


def _find_retried(batch: BatchState, task: TaskState, agent: str | None) -> tuple[str, ...]:
    """Return the task and those that only these tasks hold back: its dependents, what its failure halted, and the
    entrants it needs; no entrants if it is given to another `agent`.
    """
    spared = () if is_refereed(task, agent) else task.entrants
    work = [task, *_find_contest_tasks(batch, task)]
    work += [*(other for each in work for other in _find_halted_by(batch, each)), *_find_phase_blocked(batch)]
    work = [other for other in work if other.index not in spared]
    taken = {other.index: None for other in work}
    while work:
        for index in work.pop().dependents:
            other = batch.tasks[index]
            if (
                index not in taken
                and index not in spared
                and other.status is TaskStatus.BLOCKED
                and _find_lost_needs(batch, other) <= taken.keys()
            ):
                taken[index] = None
                work.append(other)
    return tuple(batch.tasks[index].task.id for index in taken)


def _find_lost_needs(batch: BatchState, task: TaskState) -> set[int]:
    return {need.index for need in batch.find_needs(task) if need.status not in {None, TaskStatus.DONE}}


def _find_unended_entrants(batch: BatchState, task: TaskState) -> list[str]:
    return [entrant.task.id for entrant in batch.find_entrants(task) if entrant.status is None]


def _find_contest_tasks(batch: BatchState, task: TaskState) -> list[TaskState]:
    """Return for an entrant its task, which chooses again; for a task the entrants that ended with it, or all if none
    passed or the judges rejected all.
    """
    if task.task.entrant is not None:
        contested = batch.find_task(task.task.entrant)
        return [contested] if contested is not None and contested.status is not None else []
    entrants = batch.find_entrants(task)
    if task.category is Category.REJECTED:
        return list(entrants)
    unpassed = [entrant for entrant in entrants if entrant.status not in {None, TaskStatus.DONE}]
    if len(unpassed) == len(entrants):
        return unpassed
    return [entrant for entrant in unpassed if entrant.by == task.task.id]


def _find_halted_by(batch: BatchState, task: TaskState) -> list[TaskState]:
    if batch.halted_by != task.task.id:
        return []
    return [other for other in batch.tasks if other.status is TaskStatus.SKIPPED and other.by == task.task.id]


def _find_phase_blocked(batch: BatchState) -> list[TaskState]:
    """List tasks of phases that could not open; they may be able to now."""
    closed = (phase for phase in batch.phases.values() if not phase.open)
    members = (batch.tasks[index] for phase in closed for index in phase.members)
    return [other for other in members if other.status is TaskStatus.BLOCKED and other.by is None]


def why_not_task(batch: BatchState, task: TaskState, request: requests.TaskRequest) -> str | None:
    if task.pending_end is not None:
        return f"{task.task.id} is already ending: {task.pending_end.reason}"
    match request:
        case requests.CancelTask():
            return f"{task.task.id} is already {task.status.label}" if task.status else None
        case requests.Drop():
            return f"{task.task.id} is already skipped" if task.status is TaskStatus.SKIPPED else None
        case requests.Retry():
            if task.waits_to_commit and request.agent is None:
                return None
            return _why_not_retry(batch, task)
        case requests.Recheck():
            return _why_not_recheck(batch, task)
        case requests.Resolve():
            return _why_not_resolve(batch, task, request)
        case requests.Feedback() if is_refereed(task) and not _has_question(task):
            names = ", ".join(entrant.task.id for entrant in batch.find_entrants(task))
            return f"{task.task.id} is chosen from its entrants: give feedback to one of them ({names})"
        case requests.Feedback():
            return _why_not_feedback(batch, task, request)
        case _:
            assert_never(request)


def _has_question(task: TaskState) -> bool:
    return task.question is not None or any(attempt.question for attempt in task.alive.values())


def _why_not_feedback(batch: BatchState, task: TaskState, request: requests.Feedback) -> str | None:
    if not request.text.strip():
        return "the feedback is empty"
    if task.status is not None:
        return _why_not_retry(batch, task)
    if task.merging is not None or task.is_merged:
        return f"{task.task.id} is being merged: give feedback when it is done"
    return None


def _why_not_recheck(batch: BatchState, task: TaskState) -> str | None:
    name = task.task.id
    if task.status is None:
        return f"{name} has not ended"
    if task.status is TaskStatus.DONE:
        return f"{name} is done"
    if task.task.entrant is not None:
        return f"{name} is an entrant: its contest merges the result; recheck {task.task.entrant} instead"
    if why := _why_not_retry(batch, task):
        return why
    if task.finished is None:
        return f"{name} has no finished work to verify ({task.reason}): retry it instead"
    return None


def _why_not_resolve(batch: BatchState, task: TaskState, request: requests.Resolve) -> str | None:
    """Say why a resolution is refused: it must be for exactly the conflict that the person saw."""
    if why := why_unresolvable(batch, task):
        return why
    assert task.finished is not None
    if task.finished.tip != request.tip:
        return f"the change of {task.task.id} has changed since: {task.finished.tip[:12]}, not {request.tip[:12]}"
    return None if batch.head == request.onto else _describe_branch_move(batch, request.onto)


def why_unresolvable(batch: BatchState, task: TaskState) -> str | None:
    """Say why there is no conflict of the task to resolve; None if there is one."""
    name = task.task.id
    if task.status is not TaskStatus.CONFLICTED:
        state = "has not ended" if task.status is None else f"is {task.status.label}"
        return f"{name} {state}: it has no conflict to resolve"
    if why := _why_not_retry(batch, task):
        return why
    if task.finished is None or not task.finished.tip:
        return f"{name} has no change to merge any more: retry it instead"
    return (
        None if batch.is_branch_stable else "the batch branch is being rebuilt: look at the conflict when that is done"
    )


def _describe_branch_move(batch: BatchState, onto: str) -> str:
    known = [batch.base, *(entry.commit for entry in batch.merges)]
    if onto not in known:
        return "the batch branch was rebuilt"
    added = [batch.tasks[entry.task_index].task.id for entry in batch.merges[known.index(onto) :]]
    return f"the batch branch has moved on: {join_names(added, MAX_NAMED_TASKS)} {'was' if len(added) == 1 else 'were'} merged"


def _why_not_retry(batch: BatchState, task: TaskState) -> str | None:
    if task.status is None:
        return f"{task.task.id} has not ended"
    if batch.cancelled and batch.ended is None:
        return f"batch {batch.id} is being cancelled"
    if task.lost_needs:
        causes = dict.fromkeys(batch.tasks[index].cause_of_end for index in sorted(_find_lost_needs(batch, task)))
        return f"{task.task.id} is {task.status}: retry {', '.join(causes)} instead"
    ending = _find_unended_entrants(batch, task)
    if ending:
        return f"{', '.join(ending)} of its contest has not ended yet"
    contested = batch.find_task(task.task.entrant)
    if contested is not None and contested.status is TaskStatus.DONE:
        return f"the contest for {contested.task.id} is over: drop {contested.task.id} first"
    if contested is not None and contested.is_under_way:
        return f"{contested.task.id} is being chosen: try again when it has ended"
    if task.status is not TaskStatus.DONE:
        return None
    others = (batch.tasks[index] for index in task.dependents)
    built = [other.task.id for other in others if other.status is TaskStatus.DONE or other.is_under_way]
    return f"{task.task.id} is done, and {', '.join(built)} depends on it: drop it instead" if built else None
