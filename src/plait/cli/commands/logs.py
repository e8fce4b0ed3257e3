"""`plait logs`: what a task's attempts print."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from plait.cli.commands.logs__logs_tell import TranscriptWriter, format_attempt_name, make_transcript_writer
from plait.cli.output import OK, replace_control_chars
from plait.client.batch_lookup import find_one_task
from plait.client.logs.attempt_output__attempts import choose_attempt, find_parser, is_attempt_running
from plait.client.logs.attempt_output__output import OutputReader
from plait.client.session import Session, open_session
from plait.core.decisions import AttemptStarted
from plait.core.errors import UserError
from plait.core.events import Record
from plait.core.explain import explain_in_words
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, TaskState
from plait.core.task import Attempt, Step
from plait.git.location import find_repo
from plait.store import project_files
from plait.store.batch_files__secrets import load_redactor
from plait.store.interfaces import InboxError

STEPS = (Step.WRITE, Step.VERIFY)
TRANSCRIPT_POLL_SECONDS = 0.2  # seconds between two looks at a transcript that grows

RecordHandler = Callable[[Sequence[Record]], None]


@dataclass(frozen=True, slots=True)
class LogsArguments:
    """`attempt` None: the newest. `step` None: what was written; whoever follows sees its verification too.
    `gate`: not what a task's attempts print, but what the gate does.
    """

    follow: bool = False
    raw: bool = False
    attempt: int | None = None
    step: str | None = None
    as_json: bool = False
    gate: bool = False


def logs_command(where: Path, words: Sequence[str], arguments: LogsArguments) -> int:
    step = _parse_step(arguments.step)
    with open_session(find_repo(where)) as desk:
        if arguments.gate:
            _print_gate(desk, words, arguments)
            return OK
        batch, task = find_one_task(desk.preview_state(), words)
        writer = _make_writer(desk, batch, arguments)
        if arguments.follow and arguments.attempt is None:
            _TaskFollower(desk, batch.id, task.task.id, step, writer).follow()
        else:
            attempt = choose_attempt(desk.preview_state(), batch, task, step or Step.WRITE, arguments.attempt)
            _print_transcript(desk, attempt, writer, follow=arguments.follow)
            _mention_verification(task, step)
            _mention_raw(writer)
    return OK


def _print_gate(desk: Session, words: Sequence[str], arguments: LogsArguments) -> None:
    from plait.cli.commands.logs__logs_gate import find_gate  # noqa: PLC0415 - few look at gates
    from plait.client.history import make_gate_attempt  # noqa: PLC0415

    if arguments.step is not None:
        raise UserError("a gate has no steps", hint="Say --gate or --step, not both.")
    batch, n = find_gate(desk, words, arguments.attempt)
    _print_transcript(
        desk, make_gate_attempt(batch.id, n), _make_writer(desk, batch, arguments), follow=arguments.follow
    )


def _make_writer(desk: Session, batch: BatchState, arguments: LogsArguments) -> TranscriptWriter:
    redaction = load_redactor(project_files.open_state_paths(desk.place), batch.id)
    return make_transcript_writer(
        redaction, partial(find_parser, desk.place), raw=arguments.raw, as_json=arguments.as_json
    )


def _parse_step(name: str | None) -> Step | None:
    if name is None:
        return None
    if name not in {step.value for step in STEPS}:
        names = " or ".join(step.value for step in STEPS)
        raise UserError(f"no attempts are made at a step called {name}", hint=f"--step is {names}.")
    return Step(name)


def _mention_verification(task: TaskState, step: Step | None) -> None:
    if step is None and task.attempt_counts.get(Step.VERIFY):
        _print_note("its verification has a transcript of its own: --step verify")


def _mention_raw(writer: TranscriptWriter) -> None:
    if writer.is_condensed:
        _print_note("this is what it said and did; --raw shows all that it printed")


def _print_transcript(
    desk: Session,
    attempt: Attempt,
    writer: TranscriptWriter,
    *,
    follow: bool,
    on_records: RecordHandler | None = None,
) -> None:
    output = OutputReader(project_files.open_state_paths(desk.place).attempt(attempt).transcript)
    writer.begin(attempt)
    while True:
        # Whether it is over is known before its last words are read.
        is_last_read = not follow or not is_attempt_running(desk.state, attempt)
        writer.write(output.read_new())
        if is_last_read:
            break
        records = _wait_for_records(desk)
        if on_records is not None:
            on_records(records)
    if not writer.end() and not is_attempt_running(desk.state, attempt):
        _print_note(f"{format_attempt_name(attempt)} printed nothing")


def _wait_for_records(desk: Session) -> Sequence[Record]:
    with suppress(InboxError):  # who may only read can follow all the same
        desk.ensure_engine()
    desk.wait(TRANSCRIPT_POLL_SECONDS)
    return desk.refresh()


class _TaskFollower:
    """From the newest attempt on, and across those that follow, until the task has ended or is interrupted."""

    def __init__(
        self, desk: Session, batch: str, task: str, step: Step | None, writer: TranscriptWriter
    ) -> None:
        self._desk, self._batch, self._task = desk, batch, task
        self._steps = STEPS if step is None else (step,)
        self._writer = writer
        self._last_reason = ""
        self._queue: deque[Attempt] = deque()

    def follow(self) -> None:
        self._queue.extend(self._find_newest())
        while True:
            while self._queue:
                _print_transcript(
                    self._desk,
                    self._queue.popleft(),
                    self._writer,
                    follow=True,
                    on_records=self._queue_attempts,
                )
            state = self._desk.preview_state()
            batch = state.batches.get(self._batch)
            task = batch.find_task(self._task) if batch is not None else None
            if batch is None or task is None or task.status is not None or task.interrupted is not None:
                return
            if not task.alive:
                self._print_reason(explain_in_words(state, batch, task))
            self._queue_attempts(_wait_for_records(self._desk))

    def _find_newest(self) -> list[Attempt]:
        batch = self._desk.state.batches.get(self._batch)
        task = batch.find_task(self._task) if batch is not None else None
        if task is None or task.last is None:
            return []
        if task.last.name.step in self._steps:
            return [task.last.name]
        step = self._steps[-1]
        number = task.attempt_counts.get(step, 0)
        return [Attempt(self._batch, self._task, step, number)] if number else []

    def _queue_attempts(self, records: Sequence[Record]) -> None:
        for event in (record.event for record in records):
            if isinstance(event, AttemptStarted) and self._is_followed(event.attempt):
                self._queue.append(event.attempt)

    def _is_followed(self, attempt: Attempt) -> bool:
        return (attempt.batch, attempt.task) == (self._batch, self._task) and attempt.step in self._steps

    def _print_reason(self, why: str) -> None:
        """While nothing runs, why not; once."""
        if why != self._last_reason:
            self._last_reason = why
            _print_note(why)


def _print_note(text: str) -> None:
    """Beside the transcript, never in it."""
    sys.stdout.flush()
    print(f"plait: {replace_control_chars(text)}", file=sys.stderr)  # noqa: T201 - as errors are told
