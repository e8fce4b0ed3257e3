"""`plait diff`: the changes of a task, an attempt or a batch; on a terminal in colour, paged and without control characters."""

from __future__ import annotations

import codecs
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.format import MINUS_SIGN, is_terminal_output, pluralize
from plait.cli.output import OK, Page, print_json, print_note
from plait.client import diff as diffs
from plait.client.batch_lookup import BatchSelection, find_batch_and_tasks
from plait.client.history import BatchHistory, read_history
from plait.client.session import open_session
from plait.core.errors import UserError
from plait.core.state import State
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.state_claim import open_repo


def diff_command(
    where: Path,
    names: Annotated[
        list[str] | None,
        opt.make_names_argument(
            "[BATCH] [TASK]",
            "Ids or unique prefixes; without a batch: the newest; without a task: everything merged.",
        ),
    ] = None,
    *,
    attempt: opt.AttemptNumber = None,
    since: Annotated[
        int | None,
        typer.Option("--since", metavar="N", help="Show only what is different from this earlier attempt."),
    ] = None,
    resolution: Annotated[
        int | None,
        typer.Option("--resolution", metavar="N", help="Show how a person resolved the task's nth conflict."),
    ] = None,
    stat: Annotated[bool, typer.Option("--stat", help="Show a diffstat only.")] = False,
    name_only: Annotated[bool, typer.Option("--name-only", help="Show file names only.")] = False,
    no_pager: Annotated[bool, typer.Option("--no-pager", help="Don't use a pager.")] = False,
    as_json: opt.Json = False,
) -> int:
    location = open_repo(where)
    with open_session(location) as session:
        state = session.preview_state()
        target = find_batch_and_tasks(state, names or ())
        comparison = _choose_comparison(location, state, target, diffs.DiffSelection(attempt, since, resolution))
    with diffs.compute_diff(location, comparison) as diff:
        if as_json:
            describe = diffs.describe_diff if stat or name_only else diffs.describe_full_diff
            print_json(describe(target.batch.id, comparison, diff))
        elif not diff.files:
            print_note(f"{diff.label} changed nothing")
        elif name_only or stat:
            _print_files(diff, names=name_only)
        else:
            _print_diff(diff, location, pager=not no_pager)
    return OK


def _choose_comparison(
    location: RepoLocation, state: State, target: BatchSelection, which: diffs.DiffSelection
) -> diffs.DiffRange:
    batch = target.batch
    if len(target.tasks) > 1:
        raise UserError("name one task, or none for the whole batch")
    if target.tasks:
        return diffs.choose_task_range(state, batch, target.tasks[0], which, lambda: _read_history(location, batch.id))
    if which != diffs.DiffSelection():
        raise UserError(
            "--attempt, --since and --resolution need a task", hint=f"plait diff {batch.id} TASK --attempt N"
        )
    return diffs.find_batch_range(batch)


def _read_history(location: RepoLocation, batch: str) -> BatchHistory:
    with closing(project_files.open_project_journal(location)) as reader:
        return read_history(reader.read(), batch)


def _print_diff(diff: diffs.Diff, location: RepoLocation, *, pager: bool) -> None:
    if not is_terminal_output():
        sys.stdout.flush()
        for piece in diff.trees.read_text():  # byte for byte, for `git apply` and the like
            sys.stdout.buffer.write(piece)
        return
    lines = colorize(diff.trees.read_text())
    if pager and sys.stdout.isatty():
        run_pager(lines, location)
    else:
        sys.stdout.writelines(lines)


def _print_files(diff: diffs.Diff, *, names: bool) -> None:
    page = Page()
    if names:
        for file in diff.files:
            page.add_line(file.path)
    else:
        width = max(len(_format_file_counts(file)) for file in diff.files)
        for file in diff.files:
            was = f"  (was {file.before})" if file.before else ""
            page.add_line(f"  {_format_file_counts(file):>{width}}  {file.path}", (was, "dim"))
        page.add_line((f"{pluralize(len(diff.files), 'file')}, {_format_line_counts(diff.plus, diff.minus)}", "bold"))
    page.show()


