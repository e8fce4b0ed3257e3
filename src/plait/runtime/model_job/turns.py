"""The turns of a job: what a model is asked to write, one file at a time if the job says so, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from plait.agents.model_jobs.answer import JobAnswer, parse_answer, parse_reply_files
from plait.agents.model_jobs.context import JobContext
from plait.agents.model_jobs.job_prompts import ChatMessage, ChatRole, PromptInputs, build_writing_prompt
from plait.agents.model_jobs.job_spec import output_paths, writes_whole_files
from plait.agents.prompts import build_reply_instructions, format_files
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob, ModelJobMode
from plait.runtime.atomic_apply import StagedWrites
from plait.runtime.model_job.chat_client import ChatReply

_SYSTEM = "You change files of a repository, as the task asks. You have no tools: you answer with the files."
_DEFAULT_MAX_FILES = 8  # assumed number of files of a task that names none, which limits the length of its answer


@dataclass(frozen=True, slots=True)
class JobTurns:
    """The turns of a model job. `inputs` are also what reviewing and repairing need."""

    inputs: PromptInputs
    systems: Mapping[str, str]
    max_lines: int

    @property
    def turns(self) -> tuple[str | None, ...]:
        """One file per turn, or None: all remaining files."""
        job = self.inputs.job
        first = (job.tests,) if job.tests else ()
        return (*first, *output_paths(job)) if job.sequential and writes_whole_files(job) else (*first, None)

    def max_files(self, turn: str | None) -> int:
        """How many files the answer has, at most."""
        return 1 if turn is not None else max(1, len(output_paths(self.inputs.job)), len(self.inputs.job.targets))

    def build_prompt(self, turn: str | None, done: Mapping[str, str], feedback: str) -> tuple[ChatMessage, ...]:
        return build_writing_prompt(replace(_with_feedback(self.inputs, feedback), done=done, only=turn), self.systems)

    def parse_answer(self, turn: str | None, reply: ChatReply, staging: StagedWrites) -> JobAnswer:  # noqa: ARG002 - of other work
        texts = self.inputs.texts or {}
        return parse_answer(self.inputs.job, reply.text, texts, only=turn, cut=reply.cut, max_lines=self.max_lines)


@dataclass(frozen=True, slots=True)
class TaskTurns:
    """The one turn of an ordinary task: whole files or edits. `touches` are the files it may write; none: any."""

    inputs: PromptInputs
    touches: tuple[str, ...]
    max_lines: int

    turns: ClassVar[tuple[str | None, ...]] = (None,)

    def max_files(self, turn: str | None) -> int:  # noqa: ARG002 - there is but one
        return len(self.touches) or _DEFAULT_MAX_FILES

    def build_prompt(self, turn: str | None, done: Mapping[str, str], feedback: str) -> tuple[ChatMessage, ...]:  # noqa: ARG002
        parts = [
            _with_feedback(self.inputs, feedback).instructions,
            *_format_context_files(self.inputs.context, self.inputs.texts or {}),
        ]
        return (
            ChatMessage(ChatRole.SYSTEM, _SYSTEM),
            ChatMessage(ChatRole.USER, "\n\n".join([*parts, build_reply_instructions(self.touches)]) + "\n"),
        )

    def parse_answer(self, turn: str | None, reply: ChatReply, staging: StagedWrites) -> JobAnswer:  # noqa: ARG002
        allowed = self.touches or None
        return parse_reply_files(
            reply.text, staging.read_or_none, cut=reply.cut, allowed=allowed, max_lines=self.max_lines
        )


Turns = JobTurns | TaskTurns


def make_job(touches: tuple[str, ...]) -> ModelJob:
    """A task's files as a job, which reviewing and repairing need."""
    return ModelJob(touches[0] if touches else "", ModelJobMode.EDIT, outputs=touches, targets=touches)


def _with_feedback(inputs: PromptInputs, feedback: str) -> PromptInputs:
    if not feedback:
        return inputs
    instructions = f"{inputs.instructions}\n\n## What was wrong with an earlier answer\n\n{feedback}"
    return replace(inputs, instructions=instructions)


def _format_context_files(context: JobContext, texts: Mapping[str, str]) -> list[str]:
    seen = {**{piece.path: piece.text for piece in context.files}, **texts}
    if not seen:
        return []
    left = "".join(f"\n- {sentence}" for sentence in context.left_out)
    return ["## Files as they are", format_files(seen.items()), *([f"Not shown:{left}"] if left else [])]
