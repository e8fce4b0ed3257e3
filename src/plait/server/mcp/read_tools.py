"""Read-only tools: tasks and settings, batches and their tasks, logs and diffs, limited to what an agent can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal, TypeVar

import msgspec
from pydantic import Field, JsonValue

from plait.client.api_errors import NotFoundError
from plait.client.conflicts import ConflictFile
from plait.client.json_encoding import to_json
from plait.client.logs.attempt_output import strip_ansi
from plait.client.task_listing import SourceTask
from plait.config.config import Layer
from plait.core.text import join_names
from plait.server.http.routes import batches, tasks
from plait.server.http.routes.conflicts import get_conflict
from plait.server.http.routes.diffs import read_diff
from plait.server.http.routes.inspection import LogFormat, explain_task, get_log, prints_json_events
from plait.server.http.routes.settings import read_preferences
from plait.server.lookup import resolve_batch, resolve_task
from plait.server.mcp import results
from plait.server.mcp.snapshot import (
    MAX_WAIT_TOOL_SECONDS,
    WAIT_TOOL_SECONDS,
    BatchSummary,
    build_batch_result,
    describe_batch,
    poll_until,
    read_batch_snapshot,
    read_batch_summary,
)
from plait.server.mcp.tool import (
    AGAIN,
    EXACT_IDS,
    BatchParams,
    NameArg,
    NamesArg,
    TaskParams,
    ToolCall,
    ToolParams,
    define_tool,
    make_batch_spec,
)

T = TypeVar("T")

DEFAULT_OUTPUT_LENGTH, MAX_OUTPUT_LENGTH = 20_000, 64 << 10  # characters of a log or a diff in one answer
MAX_PLAN_ITEMS = 100  # of each list in a plan except the tasks
MAX_ATTEMPTS = 20
MAX_CHANGED_TASKS = 50
MAX_DIFF_FILES = 200
MAX_PROBLEMS = 50

Limit = Annotated[int, Field(description="The most tasks to return.", ge=1, le=500)]
Skip = Annotated[int, Field(description="Skip this many tasks, for the next page.", ge=0)]
WaitOutcome = Literal["ended", "person", "changed"]

_LEFT_OUT = "Earlier output is left out; offset 0 reads from the beginning."


class ListParams(ToolParams):
    words: str | None = Field(None, description="Only tasks whose id or title contains this.", max_length=200)
    complete: bool = Field(default=False, description="Also tasks that are complete in their source.")
    limit: Limit = 50
    skip: Skip = 0


@define_tool("list", read_only=True)
async def list_tasks(call: ToolCall, params: ListParams) -> results.ListResult:
    """The tasks of this repository's sources: id, title, status, and where each is declared."""
    source_tasks, _ = await tasks.list_tasks(call.session)
    matching = [task for task in source_tasks.tasks if _matches(task, params)]
    page, more = paginate(matching, params.skip, params.limit)
    return results.ListResult.model_validate(
        {"tasks": page, "total": len(matching), "more": more, "problems": source_tasks.problems[:MAX_PROBLEMS]}
    )


def _matches(task: SourceTask, params: ListParams) -> bool:
    """Whether the task matches. Groups are left out: only their parts are run."""
    if task.parts or (task.status.is_closed and not params.complete):
        return False
    text = f"{task.id} {task.title}".lower()
    return params.words is None or params.words.lower() in text


class PlanParams(ToolParams):
    tasks: NamesArg | None = Field(None, description=EXACT_IDS)
    settings: dict[str, JsonValue] | None = Field(
        None, description="Settings for this batch only, by the names of the settings tool."
    )
    again: bool | None = Field(None, description=AGAIN)
    limit: Limit = 100
    skip: Skip = 0


@define_tool("plan", read_only=True, needs_fetch=True)
async def plan(call: ToolCall, params: PlanParams) -> results.PlanPreviewResult:
    """Preview a batch of these tasks: dependencies, waves, shared files and problems. Starts nothing."""
    preview = await batches.plan(call.session, make_batch_spec(params.tasks, params.settings, again=params.again))
    page, more = paginate(preview.tasks, params.skip, params.limit)
    return results.PlanPreviewResult.model_validate(
        {
            "ready": bool(preview.tasks),
            "tasks": page,
            "more": more,
            "waves": len(preview.waves),
            "conflicts": preview.conflicts[:MAX_PLAN_ITEMS],
            "critical_path": preview.critical_path[:MAX_PLAN_ITEMS],
            "eta": preview.eta,
            "problems": preview.problems[:MAX_PLAN_ITEMS],
        }
    )


class StatusParams(BatchParams):
    tasks: NamesArg | None = Field(None, description="Only these tasks. Omitted: all.")
    only: NamesArg | None = Field(
        None, description='Only tasks with one of these statuses, e.g. ["failed", "waiting"].'
    )
    limit: Limit = 50
    skip: Skip = 0


