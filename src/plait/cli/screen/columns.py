"""Columns: sized by what is in them, given up from the least important on when the room is small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len

from plait.cli.screen.ink import STYLES, Ink, Line, Piece
from plait.cli.screen.row import Row
from plait.core.frozen import dataclass
from plait.core.status import TaskStatus

GAP = 2
_LEAST_LABEL = 14
_LEAST_WHAT = 18
_LEAST_WORDS = 5  # with less, nobody can tell what is meant
_GOOD_WHAT = 24  # with less, no titles
_MUCH_WHAT = 44  # with less, no agents where all are the same
_TOOK = 7  # always, so that nothing moves when time goes on
_WIDEST_LABEL = 36
_WIDEST_TITLE = 60


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells; 0: the column is not shown. What a row does is told in the rest."""

    room: int
    label: int
    status: int
    took: int
    agent: int
    cost: int
    changed: int = 0  # the widest, so that what stands behind them is in line
    ids: int = 0  # of the label, where titles stand beside the ids
    alike: bool = False  # labels that are cut at their ends can't be told apart

    @property
    def what(self) -> int:
        fixed = (self.label, self.status, self.took, self.agent, self.cost)
        return self.room - sum(width + GAP for width in fixed if width)


def columns(rows: Sequence[Row], room: int) -> Columns:
    ids = min(_WIDEST_LABEL, _widest([row.label for row in rows]))
    found = Columns(
        room=room,
        label=ids,
        status=_widest([row.status for row in rows]),
        took=_TOOK if any(row.took for row in rows) else 0,
        agent=_widest([row.agent for row in rows]),
        cost=_widest([row.cost for row in rows]),
        changed=_widest([row.changed for row in rows]),
    )
    titles = _widest([row.title for row in rows])
    several = len({row.agent for row in rows if row.agent}) > 1
    if found.what < (_LEAST_WHAT if several else _MUCH_WHAT + titles):
        found = replace(found, agent=0)
    found = _narrowed(found)
    found = replace(found, alike=_alike([row.label for row in rows], found.label))
    return _titled(found, titles)


def _narrowed(found: Columns) -> Columns:
    """Make room for what a task does: by shorter labels, without the cost, without the time; else do without it."""
    if found.what < _LEAST_WHAT:
        least = min(found.label, _LEAST_LABEL)
        found = replace(found, label=max(least, found.label - (_LEAST_WHAT - found.what)))
    if found.what < _LEAST_WHAT:
        found = replace(found, cost=0)
    if found.what < _LEAST_WHAT // 2:
        found = replace(found, took=0)
    if found.what < 0:
        found = replace(found, label=max(1, found.label + found.what))
    return found


def _titled(found: Columns, widest: int) -> Columns:
    spare = min(widest, _WIDEST_TITLE, found.what - _GOOD_WHAT - GAP)
    if spare < 8:
        return found
    return replace(found, ids=found.label, label=found.label + GAP + spare)


def line(row: Row, columns: Columns, ink: Ink) -> Line:
    """Exactly as wide as the room. What is left empty at its sides is there for the words."""
    pieces: list[Piece] = [(ink.pad(_label(row, columns, ink), columns.label), "")]
    pieces.append((" " * GAP + ink.pad(row.status, columns.status), STYLES[row.task.status]))
    if _has_took(row, columns):
        pieces.append((" " * GAP + ink.pad_left(row.took, columns.took), ""))
    return (*pieces, *_said(row, columns, ink), *_right(row, columns, ink))


def words(row: Row, columns: Columns, ink: Ink) -> tuple[str, str]:
    """What is told of it, and the warning behind that: as much of both as there is room for, and always the warning."""
    room = words_room(row, columns)
    told = f"{ink.pad(row.changed, columns.changed)}{' ' * GAP}{row.what}" if row.changed else row.what
    told = told.rstrip() if cell_len(told.rstrip()) <= room else row.what
    if not row.warning:
        return told, ""
    both = f"; {row.warning}" if told else row.warning
    return (told, both) if cell_len(told + both) <= room else ("", row.warning)


def _said(row: Row, columns: Columns, ink: Ink) -> list[Piece]:
    room = words_room(row, columns)
    if room <= 0:
        return [(" " * (room + GAP), "")]
    told, warning = words(row, columns, ink)
    if room < _LEAST_WORDS < cell_len(told + warning):
        return [(" " * (room + GAP), "")]
    rest = room - cell_len(told)
    if not warning:
        return [(" " * GAP + ink.pad(told, room), _tone(row))]
    return [(" " * GAP + told, _tone(row)), (ink.pad(warning, rest), "yellow")]


def words_room(row: Row, columns: Columns) -> int:
    """The cells there are for what this task does."""
    shown = [columns.label, columns.status]
    shown += [columns.took] if _has_took(row, columns) else []
    shown += [columns.agent, columns.cost] if _has_right(row, columns) else []
    return columns.room - sum(width + GAP for width in shown if width)


def _has_took(row: Row, columns: Columns) -> bool:
    return bool(columns.took and row.took)


def _has_right(row: Row, columns: Columns) -> bool:
    return bool((columns.agent and row.agent) or (columns.cost and row.cost))


def _label(row: Row, columns: Columns, ink: Ink) -> str:
    if columns.ids and row.title:
        return f"{ink.pad(row.label, columns.ids)}{' ' * GAP}{row.title}"
    return ink.fit_middle(row.label, columns.label) if columns.alike else row.label


def _right(row: Row, columns: Columns, ink: Ink) -> list[Piece]:
    if not _has_right(row, columns):
        return []
    agent = ink.pad(row.agent, columns.agent) if columns.agent else ""
    cost = ink.pad_left(row.cost, columns.cost) if columns.cost else ""
    return [(" " * GAP + text, "dim") for text in (agent, cost) if text]


def _tone(row: Row) -> str:
    quiet = {
        TaskStatus.DONE,
        TaskStatus.WAITING,
        TaskStatus.BLOCKED,
        TaskStatus.SKIPPED,
        TaskStatus.CANCELLED,
    }
    return "dim" if row.task.status in quiet else ""


def _alike(labels: Sequence[str], width: int) -> bool:
    return len({label[: width - 1] for label in labels}) < len(set(labels))


def _widest(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts), default=0)
