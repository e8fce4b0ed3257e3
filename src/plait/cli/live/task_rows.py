"""The rows of the task table, and columns that fit its width; the least important columns are dropped first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.cells import cell_len

from plait.cli.format import STATUS_STYLES, format_cost, format_diffstat, format_elapsed, format_task_time
from plait.cli.live.terminal_style import StyledLine, StyledText, TerminalStyle
from plait.cli.live.view_model import BatchViewModel
from plait.core.fast_dataclass import dataclass
from plait.core.settings import NO_SPEND
from plait.core.status import TaskStatus, WaitReason
from plait.core.views import TaskView

AGENT_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING)  # an attempt is running
_MIN_ID_LETTERS = 4  # shorter ids are shown with the title: 63, 1.2, T007
_MERGED_STATUSES = (TaskStatus.DONE, TaskStatus.MERGING)
_MERGED_REASON = "merged"  # done implies that the gate passed
_RETRY_VERBS = {TaskStatus.MERGING: "merging again", TaskStatus.VERIFYING: "verifying again"}


@dataclass(frozen=True, slots=True)
class TaskRow:
    """The texts of a row. `activity` is what the task does; `diffstat` and `warning` are dropped before it is cut."""

    task: TaskView
    label: str
    title: str
    status: str
    duration: str
    diffstat: str
    activity: str
    warning: str
    agent: str
    cost: str


def make_row(
    model: BatchViewModel, task: TaskView, now: float, activity: Mapping[str, str], terminal: TerminalStyle
) -> TaskRow:
    return TaskRow(
        task=task,
        label=terminal.sanitize(task.id),
        title=terminal.sanitize(task.title) if needs_title(task) else "",
        status=f"{terminal.signs[task.status]} {task.status.label}",
        duration=format_task_time(task, now),
        diffstat=terminal.replace_signs(format_diffstat(task.diffstat)) if _has_merged_changes(task) else "",
        activity=terminal.sanitize(_describe_activity(model, task, now, activity)),
        warning=terminal.sanitize(describe_predicted_conflict(task)),
        agent=terminal.sanitize(task.agent or "") if task.started_at is not None else "",
        cost=format_cost(task.cost + model.spent.get(task.id, NO_SPEND)),
    )


def _has_merged_changes(task: TaskView) -> bool:
    """Whether the task has changes that are merged or being merged."""
    return task.status in _MERGED_STATUSES and task.diffstat is not None and task.diffstat[0] > 0


def needs_title(task: TaskView) -> bool:
    return sum(map(str.isalpha, task.id)) < _MIN_ID_LETTERS and bool(task.title)


def _describe_activity(model: BatchViewModel, task: TaskView, now: float, activity: Mapping[str, str]) -> str:
    if task.status is TaskStatus.QUEUED:
        return ""
    if task.status in AGENT_STATUSES and task.waiting is None and task.id not in model.ending:
        return describe_phase(task, activity) or model.verify_commands.get(task.id, "")
    return shorten_reason(task, now)


def describe_predicted_conflict(task: TaskView) -> str:
    """Describe what a running task would conflict with if it were merged now."""
    if not task.predicted_conflicts or task.status not in AGENT_STATUSES:
        return ""
    (other, files), *rest = task.predicted_conflicts
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    others = f", and with {len(rest)} more" if rest else ""
    return f"would conflict with {other or 'the batch branch'} in {files[0] if files else '?'}{more}{others}"


def shorten_reason(task: TaskView, now: float) -> str:
    """Return the reason without what the status column already says."""
    if task.waiting is WaitReason.BACKOFF and task.retry_at is not None:
        return f"{_RETRY_VERBS.get(task.status, 'retrying')} in {format_elapsed(task.retry_at - now)}: {task.short}"
    if task.status is TaskStatus.DONE and task.short.startswith(_MERGED_REASON):
        return _MERGED_REASON
    return task.short


def describe_phase(task: TaskView, activity: Mapping[str, str]) -> str:
    """Return the phase, else the last activity, with the number of a repeated attempt."""
    phase = task.phase or activity.get(task.id, "")
    if task.attempt <= 1:
        return phase
    return f"attempt {task.attempt}: {phase}" if phase else f"attempt {task.attempt}"


COLUMN_GAP = 2
_MIN_LABEL_WIDTH = 14
_MIN_ACTIVITY_WIDTH = 18
_MIN_READABLE_WIDTH = 5  # with less, no activity
_MIN_ACTIVITY_BESIDE_TITLE = 24  # with less, no titles
_MIN_ACTIVITY_BESIDE_AGENT = 44  # with less, no agents if all are the same
_DURATION_WIDTH = 7  # constant, so that columns don't move as time passes
_MAX_LABEL_WIDTH = 36
_MAX_TITLE_WIDTH = 60


@dataclass(frozen=True, slots=True)
class ColumnWidths:
    """Widths in cells; 0: the column is hidden. The activity gets the rest."""

    total: int
    label: int
    status: int
    duration: int
    agent: int
    cost: int
    diffstat: int = 0  # the widest, so that the activities line up
    ids: int = 0  # of the label, if titles are shown beside ids
    ambiguous: bool = False  # labels cut at the end would look the same

    @property
    def activity(self) -> int:
        fixed = (self.label, self.status, self.duration, self.agent, self.cost)
        return self.total - sum(width + COLUMN_GAP for width in fixed if width)


def fit_columns(rows: Sequence[TaskRow], width: int) -> ColumnWidths:
    ids = min(_MAX_LABEL_WIDTH, _max_width([row.label for row in rows]))
    widths = ColumnWidths(
        total=width,
        label=ids,
        status=_max_width([row.status for row in rows]),
        duration=_DURATION_WIDTH if any(row.duration for row in rows) else 0,
        agent=_max_width([row.agent for row in rows]),
        cost=_max_width([row.cost for row in rows]),
        diffstat=_max_width([row.diffstat for row in rows]),
    )
    titles = _max_width([row.title for row in rows])
    several = len({row.agent for row in rows if row.agent}) > 1
    if widths.activity < (_MIN_ACTIVITY_WIDTH if several else _MIN_ACTIVITY_BESIDE_AGENT + titles):
        widths = replace(widths, agent=0)
    widths = _narrow(widths)
    widths = replace(widths, ambiguous=_are_ambiguous([row.label for row in rows], widths.label))
    return _add_titles(widths, titles)


def _narrow(widths: ColumnWidths) -> ColumnWidths:
    """Make room for the activity: shorten labels, then drop the cost, then the duration."""
    if widths.activity < _MIN_ACTIVITY_WIDTH:
        min_label = min(widths.label, _MIN_LABEL_WIDTH)
        widths = replace(widths, label=max(min_label, widths.label - (_MIN_ACTIVITY_WIDTH - widths.activity)))
    if widths.activity < _MIN_ACTIVITY_WIDTH:
        widths = replace(widths, cost=0)
    if widths.activity < _MIN_ACTIVITY_WIDTH // 2:
        widths = replace(widths, duration=0)
    if widths.activity < 0:
        widths = replace(widths, label=max(1, widths.label + widths.activity))
    return widths


def _add_titles(widths: ColumnWidths, widest: int) -> ColumnWidths:
    spare = min(widest, _MAX_TITLE_WIDTH, widths.activity - _MIN_ACTIVITY_BESIDE_TITLE - COLUMN_GAP)
    if spare < 8:
        return widths
    return replace(widths, ids=widths.label, label=widths.label + COLUMN_GAP + spare)


def render_row(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> StyledLine:
    """Render a line exactly as wide as the table; the activity uses columns that are empty in this row."""
    pieces: list[StyledText] = [(terminal.pad(_format_label(row, columns, terminal), columns.label), "")]
    pieces.append((" " * COLUMN_GAP + terminal.pad(row.status, columns.status), STATUS_STYLES[row.task.status]))
    if _shows_duration(row, columns):
        pieces.append((" " * COLUMN_GAP + terminal.pad_left(row.duration, columns.duration), ""))
    return (
        *pieces,
        *_render_activity(row, columns, terminal),
        *_render_agent_and_cost(row, columns, terminal),
    )


def fit_activity(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> tuple[str, str]:
    """Return the activity and the warning after it; if both don't fit, only the warning."""
    width = get_activity_width(row, columns)
    text = (
        f"{terminal.pad(row.diffstat, columns.diffstat)}{' ' * COLUMN_GAP}{row.activity}"
        if row.diffstat
        else row.activity
    )
    text = text.rstrip() if cell_len(text.rstrip()) <= width else row.activity
    if not row.warning:
        return text, ""
    both = f"; {row.warning}" if text else row.warning
    return (text, both) if cell_len(text + both) <= width else ("", row.warning)


