"""The steering verbs: each asks the engine for something, and tells what became of it, task by task."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from plait.cli.say import FAILED, harmless
from plait.cli.show import listed
from plait.cli.steer_tell import tell
from plait.core.errors import UserError
from plait.core.requests import (
    Approve,
    CancelBatch,
    CancelTask,
    Drop,
    Feedback,
    Pause,
    Resume,
    Retry,
    Unpause,
)
from plait.core.settings import Mode
from plait.core.state import BatchState
from plait.front.asking import request_id
from plait.front.desk import Desk, open_desk
from plait.front.names import Meant, find, find_one
from plait.front.steering import OfBatch, OfTask, approve_all, check_agent, check_answer, in_order, lost
from plait.wiring import find_place

Words = Sequence[str]


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
            return _whole(desk, meant.batch, approve_all(meant.batch), as_json=as_json)
        if meant.tasks:
            return _each(desk, meant, Approve, as_json=as_json)
        return _whole(desk, meant.batch, Approve, as_json=as_json)


def retry_command(where: Path, words: Words, *, agent: str | None, as_json: bool) -> int:
    """Without tasks, all that failed, timed out, conflicted or was cancelled."""
    with open_desk(find_place(where)) as desk:
        meant = find(desk.ahead(), words)
        if agent is not None:
            check_agent(meant.batch, agent)
        tasks = in_order(meant.batch, meant.tasks or lost(meant.batch))
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
        check_answer(batch, task, said)
        return _each(
            desk,
            Meant(batch, (task,)),
            lambda name, batch, task: Feedback(name, batch, task, said),
            as_json=as_json,
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
