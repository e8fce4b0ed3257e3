"""Views of batches and tasks for clients: a fold of the state, without a clock."""

from __future__ import annotations

from plait.core.ballot import Ballot
from plait.core.explain import explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.reports import SourcesUnwritten
from plait.core.scheduler.batches import describe_merged, find_end_status, is_finished, needs_publishing
from plait.core.scheduler.starts import is_held_by_pause
from plait.core.settings import ExecutorKind, Mode, Publish, Settings, Spend
from plait.core.start_queue import QueueKey
from plait.core.state import BatchState, State, TaskState
from plait.core.status import BatchStatus, Category, NextAction, PauseCause, TaskStatus, WaitReason
from plait.core.task import Origin, Step
from plait.core.text import join_names


@dataclass(frozen=True, slots=True)
class WorkTime:
    """Seconds of work, without pauses, stops, backoffs and what comes after the end: `over` are complete, and `since`
    has the start of each stretch that still runs.
    """

    over: float = 0.0
    since: tuple[float, ...] = ()

    def measure(self, now: float) -> float:
        return self.over + sum(max(0.0, now - start) for start in self.since)


NO_WORK = WorkTime()


@dataclass(frozen=True, slots=True)
class TaskView:
    """One task. `diffstat`: files, lines added, lines removed. `predicted_conflicts`: the other task ("": the branch)
    and the files. `entrant`: the contested task that it is an entrant of. `winner`: the entrant whose change it has, `ballot`: how
    the judges of its contest voted.
    `short`: the reason for a table cell, see `TaskExplanation`. `question` waits for an answer.
    """

    id: str
    title: str
    status: TaskStatus
    reason: str
    waiting: WaitReason | None
    category: Category | None
    by: str | None
    agent: str | None
    attempt: int
    phase: str | None
    session: str | None
    workspace: str
    error: str | None
    started_at: float | None
    ended_at: float | None
    retry_at: float | None
    cost: Spend
    commit: str | None
    origin: Origin | None
    diffstat: tuple[int, int, int] | None = None
    predicted_conflicts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    entrant: str | None = None
    winner: str | None = None
    ballot: Ballot | None = None
    short: str = ""
    question: str | None = None
    asks_for_budget: bool = False
    work: WorkTime = NO_WORK


@dataclass(frozen=True, slots=True)
class Progress:
    """How many tasks have each status; the counts sum to `total`. Entrants of a contest are not counted."""

    total: int
    counts: tuple[tuple[TaskStatus, int], ...]


NOT_A_FORGE = "this remote is not on GitHub, GitLab or Gitea"


@dataclass(frozen=True, slots=True)
class BatchView:
    """One batch. `name`: what people call it. `shipped`: the commit that was published last ("": none). `unshipped`: why what was requested is not
    published; `unshipped_hint`: what to do about it. `pushed`: the commit that the remote branch has. `pause_cause`: why it is
    paused; `awaited_program`: git waits for it while it publishes; `base_fails_gate`: the gate fails before any task's change. `no_pull_request`: why the published branch has none
    though one was requested ("": it has, or none was). `unwritten`: the sources that lack statuses of its tasks.
    """

    id: str
    status: BatchStatus
    reason: str
    mode: Mode
    branch: str
    base: str
    head: str
    sources: tuple[str, ...]
    settings: Settings
    created_at: float
    started_at: float | None
    ended_at: float | None
    cost: Spend
    progress: Progress
    tasks: tuple[TaskView, ...]
    waits_for_person: bool = False
    pr_url: str = ""
    shipped: str = ""
    publishing: bool = False
    awaited_program: str = ""
    unshipped: str | None = None
    unshipped_hint: str = ""
    pushed: str = ""
    pause_cause: PauseCause | None = None
    base_fails_gate: bool = False
    wall_time: WorkTime = NO_WORK  # in which something of it ran
    agent_time: WorkTime = NO_WORK  # of all attempts
    no_pull_request: str = ""
    unwritten: tuple[SourcesUnwritten, ...] = ()
    name: str = ""

    @property
    def is_outdated(self) -> bool:
        """Whether the branch has changed since it was published."""
        return bool(self.shipped) and self.shipped != self.head


# Waiting on one of these is waiting on another task of the batch.
_WAITS_ON_TASKS = (WaitReason.NEEDS, WaitReason.PHASE, WaitReason.FILES, WaitReason.TURN)


