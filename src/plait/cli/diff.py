"""`plait diff`: the change of a task, of one of its attempts, or of a whole batch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from plait import wiring
from plait.cli.diff_show import page_through, tinted
from plait.cli.say import OK, Page, harmless, write_json
from plait.cli.show import on_terminal
from plait.core.errors import UserError
from plait.core.frozen import dataclass
from plait.core.state import State
from plait.front.comparison import Comparison, of_attempt, of_batch, of_task
from plait.front.desk import open_desk
from plait.front.difference import Changed, Difference, difference
from plait.front.difference_shape import difference_json
from plait.front.names import Meant, find
from plait.front.past import Try, tries
from plait.wiring import Place, find_place


@dataclass(frozen=True, slots=True)
class DiffWish:
    attempt: int | None = None
    stat: bool = False
    name_only: bool = False
    pager: bool = True
    as_json: bool = False


def diff_command(where: Path, words: Sequence[str], wish: DiffWish) -> int:
    place = find_place(where)
    with open_desk(place) as desk:
        state = desk.ahead()
        meant = find(state, words)
        wanted = _wanted(place, state, meant, wish.attempt)
    with difference(place, wanted) as found:
        if wish.as_json:
            write_json(
                difference_json(meant.batch.id, wanted.attempt, found, brief=wish.stat or wish.name_only)
            )
        elif not found.files:
            _note(f"{found.about} changed nothing")
        elif wish.name_only or wish.stat:
            _show_files(found, names=wish.name_only)
        else:
            _show_text(found, place, pager=wish.pager)
    return OK


def _wanted(place: Place, state: State, meant: Meant, attempt: int | None) -> Comparison:
    if len(meant.tasks) > 1:
        raise UserError("name one task, or none for the whole batch")
    if meant.tasks:
        batch, (task,) = meant.batch, meant.tasks
        if attempt is None:
            return of_task(state, batch, task)
        return of_attempt(state, batch, task, attempt, lambda: _past(place, batch.id, task.task.id))
    if attempt is not None:
        raise UserError("--attempt is about a task", hint=f"plait diff {meant.batch.id} TASK --attempt N")
    return of_batch(meant.batch)


def _past(place: Place, batch: str, task: str) -> list[Try]:
    with closing(wiring.journal_reader(place)) as reader:
        return tries(reader.read(), batch, task)


def _show_text(found: Difference, place: Place, *, pager: bool) -> None:
    if not on_terminal():
        sys.stdout.flush()
        for piece in found.text():  # byte for byte, for `git apply` and the like
            sys.stdout.buffer.write(piece)
        return
    lines = tinted(found.text())
    if pager and sys.stdout.isatty():
        page_through(lines, place)
    else:
        sys.stdout.writelines(lines)


def _show_files(found: Difference, *, names: bool) -> None:
    page = Page()
    if names:
        for file in found.files:
            page.line(file.path)
    else:
        width = max(len(_count(file)) for file in found.files)
        for file in found.files:
            was = f"  (was {file.before})" if file.before else ""
            page.line(f"  {_count(file):>{width}}  {file.path}", (was, "dim"))
        many = "1 file" if len(found.files) == 1 else f"{len(found.files)} files"
        page.line((f"{many}, {_lines(found.plus, found.minus)}", "bold"))
    page.show()


def _count(file: Changed) -> str:
    return "binary" if file.binary else _lines(file.plus, file.minus)


def _lines(plus: int, minus: int) -> str:
    return f"+{plus} −{minus}"  # noqa: RUF001 - as all of plait tells it


def _note(text: str) -> None:
    print(f"plait: {harmless(text)}", file=sys.stderr)  # noqa: T201 - beside the answer, never in it
