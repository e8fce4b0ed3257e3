"""`plait diff`: the change of a task, of one of its attempts, or of a whole batch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from plait.cli.commands.diff import colorize, run_pager
from plait.cli.format import is_terminal_output
from plait.cli.output import OK, Page, print_json, replace_control_chars
from plait.client.batch_lookup import BatchSelection, find_batch_and_tasks
from plait.client.diff import Diff, FileDiff, compute_diff
from plait.client.diff__comparison import DiffRange, find_attempt_range, find_batch_range, find_task_range
from plait.client.diff__difference_shape import diff_json
from plait.client.history__past import PastAttempt, find_attempts
from plait.client.session import open_session
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.state import State
from plait.git.location import RepoLocation, find_repo
from plait.store import project_files


@dataclass(frozen=True, slots=True)
class DiffArguments:
    attempt: int | None = None
    stat: bool = False
    name_only: bool = False
    pager: bool = True
    as_json: bool = False


def diff_command(where: Path, words: Sequence[str], arguments: DiffArguments) -> int:
    place = find_repo(where)
    with open_session(place) as desk:
        state = desk.preview_state()
        meant = find_batch_and_tasks(state, words)
        wanted = _choose_comparison(place, state, meant, arguments.attempt)
    with compute_diff(place, wanted) as found:
        if arguments.as_json:
            print_json(
                diff_json(meant.batch.id, wanted.attempt, found, brief=arguments.stat or arguments.name_only)
            )
        elif not found.files:
            _print_note(f"{found.label} changed nothing")
        elif arguments.name_only or arguments.stat:
            _print_files(found, names=arguments.name_only)
        else:
            _print_diff(found, place, pager=arguments.pager)
    return OK


def _choose_comparison(
    place: RepoLocation, state: State, meant: BatchSelection, attempt: int | None
) -> DiffRange:
    if len(meant.tasks) > 1:
        raise UserError("name one task, or none for the whole batch")
    if meant.tasks:
        batch, (task,) = meant.batch, meant.tasks
        if attempt is None:
            return find_task_range(state, batch, task)
        return find_attempt_range(
            state, batch, task, attempt, lambda: _read_attempts(place, batch.id, task.task.id)
        )
    if attempt is not None:
        raise UserError("--attempt is about a task", hint=f"plait diff {meant.batch.id} TASK --attempt N")
    return find_batch_range(meant.batch)


def _read_attempts(place: RepoLocation, batch: str, task: str) -> list[PastAttempt]:
    with closing(project_files.open_project_journal(place)) as reader:
        return find_attempts(reader.read(), batch, task)


def _print_diff(found: Diff, place: RepoLocation, *, pager: bool) -> None:
    if not is_terminal_output():
        sys.stdout.flush()
        for piece in found.read_text():  # byte for byte, for `git apply` and the like
            sys.stdout.buffer.write(piece)
        return
    lines = colorize(found.read_text())
    if pager and sys.stdout.isatty():
        run_pager(lines, place)
    else:
        sys.stdout.writelines(lines)


def _print_files(found: Diff, *, names: bool) -> None:
    page = Page()
    if names:
        for file in found.files:
            page.add_line(file.path)
    else:
        width = max(len(_format_file_counts(file)) for file in found.files)
        for file in found.files:
            was = f"  (was {file.before})" if file.before else ""
            page.add_line(f"  {_format_file_counts(file):>{width}}  {file.path}", (was, "dim"))
        many = "1 file" if len(found.files) == 1 else f"{len(found.files)} files"
        page.add_line((f"{many}, {_format_line_counts(found.plus, found.minus)}", "bold"))
    page.show()


def _format_file_counts(file: FileDiff) -> str:
    return "binary" if file.binary else _format_line_counts(file.plus, file.minus)


def _format_line_counts(plus: int, minus: int) -> str:
    return f"+{plus} −{minus}"  # noqa: RUF001 - as all of plait tells it


def _print_note(text: str) -> None:
    print(f"plait: {replace_control_chars(text)}", file=sys.stderr)  # noqa: T201 - beside the answer, never in it