def make_task_view(state: State, batch: BatchState, task: TaskState) -> TaskView:
    explanation = explain_status(state, batch, task)
    last = task.last
    is_here = batch.settings.executor is ExecutorKind.LOCAL  # else the workspace is on a node of the cluster
    failed = explanation.status.is_terminal and explanation.status is not TaskStatus.DONE
    return TaskView(
        id=task.task.id,
        title=task.task.title,
        status=explanation.status,
        reason=explanation.reason,
        waiting=explanation.waiting,
        category=task.category,
        by=task.by,
        agent=task.last_write.agent if task.last_write else task.task.agent,
        attempt=task.attempt_counts.get(Step.WRITE, 0),
        phase=last.phase if last is not None and last.name in task.alive and last.phase else None,
        session=task.last_write.session if task.last_write else None,
        workspace=last.workspace if last is not None and is_here else "",
        error=explanation.reason if failed else None,
        started_at=task.started_at,
        ended_at=task.ended_at,
        retry_at=task.not_before,
        cost=task.spent,
        commit=task.commit,
        origin=task.task.origin,
        diffstat=task.diffstat,
        predicted_conflicts=tuple(task.predicted_conflicts.items()),
        entrant=task.task.entrant,
        winner=task.winner or None,
        ballot=task.ballot,
        short=explanation.short or explanation.reason,
        question=_find_question(task),
        asks_for_budget=task.requested_spend is not None,
        work=WorkTime(task.worked, tuple(attempt.started_at for attempt in task.alive.values())),
    )


def _find_question(task: TaskState) -> str | None:
    """Return what the task asks a person, while it runs or waits."""
    if task.status is not None or task.interrupted is not None:
        return None
    return next((attempt.question for attempt in task.alive.values()), task.question)


def make_batch_view(state: State, batch: BatchState, *, brief: bool = False) -> BatchView:
    """Make the view of one batch; `brief`: without its tasks."""
    status, reason = find_batch_status(batch)
    counts = count_statuses(state, batch)
    return BatchView(
        id=batch.id,
        name=name_batch(batch),
        status=status,
        reason=reason,
        mode=batch.settings.mode,
        branch=batch.branch,
        base=batch.base,
        head=batch.head,
        sources=batch.sources,
        settings=batch.settings,
        created_at=batch.submitted_at,
        started_at=batch.started_at,
        ended_at=batch.ended_at,
        cost=batch.spent,
        progress=Progress(sum(counts.values()), tuple(counts.items())),
        tasks=() if brief else tuple(make_task_view(state, batch, task) for task in batch.tasks),
        waits_for_person=waits_for_person(state, batch),
        pr_url=batch.published.url if batch.published else "",
        shipped=batch.published.commit if batch.published else "",
        publishing=batch.publishing is not None,
        awaited_program=batch.awaited_program,
        unshipped=why_unpublished(batch),
        unshipped_hint=batch.publish_failure.hint if batch.publish_failure else "",
        pushed=batch.pushed,
        pause_cause=batch.paused.cause if batch.ended is None and batch.paused is not None else None,
        base_fails_gate=batch.base_failure is not None,
        wall_time=WorkTime(batch.worked, () if batch.busy_since is None else (batch.busy_since,)),
        agent_time=WorkTime(
            sum(task.worked for task in batch.tasks), tuple(attempt.started_at for attempt in batch.alive.values())
        ),
        no_pull_request=why_no_pull_request(batch),
        unwritten=tuple(batch.unwritten.values()),
    )


def name_batch(batch: BatchState) -> str:
    """Return the title of the phase that all tasks are in, else of the first task, and how many more there are."""
    tasks = [task.task for task in batch.tasks if task.task.entrant is None]
    phases = {task.phase for task in tasks}
    shared = batch.phases.get(next(iter(phases)) or "") if len(phases) == 1 and len(tasks) > 1 else None
    if shared is not None:
        return shared.phase.title or shared.phase.key
    return join_names([task.title or task.id for task in tasks], 1) if tasks else batch.id


def why_no_pull_request(batch: BatchState) -> str:
    published = batch.published
    lacks_one = published is not None and published.publish is not Publish.PUSH and not published.url
    return NOT_A_FORGE if lacks_one else ""


def why_unpublished(batch: BatchState) -> str | None:
    """Say why what was requested is not published; None if it is, if nothing was requested, or if it will be."""
    if batch.publish_failure is not None:
        return batch.publish_failure.why
    requested = batch.settings.publish is not Publish.OFF
    if requested and batch.ended is not None and batch.published is not None and not batch.merges:
        return "nothing is left of what was published"
    return None


