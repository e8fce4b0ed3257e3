"""`plait plan` as a process, from start to the last line, against a process that only parses the same markdown.

The floor is bare markdown-it-py: `MarkdownIt().parse(text)` in a Python of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

from bench.table import Row, interleaved

_FLOOR = "import sys; from markdown_it import MarkdownIt; MarkdownIt().parse(open(sys.argv[1]).read())"
_PLAN = "from plait.cli.app import main; main()"


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    size, rounds = (1_000, 3) if quick else (5_000, 7)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        subprocess.run(["git", "init", "-q", str(top)], check=True)
        for name, (path, write) in TEXTS.items():
            file = top / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(write(size))
            floor, text, json = interleaved(
                rounds,
                partial(_run, top, _FLOOR, str(file)),
                partial(_run, top, _PLAN, "plan", str(file)),
                partial(_run, top, _PLAN, "plan", "--json", str(file)),
            )
            found += [
                Row(f"plan of {size:,} tasks, {name}", text, "s", floor, "at most 3x"),
                Row(f"the same as JSON, {name}", json, "s", floor, "at most 3x"),
            ]
        help_, bare = interleaved(rounds, lambda: _run(top, _PLAN, "--help"), lambda: _run(top, "import typer"))
        found.append(Row("plait --help", help_, "s", bare))
    return [*found, *_linear(size)]


def _linear(size: int) -> list[Row]:
    """Reading grows with the text: four times the tasks in about four times the time."""
    from plait.sources.formats import load_format  # the processes above import it themselves
    from plait.sources.source_model import Document, SourceFiles

    found = []
    for name, (path, write) in TEXTS.items():
        one, four = write(size), write(4 * size)
        small, large = (_read(load_format(name), SourceFiles(path, (Document(path, text),))) for text in (one, four))
        found.append(Row(f"reading {4 * size:,} tasks, {name}", large, "s", 4 * small, "about 1x"))
    return found


def _read(format_: object, material: object) -> float:
    began = perf_counter()
    format_.read(material)  # type: ignore[attr-defined]  # a format, loaded by its name
    return perf_counter() - began


def _run(top: Path, code: str, *words: str) -> None:
    subprocess.run([sys.executable, "-c", code, *words], cwd=top, check=True, stdout=subprocess.DEVNULL)


def _plan(size: int) -> str:
    lines = ["# Plan\n"]
    for number in range(size):
        phase, place = divmod(number, 100)
        if place == 0:
            lines.append(f"\n## Phase {phase}: Part {phase}\n")
        needs = f" (depends: {phase}.{place})" if place % 3 == 2 else ""
        lines.append(f"- [ ] {phase}.{place + 1} Change number {number} in `src/part{phase}/file{number}.py`{needs}")
        lines += ["  - what is to be done first, in some words", "  - and what comes after that"]
    return "\n".join(lines) + "\n"


def _todo(size: int) -> str:
    return "# TODO\n\n## High Priority\n\n" + "\n".join(
        f"### {number}. Change number {number}\n**Effort**: 2 hours\n**Status**: [NOT STARTED]\n"
        f"**Dependencies**: {f'Task {number - 2}' if number % 3 == 0 else 'None'}\n\n"
        f"**Description**: Do what has to be done in `src/file{number}.py`, and test it.\n\n---\n"
        for number in range(1, size + 1)
    )


def _checklist(size: int) -> str:
    return "# To do\n\n" + "\n".join(
        f"- [ ] Change number {number} in `src/file{number}.py`\n  and say so in the notes" for number in range(size)
    )


def _speckit(size: int) -> str:
    lines = ["# Tasks\n"]
    for number in range(size):
        if number % 50 == 0:
            lines.append(f"\n## Phase {number // 50 + 1}: Part\n")
        lines.append(f"- [ ] T{number:05} {'[P] ' if number % 4 else ''}[US1] Change it in src/file{number}.py")
    return "\n".join(lines) + "\n"


TEXTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "plan": ("docs/plan.md", _plan),
    "todo": ("TODO.md", _todo),
    "checklist": ("docs/list.md", _checklist),
    "speckit": ("specs/001-x/tasks.md", _speckit),
}
