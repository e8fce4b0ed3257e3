"""What an agent reads: the task, and what was said of the attempt before."""

from __future__ import annotations

import re

from plait.agents.plain import plain
from plait.core.task import Task

# Names that are kept: one word of plain characters, and of a file that holds text.
_FILE = re.compile(r"[\w][\w.+ -]{0,190}\.(?:md|markdown|mdx|txt|rst)", re.IGNORECASE)
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 60
_LONGEST_NAME = 200  # bytes: no file system takes more than 255


def prompt(task: Task, *, feedback: str, check: str = "", conflict: str = "") -> str:
    """`check` is the end of what a failed check printed, `conflict` both sides of one that is to be repaired."""
    parts = [_task(task)]
    if feedback.strip():
        parts += ["## Feedback on the attempt before this one", feedback.strip()]
    if check.strip():
        parts += [
            "## The end of what the check printed",
            _fenced("\n".join(map(_line, check.strip().split("\n")))),
        ]
    if conflict.strip():
        parts += [
            "## The conflict",
            (
                "Other tasks were merged meanwhile, and the change that was made for this one does not fit onto them. The "
                "folder holds what was merged, without that change: make it again, so that both hold."
            ),
            _fenced("\n".join(map(_line, conflict.strip().split("\n")))),
        ]
    return "\n\n".join(parts) + "\n"


def snapshot(task: Task) -> tuple[str, str]:
    """The task as a file: under its own name if it is one, else under its id."""
    name = task.origin.file.rpartition("/")[2] if task.origin and task.origin.line <= 1 else ""
    if not _FILE.fullmatch(name) or len(name.encode()) > _LONGEST_NAME:
        name = f"{_OTHER.sub('-', task.id).strip('-.')[:_LONGEST] or 'task'}.md"
    return name, f"{_task(task)}\n"


def _task(task: Task) -> str:
    """A text that has a headline of its own keeps it."""
    body = task.body.strip("\n").rstrip()
    if body.lstrip().startswith("# "):
        return body
    title = f"# {' '.join((task.title or task.id).split())}"
    return f"{title}\n\n{body}" if body.strip() else title


def _fenced(text: str) -> str:
    """In a fence that nothing in the text closes."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _line(line: str) -> str:
    """As it was seen, with its indentation."""
    shown = plain(line)
    indent = line[: len(line) - len(line.lstrip(" \t"))] if shown else ""
    return f"{indent}{shown}"