def waits_for_person(state: State, batch: BatchState, seen: frozenset[str] = frozenset()) -> bool:
    """Whether every unfinished task waits for a person, or for a task that does, here or in another batch (`seen`: batches
    that wait for this one).
    """
    if batch.committing or batch.has_branch_work or batch.publishing is not None:
        return False
    if needs_publishing(batch) and is_finished(batch):
        return batch.paused is not None
    if any(attempt.question is None for attempt in batch.alive.values()):
        return False
    waits = batch.paused is not None and batch.unfinished_count == 0
    holders: dict[str, BatchState] = {}
    for task in (task for task in batch.tasks if task.status is None):
        on = explain_status(state, batch, task).waiting
        if on is not None and on.is_on_person:
            waits = True
        elif on not in _WAITS_ON_TASKS:
            return False
        elif is_held_by_pause(batch, task):  # whatever the other task does
            waits = True
        elif (holder := _find_holding_batch(state, batch, task)) is not None and holder.id not in seen:
            holders[holder.id] = holder
    seen |= {batch.id}
    return (waits or bool(holders)) and all(waits_for_person(state, holder, seen) for holder in holders.values())


def _find_holding_batch(state: State, batch: BatchState, task: TaskState) -> BatchState | None:
    """Return the other batch that holds a lock which the task waits for, or None."""
    lock = state.start_queue.blocking_lock((batch.id, task.index))
    holder = state.start_queue.holder(lock) if lock is not None else None
    return None if holder is None or holder[0] == batch.id else state.batches[holder[0]]


def describe_password_wait(program: str) -> str:
    return f"waiting for a password from {program}, which may be asking you for it"


def find_batch_status(batch: BatchState) -> tuple[BatchStatus, str]:
    ended = find_end_status(batch)
    if ended is BatchStatus.PARTIAL:
        unpublished = why_unpublished(batch)
        return ended, describe_merged(batch) + (f"; not published: {unpublished}" if unpublished is not None else "")
    if ended is not None:
        return ended, batch.reason
    if batch.paused is not None:
        return BatchStatus.PAUSED, batch.paused.why
    if batch.publishing is not None and is_finished(batch):
        wait = f": {describe_password_wait(batch.awaited_program)}" if batch.awaited_program else ""
        return BatchStatus.MERGING, f"its branch is being published{wait}"
    if batch.started_at is None:
        return BatchStatus.PENDING, "nothing has started yet"
    if not batch.alive and all(task.status is not None or task.step is Step.MERGE for task in batch.tasks):
        return BatchStatus.MERGING, "only merging and the gate are left"
    reason = f"{len(batch.alive)} running, {batch.unfinished_count} of {len(batch.tasks)} left"
    return BatchStatus.RUNNING, reason


_StatusByQueue = dict[tuple[QueueKey, int], TaskStatus]


def count_statuses(state: State, batch: BatchState) -> dict[TaskStatus, int]:
    """Count the tasks of each status, without the entrants of contests."""
    counts = dict.fromkeys(TaskStatus, 0)
    known: _StatusByQueue | None = (
        {} if batch.settings.mode is not Mode.QUEUE and batch.settings.budget is None else None
    )
    for task in batch.tasks:
        if task.task.entrant is None:
            counts[task.status or _find_status(state, batch, task, known)] += 1
    return counts


def _find_status(state: State, batch: BatchState, task: TaskState, known: _StatusByQueue | None) -> TaskStatus:
    """Return the status that `explain_status` gives, without its reason: most of a large batch's tasks wait for the
    same thing.

    Tasks of one queue that nothing of their own holds back have one status (`known`), unless a queue or budget sets
    them apart.
    """
    if known is None or _is_begun(task) or task.pending_end is not None or task.interrupted is not None:
        return explain_status(state, batch, task).status
    if task.pending_needs or task.phase_closed:
        return TaskStatus.WAITING
    if task.next_action is not NextAction.START or task.not_before is not None or task.question is not None:
        return explain_status(state, batch, task).status
    if state.start_queue.blocking_lock((batch.id, task.index)) is not None:
        return TaskStatus.WAITING
    key = (task.queue_key, task.task.slots)
    if key not in known:
        known[key] = explain_status(state, batch, task).status
    return known[key]


def _is_begun(task: TaskState) -> bool:
    is_busy = bool(task.alive) or task.committing is not None or task.merging is not None
    return is_busy or task.step is not Step.WRITE or task.is_merged
