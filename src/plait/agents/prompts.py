"""What an agent reads: the task, the rules of the house, and what was said of the attempts before.

Everything in it is somebody's text, put in as it is: nothing of the environment, and nothing that is filled in twice.

Replies: how an agent that only reads tells what to write, and how files are shown to it: in the same form.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from plait.agents.plain_text import to_plain_text
from plait.agents.templates import fill_template
from plait.core.fast_dataclass import dataclass
from plait.core.task import Task

# Names that are kept: one word of plain characters, and of a file that holds text.
_TEXT_FILE_NAME = re.compile(r"[\w][\w.+ -]{0,190}\.(?:md|markdown|mdx|txt|rst)", re.IGNORECASE)


_UNSAFE_NAME_CHARS = re.compile(r"[^A-Za-z0-9._-]+")


_MAX_ID_CHARS = 60


_MAX_NAME_BYTES = 200  # bytes: no file system takes more than 255


_WORKTREE_RULES = (
    (
        "Work only in the folder that you were started in: a git worktree of your own. Leave everything outside of it alone, "
        "other worktrees too."
    ),
    (
        "Do not push, do not switch branches or make others, and do not rewrite history. Commit or don't: plait captures "
        "whatever is left in the folder as your result."
    ),
)


_IN_PLACE_RULES = (
    (
        "Work only in the folder that you were started in. It is a person's own checkout, and others may be at work in it at "
        "the same time: change what this task needs, and leave all else as you found it."
    ),
    "Do not commit, push, stash, reset, clean or switch branches, and leave other worktrees alone.",
)


_UNATTENDED_RULE = (
    "Nobody is there to answer questions. Where something is open, decide, and say at the end what you assumed."
)


_CONFLICT_NOTE = (
    "Other tasks were merged meanwhile, and the change that was made for this one does not fit onto them. The folder holds "
    "what was merged, without that change: make it again, so that both hold."
)


@dataclass(frozen=True, slots=True)
class PromptRules:
    """What holds for every attempt of a batch: where it works, and what will be run on what it leaves."""

    isolated: bool = True
    verify: str | None = None


@dataclass(frozen=True, slots=True)
class PriorFeedback:
    """What was said of the attempts before: in words, the end of what a failed check printed, both sides of a conflict."""

    feedback: str = ""
    check: str = ""
    conflict: str = ""


NO_FEEDBACK = PriorFeedback()


def build_prompt(
    task: Task,
    prompt_rules: PromptRules,
    prior: PriorFeedback = NO_FEEDBACK,
    *,
    workspace: str = "",
    template: str = "",
) -> str:
    """For an agent that begins anew: the task, the rules, and all that was said."""
    values = {
        "task": _render_task(task),
        "title": _headline(task),
        "id": task.id,
        "rules": _render_rules(task, prompt_rules),
        "files": ", ".join(map(format_code_span, task.touches)),
        "verify": prompt_rules.verify or "",
        "workspace": workspace,
        **_feedback_sections(prior),
    }
    return fill_template(template, values)


def build_continuation(task: Task, prior: PriorFeedback, task_file: str = "") -> str:
    """For an agent whose session goes on: it has read the task. A session may have been cut off early, so where it stands
    is told.
    """
    sections = [section for section in _feedback_sections(prior).values() if section]
    again = "it is not done yet" if sections else "you were interrupted; go on where you left off"
    where = f" Should you need to read it again, it is in {format_code_span(task_file)}." if task_file else ""
    first = f"This is still about the task {_headline(task)} ({task.id}): {again}.{where}"
    return "\n\n".join([first, *sections]) + "\n"


def _feedback_sections(prior: PriorFeedback) -> dict[str, str]:
    feedback, check, conflict = prior.feedback.strip(), prior.check.strip(), prior.conflict.strip()
    return {
        "feedback": f"## Feedback on the attempt before this one\n\n{feedback}" if feedback else "",
        "check": f"## The end of what the check printed\n\n{_format_output(check)}" if check else "",
        "conflict": f"## The conflict\n\n{_CONFLICT_NOTE}\n\n{_format_output(conflict)}" if conflict else "",
    }


def _render_rules(task: Task, prompt_rules: PromptRules) -> str:
    rules = [*(_WORKTREE_RULES if prompt_rules.isolated else _IN_PLACE_RULES)]
    if task.origin is not None:
        rules.append(
            f"This task is written in {format_code_span(task.origin.file)}. Boxes and lines there that tell a status are plait's: leave them."
        )
    if task.touches:
        files = ", ".join(map(format_code_span, task.touches))
        rules.append(
            f"The task is expected to change {files}. Other tasks are at work on other files: you must not modify those "
            "unless this task can't be done otherwise."
        )
    if prompt_rules.verify:
        rules.append(f"When you have ended, this is run here, and must pass: {format_code_span(prompt_rules.verify)}")
    return "## Rules of the house\n\n" + "\n".join(f"- {rule}" for rule in (*rules, _UNATTENDED_RULE))


def render_task_file(task: Task) -> tuple[str, str]:
    """The task as a file: under its own name if it is one, else under its id."""
    name = task.origin.file.rpartition("/")[2] if task.origin and task.origin.line <= 1 else ""
    if not _TEXT_FILE_NAME.fullmatch(name) or len(name.encode()) > _MAX_NAME_BYTES:
        name = f"{_UNSAFE_NAME_CHARS.sub('-', task.id).strip('-.')[:_MAX_ID_CHARS] or 'task'}.md"
    return name, f"{_render_task(task)}\n"


def _render_task(task: Task) -> str:
    """A text that has a headline of its own keeps it."""
    body = task.body.strip("\n").rstrip()
    if body.lstrip().startswith("# "):
        return body
    title = f"# {_headline(task)}"
    return f"{title}\n\n{body}" if body.strip() else title


def _headline(task: Task) -> str:
    return " ".join((task.title or task.id).split())


def format_code_span(text: str) -> str:
    """On one line, as code; between as many backticks as nothing in it closes."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    marks, gap = "`" * (longest + 1), " " if longest else ""
    return f"{marks}{gap}{line}{gap}{marks}"


def _format_output(text: str) -> str:
    return _fence("\n".join(map(_plain_indented_line, text.split("\n"))))


def _fence(text: str) -> str:
    """In a fence that nothing in the text closes."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _plain_indented_line(line: str) -> str:
    """As it was seen, with its indentation."""
    shown = to_plain_text(line)
    indent = line[: len(line) - len(line.lstrip(" \t"))] if shown else ""
    return f"{indent}{shown}"


_FENCE_RUNS = re.compile(r"`{3,}")


