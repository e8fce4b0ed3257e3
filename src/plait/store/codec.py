"""Events to JSON and back. Old versions stay readable forever: upcasters convert them; newer versions are refused.

The names on the left of `KINDS` are on disk. They are never renamed and never given a new meaning; a change of shape
raises `VERSION` and adds one upcaster, which converts the plain JSON of the version before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from plait.core import decisions, reports, requests
from plait.core.errors import WorldError
from plait.core.events import Event, Record
from plait.system.decoders import decode_json

VERSION = 11

# JSON as it was written by an older version: its shape is known to the upcaster alone, hence Any.
Json = dict[str, Any]
Upcaster = Callable[[str, Json], tuple[str, Json]]

# UPCASTERS[v] turns an event of version v into one of version v + 1.
UPCASTERS: Mapping[int, Upcaster] = {
    # Phase.gate, Settings.write_back and sources-written are new; without them everything means what it meant.
    1: lambda kind, shape: (kind, shape),
    # room-changed and Outcome.peak are new; without them there is no bound, and nothing was measured.
    2: lambda kind, shape: (kind, shape),
    # Publishing, foreseen conflicts, Outcome.diffstat and AttemptStarted.repairs are new; without them nothing is published.
    3: lambda kind, shape: (kind, shape),
    # Contests, fallbacks and budgets of tasks are new, and what their decisions say (AttemptStarted.before and .candidates,
    # RetryGranted.elsewhere, AnswerAwaited.wants, BreakerOpened.rejected); without them there are none of these.
    4: lambda kind, shape: (kind, shape),
    # save-settings is new; without it nothing is saved.
    5: lambda kind, shape: (kind, shape),
    # Ship.title and .body are new, and what PublishStarted says of them; without them a pull request's words are plait's.
    6: lambda kind, shape: (kind, shape),
    # recheck, sources-unwritten and Task.digest are new; without them no work is verified again, every source could be
    # written, and no text is known to be the same.
    7: lambda kind, shape: (kind, shape),
    # Settings.sandbox is new; without it nothing is confined.
    # Votes of several judges (Outcome.ballot, AttemptStarted.votes, the category rejected) are new; without them there are no votes.
    # Outcome.uncommitted and what follows from it (commit-started, commit-waiting, commit-done, commit-failed) are new;
    # without them every result is committed when its exit is reported.
    8: lambda kind, shape: (kind, shape),
    # Settings.executor is new; without it attempts run on this machine.
    # resolve is new; without it no conflict was resolved by a person.
    9: lambda kind, shape: (kind, shape),
    # AttemptLost.outage, GateLost.outage and the category outage are new; without them whatever was lost counts as a loss.
    # publish-waiting is new; without it nothing is known of what publishing waits for.
    # Resolve.files is new; without it nothing is known of how each file was resolved.
    10: lambda kind, shape: (kind, shape),
}

EVENT_TYPES: Mapping[str, type[Event]] = {
    "submit": requests.Submit,
    "cancel-batch": requests.CancelBatch,
    "cancel-task": requests.CancelTask,
    "pause": requests.Pause,
    "unpause": requests.Unpause,
    "approve": requests.Approve,
    "retry": requests.Retry,
    "recheck": requests.Recheck,
    "resolve": requests.Resolve,
    "drop": requests.Drop,
    "feedback": requests.Feedback,
    "stop": requests.Stop,
    "resume": requests.Resume,
    "ship": requests.Ship,
    "change-settings": requests.ChangeSettings,
    "change-engine-settings": requests.ChangeEngineSettings,
    "save-settings": requests.SaveSettings,
    "request-granted": decisions.RequestGranted,
    "request-refused": decisions.RequestRefused,
    "attempt-started": decisions.AttemptStarted,
    "attempt-ending": decisions.AttemptEnding,
    "commit-started": decisions.CommitStarted,
    "step-passed": decisions.StepPassed,
    "retry-granted": decisions.RetryGranted,
    "backoff-ended": decisions.BackoffEnded,
    "answer-awaited": decisions.AnswerAwaited,
    "task-ended": decisions.TaskEnded,
    "task-interrupted": decisions.TaskInterrupted,
    "phase-opened": decisions.PhaseOpened,
    "merge-started": decisions.MergeStarted,
    "rebuild-started": decisions.RebuildStarted,
    "gate-started": decisions.GateStarted,
    "gate-ending": decisions.GateEnding,
    "publish-started": decisions.PublishStarted,
    "breaker-opened": decisions.BreakerOpened,
    "breaker-closed": decisions.BreakerClosed,
    "limit-raised": decisions.LimitRaised,
    "batch-paused": decisions.BatchPaused,
    "batch-unpaused": decisions.BatchUnpaused,
    "batch-halted": decisions.BatchHalted,
    "batch-ended": decisions.BatchEnded,
    "deadlines-moved": decisions.DeadlinesMoved,
    "attempt-launched": reports.AttemptLaunched,
    "attempt-active": reports.AttemptActive,
    "attempt-used": reports.AttemptUsed,
    "attempt-phase": reports.AttemptPhase,
    "attempt-session": reports.AttemptSession,
    "attempt-asked": reports.AttemptAsked,
    "attempt-exited": reports.AttemptExited,
    "attempt-lost": reports.AttemptLost,
    "commit-waiting": reports.CommitWaiting,
    "commit-done": reports.CommitDone,
    "commit-failed": reports.CommitFailed,
    "merge-done": reports.MergeDone,
    "merge-conflicted": reports.MergeConflicted,
    "merge-failed": reports.MergeFailed,
    "rebuild-done": reports.RebuildDone,
    "rebuild-failed": reports.RebuildFailed,
    "gate-done": reports.GateDone,
    "gate-lost": reports.GateLost,
    "publish-done": reports.PublishDone,
    "publish-failed": reports.PublishFailed,
    "publish-waiting": reports.PublishWaiting,
    "conflict-foreseen": reports.ConflictPredicted,
    "conflict-cleared": reports.ConflictCleared,
    "rate-limited": reports.RateLimited,
    "pressure-changed": reports.PressureChanged,
    "room-changed": reports.CapacityChanged,
    "clock-jumped": reports.ClockJumped,
    "engine-taken": reports.EngineTaken,
    "engine-released": reports.EngineReleased,
    "sources-written": reports.SourcesWritten,
    "sources-unwritten": reports.SourcesUnwritten,
}

_KINDS_BY_TYPE: Mapping[type[Event], str] = {cls: kind for kind, cls in EVENT_TYPES.items()}
_encoder = msgspec.json.Encoder()


class NewerFormatError(WorldError):
    """The text was written by a newer plait: reading it with this one could lose what it means."""


class UnreadableEventError(WorldError):
    """The text is no event that any version of plait wrote."""


class RecordLine(msgspec.Struct, frozen=True):
    """A record as one line of JSON, for histories and exports."""

    seq: int
    at: float
    v: int
    kind: str
    event: msgspec.Raw


def kind_of(event: Event) -> str:
    return _KINDS_BY_TYPE[type(event)]


def encode_event(event: Event) -> bytes:
    return _encoder.encode(event)


def decode_event(
    kind: str,
    data: bytes,
    version: int = VERSION,
    *,
    upcasters: Mapping[int, Upcaster] = UPCASTERS,
    newest: int = VERSION,
) -> Event:
    """Decode an event; bad data raises NewerFormatError or UnreadableEventError, and nothing else."""
    if version > newest:
        raise NewerFormatError(
            f"this was written by a newer plait (record format {version}; this one knows {newest})",
            hint="upgrade plait, or use the version that wrote it",
        )
    try:
        if version < newest:
            kind, data = _upcast(kind, data, version, upcasters, newest)
        return decode_json(data, EVENT_TYPES[kind])
    except KeyError as error:
        raise UnreadableEventError(f"no record of kind {kind!r} is known (record format {version})") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableEventError(f"a record of kind {kind!r} can't be read: {error}") from error


def _upcast(kind: str, data: bytes, version: int, upcasters: Mapping[int, Upcaster], newest: int) -> tuple[str, bytes]:
    shape: Json = msgspec.json.decode(data, type=dict)
    for step in range(version, newest):
        kind, shape = upcasters[step](kind, shape)
    return kind, msgspec.json.encode(shape)


def encode_record(record: Record) -> bytes:
    event = msgspec.Raw(encode_event(record.event))
    return _encoder.encode(RecordLine(record.seq, record.at, VERSION, kind_of(record.event), event))


def decode_record(line: bytes) -> Record:
    try:
        read = decode_json(line, RecordLine)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableEventError(f"not a record: {error}") from error
    return Record(read.seq, read.at, decode_event(read.kind, bytes(cast("bytes", read.event)), read.v))
