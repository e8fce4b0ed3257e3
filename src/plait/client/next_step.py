"""What would make a task continue, in one sentence, with the command if a person can do something."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import assert_never

from plait.agents.table import AGENTS
from plait.core.explain import explain_status
from plait.core.state import BatchState, State, TaskState
from plait.core.status import Category, NextAction, PauseCause, TaskStatus, WaitReason
from plait.core.text import join_names

_MAX_SHOWN = 3
_TIME_ONLY_SECONDS = 18 * 3600  # seconds


def format_answer_command(target: str, *, asks_for_budget: bool) -> str:
    """Return the command that answers the question of a task; any answer to a question about its budget approves it."""
    if asks_for_budget:
        return f"plait feedback {target} 'continue'   or   plait cancel {target}"
    return f"plait feedback {target} 'your answer'"


def suggest_next_step(state: State, batch: BatchState, task: TaskState) -> str:
    explanation = explain_status(state, batch, task)
    if explanation.status.is_terminal:
        return _suggest_after_end(batch, task, explanation.status)
    if explanation.status is TaskStatus.INTERRUPTED:
        return f"plait resume {batch.id} retries it."
    if explanation.waiting is None:
        return "Nothing is missing."
    if explanation.status is TaskStatus.MERGING and explanation.waiting is WaitReason.TURN:
        return _suggest_while_merging(batch, task)
    return _suggest_while_waiting(state, batch, task, explanation.waiting)


def _suggest_after_end(batch: BatchState, task: TaskState, status: TaskStatus) -> str:
    name = task.task.id
    if status is TaskStatus.DONE and task.task.entrant is not None:
        return f"Nothing is missing: plait explain {batch.id} {task.task.entrant} shows the contest's result."
    if status is TaskStatus.DONE:
        return _suggest_after_done(batch)
    if status is TaskStatus.CONFLICTED:
        return f"plait retry {batch.id} {name} retries it on the current batch branch; plait diff {batch.id} {name} shows it."
    if status in {TaskStatus.BLOCKED, TaskStatus.SKIPPED} and task.by is not None:
        return f"plait retry {batch.id} {task.by} retries it, together with {task.by}."
    if status is TaskStatus.BLOCKED:
        return f"plait retry {batch.id} retries what failed and the tasks it blocked."
    if kept := _find_kept_result(task):
        return (
            f"plait retry {batch.id} {name} {kept} without running the agent again; "
            f"plait retry {batch.id} {name} --agent NAME writes it again."
        )
    if task.category is Category.REJECTED:
        return f"plait retry {batch.id} {name} runs all its entrants again; plait diff {batch.id} ENTRANT shows a rejected change."
    again = f"{_suggest_before_retry(batch, task)}plait retry {batch.id} {name} retries it"
    if task.finished is not None and task.category in {Category.VERIFY, Category.GATE}:
        again = f"{again}; plait recheck {batch.id} {name} verifies its finished work again, without an agent"
    if task.entrants:  # the task itself takes no feedback, its entrants do
        return f"{again}."
    return f"{again}; plait feedback {batch.id} {name} 'text' retries it with your feedback."


def _find_kept_result(task: TaskState) -> str:
    """Say what a retry does with the result that its agent has finished; "" if there is none to continue with."""
    if task.uncommitted is not None:
        return "commits its existing result"
    if task.unverified is not None:
        return "verifies its existing result"
    return "merges its existing result" if task.unmerged is not None else ""


def _suggest_before_retry(batch: BatchState, task: TaskState) -> str:
    """Suggest what to look at, or do, before retrying the task."""
    if task.category is Category.GATE:
        return f"plait logs {batch.id} {task.task.id} --gate shows why; "
    agent = task.last_write.agent if task.last_write is not None else None
    if task.category is Category.AUTH and (login := find_login_hint(agent)):
        return f"Log in first ({login}); then "
    return ""


def find_login_hint(agent: str | None) -> str:
    """Say how to log in with an agent; "" if unknown."""
    agent_info = AGENTS.get(agent or "")
    return agent_info.login.how if agent_info is not None and agent_info.login is not None else ""


def _suggest_after_done(batch: BatchState) -> str:
    shown = batch.published is not None and batch.published.commit == batch.head
    if batch.ended is None or not batch.merges or shown:
        return "Nothing is missing: it is done."
    return f"Nothing is missing: it is done. plait pr {batch.id} publishes it with the batch branch."


def _suggest_while_merging(batch: BatchState, task: TaskState) -> str:
    if not task.is_merged:
        return "It is merged when its turn comes."
    if batch.merging is not None or batch.tasks_by_action[NextAction.MERGE]:
        return "The gate runs as soon as what is ready to be merged is merged too: one run for all of it."
    return "The gate runs on it next."


def _suggest_while_waiting(  # noqa: C901, PLR0912 - a case for each reason
    state: State, batch: BatchState, task: TaskState, reason: WaitReason
) -> str:
    match reason:
        case WaitReason.ANSWER if task.requested_spend is not None:
            return _suggest_budget_answer(batch, task)
        case WaitReason.NEEDS:
            return _suggest_for_needs(state, batch, task)
        case WaitReason.BACKOFF if task.uncommitted is not None:
            again = f"plait retry {batch.id} {task.task.id} tries again at once; no agent runs."
            return again if task.not_before is None else f"Committing at {_format_clock(task.not_before)}; {again}"
        case WaitReason.PROGRAM:
            return (
                f"Answer {task.awaited_program} if it asks for something, or unlock the key; plait tries again by itself. "
                f"plait cancel {batch.id} {task.task.id} ends it; its result stays in its workspace."
            )
        case WaitReason.BACKOFF:
            return "Retrying soon." if task.not_before is None else f"Retrying at {_format_clock(task.not_before)}."
        case WaitReason.PAUSE:
            return _suggest_unpause(batch)
        case WaitReason.LIMIT:
            return f"It runs by itself when its agent is free again{_format_limit_end(state, batch, task)}."
        case WaitReason.PHASE:
            return "It runs when enough of the earlier phases is done."
        case WaitReason.FILES:
            return "It runs when the task that holds these files ends."
        case WaitReason.ANSWER:
            return f"plait feedback {batch.id} {task.task.id} 'text' answers it."
        case WaitReason.APPROVAL:
            return f"plait approve {batch.id} {task.task.id} lets it start."
        case WaitReason.BUDGET:
            return "It runs when running tasks cost less than reserved, or with a larger budget."
        case WaitReason.MEMORY:
            return (
                "It runs when the machine has capacity: see max_load, free_memory and max_memory_stall under [engine]."
            )
        case WaitReason.BRANCH:
            return "It continues when the batch branch has been rebuilt."
        case WaitReason.TURN:
            return "It runs when its turn comes."
        case WaitReason.SLOT:
            return "It runs when a slot is free."
        case _:
            assert_never(reason)


def _suggest_budget_answer(batch: BatchState, task: TaskState) -> str:
    target = f"{batch.id} {task.task.id}"
    return (
        f"plait feedback {target} 'continue' allows that attempt and resets its budget; "
        f"plait run --resume --task-budget AMOUNT raises it for all tasks; plait cancel {target} gives it up."
    )


def _suggest_unpause(batch: BatchState) -> str:
    match batch.paused.cause if batch.paused is not None else None:
        case PauseCause.BUDGET:
            return "plait run --resume --budget AMOUNT continues the batch, if that is enough."
        case PauseCause.STOP | PauseCause.PROVIDER:
            return f"plait resume {batch.id} continues the batch with this terminal's environment."
        case _:
            return f"plait unpause {batch.id} continues the batch."


def _format_limit_end(state: State, batch: BatchState, task: TaskState) -> str:
    providers = (batch.settings.provider(agent) for agent in task.queue_key.agents)
    open_until = [
        breaker.until
        for provider in providers
        if (breaker := state.breakers.get(provider)) is not None and breaker.until is not None
    ]
    return f", not before {_format_clock(min(open_until))} ({_format_time_left(min(open_until))})" if open_until else ""


def _suggest_for_needs(state: State, batch: BatchState, task: TaskState) -> str:
    """Suggest what to do about the needs at the end of the chain, which don't wait for another task themselves."""
    roots = list(dict.fromkeys(_find_root_needs(batch, task)))
    tasks = [batch.tasks[index] for index in roots]
    names = [f"{other.task.id} ({_format_status(state, batch, other)})" for other in tasks]
    return f"It runs when its dependencies are done; waiting for {join_names(names, _MAX_SHOWN)}."


