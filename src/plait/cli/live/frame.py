"""A frame of the live display as styled lines: the box with its title and tasks, notes, latest activities, keys. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from shlex import quote
from typing import assert_never

from rich.cells import cell_len

from plait.cli.format import format_elapsed, format_provider_limit, format_rough_duration, pluralize
from plait.cli.live import task_rows
from plait.cli.live.task_selection import TaskSelection, select_visible_tasks
from plait.cli.live.terminal_style import StyledLine, TerminalStyle, choose_terminal_style
from plait.cli.live.view_model import BatchViewModel, RunningGate
from plait.client.next_step import format_answer_command
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Publish
from plait.core.status import BatchStatus, PauseCause, TaskStatus, WaitReason
from plait.core.text import join_names
from plait.core.views import describe_password_wait

_MIN_BOX_WIDTH = 24  # in fewer columns the box has no sides
_MAX_WIDTH = 140  # wider rows are hard to read
_MIN_ROWS = 3
_MAX_FEED_LINES = 5
_MAX_NOTE_LINES = 3  # per note


@dataclass(frozen=True, slots=True)
class Viewport:
    """The time, the terminal's size and abilities, and what changes every second. `activity` is the latest of each
    running task; `feed` has the latest of all, the newest last. `notice` comes from the follower.
    """

    now: float
    width: int
    height: int
    activity: Mapping[str, str] = field(default_factory=dict)
    feed: tuple[tuple[str, str], ...] = ()
    eta: float | None = None
    eta_basis: str = ""
    keys: bool = False
    help: bool = False
    stops_on_interrupt: bool = True
    notice: str = ""
    encoding: str = "utf-8"


def render_frame(model: BatchViewModel, viewport: Viewport) -> list[StyledLine]:
    """Render the frame. Every line fits the terminal's width, and there are fewer lines than it has."""
    terminal = choose_terminal_style(viewport.encoding)
    viewport = replace(viewport, width=min(viewport.width, _MAX_WIDTH))
    max_lines = max(1, viewport.height - 1)
    notes = _render_notes(model, viewport, terminal)
    hint = _render_key_hint(model, viewport, terminal)
    max_rows = max_lines - 2 - len(notes) - len(hint)
    chosen = select_visible_tasks(model.view.tasks, max(_MIN_ROWS, max_rows))
    rows = [task_rows.make_row(model, task, viewport.now, viewport.activity, terminal) for task in chosen.shown]
    widths = task_rows.fit_columns(rows, viewport.width - (4 if viewport.width >= _MIN_BOX_WIDTH else 0))
    box = _render_box(model, viewport, terminal, [task_rows.render_row(row, widths, terminal) for row in rows], chosen)
    spare = max_lines - len(box) - len(notes) - len(hint)
    feed = _render_feed(rows, widths, viewport, terminal)
    shown = feed[-min(spare, _MAX_FEED_LINES) :] if spare > 0 else []
    return [_crop(line, viewport.width, terminal) for line in [*box, *notes, *shown, *hint][:max_lines]]


def _crop(line: StyledLine, width: int, terminal: TerminalStyle) -> StyledLine:
    """Cut a line that is wider than the terminal."""
    if sum(cell_len(text) for text, _ in line) <= width:
        return line
    return ((terminal.fit("".join(text for text, _ in line), width), ""),)


def _render_box(
    model: BatchViewModel,
    viewport: Viewport,
    terminal: TerminalStyle,
    lines: Sequence[StyledLine],
    chosen: TaskSelection,
) -> list[StyledLine]:
    width = viewport.width - 4 if viewport.width >= _MIN_BOX_WIDTH else viewport.width
    if chosen.hidden:
        counts = ", ".join(f"{count} {status.label}" for status, count in chosen.hidden)
        lines = [*lines, ((terminal.pad(f"{terminal.ellipsis} {counts}", width), "dim"),)]
    title_text = format_title(model, viewport, terminal, width=max(1, width - 2))
    if viewport.width < _MIN_BOX_WIDTH:
        return [((terminal.fit(title_text, viewport.width), "bold"),), *lines]
    top_left, top_right, bottom_left, bottom_right = terminal.corners
    rest = terminal.rule * (viewport.width - cell_len(title_text) - 5)
    bottom = f"{bottom_left}{terminal.rule * (viewport.width - 2)}{bottom_right}"
    sides = [((f"{terminal.side} ", "dim"), *line, (f" {terminal.side}", "dim")) for line in lines]
    top: StyledLine = (
        (f"{top_left}{terminal.rule} ", "dim"),
        (title_text, "bold"),
        (f" {rest}{top_right}", "dim"),
    )
    return [top, *sides, ((bottom, "dim"),)]


def _render_notes(model: BatchViewModel, viewport: Viewport, terminal: TerminalStyle) -> list[StyledLine]:
    texts = [(viewport.notice, "bold")] if viewport.notice else []
    texts += make_notes(model, viewport.now, keys=viewport.keys)
    wrapped = [
        (terminal.wrap(terminal.sanitize(text), viewport.width - 1, _MAX_NOTE_LINES), style) for text, style in texts
    ]
    return [((f" {line}", style),) for lines, style in wrapped for line in lines]


