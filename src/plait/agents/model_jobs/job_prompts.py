"""The conversations with a model. How to answer is in the message, so that another system prompt can't lose it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from plait.agents.model_jobs import job_prompts__words, job_spec__files as of
from plait.agents.model_jobs.context__context import JobContext
from plait.agents.plain_text import to_plain_text
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob, ModelJobMode

_PROMPT_FILE = re.compile(r"_system_?prompt_([a-z_]+)\.md", re.IGNORECASE)
_MAX_OUTPUT_CHARS = 8000  # characters of what a command printed
_PROMPT_BY_MODE = {
    ModelJobMode.REPLACE: "create",
    ModelJobMode.EDIT: "edit",
    ModelJobMode.SPLIT: "split",
    ModelJobMode.REPLACE_PATTERN: "replace_pattern",
    ModelJobMode.UPDATE_FIXTURES: "update_fixtures",
}


class ChatRole(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: ChatRole
    text: str


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """What a job's prompts are made of. `texts` are its targets and outputs that are there, `done` the files written so
    far in this job (the tests among them), `only` the one that is asked for now.
    """

    job: ModelJob
    instructions: str
    context: JobContext = JobContext()
    texts: Mapping[str, str] | None = None
    done: Mapping[str, str] | None = None
    only: str | None = None


def parse_prompt_name(file: str) -> str | None:
    """`_systemprompt_create.md` is the system prompt `create`; None: this file is none."""
    found = _PROMPT_FILE.fullmatch(file)
    name = found[1].lower() if found else ""
    return name if name in job_prompts__words.SYSTEM_PROMPTS else None


def build_writing_prompt(
    inputs: PromptInputs, systems: Mapping[str, str] | None = None
) -> tuple[ChatMessage, ...]:
    """By the job's mode; for `only` one of its files, or its tests, just that one. `systems`: texts by `prompt_name`."""
    job, tests = inputs.job, inputs.only is not None and inputs.only == inputs.job.tests
    parts = [*_file_sections(inputs), *_written_sections(inputs, tests=tests), *_task_section(inputs)]
    if tests:
        parts.append(
            job_prompts__words.TESTS_TASK.format(path=job.tests, outputs=_list_paths(of.writable_paths(job)))
        )
        parts.append(_files_format((job.tests or "",)))
    elif of.writes_whole_files(job):
        wanted = (inputs.only,) if inputs.only else of.output_paths(job)
        parts += (
            [job_prompts__words.SPLIT_TASK.format(targets=_list_paths(job.targets))]
            if job.mode is ModelJobMode.SPLIT
            else []
        )
        parts += (
            [job_prompts__words.ONE_FILE_TASK.format(path=inputs.only, all=_list_paths(of.output_paths(job)))]
            if inputs.only
            else []
        )
        parts.append(_files_format(wanted))
    else:
        parts.append(_changes_format(job))
    return _build_messages("test" if tests else _PROMPT_BY_MODE[job.mode], systems, parts)


def build_verification_prompt(
    inputs: PromptInputs, files: Mapping[str, str], systems: Mapping[str, str] | None = None
) -> tuple[ChatMessage, ...]:
    """About the files as they would be."""
    parts = [
        *_file_sections(inputs, "## The files as they were before"),
        *_task_section(inputs),
        "## The result",
    ]
    parts += [_file_section(path, text) for path, text in files.items()]
    name = "verify" if of.writes_whole_files(inputs.job) else "verify_edit"
    return _build_messages(name, systems, [*parts, job_prompts__words.VERDICT_FORMAT])


