"""`plait logs`: the output of a task's attempts or a batch's gates, readable, raw or as JSON lines, always redacted."""

from __future__ import annotations

import codecs
import sys
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from plait.agents.redaction import LineRedactor, Redactor, StreamRedactor
from plait.cli import options as opt
from plait.cli.format import format_size
from plait.cli.output import OK, print_note
from plait.client.batch_lookup import (
    choose_attempt,
    choose_gate,
    find_batch_and_tasks,
    find_failed_check,
    find_one_task,
    format_attempt_label,
)
from plait.client.event_types import LogEntry, OutputEntry, format_json_line, make_log_event
from plait.client.history import read_history
from plait.client.logs import attempt_output
from plait.client.session import Session, open_session
from plait.core.decisions import AttemptStarted
from plait.core.errors import UserError, WorldError
from plait.core.events import Record
from plait.core.explain import explain_in_words
from plait.core.state import BatchState, TaskState
from plait.core.task import Attempt, Step, make_gate_attempt
from plait.runtime.attempt_files import open_transcript
from plait.runtime.executor import TranscriptChunk
from plait.store import project_files
from plait.store.batch_secrets import load_redactor
from plait.store.interfaces import InboxError
from plait.store.state_claim import open_repo

STEPS = (Step.WRITE, Step.VERIFY)
TRANSCRIPT_POLL_SECONDS = 0.2  # while a transcript is followed


RecordHandler = Callable[[Sequence[Record]], None]


def logs_command(
    where: Path,
    names: opt.OneTask = None,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing until the task ends.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print the raw output, byte for byte.")] = False,
    attempt: opt.AttemptNumber = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="write|verify", help="Only attempts at this step.")
    ] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate", help="Show the batch's newest gate run (--attempt: another one), or the one that ended a task."
        ),
    ] = False,
    as_json: opt.Json = False,
) -> int:
    """Print logs. Without a step, of the one at which the task failed, else of writing; with `follow`, of all."""
    chosen_step = _parse_step(step)
    if gate and step is not None:
        raise UserError("a gate has no steps", hint="Use either --gate or --step.")
    with open_session(open_repo(where)) as session:
        if gate:
            batch, n = choose_gate_run(session, names or (), attempt)
            writer = _make_writer(session, batch, raw=raw, as_json=as_json)
            _print_transcript(session, make_gate_attempt(batch.id, n), writer, follow=follow)
            return OK
        batch, task = find_one_task(session.preview_state(), names or ())
        writer = _make_writer(session, batch, raw=raw, as_json=as_json)
        if follow and attempt is None:
            _TaskFollower(session, batch.id, task.task.id, chosen_step, writer).follow()
            return OK
        find_gate = partial(_find_deciding_gate, session, batch)
        failed = find_failed_check(batch, task, find_gate) if chosen_step is None and attempt is None else None
        if failed is not None:
            print_note(
                f"{explain_in_words(session.preview_state(), batch, task)}; to see the agent's output: --step write"
            )
        shown = failed or choose_attempt(session.preview_state(), batch, task, chosen_step or Step.WRITE, attempt)
        _print_transcript(session, shown, writer, follow=follow)
    if step is None and failed is None and task.attempt_counts.get(Step.VERIFY):
        print_note("the verification has its own transcript: --step verify")
    if writer.is_condensed:
        print_note("this is a summary; --raw shows the complete output")
    return OK


def _make_writer(session: Session, batch: BatchState, *, raw: bool, as_json: bool) -> TranscriptWriter:
    redactor = load_redactor(project_files.open_state_paths(session.location), batch.id)
    if as_json:
        return _JsonWriter(redactor)
    return (
        _RawWriter(redactor)
        if raw
        else _ReadableWriter(redactor, partial(attempt_output.find_parser, session.location))
    )


def _parse_step(name: str | None) -> Step | None:
    if name is None:
        return None
    if name not in {step.value for step in STEPS}:
        names = " or ".join(step.value for step in STEPS)
        raise UserError(f"there is no step called {name}", hint=f"--step is {names}.")
    return Step(name)