def _render_key_hint(model: BatchViewModel, viewport: Viewport, terminal: TerminalStyle) -> list[StyledLine]:
    if viewport.help:
        texts = list_key_help(stops_on_interrupt=viewport.stops_on_interrupt)
    else:
        texts = [format_keys(model, stops_on_interrupt=viewport.stops_on_interrupt)] if viewport.keys else []
    return [((terminal.fit(f" {terminal.replace_signs(text)}", viewport.width), "dim"),) for text in texts]


def _render_feed(
    rows: Sequence[task_rows.TaskRow], widths: task_rows.ColumnWidths, viewport: Viewport, terminal: TerminalStyle
) -> list[StyledLine]:
    """Render the latest activities, the newest last, without those that rows show in full."""
    in_rows = {row.task.id: _get_whole_activity(row, widths, terminal) for row in rows}
    feed = [(task, terminal.sanitize(text)) for task, text in viewport.feed]
    entries = [(terminal.sanitize(task), text) for task, text in feed if not in_rows.get(task, "").endswith(text)]
    names = list(dict.fromkeys([*(row.label for row in rows), *(name for name, _ in entries)]))
    labels = dict(zip(names, shorten_labels(names), strict=True))
    widest = max((cell_len(labels[name]) for name, _ in entries[-_MAX_FEED_LINES:]), default=0)
    width = min(widest, viewport.width // 3)
    lines = [f" {terminal.pad(terminal.fit_middle(labels[name], width), width)}  {text}" for name, text in entries]
    return [((terminal.fit(line, viewport.width), "dim"),) for line in lines]


def _get_whole_activity(row: task_rows.TaskRow, widths: task_rows.ColumnWidths, terminal: TerminalStyle) -> str:
    """Return what the row shows of the activity; empty if it is cut."""
    shown, _ = task_rows.fit_activity(row, widths, terminal)
    return shown if cell_len(shown) <= task_rows.get_activity_width(row, widths) else ""


def shorten_labels(labels: Sequence[str]) -> list[str]:
    """Reduce labels to the number before the first dash, if it is unique: 03 for 03-split."""
    heads = [label.partition("-")[0] for label in labels]
    unique = len(set(heads)) == len(heads)
    return [head if unique and head.isdigit() else label for head, label in zip(heads, labels, strict=True)]


_MIN_ETA_SECONDS = 5.0  # an overdue estimate is not shown
_DROP_ORDER = ("basis", "plait", "wave", "merging", "batch", "eta", "status", "running")


def format_title(model: BatchViewModel, viewport: Viewport, terminal: TerminalStyle, *, width: int) -> str:
    """Format the batch in one line; what doesn't fit is left out, the least important part first."""
    parts = {name: terminal.sanitize(part) for name, part in _collect_parts(model, viewport).items()}
    for dropped in _DROP_ORDER:
        if cell_len(_join_parts(parts, terminal)) <= width:
            break
        parts.pop(dropped, None)
    return terminal.fit(_join_parts(parts, terminal), width)


def _join_parts(parts: Mapping[str, str], terminal: TerminalStyle) -> str:
    return f" {terminal.dot} ".join(parts.values())


def _collect_parts(model: BatchViewModel, viewport: Viewport) -> dict[str, str]:
    view, now, eta = model.view, viewport.now, viewport.eta
    counts = dict(view.progress.counts)
    running = sum(task.status in task_rows.AGENT_STATUSES for task in view.tasks)  # entrants of contests too
    failed = sum(count for status, count in counts.items() if status.is_failure)
    parts = {
        "plait": "plait",
        "batch": f"batch {model.view.id}",
        "tasks": f"{counts[TaskStatus.DONE]}/{view.progress.total} tasks",
    }
    if model.wave is not None and model.wave[1] > 1:
        parts["wave"] = f"wave {model.wave[0]}/{model.wave[1]}"
    if running:
        parts["running"] = f"{running} running"
    if counts[TaskStatus.MERGING]:
        parts["merging"] = f"{counts[TaskStatus.MERGING]} merging"
    if failed:
        parts["failed"] = f"{failed} failed"
    status = _format_title_status(model)
    if status:
        parts["status"] = status
    if (
        view.status is not BatchStatus.PAUSED
        and view.ended_at is None
        and eta is not None
        and eta - now >= _MIN_ETA_SECONDS
    ):
        parts["eta"] = f"ETA {format_rough_duration(eta - now)}"
        if viewport.eta_basis:
            parts["basis"] = viewport.eta_basis
    return parts


def _format_title_status(model: BatchViewModel) -> str:
    view = model.view
    if view.status is BatchStatus.PAUSED:
        return "stopped" if model.view.pause_cause is PauseCause.STOP else "paused"
    if view.ended_at is not None:
        return f"{view.status.value} in {format_elapsed(view.wall_time.over)}"
    if model.publish is not None:
        return "publishing"
    return "gate" if model.gate is not None else ""


_MAX_QUESTIONS = 2  # the rest is counted
_MAX_SUSPECTS = 3


def list_key_help(*, stops_on_interrupt: bool) -> list[str]:
    return [
        "a       approve the task that waits for approval",
        "p       pause: nothing new starts, running tasks continue; again: resume",
        "d, q    detach: the batch continues in the background",
        "Ctrl+C  stop: running tasks end and can be resumed; twice: at once"
        if stops_on_interrupt
        else "Ctrl+C  detach, too",
        "?       hide this",
    ]


def make_notes(model: BatchViewModel, now: float, *, keys: bool) -> Iterator[tuple[str, str]]:
    """Yield notes below the box with their styles, the most urgent first."""
    yield from _make_pause_notes(model, keys=keys)
    yield from _make_approval_notes(model, keys=keys)
    yield from _make_question_notes(model)
    for provider, until in model.limits.items():
        others = ", ".join(model.view.settings.fallback)
        then = f"its tasks use {others}" if others else "its tasks wait, others continue"
        yield f"{format_provider_limit(provider, until, now)}; {then}", "yellow"
    if model.machine_busy is not None:
        yield f"waiting: the machine is short of resources ({model.machine_busy})", "yellow"
    yield from _make_branch_notes(model, now)


def _make_branch_notes(model: BatchViewModel, now: float) -> Iterator[tuple[str, str]]:
    """Yield notes on work on the batch branch, which no task's row shows."""
    if model.rebuild_without is not None:
        gone = f" without {', '.join(model.rebuild_without)}" if model.rebuild_without else ""
        yield f"rebuilding the batch branch{gone}", "blue"
    if model.gate is not None:
        yield from _make_gate_notes(model.gate, now)
    if model.publish is not None:
        pull = "" if model.publish is Publish.PUSH else " and its pull request"
        yield f"publishing {model.view.branch}{pull}", "blue"
        if model.view.awaited_program:
            yield describe_password_wait(model.view.awaited_program), "yellow"


def _make_gate_notes(gate: RunningGate, now: float) -> Iterator[tuple[str, str]]:
    if gate.suspects:
        yield f"the gate failed, caused by one of: {join_names(gate.suspects, _MAX_SUSPECTS)}", "yellow"
    merges = pluralize(gate.size, "merge") if gate.size else "the base"
    yield f"gate: {gate.command} (on {merges}, {format_elapsed(now - gate.since)})", "blue"


def _make_pause_notes(model: BatchViewModel, *, keys: bool) -> Iterator[tuple[str, str]]:
    why = model.view.reason
    press = "press p, or " if keys else ""
    match model.view.pause_cause:
        case None:
            return
        case PauseCause.PERSON:
            yield f"paused: nothing new starts; to resume: {press}plait unpause {model.view.id}", "yellow"
        case PauseCause.STOP:
            running = sum(task.status in task_rows.AGENT_STATUSES for task in model.view.tasks)
            if running:
                yield f"stopping: {running} still running", "yellow"
            else:
                yield f"stopped; to resume: {press}plait resume {model.view.id}", "yellow"
        case PauseCause.BUDGET:
            yield f"paused: {why}", "yellow"
            yield "to resume: plait run --resume --budget AMOUNT", "yellow"
        case PauseCause.PROVIDER:
            yield f"paused: {why}; to resume: {press}plait resume {model.view.id}", "yellow"
        case PauseCause.GATE | PauseCause.BRANCH:
            yield f"paused: {why}; to resume: {press}plait unpause {model.view.id}", "yellow"
        case _:
            assert_never(model.view.pause_cause)


def _make_approval_notes(model: BatchViewModel, *, keys: bool) -> Iterator[tuple[str, str]]:
    waiting = [task for task in model.view.tasks if task.waiting is WaitReason.APPROVAL]
    if waiting:
        press = "press a to approve, or " if keys else ""
        yield f"{waiting[0].id} waits for approval: {press}plait approve {model.view.id}", "bold yellow"


def _make_question_notes(model: BatchViewModel) -> Iterator[tuple[str, str]]:
    asking = [task for task in model.view.tasks if task.waiting is WaitReason.ANSWER]
    for task in asking[:_MAX_QUESTIONS]:
        yield f"{task.id} asks: {task.question}", "bold yellow"
    if asking:
        more = f" (and {len(asking) - _MAX_QUESTIONS} more questions)" if len(asking) > _MAX_QUESTIONS else ""
        target = f"{model.view.id} {quote(asking[0].id)}"
        command = format_answer_command(target, asks_for_budget=asking[0].asks_for_budget)
        yield f"answer: {command}{more}", "yellow"


def format_keys(model: BatchViewModel, *, stops_on_interrupt: bool) -> str:
    """List the keys that have an effect now."""
    approve = any(task.waiting is WaitReason.APPROVAL for task in model.view.tasks)
    pause = "p pause" if model.view.pause_cause is None else "p resume"
    stop = ["Ctrl+C stop"] if stops_on_interrupt else []
    return " · ".join([*(["a approve"] if approve else []), pause, "d detach", "? help", *stop])
