"""A file that statuses are written to while others edit it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from plait.core.plan import Problem
from plait.sources.source_model import SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, StatusFileWriter, report_missing_task
from plait.sources.text import TextEdit, apply_edits, decode, encode
from plait.system import file_exchange
from plait.system.status_files import WriteResult, write_statuses

# A minimal task format: a task is a line `id: status`.
_TASK = re.compile(r"^(\w+): (\w+)(?=\r?$)", re.MULTILINE)


def rewrite_statuses(text: str, changes: Sequence[StatusChange]) -> Rewrite:
    """An empty text becomes one with these tasks."""
    if not text:
        return Rewrite("".join(f"{each.id}: {each.status}\n" for each in changes))
    edits: list[TextEdit] = []
    problems: list[Problem] = []
    for each in changes:
        found = [place for place in _TASK.finditer(text) if place[1] == each.id]
        if len(found) == 1:
            edits.append(TextEdit(*found[0].span(2), each.status))
        else:
            problems.append(report_missing_task(each))
    return Rewrite(apply_edits(text, edits), tuple(problems))


def make_change(name: str, mark: SourceStatus = SourceStatus.DONE, file: str = "TODO.md") -> StatusChange:
    return StatusChange(name, mark, datetime(2026, 3, 14, tzinfo=UTC), file)


_replace = os.replace  # edits by others are not intercepted


@contextmanager
def intercept_steps(act: Callable[[int, str], None]) -> Iterator[None]:
    """Call `act` with a number and a name before each system call of a write; it may raise, or kill the process."""
    count = 0

    def wrap(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def called(*arguments: object, **others: object) -> object:
            nonlocal count
            count += 1
            act(count, name)
            return call(*arguments, **others)

        return called

    with ExitStack() as stack:
        for place, name in _STEPS:
            stack.enter_context(patch.object(place, name, wrap(name, getattr(place, name))))
        yield


_STEPS = (
    *((os, name) for name in ("open", "fstat", "fsync", "link", "rename", "replace", "unlink", "listdir", "scandir")),
    (file_exchange, "_exchange_atomically"),
)


Callbacks = Sequence[Callable[[], object]]


def do_nothing() -> None:
    """Do nothing."""


def _call_next(acts: Iterator[Callable[[], object]]) -> None:
    next(acts, do_nothing)()


@dataclass
class StatusFileSetup:
    """A checkout with one file, and locks elsewhere. Pauses are recorded in `pauses` and take no time."""

    folder: Path
    name: str = "TODO.md"
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.checkout.mkdir(parents=True, exist_ok=True)

    @property
    def checkout(self) -> Path:
        return self.folder / "checkout"

    @property
    def locks(self) -> Path:
        return self.folder / "state" / "locks"

    @property
    def path(self) -> Path:
        return self.checkout / self.name

    @property
    def text(self) -> str:
        return decode(self.path.read_bytes())

    @property
    def hidden_files(self) -> list[str]:
        """Hidden files that a write left in the checkout."""
        return sorted(each.name for each in self.checkout.iterdir() if each.name.startswith("."))

    def save(self, text: str) -> None:
        """Save as most editors do: replace the file by another one."""
        draft = self.checkout / "draft"
        draft.write_bytes(encode(text))
        _replace(draft, self.path)

    def overwrite(self, text: str) -> None:
        """Save as other editors do: truncate the file and write it."""
        self.path.write_bytes(encode(text))

    def write(
        self,
        *names: str,
        mark: SourceStatus = SourceStatus.DONE,
        applying: Callbacks = (),
        exchanging: Callbacks = (),
        pausing: Callbacks = (),
        creates: bool = False,
    ) -> WriteResult:
        """Write the status of these tasks, with a callback at each step.

        `applying`: before statuses are put into a text; `exchanging`: alternately right before and right after an
        exchange of files; `pausing`: during a pause.
        """
        applied, exchanged, paused = iter(applying), iter(exchanging), iter(pausing)

        def interrupted(text: str, changes: Sequence[StatusChange]) -> Rewrite:
            _call_next(applied)
            return rewrite_statuses(text, changes)

        def pause(seconds: float) -> None:
            self.pauses.append(seconds)
            _call_next(paused)

        real = file_exchange.exchange_files

        def overtaken(one: Path, path: Path) -> None:
            _call_next(exchanged)
            real(one, path)
            _call_next(exchanged)

        writer = StatusFileWriter(self.name, interrupted, creates=creates)
        changes = [make_change(name, mark, self.name) for name in names]
        with patch.object(file_exchange, "exchange_files", overtaken):
            return write_statuses(self.checkout, writer, changes, locks=self.locks, pause=pause)

    def write_during_edits(self, saved: list[str]) -> WriteResult:
        """Save a line right before the first exchange and another before the second; `saved` gets the saved lines."""

        def adds(line: str) -> Callable[[], None]:
            def act() -> None:
                self.save(f"{self.text}{line}\n")
                saved.append(line)

            return act

        return self.write("one", "three", exchanging=[adds("early"), do_nothing, adds("late")])
