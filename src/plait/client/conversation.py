"""The conversation of a task: everything that happened to it, in order, as one list."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from plait.agents.output_parser import JsonLinesParser
from plait.agents.redaction import Redactor
from plait.client.api_models import Diffstat, make_diffstat
from plait.client.batch_lookup import find_failed_check
from plait.client.full_explanation import (
    AttemptSummary,
    GateResult,
    ToldFeedback,
    describe_attempt,
    describe_feedback,
    describe_gate,
)
from plait.client.history import BatchHistory, PastAttempt, PastResolution, RebuiltCommit, TaskHistory, TimelineSpan
from plait.client.json_encoding import api_model, to_iso, to_iso_or_none
from plait.client.logs.attempt_output import load_parser, strip_ansi
from plait.client.logs.transcript_page import make_log_events, read_page
from plait.client.task_notes import EntryKind, FeedbackPart, TaskNote, TaskNotes
from plait.core.fast_dataclass import dataclass
from plait.core.requests import FileChoice
from plait.core.state import BatchState, TaskState
from plait.core.status import Category, TaskStatus
from plait.core.task import Attempt, Step, make_gate_attempt
from plait.git.location import RepoLocation
from plait.runtime.attempt_files import open_transcript
from plait.store import project_files
from plait.store.batch_secrets import load_redactor

MAX_OUTPUT_LINES = 12  # last lines of a failed attempt's output
_OUTPUT_BYTES = 16 << 10  # bytes that are read for them
_MAX_LINE_CHARS = 500
_NO_NODES: Mapping[Attempt, str] = MappingProxyType({})
_MAX_OUTPUTS = 5  # failed attempts, the newest ones, with output


@api_model
class ResolvedConflictFile:
    path: str
    choice: FileChoice


@api_model
class ConflictResolution:
    """The `resolution`th conflict that a person resolved: what happened to each file, and the change's size."""

    resolution: int
    files: list[ResolvedConflictFile]
    diffstat: Diffstat | None


@api_model
class ConversationEntry:
    """What happened at `at`. `attempt` is set for `attempt`, `gate` for `gate`, `feedback` for `feedback`, `resolution`
    for `resolve`, `url` for `publish`; `status` is the end status for `ended`, and the one before for `retry`. `result`
    is that of a merge or of publishing, `commit` what a merge, a rebuild or a person made, `without` the tasks that a
    rebuild left out. `files` are in conflict. `output` is the end of what a failed attempt or gate printed.
    """

    kind: EntryKind
    at: str
    completed_at: str | None
    text: str
    attempt: AttemptSummary | None
    gate: GateResult | None
    feedback: ToldFeedback | None
    resolution: ConflictResolution | None
    status: TaskStatus | None
    result: str | None
    commit: str | None
    url: str | None
    files: list[str]
    without: list[str]
    output: str | None


@api_model
class Conversation:
    """The entries of a conversation. `failure` is the place of the attempt or gate for which the task failed."""

    batch_id: str
    task_id: str
    entries: list[ConversationEntry]
    failure: int | None


@dataclass(frozen=True, slots=True)
class _Draft:
    """An entry, and the attempt whose output belongs to it."""

    at: float
    entry: ConversationEntry
    output_of: Attempt | None = None


@dataclass(frozen=True, slots=True)
class ConversationDraft:
    """A conversation without the outputs, which are in files. `failed` is the attempt or gate for which the task failed."""

    batch: str
    task: str
    drafts: tuple[_Draft, ...]
    attempts: tuple[PastAttempt, ...]
    failed: Attempt | None


def draft_conversation(
    history: BatchHistory, batch: BatchState, task: TaskState, nodes: Mapping[Attempt, str] = _NO_NODES
) -> ConversationDraft:
    """Collect the entries; `nodes` are the cluster's nodes that attempts ran on."""
    task_id = task.task.id
    found = history.tasks.get(task_id) or TaskHistory(task_id)
    notes = history.notes.tasks.get(task_id) or TaskNotes()
    drafts = [
        *(_draft_note(note) for note in notes.notes),
        *(_draft_resolution(resolved) for resolved in found.resolutions),
        *(_draft_attempt(past, nodes.get(past.attempt)) for past in found.attempts.values()),
        *(_draft_merge(span) for span in found.entries if isinstance(span, TimelineSpan)),
        *(_draft_rebuilt(rebuilt) for rebuilt in found.rebuilt),
        *_draft_gates(history, found),
        *(_draft_publish(span) for span in history.spans if _is_published(found, span)),
        *(_draft_feedback(part) for part in notes.list_waiting()),
    ]
    drafts.sort(key=lambda draft: draft.at)  # stable: a request or a retry comes before the attempt that it started
    failed = _find_failed(batch, task, found)
    return ConversationDraft(batch.id, task_id, tuple(drafts), tuple(found.attempts.values()), failed)


def complete_conversation(location: RepoLocation, draft: ConversationDraft) -> Conversation:
    """Add the outputs of the newest failed attempts, which are read from files."""
    redactor = load_redactor(project_files.open_state_paths(location), draft.batch)
    with_output = [place for place, each in enumerate(draft.drafts) if each.output_of is not None][-_MAX_OUTPUTS:]
    entries = [each.entry for each in draft.drafts]
    for place in with_output:
        attempt = draft.drafts[place].output_of
        assert attempt is not None
        output = _read_output_end(location, attempt, draft.attempts, redactor)
        entries[place] = replace(entries[place], output=output or None)
    failure = next((n for n in reversed(with_output) if draft.drafts[n].output_of == draft.failed), None)
    return Conversation(draft.batch, draft.task, entries, failure)