def _find_root_needs(batch: BatchState, task: TaskState) -> Iterator[int]:
    seen, queue = {task.index}, [task.index]
    while queue:
        index = queue.pop(0)
        entrants = batch.tasks[index].entrants
        missing = [
            need
            for need in batch.plan.needs[index]
            if (status := batch.tasks[need].status) is not TaskStatus.DONE and (status is None or need not in entrants)
        ]
        if not missing:
            yield index
        queue += [need for need in missing if need not in seen]
        seen.update(missing)


def _format_status(state: State, batch: BatchState, task: TaskState) -> str:
    explanation = explain_status(state, batch, task)
    if not explanation.reason:
        return explanation.status.value
    return f"{explanation.status.value.replace('_', ' ')}: {explanation.reason}"


def _format_time_left(until: float) -> str:
    left = max(0, int(until - time.time()))
    if left < 60:
        return f"{left}s left"
    minutes = (left + 59) // 60
    hours = f"{minutes // 60}h " if minutes >= 60 else ""
    return f"{hours}{minutes % 60}m left"


def _format_clock(at: float) -> str:
    """Format a time of day, with the day where the time alone is not clear."""
    day = "" if at - time.time() < _TIME_ONLY_SECONDS else "%a "
    return time.strftime(f"{day}%H:%M:%S", time.localtime(at))