REPLY_INSTRUCTIONS = """\
## How to answer

Change no file yourself: answer with the files, and they are written for you. A new file, or one that changes much, as a
whole: a line with its path from the top of the repository, then all of its text in a fence that nothing in it closes.

FILE: path/to/file
```
all of its lines
```

A small change of a file that is there, as an edit: the lines as they are, exactly and only once in the file, and the lines
that take their place.

FILE: path/to/file
FIND:
the lines as they are
REPLACE:
the new lines
END

Everything that you name is written, or nothing. Text outside of these blocks is for people to read."""


def build_reply_instructions(allowed: Collection[str] = ()) -> str:
    """For the end of a prompt. `allowed` are the only files that are taken; none: any of the repository."""
    if not allowed:
        return REPLY_INSTRUCTIONS
    listed = "\n".join(f"- {path}" for path in allowed)
    return f"{REPLY_INSTRUCTIONS}\n\nOnly these files are taken:\n{listed}"


def format_files(files: Iterable[tuple[str, str]]) -> str:
    """Files as they are, each in a fence that nothing in it closes."""
    return "\n\n".join(_format_file(path, text) for path, text in files)


def _format_file(path: str, text: str) -> str:
    longest = max((len(run) for run in _FENCE_RUNS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"FILE: {path}\n{fence}\n{text}{end}{fence}"
