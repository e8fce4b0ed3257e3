"""A frame: what the screen shows at one moment, as lines of text with styles. Pure, so that it can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from rich.cells import cell_len

from plait.cli.live.frame__notes import KEY_HELP, format_keys, make_notes
from plait.cli.live.frame__title import format_title
from plait.cli.live.task_rows import ColumnWidths, fit_activity, fit_columns, get_activity_width, render_row
from plait.cli.live.task_rows__row import TaskRow, make_row
from plait.cli.live.task_selection import TaskSelection, select_visible_tasks
from plait.cli.live.terminal_style import StyledLine, TerminalStyle, choose_terminal_style
from plait.cli.live.view_model import BatchViewModel
from plait.core.fast_dataclass import dataclass
from plait.core.status import TaskStatus

__all__ = ["StyledLine", "Viewport", "render_frame", "frame_to_text"]

_MIN_BOX_WIDTH = 24  # columns; in fewer there are no sides
_MAX_WIDTH = 140  # columns; in more, the eye loses the row
_MIN_ROWS = 3
_MAX_ACTIVITIES = 4
_MAX_NOTE_LINES = 3  # lines for one


@dataclass(frozen=True, slots=True)
class Viewport:
    """How and when it is looked at. `notice` is what the front itself has to say."""

    now: float
    width: int
    height: int
    activity: Mapping[str, str] = field(default_factory=dict)
    eta: float | None = None
    keys: bool = False
    help: bool = False
    notice: str = ""
    encoding: str = "utf-8"


def render_frame(model: BatchViewModel, viewport: Viewport) -> list[StyledLine]:
    """No line is wider than the terminal, and there are fewer lines than it has."""
    terminal = choose_terminal_style(viewport.encoding)
    viewport = replace(viewport, width=min(viewport.width, _MAX_WIDTH))
    max_lines = max(1, viewport.height - 1)
    below = _render_notes(model, viewport, terminal)
    hint = _render_key_hint(model, viewport, terminal)
    room = max_lines - 2 - len(below) - len(hint)
    chosen = select_visible_tasks(model.view.tasks, max(_MIN_ROWS, room))
    rows = [make_row(model, task, viewport.now, viewport.activity, terminal) for task in chosen.shown]
    sizes = fit_columns(rows, viewport.width - (4 if viewport.width >= _MIN_BOX_WIDTH else 0))
    box = _render_box(model, viewport, terminal, [render_row(each, sizes, terminal) for each in rows], chosen)
    spare = max_lines - len(box) - len(below) - len(hint)
    doing = _render_activities(rows, sizes, viewport, terminal)[: max(0, min(spare, _MAX_ACTIVITIES))]
    return [_crop(each, viewport.width, terminal) for each in [*box, *below, *doing, *hint][:max_lines]]


def frame_to_text(lines: Sequence[StyledLine]) -> str:
    """The text alone."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def _crop(line: StyledLine, width: int, terminal: TerminalStyle) -> StyledLine:
    """Nothing sticks out, however narrow the terminal is."""
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
    room = viewport.width - 4 if viewport.width >= _MIN_BOX_WIDTH else viewport.width
    if chosen.hidden:
        counts = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in chosen.hidden)
        lines = [*lines, ((terminal.pad(f"{terminal.ellipsis} {counts}", room), "dim"),)]
    title_text = format_title(model, terminal, now=viewport.now, eta=viewport.eta, width=max(1, room - 2))
    if viewport.width < _MIN_BOX_WIDTH:
        return [((terminal.fit(title_text, viewport.width), "bold"),), *lines]
    top_left, top_right, bottom_left, bottom_right = terminal.corners
    rest = terminal.rule * (viewport.width - cell_len(title_text) - 5)
    bottom = f"{bottom_left}{terminal.rule * (viewport.width - 2)}{bottom_right}"
    sides = [((f"{terminal.side} ", "dim"), *each, (f" {terminal.side}", "dim")) for each in lines]
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
        (terminal.wrap(terminal.sanitize(text), viewport.width - 1, _MAX_NOTE_LINES), style)
        for text, style in texts
    ]
    return [((f" {line}", style),) for lines, style in wrapped for line in lines]


def _render_key_hint(model: BatchViewModel, viewport: Viewport, terminal: TerminalStyle) -> list[StyledLine]:
    if viewport.help:
        return [
            ((terminal.fit(f" {terminal.replace_signs(text)}", viewport.width), "dim"),) for text in KEY_HELP
        ]
    return (
        [((terminal.fit(f" {terminal.replace_signs(format_keys(model))}", viewport.width), "dim"),)]
        if viewport.keys
        else []
    )


def _render_activities(
    rows: Sequence[TaskRow], sizes: ColumnWidths, viewport: Viewport, terminal: TerminalStyle
) -> list[StyledLine]:
    """What running tasks do, where their row does not tell all of it already."""
    found: list[StyledLine] = []
    labels = shorten_labels([each.label for each in rows])
    for each, label in zip(rows, labels, strict=True):
        said = terminal.sanitize(viewport.activity.get(each.task.id, ""))
        at_work = each.task.status in {TaskStatus.RUNNING, TaskStatus.VERIFYING}
        shown, _ = fit_activity(each, sizes, terminal)
        told = shown.endswith(said) and cell_len(shown) <= get_activity_width(each, sizes)
        told = told or (each.task.phase or "\n") in said  # the line that announced it
        if said and at_work and not told:
            found.append(((terminal.fit(f" {label}  {said}", viewport.width), "dim"),))
    return found


def shorten_labels(labels: Sequence[str]) -> list[str]:
    """What stands before the first dash, where that is a number and tells them apart: 03 for 03-split."""
    heads = [label.partition("-")[0] for label in labels]
    clear = len(set(heads)) == len(heads)
    return [head if clear and head.isdigit() else label for head, label in zip(heads, labels, strict=True)]