def _render_activity(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> list[StyledText]:
    width = get_activity_width(row, columns)
    if width <= 0:
        return [(" " * (width + COLUMN_GAP), "")]
    activity, warning = fit_activity(row, columns, terminal)
    if width < _MIN_READABLE_WIDTH < cell_len(activity + warning):
        return [(" " * (width + COLUMN_GAP), "")]
    rest = width - cell_len(activity)
    if not warning:
        return [(" " * COLUMN_GAP + terminal.pad(activity, width), _get_activity_style(row))]
    return [(" " * COLUMN_GAP + activity, _get_activity_style(row)), (terminal.pad(warning, rest), "yellow")]


def get_activity_width(row: TaskRow, columns: ColumnWidths) -> int:
    """Return the width left for this task's activity."""
    shown = [columns.label, columns.status]
    shown += [columns.duration] if _shows_duration(row, columns) else []
    shown += [columns.agent, columns.cost] if _shows_agent_or_cost(row, columns) else []
    return columns.total - sum(width + COLUMN_GAP for width in shown if width)


def _shows_duration(row: TaskRow, columns: ColumnWidths) -> bool:
    return bool(columns.duration and row.duration)


def _shows_agent_or_cost(row: TaskRow, columns: ColumnWidths) -> bool:
    return bool((columns.agent and row.agent) or (columns.cost and row.cost))


def _format_label(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> str:
    if columns.ids and row.title:
        return f"{terminal.pad(row.label, columns.ids)}{' ' * COLUMN_GAP}{row.title}"
    return terminal.fit_middle(row.label, columns.label) if columns.ambiguous else row.label


def _render_agent_and_cost(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> list[StyledText]:
    if not _shows_agent_or_cost(row, columns):
        return []
    agent = terminal.pad(row.agent, columns.agent) if columns.agent else ""
    cost = terminal.pad_left(row.cost, columns.cost) if columns.cost else ""
    return [(" " * COLUMN_GAP + text, "dim") for text in (agent, cost) if text]


def _get_activity_style(row: TaskRow) -> str:
    quiet = {
        TaskStatus.DONE,
        TaskStatus.WAITING,
        TaskStatus.BLOCKED,
        TaskStatus.SKIPPED,
        TaskStatus.CANCELLED,
    }
    return "dim" if row.task.status in quiet else ""


def _are_ambiguous(labels: Sequence[str], width: int) -> bool:
    return len({label[: width - 1] for label in labels}) < len(set(labels))


def _max_width(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts), default=0)
