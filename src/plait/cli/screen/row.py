"""A task's row, in words: who, where, how long, what, by whom, for how much."""

from __future__ import annotations

from collections.abc import Mapping

from plait.cli.screen.ink import Ink
from plait.cli.screen.scene import Scene
from plait.cli.screen.spans import took
from plait.cli.show import changes
from plait.core.frozen import dataclass
from plait.core.policy import words
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category, TaskStatus, Waiting
from plait.core.views import TaskView

_AT_WORK = (TaskStatus.RUNNING, TaskStatus.VERIFYING)
_TELLING = 4  # an id with fewer letters says nothing: 63, 1.2, T007
_MERGED = (TaskStatus.DONE, TaskStatus.MERGING)
_DONE = "merged"  # that it passed the gate as well is what done means
_SOON, _ENDING = " again soon, because ", " is being ended, because "


@dataclass(frozen=True, slots=True)
class Row:
    """`changed` is how much it changed, `warning` what may come of it; neither is worth cutting `what` short."""

    task: TaskView
    label: str
    title: str
    status: str
    took: str
    changed: str
    what: str
    warning: str
    agent: str
    cost: str


def row(scene: Scene, task: TaskView, now: float, activity: Mapping[str, str], ink: Ink) -> Row:
    return Row(
        task=task,
        label=ink.clean(task.id),
        title=ink.clean(task.title) if says_nothing(task) else "",
        status=f"{ink.signs[task.status]} {task.status.value.replace('_', ' ')}",
        took=_took(task, now),
        changed=ink.plain(changes(task.diffstat)) if _merges(task) else "",
        what=ink.clean(_what(scene, task, now, activity)),
        warning=ink.clean(foreseen(task)),
        agent=ink.clean(task.agent or "") if task.started_at is not None else "",
        cost=cost(task.cost + scene.used.get(task.id, NO_SPEND)),
    )


def _merges(task: TaskView) -> bool:
    """Whether something of it is merged, or about to be."""
    return task.status in _MERGED and task.diffstat is not None and task.diffstat[0] > 0


def says_nothing(task: TaskView) -> bool:
    return sum(map(str.isalpha, task.id)) < _TELLING and bool(task.title)


def _took(task: TaskView, now: float) -> str:
    """How long it has been at it; who waits again is not at it."""
    if task.started_at is None:
        return ""
    if task.ended_at is not None:
        return took(task.ended_at - task.started_at)
    at_it = task.status in {*_AT_WORK, TaskStatus.MERGING}
    return took(now - task.started_at) if at_it else ""


def _what(scene: Scene, task: TaskView, now: float, activity: Mapping[str, str]) -> str:
    if task.status is TaskStatus.QUEUED:
        return ""
    if task.status in _AT_WORK and task.waiting is None and task.id not in scene.ending:
        return doing(task, activity) or scene.checks.get(task.id, "")
    return shorter(task, now)


def foreseen(task: TaskView) -> str:
    """What a running task would conflict with, were it merged as it is."""
    if not task.foreseen or task.status not in _AT_WORK:
        return ""
    (other, files), *rest = task.foreseen
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    others = f", and with {len(rest)} more" if rest else ""
    return f"would conflict with {other or 'the batch branch'} in {files[0] if files else '?'}{more}{others}"


def shorter(task: TaskView, now: float) -> str:
    """The reason without the words that its place in a table says already."""
    verb, soon, why = task.reason.partition(_SOON)
    if soon and task.retry_at is not None:
        again = f"{verb.removeprefix('it goes').removeprefix('it is')} again in {took(task.retry_at - now)}"
        return f"{again.strip()}: {why}"
    _, ending, why = task.reason.partition(_ENDING)
    if ending:
        return f"being ended: {why}"
    if task.waiting is Waiting.PAUSE:
        interrupted = task.status is TaskStatus.INTERRUPTED
        return task.reason.partition(";")[0] if interrupted else "the batch is paused"
    if task.status is TaskStatus.CONFLICTED:
        return task.reason.removeprefix(f"{words(Category.CONFLICT)}: ")
    if task.status is TaskStatus.DONE:
        return _DONE if task.reason.startswith(_DONE) else task.reason.removeprefix("done; ")
    if task.status is TaskStatus.MERGING:
        return _merging(task.reason)
    told = task.reason.removeprefix("it is ").removeprefix("it ").removesuffix(" (answer with feedback)")
    return told.partition("; would conflict with ")[0]


def _merging(reason: str) -> str:
    told = reason.removeprefix("it is ").removeprefix("merged; ").removesuffix(" on the merged result")
    return told.replace("its turn to be merged comes", "comes", 1)


def doing(task: TaskView, activity: Mapping[str, str]) -> str:
    """Its phase, else its last activity; a second attempt says so."""
    said = task.phase or activity.get(task.id, "")
    if task.attempt <= 1:
        return said
    return f"attempt {task.attempt}: {said}" if said else f"attempt {task.attempt}"


def cost(spend: Spend) -> str:
    """The money; without any, the tokens in thousands."""
    if spend.microusd:
        return f"${spend.microusd / 1e6:.2f}"
    if spend.tokens >= 10_000:
        return f"{spend.tokens / 1000:.0f}k tokens"
    return f"{spend.tokens} tokens" if spend.tokens else ""
