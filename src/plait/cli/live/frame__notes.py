"""Notes under the box: what a person should know or do, and which keys there are."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import assert_never

from plait.cli.format__spans import format_elapsed, format_provider_limit
from plait.cli.live.view_model import BatchViewModel, RunningGate
from plait.client.next_step import format_answer_command
from plait.core.settings import Publish
from plait.core.status import PauseCause, TaskStatus, Waiting
from plait.core.views import TaskView

_ACTIVE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING)
_MAX_QUESTIONS = 2  # more of them are counted
_MAX_SUSPECTS = 3
KEY_HELP = (
    "a       approve the task that waits for it",
    "p       pause: nothing new starts, what runs goes on; again: go on",
    "d, q    detach: the batch goes on in the background",
    "Ctrl+C  stop: what runs is ended and can be resumed; twice: at once",
    "?       hide this",
)


def make_notes(model: BatchViewModel, now: float, *, keys: bool) -> Iterator[tuple[str, str]]:
    """Texts with their styles, the most urgent first."""
    yield from _pause_notes(model, keys=keys)
    yield from _approval_notes(model, keys=keys)
    yield from _question_notes(model)
    for limit in model.limits:
        others = ", ".join(model.view.settings.fallback)
        then = f"its tasks go to {others}" if others else "its tasks wait, others go on"
        yield f"{format_provider_limit(limit.provider, limit.until, now)}; {then}", "yellow"
    if model.machine_busy is not None:
        yield f"nothing new starts, the machine is short of room: {model.machine_busy}", "yellow"
    yield from _branch_notes(model, now)


def _branch_notes(model: BatchViewModel, now: float) -> Iterator[tuple[str, str]]:
    """What happens to the batch branch, where no task's row tells it."""
    if model.rebuild_without is not None:
        gone = f" without {', '.join(model.rebuild_without)}" if model.rebuild_without else ""
        yield f"the batch branch is being made anew{gone}", "blue"
    if model.gate is not None:
        yield from _gate_notes(model.gate, now)
    if model.publish is not None:
        pull = "" if model.publish is Publish.PUSH else " and its pull request"
        yield f"publishing {model.view.branch}{pull}", "blue"


def _gate_notes(gate: RunningGate, now: float) -> Iterator[tuple[str, str]]:
    if gate.suspects:
        some = ", ".join(gate.suspects[:_MAX_SUSPECTS])
        more = f" and {len(gate.suspects) - _MAX_SUSPECTS} more" if len(gate.suspects) > _MAX_SUSPECTS else ""
        yield f"the gate failed, the guilty one is among {some}{more}", "yellow"
    merges = f"{gate.size} merge{'' if gate.size == 1 else 's'}" if gate.size else "the base"
    yield f"gate: {gate.command} (on {merges}, {format_elapsed(now - gate.since)})", "blue"


def _pause_notes(model: BatchViewModel, *, keys: bool) -> Iterator[tuple[str, str]]:
    why = model.view.reason
    press = "press p, or " if keys else ""
    match model.paused:
        case None:
            return
        case PauseCause.PERSON:
            yield f"paused: nothing new starts, to go on: {press}plait unpause {model.name}", "yellow"
        case PauseCause.STOP:
            left = sum(task.status in _ACTIVE_STATUSES for task in model.view.tasks)
            if left:
                yield f"stopping: {left} still at work", "yellow"
            else:
                yield f"stopped, to go on: {press}plait resume {model.name}", "yellow"
        case PauseCause.BUDGET:
            yield f"paused: {why}", "yellow"
            yield "to go on: plait run --resume --budget AMOUNT", "yellow"
        case PauseCause.PROVIDER:
            yield f"paused: {why}; to go on: {press}plait resume {model.name}", "yellow"
        case PauseCause.GATE | PauseCause.BRANCH:
            yield f"paused: {why}; to go on: {press}plait unpause {model.name}", "yellow"
        case _:
            assert_never(model.paused)


def _approval_notes(model: BatchViewModel, *, keys: bool) -> Iterator[tuple[str, str]]:
    waiting = [task for task in model.view.tasks if task.waiting is Waiting.APPROVAL]
    if waiting:
        press = "press a to approve, or " if keys else ""
        yield f"{waiting[0].id} waits for approval: {press}plait approve {model.name}", "bold yellow"


def _question_notes(model: BatchViewModel) -> Iterator[tuple[str, str]]:
    asking = [task for task in model.view.tasks if task.waiting is Waiting.ANSWER]
    for task in asking[:_MAX_QUESTIONS]:
        yield f"{task.id} asks: {_get_question(task)}", "bold yellow"
    if asking:
        more = f" (and {len(asking) - _MAX_QUESTIONS} more ask)" if len(asking) > _MAX_QUESTIONS else ""
        yield (
            f"answer: {format_answer_command(f'{model.name} {quote(asking[0].id)}', asking[0].reason)}{more}",
            "yellow",
        )


def _get_question(task: TaskView) -> str:
    return task.reason.partition(": ")[2].removesuffix(" (answer with feedback)") or task.reason


def format_keys(model: BatchViewModel) -> str:
    """The keys that do something now."""
    approve = any(task.waiting is Waiting.APPROVAL for task in model.view.tasks)
    pause = "p pause" if model.paused is None else "p go on"
    return " · ".join([*(["a approve"] if approve else []), pause, "d detach", "? help", "Ctrl+C stop"])
