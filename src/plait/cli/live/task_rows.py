"""Columns: sized by what is in them, given up from the least important on when the room is small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len

from plait.cli.live.task_rows__row import TaskRow
from plait.cli.live.terminal_style import LIVE_STATUS_STYLES, StyledLine, StyledText, TerminalStyle
from plait.core.fast_dataclass import dataclass
from plait.core.status import TaskStatus

COLUMN_GAP = 2
_MIN_LABEL_WIDTH = 14
_MIN_ACTIVITY_WIDTH = 18
_MIN_READABLE_WIDTH = 5  # with less, nobody can tell what is meant
_MIN_ACTIVITY_BESIDE_TITLE = 24  # with less, no titles
_MIN_ACTIVITY_BESIDE_AGENT = 44  # with less, no agents where all are the same
_DURATION_WIDTH = 7  # always, so that nothing moves when time goes on
_MAX_LABEL_WIDTH = 36
_MAX_TITLE_WIDTH = 60


@dataclass(frozen=True, slots=True)
class ColumnWidths:
    """Widths in cells; 0: the column is not shown. What a row does is told in the rest."""

    total: int
    label: int
    status: int
    took: int
    agent: int
    cost: int
    diffstat: int = 0  # the widest, so that what stands behind them is in line
    ids: int = 0  # of the label, where titles stand beside the ids
    alike: bool = False  # labels that are cut at their ends can't be told apart

    @property
    def activity(self) -> int:
        fixed = (self.label, self.status, self.took, self.agent, self.cost)
        return self.total - sum(width + COLUMN_GAP for width in fixed if width)


def fit_columns(rows: Sequence[TaskRow], room: int) -> ColumnWidths:
    ids = min(_MAX_LABEL_WIDTH, _max_width([row.label for row in rows]))
    found = ColumnWidths(
        total=room,
        label=ids,
        status=_max_width([row.status for row in rows]),
        took=_DURATION_WIDTH if any(row.duration for row in rows) else 0,
        agent=_max_width([row.agent for row in rows]),
        cost=_max_width([row.cost for row in rows]),
        diffstat=_max_width([row.diffstat for row in rows]),
    )
    titles = _max_width([row.title for row in rows])
    several = len({row.agent for row in rows if row.agent}) > 1
    if found.activity < (_MIN_ACTIVITY_WIDTH if several else _MIN_ACTIVITY_BESIDE_AGENT + titles):
        found = replace(found, agent=0)
    found = _narrow(found)
    found = replace(found, alike=_are_ambiguous([row.label for row in rows], found.label))
    return _add_titles(found, titles)


def _narrow(found: ColumnWidths) -> ColumnWidths:
    """Make room for what a task does: by shorter labels, without the cost, without the time; else do without it."""
    if found.activity < _MIN_ACTIVITY_WIDTH:
        least = min(found.label, _MIN_LABEL_WIDTH)
        found = replace(found, label=max(least, found.label - (_MIN_ACTIVITY_WIDTH - found.activity)))
    if found.activity < _MIN_ACTIVITY_WIDTH:
        found = replace(found, cost=0)
    if found.activity < _MIN_ACTIVITY_WIDTH // 2:
        found = replace(found, took=0)
    if found.activity < 0:
        found = replace(found, label=max(1, found.label + found.activity))
    return found


def _add_titles(found: ColumnWidths, widest: int) -> ColumnWidths:
    spare = min(widest, _MAX_TITLE_WIDTH, found.activity - _MIN_ACTIVITY_BESIDE_TITLE - COLUMN_GAP)
    if spare < 8:
        return found
    return replace(found, ids=found.label, label=found.label + COLUMN_GAP + spare)


def render_row(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> StyledLine:
    """Exactly as wide as the room. What is left empty at its sides is there for the words."""
    pieces: list[StyledText] = [(terminal.pad(_format_label(row, columns, terminal), columns.label), "")]
    pieces.append(
        (" " * COLUMN_GAP + terminal.pad(row.status, columns.status), LIVE_STATUS_STYLES[row.task.status])
    )
    if _shows_duration(row, columns):
        pieces.append((" " * COLUMN_GAP + terminal.pad_left(row.duration, columns.took), ""))
    return (
        *pieces,
        *_render_activity(row, columns, terminal),
        *_render_agent_and_cost(row, columns, terminal),
    )


def fit_activity(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> tuple[str, str]:
    """What is told of it, and the warning behind that: as much of both as there is room for, and always the warning."""
    room = get_activity_width(row, columns)
    text = (
        f"{terminal.pad(row.diffstat, columns.diffstat)}{' ' * COLUMN_GAP}{row.activity}"
        if row.diffstat
        else row.activity
    )
    text = text.rstrip() if cell_len(text.rstrip()) <= room else row.activity
    if not row.warning:
        return text, ""
    both = f"; {row.warning}" if text else row.warning
    return (text, both) if cell_len(text + both) <= room else ("", row.warning)


def _render_activity(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> list[StyledText]:
    room = get_activity_width(row, columns)
    if room <= 0:
        return [(" " * (room + COLUMN_GAP), "")]
    told, warning = fit_activity(row, columns, terminal)
    if room < _MIN_READABLE_WIDTH < cell_len(told + warning):
        return [(" " * (room + COLUMN_GAP), "")]
    rest = room - cell_len(told)
    if not warning:
        return [(" " * COLUMN_GAP + terminal.pad(told, room), _get_activity_style(row))]
    return [(" " * COLUMN_GAP + told, _get_activity_style(row)), (terminal.pad(warning, rest), "yellow")]


def get_activity_width(row: TaskRow, columns: ColumnWidths) -> int:
    """The cells there are for what this task does."""
    shown = [columns.label, columns.status]
    shown += [columns.took] if _shows_duration(row, columns) else []
    shown += [columns.agent, columns.cost] if _shows_agent_or_cost(row, columns) else []
    return columns.total - sum(width + COLUMN_GAP for width in shown if width)


def _shows_duration(row: TaskRow, columns: ColumnWidths) -> bool:
    return bool(columns.took and row.duration)


def _shows_agent_or_cost(row: TaskRow, columns: ColumnWidths) -> bool:
    return bool((columns.agent and row.agent) or (columns.cost and row.cost))


def _format_label(row: TaskRow, columns: ColumnWidths, terminal: TerminalStyle) -> str:
    if columns.ids and row.title:
        return f"{terminal.pad(row.label, columns.ids)}{' ' * COLUMN_GAP}{row.title}"
    return terminal.fit_middle(row.label, columns.label) if columns.alike else row.label


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