def _print_transcript(
    session: Session,
    attempt: Attempt,
    writer: TranscriptWriter,
    *,
    follow: bool,
    on_records: RecordHandler | None = None,
) -> None:
    output = attempt_output.OutputReader(open_transcript(project_files.open_state_paths(session.location), attempt))
    writer.begin(attempt)
    while True:
        # Check for the end before reading, so that the last output is not missed.
        is_last_read = not follow or not attempt_output.is_attempt_running(session.state, attempt)
        writer.write(output.read_new())
        if is_last_read:
            break
        records = _wait_for_records(session)
        if on_records is not None:
            on_records(records)
    if not writer.end() and not attempt_output.is_attempt_running(session.state, attempt):
        print_note(f"{format_attempt_name(attempt)} printed nothing")


def _wait_for_records(session: Session) -> Sequence[Record]:
    with suppress(InboxError):  # without write access one can still follow
        session.ensure_engine()
    session.wait(TRANSCRIPT_POLL_SECONDS)
    return session.refresh()


class _TaskFollower:
    """Follows a task from its newest attempt through later ones, until it ends or is interrupted."""

    def __init__(self, session: Session, batch: str, task: str, step: Step | None, writer: TranscriptWriter) -> None:
        self._session, self._batch, self._task = session, batch, task
        self._steps = STEPS if step is None else (step,)
        self._writer = writer
        self._last_reason = ""
        self._queue: deque[Attempt] = deque()

    def follow(self) -> None:
        self._queue.extend(self._find_newest())
        while True:
            while self._queue:
                _print_transcript(
                    self._session,
                    self._queue.popleft(),
                    self._writer,
                    follow=True,
                    on_records=self._queue_attempts,
                )
            state = self._session.preview_state()
            batch = state.batches.get(self._batch)
            task = batch.find_task(self._task) if batch is not None else None
            if batch is None or task is None or task.status is not None or task.interrupted is not None:
                return
            if not task.alive:
                self._print_reason(explain_in_words(state, batch, task))
            self._queue_attempts(_wait_for_records(self._session))

    def _find_newest(self) -> list[Attempt]:
        batch = self._session.state.batches.get(self._batch)
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
        """Print once why nothing runs."""
        if why != self._last_reason:
            self._last_reason = why
            print_note(why)


def choose_gate_run(session: Session, names: Sequence[str], number: int | None) -> tuple[BatchState, int]:
    """Choose the newest gate of a batch, the one of this number, or the one that decided about a task."""
    target = find_batch_and_tasks(session.preview_state(), names)
    batch = target.batch
    chosen = choose_gate(batch, number)
    if target.tasks and number is None:
        return batch, _find_deciding_gate(session, batch, target.tasks[0])
    return batch, chosen


def _find_deciding_gate(session: Session, batch: BatchState, task: TaskState) -> int:
    with closing(project_files.open_project_journal(session.location)) as reader:
        gate = read_history(reader.read(), batch.id).find_deciding_gate(task.task.id)
    if gate is None:
        raise WorldError(
            f"no gate has decided about {task.task.id}",
            hint=f"{explain_in_words(session.preview_state(), batch, task)}.",
        )
    return gate.decision.n


class TranscriptWriter:
    """Prints the output of attempts, one after another."""

    is_condensed = False  # whether the output is a summary of what the tool printed

    def begin(self, attempt: Attempt) -> None:
        sys.stdout.flush()
        self._attempt = attempt
        self._has_output = False

    def write(self, pieces: Iterable[TranscriptChunk | attempt_output.OutputGap]) -> None:
        """Print and flush."""
        for piece in pieces:
            self._has_output = True
            if isinstance(piece, TranscriptChunk):
                self.write_chunk(piece)
            else:
                self.flush()
                self.write_gap(piece)
        sys.stdout.flush()

    def end(self) -> bool:
        """Finish the attempt, and return whether it printed anything."""
        self.flush()
        sys.stdout.flush()
        return self._has_output

    @abstractmethod
    def write_chunk(self, chunk: TranscriptChunk) -> None: ...

    @abstractmethod
    def write_gap(self, gap: attempt_output.OutputGap) -> None: ...

    @abstractmethod
    def flush(self) -> None:
        """Print what was held back: the rest of a line, or what may be part of a secret."""