def build_repair_prompt(
    inputs: PromptInputs,
    files: Mapping[str, str],
    command: str,
    output: str,
    systems: Mapping[str, str] | None = None,
) -> tuple[ChatMessage, ...]:
    """After a build, test or lint command failed; the answer is for `understand_repair`."""
    said = "\n".join(map(to_plain_text, output[-_MAX_OUTPUT_CHARS:].split("\n")))
    own = {path: text for path, text in files.items() if path != inputs.job.tests}
    parts = [*_task_section(inputs), *_tests_section(inputs.job, files), "## The files as they are now"]
    parts += [_file_section(path, text) for path, text in own.items()]
    parts += [
        f"## `{to_plain_text(command)}` failed",
        _fence(said),
        job_prompts__words.REPAIR_TASK,
        job_prompts__words.EDITS_FORMAT,
    ]
    return _build_messages(
        "fix", systems, [*parts, job_prompts__words.ALLOWED_FILES.format(targets=_list_paths(tuple(own)))]
    )


def build_retry_prompt(before: Sequence[ChatMessage], said: str, feedback: str) -> tuple[ChatMessage, ...]:
    """The same conversation with the answer, and what is wrong with it."""
    wrong = job_prompts__words.RETRY_REQUEST.format(feedback=feedback.strip() or "It could not be used.")
    return (*before, ChatMessage(ChatRole.ASSISTANT, said or "(nothing)"), ChatMessage(ChatRole.USER, wrong))


def _build_messages(
    name: str, systems: Mapping[str, str] | None, parts: Sequence[str]
) -> tuple[ChatMessage, ...]:
    system = (systems or {}).get(name, "").strip() or job_prompts__words.SYSTEM_PROMPTS[name]
    return ChatMessage(ChatRole.SYSTEM, system), ChatMessage(ChatRole.USER, "\n\n".join(parts) + "\n")


def _task_section(inputs: PromptInputs) -> list[str]:
    return ["## What is to be done", inputs.instructions.strip()]


def _file_sections(inputs: PromptInputs, heading: str = "## The files as they are now") -> Iterator[str]:
    """Context, and the files that the job is about as they were when it began."""
    if inputs.context.files:
        yield "## Files to know of (not to be changed)"
        yield from (_file_section(each.path, each.text, each.left_out) for each in inputs.context.files)
    own = {path: text for path, text in (inputs.texts or {}).items() if path not in (inputs.done or {})}
    if own:
        yield heading
        yield from (_file_section(path, text) for path, text in own.items())


def _written_sections(inputs: PromptInputs, *, tests: bool) -> Iterator[str]:
    done = {} if tests else inputs.done or {}
    yield from _tests_section(inputs.job, done)
    rest = {path: text for path, text in done.items() if path != inputs.job.tests}
    if rest:
        yield "## Files of this job that are written already"
        yield from (_file_section(path, text) for path, text in rest.items())


def _tests_section(job: ModelJob, done: Mapping[str, str]) -> Iterator[str]:
    if job.tests is not None and job.tests in done:
        yield f"## The tests that must pass (not to be changed)\n\n{_file_section(job.tests, done[job.tests])}"


def _files_format(wanted: Sequence[str]) -> str:
    return job_prompts__words.FILES_FORMAT.format(files=_list_paths(wanted), example=wanted[0])


def _changes_format(job: ModelJob) -> str:
    allowed = job_prompts__words.ALLOWED_FILES.format(targets=_list_paths(of.target_paths(job)))
    if job.mode is ModelJobMode.EDIT:
        return f"{job_prompts__words.EDITS_FORMAT}\n\n{allowed}"
    if job.mode is ModelJobMode.REPLACE_PATTERN:
        return f"{job_prompts__words.INSERTIONS_FORMAT}\n\n{allowed}"
    about = job_prompts__words.FIXTURES_TASK.format(struct=job.struct_name, field=job.new_field)
    return f"{about}\n\n{job_prompts__words.EDITS_FORMAT}\n\n{allowed}"


def _list_paths(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _file_section(path: str, text: str, left_out: int = 0) -> str:
    more = f"\n(its last {left_out} lines are not shown)" if left_out else ""
    return f"### {path}\n\n{_fence(text)}{more}"


def _fence(text: str) -> str:
    """In a fence that nothing in the text closes."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text.rstrip(chr(10))}\n{fence}"
