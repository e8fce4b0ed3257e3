"""Notes under the box: what a person should know or do, and which keys there are."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import assert_never

from plait.cli.screen.scene import Gate, Scene
from plait.cli.screen.spans import refuses, took
from plait.core.settings import Publish
from plait.core.status import PauseCause, TaskStatus, Waiting
from plait.core.views import TaskView
from plait.front.way import answer

_AT_WORK = (TaskStatus.RUNNING, TaskStatus.VERIFYING)
_QUESTIONS = 2  # more of them are counted
_SUSPECTS = 3
HELP = (
    "a       approve the task that waits for it",
    "p       pause: nothing new starts, what runs goes on; again: go on",
    "d, q    detach: the batch goes on in the background",
    "Ctrl+C  stop: what runs is ended and can be resumed; twice: at once",
    "?       hide this",
)


def notes(scene: Scene, now: float, *, keys: bool) -> Iterator[tuple[str, str]]:
    """Texts with their styles, the most urgent first."""
    yield from _pause(scene, keys=keys)
    yield from _approvals(scene, keys=keys)
    yield from _questions(scene)
    for limit in scene.limits:
        others = ", ".join(scene.view.settings.fallback)
        then = f"its tasks go to {others}" if others else "its tasks wait, others go on"
        yield f"{refuses(limit.provider, limit.until, now)}; {then}", "yellow"
    if scene.short_of is not None:
        yield f"nothing new starts, the machine is short of room: {scene.short_of}", "yellow"
    yield from _line(scene, now)


def _line(scene: Scene, now: float) -> Iterator[tuple[str, str]]:
    """What happens to the batch branch, where no task's row tells it."""
    if scene.without is not None:
        gone = f" without {', '.join(scene.without)}" if scene.without else ""
        yield f"the batch branch is being made anew{gone}", "blue"
    if scene.gate is not None:
        yield from _gate(scene.gate, now)
    if scene.publish is not None:
        pull = "" if scene.publish is Publish.PUSH else " and its pull request"
        yield f"publishing {scene.view.branch}{pull}", "blue"


def _gate(gate: Gate, now: float) -> Iterator[tuple[str, str]]:
    if gate.suspects:
        some = ", ".join(gate.suspects[:_SUSPECTS])
        more = f" and {len(gate.suspects) - _SUSPECTS} more" if len(gate.suspects) > _SUSPECTS else ""
        yield f"the gate failed, the guilty one is among {some}{more}", "yellow"
    merges = f"{gate.size} merge{'' if gate.size == 1 else 's'}" if gate.size else "the base"
    yield f"gate: {gate.command} (on {merges}, {took(now - gate.since)})", "blue"


def _pause(scene: Scene, *, keys: bool) -> Iterator[tuple[str, str]]:
    why = scene.view.reason
    press = "press p, or " if keys else ""
    match scene.paused:
        case None:
            return
        case PauseCause.PERSON:
            yield f"paused: nothing new starts, to go on: {press}plait unpause {scene.name}", "yellow"
        case PauseCause.STOP:
            left = sum(task.status in _AT_WORK for task in scene.view.tasks)
            if left:
                yield f"stopping: {left} still at work", "yellow"
            else:
                yield f"stopped, to go on: {press}plait resume {scene.name}", "yellow"
        case PauseCause.BUDGET:
            yield f"paused: {why}", "yellow"
            yield "to go on: plait run --resume --budget AMOUNT", "yellow"
        case PauseCause.PROVIDER:
            yield f"paused: {why}; to go on: {press}plait resume {scene.name}", "yellow"
        case PauseCause.GATE | PauseCause.BRANCH:
            yield f"paused: {why}; to go on: {press}plait unpause {scene.name}", "yellow"
        case _:
            assert_never(scene.paused)


def _approvals(scene: Scene, *, keys: bool) -> Iterator[tuple[str, str]]:
    waiting = [task for task in scene.view.tasks if task.waiting is Waiting.APPROVAL]
    if waiting:
        press = "press a to approve, or " if keys else ""
        yield f"{waiting[0].id} waits for approval: {press}plait approve {scene.name}", "bold yellow"


def _questions(scene: Scene) -> Iterator[tuple[str, str]]:
    asking = [task for task in scene.view.tasks if task.waiting is Waiting.ANSWER]
    for task in asking[:_QUESTIONS]:
        yield f"{task.id} asks: {_question(task)}", "bold yellow"
    if asking:
        more = f" (and {len(asking) - _QUESTIONS} more ask)" if len(asking) > _QUESTIONS else ""
        yield f"answer: {answer(f'{scene.name} {quote(asking[0].id)}', asking[0].reason)}{more}", "yellow"


def _question(task: TaskView) -> str:
    return task.reason.partition(": ")[2].removesuffix(" (answer with feedback)") or task.reason


def keys_line(scene: Scene) -> str:
    """The keys that do something now."""
    approve = any(task.waiting is Waiting.APPROVAL for task in scene.view.tasks)
    pause = "p pause" if scene.paused is None else "p go on"
    return " · ".join([*(["a approve"] if approve else []), pause, "d detach", "? help", "Ctrl+C stop"])
