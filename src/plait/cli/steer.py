"""The steering verbs: each asks the engine for something, and tells what became of it, task by task."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path

from plait.cli.say import FAILED, harmless
from plait.cli.show import listed
from plait.cli.steer_tell import tell
from plait.core.errors import UserError
from plait.core.requests import (
    Approve,
    CancelBatch,
    CancelTask,
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Request,
    Resume,
    Retry,
    Unpause,
)
from plait.core.settings import Mode
from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus
from plait.front.asking import request_id
from plait.front.desk import Desk, open_desk
from plait.front.names import Meant, find, find_one
from plait.wiring import find_place

# What a retry without names takes up; what was blocked by it follows by itself.
RETRIED = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED, TaskStatus.CANCELLED)

_NO = frozenset({"n", "no", "nope", "stop", "cancel", "don't", "never"})

Words = Sequence[str]
OfTask = Callable[[str, str, str], Request]  # a request's id, its batch, its task
OfBatch = Callable[[str, str], Request]


def cancel_command(where: Path, words: Words, *, yes: bool, as_json: bool) -> int:
    with open_desk(find_place(where)) as desk:
        meant = find(desk.ahead(), words)
        if meant.tasks:
            return _each(desk, meant, CancelTask, as_json=as_json)
        if not (yes or as_json or meant.batch.ended or _confirmed(meant.batch)):
            print("Nothing was cancelled.", file=sys.stderr)  # noqa: T201 - a person answers a person
            return FAILED
        return _whole(desk, meant.batch, CancelBatch, as_json=as_json)


def pause_command(where: Path, words: Words, *, as_json: bool) -> int:
    return _of_batch(where, "pause", words, Pause, as_json=as_json)


def unpause_command(where: Path, words: Words, *, as_json: bool) -> int:
    return _of_batch(where, "unpause", words, Unpause, as_json=as_json)


def resume_command(where: Path, words: Words, *, as_json: bool) -> int:
    return _of_batch(where, "resume", words, Resume, as_json=as_json)


def approve_command(where: Path, words: Words, *, everything: bool, as_json: bool) -> int:
    """Without a task, the one whose turn it is; `everything`: nobody is asked any more."""
    with open_desk(find_place(where)) as desk:
        meant = find(desk.ahead(), words)
        if everything and meant.tasks:
            raise UserError("--all approves the whole batch: name no tasks beside it")
        if everything and meant.batch.settings.mode is Mode.QUEUE:
            return _whole(desk, meant.batch, _approve_all(meant.batch), as_json=as_json)
        if meant.tasks:
            return _each(desk, meant, Approve, as_json=as_json)
        return _whole(desk, meant.batch, Approve, as_json=as_json)


def retry_command(where: Path, words: Words, *, agent: str | None, as_json: bool) -> int:
    """Without tasks, all that failed, timed out, conflicted or was cancelled."""
    with open_desk(find_place(where)) as desk:
        meant = find(desk.ahead(), words)
        if agent is not None:
            _check_agent(meant.batch, agent)
        # A contest takes up its entrants itself.
        asked = (task for task in meant.batch.tasks if task.task.entrant is None)
        lost = tuple(task for task in asked if task.status in RETRIED)
        tasks = _in_order(meant.batch, meant.tasks or lost)
        return _each(
            desk,
            Meant(meant.batch, tasks),
            lambda name, batch, task: Retry(name, batch, task, agent),
            as_json=as_json,
        )


def drop_command(where: Path, words: Words, *, as_json: bool) -> int:
    with open_desk(find_place(where)) as desk:
        meant = find(desk.ahead(), words)
        if not meant.tasks:
            hint = f"A whole batch is given up with `plait cancel {meant.batch.id}`."
            raise UserError(f"name the tasks of batch {meant.batch.id} to go on without", hint=hint)
        return _each(desk, meant, Drop, as_json=as_json)


def feedback_command(where: Path, words: Words, *, as_json: bool) -> int:
    """`[BATCH] TASK TEXT`; `-` reads the text from the standard input."""
    if len(words) < 2:
        raise UserError("feedback is about a task, and has a text", hint="plait feedback BATCH TASK 'text'")
    *names, text = words
    with open_desk(find_place(where)) as desk:
        batch, task = find_one(desk.ahead(), names)
        said = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text
        _check_answer(batch, task, said)
        return _each(
            desk,
            Meant(batch, (task,)),
            lambda name, batch, task: Feedback(name, batch, task, said),
            as_json=as_json,
        )


def _check_answer(batch: BatchState, task: TaskState, said: str) -> None:
    """Whether it may spend more is a question to which any words mean yes: who says no must not pay for it."""
    if task.wants is not None and said.strip(" .!\n").lower() in _NO:
        called = f"{batch.id} {task.task.id}"
        raise UserError(
            f"any feedback lets {task.task.id} spend more: nothing was answered",
            hint=f"plait cancel {called} gives it up; plait feedback {called} 'go on' pays for one more attempt.",
        )


def _of_batch(where: Path, verb: str, words: Words, make: OfBatch, *, as_json: bool) -> int:
    with open_desk(find_place(where)) as desk:
        meant = find(desk.ahead(), words)
        if meant.tasks:
            raise UserError(
                f"{verb} is about a whole batch",
                hint=f"plait {verb} {meant.batch.id}; tasks can be cancelled, retried and dropped one by one.",
            )
        return _whole(desk, meant.batch, make, as_json=as_json)


def _whole(desk: Desk, batch: BatchState, make: OfBatch, *, as_json: bool) -> int:
    answer = desk.ask(make(request_id(), batch.id))
    return tell(desk.state, batch.id, [(None, answer)], as_json=as_json)


def _each(desk: Desk, meant: Meant, make: OfTask, *, as_json: bool) -> int:
    names = [task.task.id for task in meant.tasks]
    answers = desk.ask_all([make(request_id(), meant.batch.id, name) for name in names])
    return tell(desk.state, meant.batch.id, list(zip(names, answers, strict=True)), as_json=as_json)


def _approve_all(batch: BatchState) -> OfBatch:
    settings = replace(batch.settings, auto_approve=True)
    return lambda name, batch: ChangeSettings(name, batch, settings, ("auto_approve",))


def _in_order(batch: BatchState, tasks: Sequence[TaskState]) -> tuple[TaskState, ...]:
    """What others need comes first: until it is taken up, they can't be. Else as in the plan."""
    sorter = TopologicalSorter(dict(enumerate(batch.plan.needs)))
    sorter.prepare()
    waves: dict[int, int] = {}
    while sorter.is_active():
        ready = sorter.get_ready()
        waves.update(dict.fromkeys(ready, len(waves)))
        sorter.done(*ready)
    return tuple(sorted(tasks, key=lambda task: (waves[task.place], task.place)))


def _check_agent(batch: BatchState, agent: str) -> None:
    """Raises ConfigError: an agent that nobody knows is told now, not when the attempt fails."""
    used = {*batch.settings.agents, *(task.task.agent for task in batch.tasks)}
    if agent not in used:
        from plait.agents.model import AgentSpec  # noqa: PLC0415 - only for those who choose another one
        from plait.agents.table import load  # noqa: PLC0415

        load(AgentSpec(agent))


def _confirmed(batch: BatchState) -> bool:
    """Whoever is not at a terminal has said it already."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    going = [attempt.task for attempt in batch.alive]
    work = f"end {listed(going)} and " if going else ""
    question = f"Cancel batch {batch.id}: {work}give up {batch.unsettled} of {len(batch.tasks)} tasks? [y/N] "
    try:
        return input(harmless(question)).strip().lower() in {"y", "yes"}
    except EOFError:  # Ctrl+D leaves as Ctrl+C does
        raise KeyboardInterrupt from None
