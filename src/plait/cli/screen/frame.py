"""A frame: what the screen shows at one moment, as lines of text with styles. Pure, so that it can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from rich.cells import cell_len

from plait.cli.screen.choose import Choice, choose
from plait.cli.screen.columns import Columns, columns, line, words, words_room
from plait.cli.screen.ink import Ink, Line, ink
from plait.cli.screen.notes import HELP, keys_line, notes
from plait.cli.screen.row import Row, row
from plait.cli.screen.scene import Scene
from plait.cli.screen.title import title
from plait.core.frozen import dataclass
from plait.core.status import TaskStatus

__all__ = ["Line", "Look", "frame", "plain"]

_BOX = 24  # columns; in fewer there are no sides
_WIDEST = 140  # columns; in more, the eye loses the row
_LEAST_ROWS = 3
_ACTIVITIES = 4
_NOTE = 3  # lines for one


@dataclass(frozen=True, slots=True)
class Look:
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


def frame(scene: Scene, look: Look) -> list[Line]:
    """No line is wider than the terminal, and there are fewer lines than it has."""
    pen = ink(look.encoding)
    look = replace(look, width=min(look.width, _WIDEST))
    most = max(1, look.height - 1)
    below = _below(scene, look, pen)
    hint = _hint(scene, look, pen)
    room = most - 2 - len(below) - len(hint)
    chosen = choose(scene.view.tasks, max(_LEAST_ROWS, room))
    rows = [row(scene, task, look.now, look.activity, pen) for task in chosen.shown]
    sizes = columns(rows, look.width - (4 if look.width >= _BOX else 0))
    box = _box(scene, look, pen, [line(each, sizes, pen) for each in rows], chosen)
    spare = most - len(box) - len(below) - len(hint)
    doing = _activities(rows, sizes, look, pen)[: max(0, min(spare, _ACTIVITIES))]
    return [_cropped(each, look.width, pen) for each in [*box, *below, *doing, *hint][:most]]


def plain(lines: Sequence[Line]) -> str:
    """The text alone."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def _cropped(line: Line, width: int, pen: Ink) -> Line:
    """Nothing sticks out, however narrow the terminal is."""
    if sum(cell_len(text) for text, _ in line) <= width:
        return line
    return ((pen.fit("".join(text for text, _ in line), width), ""),)


def _box(scene: Scene, look: Look, pen: Ink, lines: Sequence[Line], chosen: Choice) -> list[Line]:
    room = look.width - 4 if look.width >= _BOX else look.width
    if chosen.hidden:
        counts = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in chosen.hidden)
        lines = [*lines, ((pen.pad(f"{pen.more} {counts}", room), "dim"),)]
    told = title(scene, pen, now=look.now, eta=look.eta, width=max(1, room - 2))
    if look.width < _BOX:
        return [((pen.fit(told, look.width), "bold"),), *lines]
    top_left, top_right, bottom_left, bottom_right = pen.corners
    rest = pen.rule * (look.width - cell_len(told) - 5)
    bottom = f"{bottom_left}{pen.rule * (look.width - 2)}{bottom_right}"
    sides = [((f"{pen.side} ", "dim"), *each, (f" {pen.side}", "dim")) for each in lines]
    top: Line = ((f"{top_left}{pen.rule} ", "dim"), (told, "bold"), (f" {rest}{top_right}", "dim"))
    return [top, *sides, ((bottom, "dim"),)]


def _below(scene: Scene, look: Look, pen: Ink) -> list[Line]:
    said = [(look.notice, "bold")] if look.notice else []
    said += notes(scene, look.now, keys=look.keys)
    wrapped = [(pen.wrap(pen.clean(text), look.width - 1, _NOTE), style) for text, style in said]
    return [((f" {line}", style),) for lines, style in wrapped for line in lines]


def _hint(scene: Scene, look: Look, pen: Ink) -> list[Line]:
    if look.help:
        return [((pen.fit(f" {pen.plain(text)}", look.width), "dim"),) for text in HELP]
    return [((pen.fit(f" {pen.plain(keys_line(scene))}", look.width), "dim"),)] if look.keys else []


def _activities(rows: Sequence[Row], sizes: Columns, look: Look, pen: Ink) -> list[Line]:
    """What running tasks do, where their row does not tell all of it already."""
    found: list[Line] = []
    labels = short_labels([each.label for each in rows])
    for each, label in zip(rows, labels, strict=True):
        said = pen.clean(look.activity.get(each.task.id, ""))
        at_work = each.task.status in {TaskStatus.RUNNING, TaskStatus.VERIFYING}
        shown, _ = words(each, sizes, pen)
        told = shown.endswith(said) and cell_len(shown) <= words_room(each, sizes)
        told = told or (each.task.phase or "\n") in said  # the line that announced it
        if said and at_work and not told:
            found.append(((pen.fit(f" {label}  {said}", look.width), "dim"),))
    return found


def short_labels(labels: Sequence[str]) -> list[str]:
    """What stands before the first dash, where that is a number and tells them apart: 03 for 03-split."""
    heads = [label.partition("-")[0] for label in labels]
    clear = len(set(heads)) == len(heads)
    return [head if clear and head.isdigit() else label for head, label in zip(heads, labels, strict=True)]
