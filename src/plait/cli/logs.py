"""`plait logs`: what a task's attempts print."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from plait import wiring
from plait.cli.logs_tell import Teller, called, teller
from plait.cli.say import OK, harmless
from plait.core.decisions import AttemptStarted
from plait.core.errors import UserError
from plait.core.events import Record
from plait.core.explain import explain
from plait.core.frozen import dataclass
from plait.core.state import BatchState, TaskState
from plait.core.task import Attempt, Step
from plait.front.desk import Desk, open_desk
from plait.front.names import find_one
from plait.front.output import Output
from plait.front.reading.attempts import at_work, choose, listener_of
from plait.ports import InboxError
from plait.wiring import find_place
from plait.wiring.secrets import discretion

STEPS = (Step.WRITE, Step.VERIFY)
GLANCE = 0.2  # seconds between two looks at a transcript that grows

Hear = Callable[[Sequence[Record]], None]


@dataclass(frozen=True, slots=True)
class LogsWish:
    """`attempt` None: the newest. `step` None: what was written; whoever follows sees its verification too.
    `gate`: not what a task's attempts print, but what the gate does.
    """

    follow: bool = False
    raw: bool = False
    attempt: int | None = None
    step: str | None = None
    as_json: bool = False
    gate: bool = False


def logs_command(where: Path, words: Sequence[str], wish: LogsWish) -> int:
    step = _step(wish.step)
    with open_desk(find_place(where)) as desk:
        if wish.gate:
            _read_gate(desk, words, wish)
            return OK
        batch, task = find_one(desk.ahead(), words)
        tell = _teller(desk, batch, wish)
        if wish.follow and wish.attempt is None:
            _Follower(desk, batch.id, task.task.id, step, tell).follow()
        else:
            attempt = choose(desk.ahead(), batch, task, step or Step.WRITE, wish.attempt)
            _read(desk, attempt, tell, follow=wish.follow)
            _point_at_check(task, step)
            _point_at_all(tell)
    return OK


def _read_gate(desk: Desk, words: Sequence[str], wish: LogsWish) -> None:
    from plait.cli.logs_gate import find_gate  # noqa: PLC0415 - few look at gates
    from plait.front.gates import gate_attempt  # noqa: PLC0415

    if wish.step is not None:
        raise UserError("a gate has no steps", hint="Say --gate or --step, not both.")
    batch, n = find_gate(desk, words, wish.attempt)
    _read(desk, gate_attempt(batch.id, n), _teller(desk, batch, wish), follow=wish.follow)


def _teller(desk: Desk, batch: BatchState, wish: LogsWish) -> Teller:
    hide = discretion(wiring.state_folder(desk.place), batch.id)
    return teller(hide, partial(listener_of, desk.place), raw=wish.raw, as_json=wish.as_json)


def _step(word: str | None) -> Step | None:
    if word is None:
        return None
    if word not in {step.value for step in STEPS}:
        names = " or ".join(step.value for step in STEPS)
        raise UserError(f"no attempts are made at a step called {word}", hint=f"--step is {names}.")
    return Step(word)


def _point_at_check(task: TaskState, step: Step | None) -> None:
    if step is None and task.numbers.get(Step.VERIFY):
        _note("its verification has a transcript of its own: --step verify")


def _point_at_all(tell: Teller) -> None:
    if tell.shortened:
        _note("this is what it said and did; --raw shows all that it printed")


def _read(desk: Desk, attempt: Attempt, tell: Teller, *, follow: bool, hear: Hear | None = None) -> None:
    output = Output(wiring.state_folder(desk.place).attempt(attempt).transcript)
    tell.begin(attempt)
    while True:
        # Whether it is over is known before its last words are read.
        over = not follow or not at_work(desk.state, attempt)
        tell.take(output.more())
        if over:
            break
        records = _news(desk)
        if hear is not None:
            hear(records)
    if not tell.end() and not at_work(desk.state, attempt):
        _note(f"{called(attempt)} printed nothing")


def _news(desk: Desk) -> Sequence[Record]:
    with suppress(InboxError):  # who may only read can follow all the same
        desk.tend()
    desk.wait(GLANCE)
    return desk.refresh()


class _Follower:
    """From the newest attempt on, and across those that follow, until the task has ended or is interrupted."""

    def __init__(self, desk: Desk, batch: str, task: str, step: Step | None, tell: Teller) -> None:
        self._desk, self._batch, self._task = desk, batch, task
        self._steps = STEPS if step is None else (step,)
        self._tell = tell
        self._told = ""
        self._coming: deque[Attempt] = deque()

    def follow(self) -> None:
        self._coming.extend(self._newest())
        while True:
            while self._coming:
                _read(self._desk, self._coming.popleft(), self._tell, follow=True, hear=self._hear)
            state = self._desk.ahead()
            batch = state.batches.get(self._batch)
            task = batch.task(self._task) if batch is not None else None
            if batch is None or task is None or task.status is not None or task.interrupted is not None:
                return
            if not task.alive:
                self._say(explain(state, batch, task))
            self._hear(_news(self._desk))

    def _newest(self) -> list[Attempt]:
        batch = self._desk.state.batches.get(self._batch)
        task = batch.task(self._task) if batch is not None else None
        if task is None or task.last is None:
            return []
        if task.last.name.step in self._steps:
            return [task.last.name]
        step = self._steps[-1]
        number = task.numbers.get(step, 0)
        return [Attempt(self._batch, self._task, step, number)] if number else []

    def _hear(self, records: Sequence[Record]) -> None:
        for event in (record.event for record in records):
            if isinstance(event, AttemptStarted) and self._mine(event.attempt):
                self._coming.append(event.attempt)

    def _mine(self, attempt: Attempt) -> bool:
        return (attempt.batch, attempt.task) == (self._batch, self._task) and attempt.step in self._steps

    def _say(self, why: str) -> None:
        """While nothing runs, why not; once."""
        if why != self._told:
            self._told = why
            _note(why)


def _note(text: str) -> None:
    """Beside the transcript, never in it."""
    sys.stdout.flush()
    print(f"plait: {harmless(text)}", file=sys.stderr)  # noqa: T201 - as errors are told