class _ReadableWriter(TranscriptWriter):
    """Prints readable text; from the second attempt on with a heading."""

    def __init__(self, redactor: Redactor, make_parser: attempt_output.AttemptParserFactory) -> None:
        self._redactor = redactor
        self._make_parser = make_parser
        self._parser = attempt_output.make_renderer(None, redactor)
        self._attempts = 0
        self._open_line = False

    def begin(self, attempt: Attempt) -> None:
        super().begin(attempt)
        self._attempts += 1
        self._parser = attempt_output.make_renderer(self._make_parser(attempt), self._redactor)
        self.is_condensed = isinstance(self._parser, attempt_output.ActivityRenderer)
        if self._attempts > 1:
            self._write(f"\n── {format_attempt_name(attempt)} ──\n")

    def write_chunk(self, chunk: TranscriptChunk) -> None:
        self._write(self._parser.feed(chunk.data))

    def write_gap(self, gap: attempt_output.OutputGap) -> None:
        self._write(f"[… {format_size(gap.size)} left out here …]\n")

    def flush(self) -> None:
        self._write(self._parser.end())
        if self._open_line:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._open_line = not text.endswith("\n")
            sys.stdout.write(text)


class _RawWriter(TranscriptWriter):
    """Prints the output byte for byte, with secrets redacted; gaps are reported on standard error."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = StreamRedactor(redactor)
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def write_chunk(self, chunk: TranscriptChunk) -> None:
        # Invalid UTF-8 is passed through unchanged.
        self._write(self._redactor.feed(self._decoder.decode(chunk.data)))

    def write_gap(self, gap: attempt_output.OutputGap) -> None:
        sys.stdout.buffer.flush()
        print_note(f"{format_size(gap.size)} left out here")

    def flush(self) -> None:
        self._write(self._redactor.feed(self._decoder.decode(b"", final=True)) + self._redactor.finish())

    def _write(self, text: str) -> None:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


class _JsonWriter(TranscriptWriter):
    """Prints an `execution:log` event per line; a very long line comes in several, none of which ends inside a secret."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._redact_line = LineRedactor(redactor)
        self._partial, self._offset = b"", 0

    def begin(self, attempt: Attempt) -> None:
        super().begin(attempt)
        self._partial, self._offset = b"", 0

    def write_chunk(self, chunk: TranscriptChunk) -> None:
        if not self._partial:
            self._offset = chunk.start
        *lines, rest = chunk.data.split(b"\n")
        for line in lines:
            data = self._partial + line
            self._write_text(data)
            self._offset += len(data) + 1
            self._partial = b""
        self._partial += rest
        if len(self._partial) > StreamRedactor.MAX_LINE_CHARS:
            text = self._partial.decode("utf-8", "surrogateescape")
            cut = self._redactor.find_cut(text, len(text) - StreamRedactor.KEPT_CHARS)
            data = text[:cut].encode("utf-8", "surrogateescape")
            self._write_text(data)
            self._offset += len(data)
            self._partial = self._partial[len(data) :]

    def write_gap(self, gap: attempt_output.OutputGap) -> None:
        self._write_event(gap.offset, {"kind": "skipped", "bytes": gap.size})

    def flush(self) -> None:
        if self._partial:
            self._write_text(self._partial)
            self._offset += len(self._partial)
            self._partial = b""

    def _write_text(self, data: bytes) -> None:
        self._write_event(self._offset, {"kind": "output", "text": self._redact_line(data.decode("utf-8", "replace"))})

    def _write_event(self, offset: int, entry: LogEntry | OutputEntry) -> None:
        event = make_log_event(self._attempt, time.time(), offset, entry)
        sys.stdout.write(f"{format_json_line(event)}\n")


def format_attempt_name(attempt: Attempt) -> str:
    """Format an attempt's name: `03-split write-2`, or `gate 2`."""
    return f"gate {attempt.n}" if attempt.is_gate else f"{attempt.task} {format_attempt_label(attempt)}"
