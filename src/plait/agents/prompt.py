"""What an agent reads: the task, the rules of the house, and what was said of the attempts before.

Everything in it is somebody's text, put in as it is: nothing of the environment, and nothing that is filled in twice.
"""

from __future__ import annotations

import re

from plait.agents.plain import plain
from plait.agents.template import filled
from plait.core.frozen import dataclass
from plait.core.task import Task

# Names that are kept: one word of plain characters, and of a file that holds text.
_FILE = re.compile(r"[\w][\w.+ -]{0,190}\.(?:md|markdown|mdx|txt|rst)", re.IGNORECASE)
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 60
_LONGEST_NAME = 200  # bytes: no file system takes more than 255

_IN_WORKTREE = (
    (
        "Work only in the folder that you were started in: a git worktree of your own. Leave everything outside of it alone, "
        "other worktrees too."
    ),
    (
        "Do not push, do not switch branches or make others, and do not rewrite history. Commit or don't: plait captures "
        "whatever is left in the folder as your result."
    ),
)
_IN_PLACE = (
    (
        "Work only in the folder that you were started in. It is a person's own checkout, and others may be at work in it at "
        "the same time: change what this task needs, and leave all else as you found it."
    ),
    "Do not commit, push, stash, reset, clean or switch branches, and leave other worktrees alone.",
)
_ALONE = "Nobody is there to answer questions. Where something is open, decide, and say at the end what you assumed."
_CONFLICT = (
    "Other tasks were merged meanwhile, and the change that was made for this one does not fit onto them. The folder holds "
    "what was merged, without that change: make it again, so that both hold."
)


@dataclass(frozen=True, slots=True)
class House:
    """What holds for every attempt of a batch: where it works, and what will be run on what it leaves."""

    isolated: bool = True
    verify: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of the attempts before: in words, the end of what a failed check printed, both sides of a conflict."""

    feedback: str = ""
    check: str = ""
    conflict: str = ""


NOTHING = Said()


def prompt(task: Task, house: House, said: Said = NOTHING, *, workspace: str = "", template: str = "") -> str:
    """For an agent that begins anew: the task, the rules, and all that was said."""
    values = {
        "task": _task(task),
        "title": _headline(task),
        "id": task.id,
        "rules": _rules(task, house),
        "files": ", ".join(map(code, task.touches)),
        "verify": house.verify or "",
        "workspace": workspace,
        **_sections(said),
    }
    return filled(template, values)


def continued(task: Task, said: Said, task_file: str = "") -> str:
    """For an agent whose session goes on: it has read the task. A session may have been cut off early, so where it stands
    is told.
    """
    sections = [section for section in _sections(said).values() if section]
    again = "it is not done yet" if sections else "you were interrupted; go on where you left off"
    where = f" Should you need to read it again, it is in {code(task_file)}." if task_file else ""
    first = f"This is still about the task {_headline(task)} ({task.id}): {again}.{where}"
    return "\n\n".join([first, *sections]) + "\n"


def _sections(said: Said) -> dict[str, str]:
    feedback, check, conflict = said.feedback.strip(), said.check.strip(), said.conflict.strip()
    return {
        "feedback": f"## Feedback on the attempt before this one\n\n{feedback}" if feedback else "",
        "check": f"## The end of what the check printed\n\n{_shown(check)}" if check else "",
        "conflict": f"## The conflict\n\n{_CONFLICT}\n\n{_shown(conflict)}" if conflict else "",
    }


def _rules(task: Task, house: House) -> str:
    rules = [*(_IN_WORKTREE if house.isolated else _IN_PLACE)]
    if task.origin is not None:
        rules.append(
            f"This task is written in {code(task.origin.file)}. Boxes and lines there that tell a status are plait's: leave them."
        )
    if task.touches:
        files = ", ".join(map(code, task.touches))
        rules.append(
            f"The task is expected to change {files}. Other tasks are at work on other files: you must not modify those "
            "unless this task can't be done otherwise."
        )
    if house.verify:
        rules.append(f"When you have ended, this is run here, and must pass: {code(house.verify)}")
    return "## Rules of the house\n\n" + "\n".join(f"- {rule}" for rule in (*rules, _ALONE))


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
    title = f"# {_headline(task)}"
    return f"{title}\n\n{body}" if body.strip() else title


def _headline(task: Task) -> str:
    return " ".join((task.title or task.id).split())


def code(text: str) -> str:
    """On one line, as code; between as many backticks as nothing in it closes."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    marks, gap = "`" * (longest + 1), " " if longest else ""
    return f"{marks}{gap}{line}{gap}{marks}"


def _shown(text: str) -> str:
    return _fenced("\n".join(map(_line, text.split("\n"))))


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