def _find_failed(batch: BatchState, task: TaskState, history: TaskHistory) -> Attempt | None:
    """Return the attempt, verification or gate for which the task failed."""
    if task.status is None or not task.status.is_failure or task.category is Category.CONFLICT:
        return None
    failed = find_failed_check(batch, task, lambda _: history.gate.decision.n if history.gate is not None else None)
    newest = history.find_newest(Step.WRITE)
    return failed or (newest.attempt if newest is not None else None)


_EMPTY = ConversationEntry(
    kind=EntryKind.ENDED,
    at="",
    completed_at=None,
    text="",
    attempt=None,
    gate=None,
    feedback=None,
    resolution=None,
    status=None,
    result=None,
    commit=None,
    url=None,
    files=[],
    without=[],
    output=None,
)


def _draft(
    entry: ConversationEntry, at: float, ended_at: float | None = None, output_of: Attempt | None = None
) -> _Draft:
    return _Draft(at, replace(entry, at=to_iso(at), completed_at=to_iso_or_none(ended_at)), output_of)


def _draft_attempt(past: PastAttempt, node: str | None) -> _Draft:
    failed = past.outcome is not None and past.outcome.category is not Category.OK
    entry = replace(_EMPTY, kind=EntryKind.ATTEMPT, attempt=describe_attempt(past, node))
    return _draft(entry, past.started_at, past.ended_at, past.attempt if failed else None)


def _draft_merge(span: TimelineSpan) -> _Draft:
    text, files = ("", [*span.files]) if span.files else (span.detail, [])
    entry = replace(
        _EMPTY, kind=EntryKind.MERGE, result=span.result, commit=span.commit or None, text=text, files=files
    )
    return _draft(entry, span.start, span.end)


def _draft_note(note: TaskNote) -> _Draft:
    return _draft(replace(_EMPTY, kind=note.kind, text=note.text, files=[*note.files], status=note.status), note.at)


def _draft_resolution(resolved: PastResolution) -> _Draft:
    request = resolved.request
    resolution = ConflictResolution(
        resolved.n,
        [ResolvedConflictFile(file.path, file.choice) for file in request.files],
        make_diffstat(request.diffstat),
    )
    entry = replace(_EMPTY, kind=EntryKind.RESOLVE, resolution=resolution, commit=request.commit)
    return _draft(entry, resolved.at)


def _draft_rebuilt(rebuilt: RebuiltCommit) -> _Draft:
    entry = replace(_EMPTY, kind=EntryKind.REBUILD, commit=rebuilt.commit, without=[*rebuilt.without])
    return _draft(entry, rebuilt.at)


def _draft_feedback(part: FeedbackPart) -> _Draft:
    return _draft(replace(_EMPTY, kind=EntryKind.FEEDBACK, text=part.text, feedback=describe_feedback(part)), part.at)


def _draft_gates(history: BatchHistory, task: TaskHistory) -> Iterator[_Draft]:
    for gate in filter(None, map(history.find_gate, task.deciding_gates)):
        entry = replace(_EMPTY, kind=EntryKind.GATE, text=gate.detail, gate=describe_gate(gate))
        failed = make_gate_attempt(history.batch, gate.decision.n) if gate.passed is False else None
        yield _draft(entry, gate.started_at, gate.ended_at, failed)


def _is_published(task: TaskHistory, span: TimelineSpan) -> bool:
    """Whether the batch branch had the task's change when it was published."""
    if span.kind != "publish" or span.result is None:
        return False
    merges = [entry for entry in task.entries if isinstance(entry, TimelineSpan) and entry.result == "merged"]
    return bool(merges) and merges[-1].end is not None and merges[-1].end <= span.start and task.conflict is None


def _draft_publish(span: TimelineSpan) -> _Draft:
    done = span.result == "done"
    text, url = ("", span.detail or None) if done else (span.detail, None)
    return _draft(replace(_EMPTY, kind=EntryKind.PUBLISH, result=span.result, text=text, url=url), span.start, span.end)


def _read_output_end(
    location: RepoLocation, attempt: Attempt, attempts: Sequence[PastAttempt], redactor: Redactor
) -> str:
    """Read the last lines, without secrets and control sequences; of an agent that prints JSON, as activities."""
    transcript = open_transcript(project_files.open_state_paths(location), attempt)
    page = read_page(transcript, -_OUTPUT_BYTES, _OUTPUT_BYTES, ended=True)
    parser = load_parser(location, attempt, attempts)
    if isinstance(parser, JsonLinesParser):
        events = make_log_events(attempt, page, parser, redactor, time.time())
        lines = [entry["text"] for entry in (event.data.get("entry") for event in events) if entry and "text" in entry]
    else:
        lines = redactor(strip_ansi(page.redact_text(redactor))).split("\n")
        if page.before and not page.before.endswith(b"\n"):
            lines = lines[1:] or lines  # the first one began before
    shown = [line.rstrip() for line in lines if line.strip()]
    return "\n".join(
        line if len(line) <= _MAX_LINE_CHARS else f"… {line[-_MAX_LINE_CHARS:]}" for line in shown[-MAX_OUTPUT_LINES:]
    )
