"""The tools that look at batches: where they stand, why a task is where it is, what it would take to get further.

Waiting for a batch, so that nobody has to ask again and again.

The tools that read what tasks left: what was printed, and what was changed, no more of it than an agent can use.

The tools that look at what there is to do, and by which settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, TypeVar

import msgspec

from plait.client.api_errors import NotFoundError
from plait.client.logs.attempt_output import strip_ansi
from plait.core.task import Step
from plait.server.mcp.params import (
    DEFAULT_OUTPUT_LENGTH,
    MAX_OUTPUT_LENGTH,
    DiffParams,
    HistoryParams,
    ListParams,
    LogsParams,
    PlanParams,
    SettingsParams,
    StatusParams,
    TaskParams,
    WaitParams,
)
from plait.server.mcp.results import (
    DiffResult,
    ExplainResult,
    GivenResult,
    HistoryResult,
    ListResult,
    LogsResult,
    PlanPreviewResult,
    SettingsResult,
    StatusResult,
    WaitResult,
)
from plait.server.mcp.snapshot import (
    BatchSummary,
    build_batch_result,
    build_task_results,
    describe_batch,
    poll_until,
    read_batch_snapshot,
    read_batch_summary,
)
from plait.server.mcp.tool import Json, ToolCall
from plait.server.service.batch_spec import BatchSpec
from plait.server.service.batches import list_batches, preview_batch
from plait.server.service.inspection import (
    prints_json_events,
    read_diff as compared,
    read_explanation as explained,
    read_log,
)
from plait.server.service.lookup import resolve_batch, resolve_task
from plait.server.service.settings import read_project_settings
from plait.server.service.tasks import list_source_tasks
from plait.sources.source_model import SourceStatus

T = TypeVar("T")


MAX_PLAN_ITEMS = 100  # of anything in a plan that is not a task


MAX_ATTEMPTS = 20


async def plan(call: ToolCall, params: PlanParams) -> PlanPreviewResult:
    found = await preview_batch(call.session, BatchSpec(params.tasks or (), settings=params.settings or {}))
    tasks, waves = _get_list(found, "tasks"), _get_list(found, "waves")
    here, more = paginate(tasks, params.skip, params.limit)
    return PlanPreviewResult.model_validate(
        {
            "ready": bool(tasks),
            "tasks": here,
            "more": more,
            "waves": len(waves),
            "conflicts": _get_list(found, "conflicts")[:MAX_PLAN_ITEMS],
            "criticalPath": _get_list(found, "criticalPath")[:MAX_PLAN_ITEMS],
            "eta": found["eta"],
            "problems": _get_list(found, "problems")[:MAX_PLAN_ITEMS],
        }
    )


async def status(call: ToolCall, params: StatusParams) -> StatusResult:
    _, batch, tasks = await describe_batch(call.session, params.batch)
    if words := params.tasks:
        names = await call.session.query(
            lambda client: {
                resolve_task(resolve_batch(client.preview_state(), batch.id), word).task.id for word in words
            }
        )
        tasks = [task for task in tasks if task["taskId"] in names]
    if params.only:
        tasks = [task for task in tasks if task["status"] in params.only]
    here, more = paginate(tasks, params.skip, params.limit)
    return StatusResult(batch=batch, tasks=build_task_results(here), more=more)


async def history(call: ToolCall, params: HistoryParams) -> HistoryResult:
    found, _ = await list_batches(call.session, tasks=False, limit=params.limit)
    batches = _get_list(found, "batches")
    seen = [(batch, await read_batch_snapshot(call.session, str(batch["id"]))) for batch in batches]
    total = await call.session.query(lambda client: len(client.preview_state().batches))
    return HistoryResult(
        engine=found["engine"] is not None,
        batches=[build_batch_result(batch, outlined) for batch, outlined in seen],
        more=max(0, total - len(batches)),
    )


async def explain(call: ToolCall, params: TaskParams) -> ExplainResult:
    found = await explained(call.session, params.batch, params.task)
    return ExplainResult.model_validate({**found, "attempts": _get_list(found, "attempts")[-MAX_ATTEMPTS:]})


def paginate(items: Sequence[T], skip: int, limit: int) -> tuple[Sequence[T], int]:
    """A page, and how many come after it."""
    return items[skip : skip + limit], max(0, len(items) - skip - limit)


def _get_list(found: Json, name: str) -> Sequence[Json]:
    value = found[name]
    assert isinstance(value, Sequence)
    return value


WaitOutcome = Literal["ended", "person", "changed"]


MAX_CHANGED_TASKS = 50  # tasks that are told


async def wait(call: ToolCall, params: WaitParams) -> WaitResult:
    """Returns when it is so, or when the time is over. Raises UnknownError, or what keeps engines from staying."""
    first = await read_batch_snapshot(call.session, params.batch)
    batch, fingerprint, settled = first.summary.batch, params.mark or first.fingerprint, first.summary.settled

    async def look() -> WaitOutcome | None:
        nonlocal settled
        if params.until == "change":
            seen = await read_batch_snapshot(call.session, batch)
            now, moved = seen.summary, seen.fingerprint != fingerprint
        else:
            now, moved = await read_batch_summary(call.session, batch), False
        if now.settled > settled:  # the protocol's progress only grows
            settled = now.settled
            await _report_progress(call, now)
        return "changed" if moved else _choose_outcome(now, params)

    why = await poll_until(call, look, lambda found: found is not None, params.seconds)
    last, batch_told, tasks = await describe_batch(call.session, batch)
    moved = set(last.changed_since(first))
    changed = [task for task in tasks if task["taskId"] in moved][:MAX_CHANGED_TASKS]
    return WaitResult(why=why or "time", batch=batch_told, changed=build_task_results(changed))


def _choose_outcome(summary: BatchSummary, params: WaitParams) -> WaitOutcome | None:
    if summary.ended:
        return "ended"
    return "person" if summary.needs_person and params.until == "end" else None


async def _report_progress(call: ToolCall, summary: BatchSummary) -> None:
    message = f"{summary.settled} of {summary.total} tasks ended, {summary.working} at work"
    await call.progress(summary.settled, summary.total, message)


MAX_DIFF_FILES = 200  # that are listed


async def logs(call: ToolCall, params: LogsParams) -> LogsResult:
    """With an offset a page from there on, else the end: of that, no more than the lines that were asked for."""
    start = -MAX_OUTPUT_LENGTH if params.offset is None else params.offset
    read = partial(
        read_log,
        call.session,
        params.batch,
        params.task,
        start=start,
        most=MAX_OUTPUT_LENGTH,
        attempt=params.attempt,
        step=Step(params.step),
    )
    found = await read()
    text = found.text
    if not params.raw and await prints_json_events(call.session, found.attempt):
        found = await read(events=True)
        text = _event_texts(found.text)
    whole = strip_ansi(text)
    kept = whole[-MAX_OUTPUT_LENGTH:] if params.offset is not None else _tail(whole, params.lines)
    return LogsResult(
        batch_id=found.attempt.batch,
        task_id=found.attempt.task,
        step=found.attempt.step.value,
        attempt=found.attempt.n,
        text=kept,
        next=found.next,
        ended=found.ended,
        note=_truncation_note(left_out=found.offset > max(start, 0) or len(kept) < len(whole)),
    )


async def diff(call: ToolCall, params: DiffParams) -> DiffResult:
    found = await compared(call.session, params.batch, params.task)
    text, files = str(found["diff"]), found["files"]
    assert isinstance(files, list)
    end = params.offset + params.most
    shown = text[params.offset : end] if params.text else ""
    left = len(text) - end if params.text else 0
    return DiffResult.model_validate(
        {
            **found,
            "files": files[:MAX_DIFF_FILES],
            "more": len(files[MAX_DIFF_FILES:]),
            "text": shown,
            "note": f"{left} more characters: offset {end} reads on." if left > 0 else None,
        }
    )


def _event_texts(events: str) -> str:
    """A line for each thing that was said or done."""
    return "".join(f"{msgspec.json.decode(line)['entry']['text']}\n" for line in events.splitlines())


def _tail(text: str, lines: int) -> str:
    return "".join(text.splitlines(keepends=True)[-lines:])[-DEFAULT_OUTPUT_LENGTH:]


def _truncation_note(*, left_out: bool) -> str | None:
    return "What came before is left out; offset 0 reads from the beginning." if left_out else None


MAX_PROBLEMS = 50


_CLOSED_STATUSES = frozenset(mark.value for mark in SourceStatus if mark.is_closed)


async def list_tasks(call: ToolCall, params: ListParams) -> ListResult:
    """Groups are not listed: they are not run themselves."""
    found, _ = await list_source_tasks(call.session)
    tasks, problems = found["tasks"], found["problems"]
    assert isinstance(tasks, list)
    assert isinstance(problems, list)
    fitting = [task for task in tasks if _matches(task, params)]
    here, more = paginate(fitting, params.skip, params.limit)
    return ListResult.model_validate(
        {"tasks": here, "total": len(fitting), "more": more, "problems": problems[:MAX_PROBLEMS]}
    )


def _matches(task: Mapping[str, object], params: ListParams) -> bool:
    if task["parts"] or (task["status"] in _CLOSED_STATUSES and not params.complete):
        return False
    said = f"{task['id']} {task['title']}".lower()
    return params.words is None or params.words.lower() in said


async def settings(call: ToolCall, params: SettingsParams) -> SettingsResult:
    found = await read_project_settings(call.session)
    given = found.pop("given")
    assert isinstance(given, Mapping)
    names = _check_names(params.names or (), list(found)) or list(found)
    return SettingsResult(
        settings={name: found[name] for name in names},
        given={name: GivenResult.model_validate(given[name]) for name in names if given[name]["layer"] != "default"},
    )


def _check_names(names: Sequence[str], there: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in there:
            raise NotFoundError(f"there is no setting {name[:80]}", hint=f"There are {', '.join(there)}.")
    return names