@define_tool("status", read_only=True)
async def status(call: ToolCall, params: StatusParams) -> results.StatusResult:
    """The status of a batch and its tasks, with reasons. A task is queued, waiting, running, verifying or merging,
    or it has ended: done, failed, timed_out, blocked, skipped, conflicted, cancelled; interrupted ones wait for
    resume.
    """
    _, batch, shown = await describe_batch(call.session, params.batch)
    if task_names := params.tasks:
        names = await call.session.query(
            lambda client: {
                resolve_task(resolve_batch(client.preview_state(), batch.id), task_name).task.id
                for task_name in task_names
            }
        )
        shown = [task for task in shown if task.task_id in names]
    if params.only:
        shown = [task for task in shown if task.status in params.only]
    page, more = paginate(shown, params.skip, params.limit)
    return results.StatusResult.model_validate({"batch": batch, "tasks": page, "more": more})


class HistoryParams(ToolParams):
    limit: int = Field(20, description="How many, newest first.", ge=1, le=200)


@define_tool("history", read_only=True)
async def history(call: ToolCall, params: HistoryParams) -> results.HistoryResult:
    """All batches, newest first."""
    listed, _ = await batches.list_batches(call.session, tasks=False, limit=params.limit)
    snapshots = [(batch, await read_batch_snapshot(call.session, batch.id)) for batch in listed.batches]
    total = await call.session.query(lambda client: len(client.preview_state().batches))
    return results.HistoryResult(
        engine=listed.engine is not None,
        batches=[build_batch_result(batch, snapshot) for batch, snapshot in snapshots],
        more=max(0, total - len(listed.batches)),
    )


class WaitParams(BatchParams):
    until: Literal["end", "change"] = Field(
        "end", description="end: until it has ended or needs a person. change: until any task changes."
    )
    seconds: float = Field(
        WAIT_TOOL_SECONDS,
        description="How long to wait; after that `why` is `time`: call it again.",
        ge=0,
        le=MAX_WAIT_TOOL_SECONDS,
    )
    mark: str | None = Field(
        None, description="The mark of an earlier result: with `change`, changes since then count too.", max_length=100
    )


@define_tool("wait", read_only=True)
async def wait(call: ToolCall, params: WaitParams) -> results.WaitResult:
    """Wait until a batch has ended, needs a person, or (until: change) any task changes. Use it instead of polling
    status; `time` means that none of it happened yet.
    """
    first = await read_batch_snapshot(call.session, params.batch)
    batch, fingerprint, settled = first.summary.batch, params.mark or first.fingerprint, first.summary.settled

    async def look() -> WaitOutcome | None:
        nonlocal settled
        if params.until == "change":
            snapshot = await read_batch_snapshot(call.session, batch)
            summary, moved = snapshot.summary, snapshot.fingerprint != fingerprint
        else:
            summary, moved = await read_batch_summary(call.session, batch), False
        if summary.settled > settled:  # the protocol's progress only grows
            settled = summary.settled
            await _report_progress(call, summary)
        return "changed" if moved else _choose_outcome(summary, params)

    outcome = await poll_until(call, look, lambda reached: reached is not None, params.seconds)
    last, batch_result, batch_tasks = await describe_batch(call.session, batch)
    moved = set(last.changed_since(first))
    changed = [task for task in batch_tasks if task.task_id in moved][:MAX_CHANGED_TASKS]
    return results.WaitResult.model_validate({"why": outcome or "time", "batch": batch_result, "changed": changed})


def _choose_outcome(summary: BatchSummary, params: WaitParams) -> WaitOutcome | None:
    if summary.ended:
        return "ended"
    return "person" if summary.needs_person and params.until == "end" else None


async def _report_progress(call: ToolCall, summary: BatchSummary) -> None:
    message = f"{summary.settled} of {summary.total} tasks ended, {summary.working} running"
    await call.progress(summary.settled, summary.total, message)


@define_tool("explain", read_only=True)
async def explain(call: ToolCall, params: TaskParams) -> results.ExplainResult:
    """Why a task has its status: its dependencies, its attempts and their results, and what would make it continue."""
    explanation = await explain_task(call.session, params.batch, params.task)
    return results.ExplainResult.model_validate(replace(explanation, attempts=explanation.attempts[-MAX_ATTEMPTS:]))


class LogsParams(TaskParams):
    attempt: int | None = Field(None, description="The number of the attempt. Omitted: the newest.", ge=1)
    step: Literal["write", "verify"] | None = Field(
        None, description="write: the agent's output, verify: that of the check. Omitted: what failed, else write."
    )
    lines: int = Field(100, description="How many of the last lines, if there is no offset.", ge=1, le=1000)
    offset: int | None = Field(
        None, description="Where to start: the `next` of an earlier result, with its step; 0: the beginning.", ge=0
    )
    raw: bool = Field(
        default=False,
        description="True: the raw output, also if the agent prints JSON. False: its messages and actions.",
    )


