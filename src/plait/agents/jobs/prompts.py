"""The conversations with a model. How to answer is in the message, so that another system prompt can't lose it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from plait.agents.jobs import files as of, words
from plait.agents.jobs.context import Context
from plait.agents.plain import plain
from plait.core.frozen import dataclass
from plait.core.task import Job, JobMode

_FILE = re.compile(r"_system_?prompt_([a-z_]+)\.md", re.IGNORECASE)
_TAIL = 8000  # characters of what a command printed
_NAMES = {
    JobMode.REPLACE: "create",
    JobMode.EDIT: "edit",
    JobMode.SPLIT: "split",
    JobMode.REPLACE_PATTERN: "replace_pattern",
    JobMode.UPDATE_FIXTURES: "update_fixtures",
}


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """What a job's prompts are made of. `texts` are its targets and outputs that are there, `done` the files written so
    far in this job (the tests among them), `only` the one that is asked for now.
    """

    job: Job
    instructions: str
    context: Context = Context()
    texts: Mapping[str, str] | None = None
    done: Mapping[str, str] | None = None
    only: str | None = None


def prompt_name(file: str) -> str | None:
    """`_systemprompt_create.md` is the system prompt `create`; None: this file is none."""
    found = _FILE.fullmatch(file)
    name = found[1].lower() if found else ""
    return name if name in words.SYSTEMS else None


def writing(ask: Ask, systems: Mapping[str, str] | None = None) -> tuple[Message, ...]:
    """By the job's mode; for `only` one of its files, or its tests, just that one. `systems`: texts by `prompt_name`."""
    job, tests = ask.job, ask.only is not None and ask.only == ask.job.tests
    parts = [*_material(ask), *_written(ask, tests=tests), *_task(ask)]
    if tests:
        parts.append(words.TESTS.format(path=job.tests, outputs=_listed(of.writable(job))))
        parts.append(_answer_files((job.tests or "",)))
    elif of.whole(job):
        wanted = (ask.only,) if ask.only else of.outputs(job)
        parts += [words.SPLIT.format(targets=_listed(job.targets))] if job.mode is JobMode.SPLIT else []
        parts += [words.ONE.format(path=ask.only, all=_listed(of.outputs(job)))] if ask.only else []
        parts.append(_answer_files(wanted))
    else:
        parts.append(_answer_changes(job))
    return _conversation("test" if tests else _NAMES[job.mode], systems, parts)


def verification(
    ask: Ask, files: Mapping[str, str], systems: Mapping[str, str] | None = None
) -> tuple[Message, ...]:
    """About the files as they would be."""
    parts = [*_material(ask, "## The files as they were before"), *_task(ask), "## The result"]
    parts += [_file(path, text) for path, text in files.items()]
    name = "verify" if of.whole(ask.job) else "verify_edit"
    return _conversation(name, systems, [*parts, words.VERDICT])


def repair(
    ask: Ask, files: Mapping[str, str], command: str, output: str, systems: Mapping[str, str] | None = None
) -> tuple[Message, ...]:
    """After a build, test or lint command failed; the answer is for `understand_repair`."""
    said = "\n".join(map(plain, output[-_TAIL:].split("\n")))
    own = {path: text for path, text in files.items() if path != ask.job.tests}
    parts = [*_task(ask), *_tests(ask.job, files), "## The files as they are now"]
    parts += [_file(path, text) for path, text in own.items()]
    parts += [f"## `{plain(command)}` failed", _fenced(said), words.REPAIR, words.EDITS]
    return _conversation("fix", systems, [*parts, words.ALLOWED.format(targets=_listed(tuple(own)))])


def again(before: Sequence[Message], said: str, feedback: str) -> tuple[Message, ...]:
    """The same conversation with the answer, and what is wrong with it."""
    wrong = words.AGAIN.format(feedback=feedback.strip() or "It could not be used.")
    return (*before, Message(Role.ASSISTANT, said or "(nothing)"), Message(Role.USER, wrong))


def _conversation(name: str, systems: Mapping[str, str] | None, parts: Sequence[str]) -> tuple[Message, ...]:
    system = (systems or {}).get(name, "").strip() or words.SYSTEMS[name]
    return Message(Role.SYSTEM, system), Message(Role.USER, "\n\n".join(parts) + "\n")


def _task(ask: Ask) -> list[str]:
    return ["## What is to be done", ask.instructions.strip()]


def _material(ask: Ask, heading: str = "## The files as they are now") -> Iterator[str]:
    """Context, and the files that the job is about as they were when it began."""
    if ask.context.pieces:
        yield "## Files to know of (not to be changed)"
        yield from (_file(each.path, each.text, each.left_out) for each in ask.context.pieces)
    own = {path: text for path, text in (ask.texts or {}).items() if path not in (ask.done or {})}
    if own:
        yield heading
        yield from (_file(path, text) for path, text in own.items())


def _written(ask: Ask, *, tests: bool) -> Iterator[str]:
    done = {} if tests else ask.done or {}
    yield from _tests(ask.job, done)
    rest = {path: text for path, text in done.items() if path != ask.job.tests}
    if rest:
        yield "## Files of this job that are written already"
        yield from (_file(path, text) for path, text in rest.items())


def _tests(job: Job, done: Mapping[str, str]) -> Iterator[str]:
    if job.tests is not None and job.tests in done:
        yield f"## The tests that must pass (not to be changed)\n\n{_file(job.tests, done[job.tests])}"


def _answer_files(wanted: Sequence[str]) -> str:
    return words.FILES.format(files=_listed(wanted), example=wanted[0])


def _answer_changes(job: Job) -> str:
    allowed = words.ALLOWED.format(targets=_listed(of.targets(job)))
    if job.mode is JobMode.EDIT:
        return f"{words.EDITS}\n\n{allowed}"
    if job.mode is JobMode.REPLACE_PATTERN:
        return f"{words.INSERTIONS}\n\n{allowed}"
    about = words.FIXTURES.format(struct=job.struct_name, field=job.new_field)
    return f"{about}\n\n{words.EDITS}\n\n{allowed}"


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _file(path: str, text: str, left_out: int = 0) -> str:
    more = f"\n(its last {left_out} lines are not shown)" if left_out else ""
    return f"### {path}\n\n{_fenced(text)}{more}"


def _fenced(text: str) -> str:
    """In a fence that nothing in the text closes."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text.rstrip(chr(10))}\n{fence}"
