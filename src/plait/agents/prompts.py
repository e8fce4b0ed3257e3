"""Prompts: the task, the rules, feedback on earlier attempts; and how an agent that writes no files has to answer.

Texts are put in as they are: no value comes from the environment, and no placeholder in them is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from plait.agents.plain_text import fence, to_plain_text
from plait.agents.templates import fill_template
from plait.core.fast_dataclass import dataclass
from plait.core.task import Task

# Names of task files that are kept: plain characters, and the suffix of a text file.
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
        "Work only in the folder that you were started in. It is a person's own checkout, and others may work in it at "
        "the same time: change what this task needs, and leave all else as you found it."
    ),
    "Do not commit, push, stash, reset, clean or switch branches, and leave other worktrees alone.",
)

_UNATTENDED_RULE = (
    "No one answers questions while you work. If something is unclear, decide, and state your assumptions at the end."
)

_CONFLICT_NOTE = (
    "Other tasks were merged meanwhile, and the change that was made for this one does not fit onto them. The folder holds "
    "what was merged, without that change: make it again, so that both changes work."
)


@dataclass(frozen=True, slots=True)
class PromptRules:
    """The rules for every attempt of a batch: whether it has its own worktree, and how its result is verified."""

    isolated: bool = True
    verify: str | None = None


@dataclass(frozen=True, slots=True)
class PriorFeedback:
    """What earlier attempts left: feedback, the end of a failed check's output, both sides of a conflict."""

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
    """Build the prompt of a new session: the task, the rules and all feedback."""
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
    """Build the prompt of a continued session. It may have been cut off early, so it names the task's file."""
    sections = [section for section in _feedback_sections(prior).values() if section]
    again = "it is not done yet" if sections else "you were interrupted; continue where you left off"
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
        rules.append(
            f"When you have finished, this command is run here and must pass: {format_code_span(prompt_rules.verify)}"
        )
    return "## Rules\n\n" + "\n".join(f"- {rule}" for rule in (*rules, _UNATTENDED_RULE))


def render_task_file(task: Task) -> tuple[str, str]:
    """Return name and text of the task's file, named like its source if that is a file of its own, else by its id."""
    name = task.origin.file.rpartition("/")[2] if task.origin and task.origin.line <= 1 else ""
    if not _TEXT_FILE_NAME.fullmatch(name) or len(name.encode()) > _MAX_NAME_BYTES:
        name = f"{_UNSAFE_NAME_CHARS.sub('-', task.id).strip('-.')[:_MAX_ID_CHARS] or 'task'}.md"
    return name, f"{_render_task(task)}\n"


def _render_task(task: Task) -> str:
    """Render the task; a body that starts with a heading needs no title."""
    body = task.body.strip("\n").rstrip()
    if body.lstrip().startswith("# "):
        return body
    title = f"# {_headline(task)}"
    return f"{title}\n\n{body}" if body.strip() else title


def _headline(task: Task) -> str:
    return " ".join((task.title or task.id).split())


def format_code_span(text: str) -> str:
    """Format text as code on one line, between more backticks than it contains."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    marks, gap = "`" * (longest + 1), " " if longest else ""
    return f"{marks}{gap}{line}{gap}{marks}"


def _format_output(text: str) -> str:
    return fence("\n".join(map(_plain_indented_line, text.split("\n"))))


def _plain_indented_line(line: str) -> str:
    """Return the line as a terminal would show it, with its indentation."""
    shown = to_plain_text(line)
    indent = line[: len(line) - len(line.lstrip(" \t"))] if shown else ""
    return f"{indent}{shown}"


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
    """Build the end of a prompt. Only files in `allowed` are accepted; empty: any of the repository."""
    if not allowed:
        return REPLY_INSTRUCTIONS
    listed = "\n".join(f"- {path}" for path in allowed)
    return f"{REPLY_INSTRUCTIONS}\n\nOnly these files are taken:\n{listed}"


def format_files(files: Iterable[tuple[str, str]]) -> str:
    """Format files in the form in which an agent answers with them."""
    return "\n\n".join(f"FILE: {path}\n{fence(text)}" for path, text in files)