@define_tool("logs", read_only=True)
async def logs(call: ToolCall, params: LogsParams) -> results.LogsResult:
    """The output of a task's attempt: its last lines, or from an offset."""
    start = -MAX_OUTPUT_LENGTH if params.offset is None else params.offset
    read = partial(
        get_log,
        call.session,
        params.batch,
        params.task,
        start=start,
        limit=MAX_OUTPUT_LENGTH,
        attempt=params.attempt,
        step=params.step,
    )
    part = await read()
    text = part.text
    if not params.raw and await prints_json_events(call.session, part.attempt):
        part = await read(format=LogFormat.EVENTS)
        text = _event_texts(part.text)
    output = strip_ansi(text)
    shown = output[-MAX_OUTPUT_LENGTH:] if params.offset is not None else _tail(output, params.lines)
    return results.LogsResult(
        batch_id=part.attempt.batch,
        task_id=part.attempt.task or params.task,
        step="gate" if part.attempt.is_gate else part.attempt.step.value,
        attempt=part.attempt.n,
        text=shown,
        next=part.next,
        ended=part.ended,
        note=_LEFT_OUT if part.offset > max(start, 0) or len(shown) < len(output) else None,
    )


def _event_texts(events: str) -> str:
    """Return one line for each event."""
    return "".join(f"{msgspec.json.decode(line)['entry']['text']}\n" for line in events.splitlines())


def _tail(text: str, lines: int) -> str:
    return "".join(text.splitlines(keepends=True)[-lines:])[-DEFAULT_OUTPUT_LENGTH:]


class DiffParams(BatchParams):
    task: NameArg | None = Field(None, description="Omitted: the changes of the whole batch.")
    text: bool = Field(default=True, description="False: only the files with their line counts.")
    most: int = Field(
        DEFAULT_OUTPUT_LENGTH,
        description="The maximum number of characters; longer text is cut, with a note.",
        ge=200,
        le=MAX_OUTPUT_LENGTH,
    )
    offset: int = Field(0, description="Skip this many characters, to continue where it was cut.", ge=0)


@define_tool("diff", read_only=True)
async def diff(call: ToolCall, params: DiffParams) -> results.DiffResult:
    """The changes of a task, also while it runs, or of the whole batch."""
    full_diff = await read_diff(call.session, params.batch, params.task)
    text, files = full_diff.diff, full_diff.files
    end = params.offset + params.most
    shown = text[params.offset : end] if params.text else ""
    remaining = len(text) - end if params.text else 0
    return results.DiffResult.model_validate(
        {
            **to_json(replace(full_diff, files=[], diff="")),
            "files": files[:MAX_DIFF_FILES],
            "more": len(files[MAX_DIFF_FILES:]),
            "text": shown,
            "note": f"{remaining} more characters: continue at offset {end}." if remaining > 0 else None,
        }
    )


@define_tool("conflict", read_only=True)
async def conflict(call: ToolCall, params: TaskParams) -> results.ConflictResult:
    """The conflict of a task with the batch branch, to edit its files and give their texts to `resolve`."""
    batch_id = await call.session.query(lambda client: resolve_batch(client.preview_state(), params.batch).id)
    found = await get_conflict(call.session, batch_id, params.task)
    files, omitted = leave_out_texts(found.files[:MAX_DIFF_FILES], MAX_OUTPUT_LENGTH)
    note = f"Too long, so only a side can be taken here: {join_names(omitted, MAX_PROBLEMS)}." if omitted else None
    more = found.more + len(found.files[MAX_DIFF_FILES:])
    return results.ConflictResult.model_validate(
        {**to_json(replace(found, files=[])), "files": files, "more": more, "note": note}
    )


def leave_out_texts(files: Sequence[ConflictFile], room: int) -> tuple[list[ConflictFile], list[str]]:
    """Return the files, and the names of those whose text is left out because it doesn't fit into `room` characters."""
    shown, omitted = list[ConflictFile](), list[str]()
    for file in files:
        size = len(file.merged or "")
        if size > room:
            omitted.append(file.path)
            shown.append(replace(file, merged=None, editable=False))
        else:
            room -= size
            shown.append(file)
    return shown, omitted


class SettingsParams(ToolParams):
    names: NamesArg | None = Field(None, description="Only these. Omitted: all.")


@define_tool("settings", read_only=True)
async def settings(call: ToolCall, params: SettingsParams) -> results.SettingsResult:
    """The settings in force, by the names that plan and run take, and where each comes from."""
    preferences = await read_preferences(call.session)
    names = _check_names(params.names or (), list(preferences.values)) or list(preferences.values)
    given = {name: preferences.given[name] for name in names if preferences.given[name].layer is not Layer.DEFAULT}
    return results.SettingsResult(
        settings={name: preferences.values[name] for name in names},
        given={name: results.OriginResult.model_validate(origin) for name, origin in given.items()},
    )


def _check_names(names: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in known:
            raise NotFoundError(f"there is no setting {name[:80]}", hint=f"There are {', '.join(known)}.")
    return names


def paginate(items: Sequence[T], skip: int, limit: int) -> tuple[Sequence[T], int]:
    """Return a page, and how many items come after it."""
    return items[skip : skip + limit], max(0, len(items) - skip - limit)


READ_TOOLS = (list_tasks, plan, status, history, wait, explain, logs, diff, conflict, settings)