def _format_file_counts(file: diffs.ChangedFile) -> str:
    return "binary" if file.binary else _format_line_counts(file.plus, file.minus)


def _format_line_counts(plus: int, minus: int) -> str:
    return f"+{plus} {MINUS_SIGN}{minus}"


_HUNK_HEADER = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_INVISIBLE_CHARS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_HEADER_STYLE, _HUNK_STYLE, _ADDED_STYLE, _REMOVED_STYLE, _RESET_STYLE = (
    "\x1b[1m",
    "\x1b[36m",
    "\x1b[32m",
    "\x1b[31m",
    "\x1b[m",
)


MAX_DIFF_LINE_CHARS = 1 << 16  # longer lines are printed in parts


def reveal_control_chars(text: str) -> str:
    """Show control and invisible characters as ^X or <U+XXXX>, so that a reviewer sees them."""
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE_CHARS.sub(_format_control_char, text)


def _format_control_char(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20 or code == 0x7F:
        return f"^{chr(code ^ 0x40)}"
    return f"<U+{code:04X}>"


def colorize(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield lines for a terminal. Coloured here rather than by git, so that colour codes in files can't imitate it."""
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    colorizer, style, begun = _DiffColorizer(), "", False
    for part, whole in _split_lines(pieces):
        style = style if begun else colorizer.get_style(part)
        begun, end = not whole, "\n" if whole else ""
        yield (
            f"{style}{reveal_control_chars(part)}{_RESET_STYLE}{end}"
            if colour and style
            else f"{reveal_control_chars(part)}{end}"
        )


class _DiffColorizer:
    """Counts the lines of each hunk, so that a removed `-- x` is not taken for a header."""

    def __init__(self) -> None:
        self._removed_left = self._added_left = 0

    def get_style(self, line: str) -> str:
        if self._removed_left > 0 or self._added_left > 0:
            return self._get_hunk_style(line[:1])
        if match := _HUNK_HEADER.match(line):
            self._removed_left, self._added_left = (1 if count is None else int(count) for count in match.groups())
            return _HUNK_STYLE
        return "" if line.startswith("\\") else _HEADER_STYLE

    def _get_hunk_style(self, sign: str) -> str:
        self._removed_left -= sign in {"-", " "}
        self._added_left -= sign in {"+", " "}
        return {"+": _ADDED_STYLE, "-": _REMOVED_STYLE}.get(sign, "")


def _split_lines(pieces: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Yield lines, and whether each is complete: very long ones come in parts, to bound memory."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    begun = ""
    for piece in pieces:
        *whole, begun = (begun + decoder.decode(piece)).split("\n")
        yield from ((line, True) for line in whole)
        if len(begun) > MAX_DIFF_LINE_CHARS:
            yield begun, False
            begun = ""
    begun += decoder.decode(b"", final=True)
    if begun:
        yield begun, True


def run_pager(lines: Iterable[str], location: RepoLocation) -> None:
    """Show the lines in git's pager; without one, print them."""
    pager = _find_pager(location)
    if not pager:
        sys.stdout.writelines(lines)
        return
    sys.stdout.flush()
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(["/bin/sh", "-c", pager], stdin=subprocess.PIPE, env=environment)  # as git runs it
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the pager's
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as pipe:
            for line in lines:
                pipe.write(line.encode("utf-8", "replace"))
    finally:
        process.wait()
        signal.signal(signal.SIGINT, before)


def _find_pager(location: RepoLocation) -> str:
    pager = os.environ.get("GIT_PAGER")
    if pager is None:
        setting = Git(location.state.parent).run("config", "--get", "core.pager", codes=(0, 1))
        pager = setting.text if setting.code == 0 else os.environ.get("PAGER")
    if pager is None:
        from shutil import which  # only if none is configured

        pager = "less" if which("less") else ""
    return "" if pager == "cat" else pager
