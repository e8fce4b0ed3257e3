"""A model job from start to end: read its files and context, write, check, review.

A model writes in turns: one file at a time if the job says so. A result that doesn't pass is undone. One answer per
attempt may be requested again.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from plait.agents.interface import ActivityKind
from plait.agents.model_jobs import answer as answers, job_prompts, job_spec
from plait.agents.model_jobs.answer import JobAnswer, ReviewVerdict, Ruling, parse_verdict
from plait.agents.model_jobs.context import ContextLimits, JobContext, gather_context, guess_context_files
from plait.agents.model_jobs.edit_blocks import AnswerError, format_errors
from plait.agents.model_jobs.job_prompts import ChatMessage, ChatRole, PromptInputs
from plait.agents.model_jobs.job_spec import ModelJobSpec
from plait.agents.prompts import build_reply_instructions, format_files
from plait.config.agent_keys import ModelConfig
from plait.core.errors import WorldError
from plait.core.status import Category
from plait.core.task import VERIFICATION_PHASE, ModelJob, ModelJobMode
from plait.git.command import Git
from plait.runtime.agent_process import JobError
from plait.runtime.atomic_apply import StagedWrites
from plait.runtime.model_job.chat_client import ChatClient, ChatReply
from plait.runtime.model_job.checks import CheckFailure, CheckRunner
from plait.runtime.model_job.job_output import JobOutput, JobReporter, JobResult
from plait.runtime.model_job.ollama import check_server, is_local
from plait.runtime.workspace_files import FileChangedError, StagingError

_TASK_SYSTEM_PROMPT = (
    "You change files of a repository, as the task asks. You have no tools: you answer with the files."
)
_DEFAULT_MAX_FILES = 8  # assumed number of files of a task that names none, which limits the length of its answer
_MAX_PROMPT_BYTES = 64 << 10  # bytes of a system prompt
_EXTRA_LINES = 200  # lines that a model may write around the files
_MAX_VERDICT_LINES = 400  # lines of one answer


def run_job(spec: ModelJobSpec, instructions: str, reporter: JobReporter, result: JobResult) -> None:
    """Run a job. Raises JobError after undoing all changes. `result` is filled in along the way."""
    settings = spec.settings
    reporter.report_phase("preflight")
    server = ChatClient(settings, _find_api_key(settings), reporter)
    check_server(settings, spec.model, reporter)
    with StagedWrites(Path(spec.workspace)) as staging:
        result.warnings += [f"{path} was changed by another process and is kept" for path in staging.changed_since]
        inputs = _gather_inputs(spec, instructions, staging, _list_tracked(spec), result)
        inputs = replace(inputs, systems=_read_system_prompts(spec, staging))
        _JobRunner(spec, inputs, staging, server, reporter, result).run()
        staging.keep()


def _find_api_key(settings: ModelConfig) -> str:
    """Find the API key. A missing key is no error for a server on this machine, which usually needs none."""
    key = os.environ.get(settings.key or "", "")
    if settings.key and not key and not is_local(settings.base_url):
        raise JobError(f"{settings.key}, which [model] key names, is not set", Category.AUTH)
    return key


class TextReader(Protocol):
    """The files of a workspace, or of the commit that one starts from."""

    def read(self, path: str) -> str | None:
        """Read a file; None if there is no such file. Raises StagingError if it may not be read or is no text."""

    def read_or_none(self, path: str) -> str | None: ...


def build_first_prompt(
    spec: ModelJobSpec, files: TextReader, tracked: frozenset[str], systems: Mapping[str, str]
) -> tuple[tuple[ChatMessage, ...], int]:
    """Build the first prompt that the model of a first attempt would get, and count all prompts. Raises JobError."""
    inputs = _gather_inputs(spec, job_prompts.build_instructions(spec), files, tracked, JobResult(spec.task))
    turns = _list_turns(inputs.job)
    return _build_turn_prompt(spec, replace(inputs, systems=systems, only=turns[0])), len(turns)


def _gather_inputs(
    spec: ModelJobSpec, instructions: str, staging: TextReader, tracked: frozenset[str], result: JobResult
) -> PromptInputs:
    job = spec.job or _make_job(spec.touches)
    paths = job_spec.writable_paths(job) if spec.job is not None else spec.touches
    own = _read_texts(staging, dict.fromkeys((*paths, *((job.tests,) if job.tests else ()))))
    targets = job_spec.target_paths(job)
    if spec.job is not None and not job_spec.writes_whole_files(job) and not any(path in own for path in targets):
        raise JobError(f"{', '.join(targets)}: the task changes this, but there is no such file", Category.USAGE)
    context = _build_context(spec, job, PromptInputs(job, instructions, texts=own), staging, tracked)
    result.implicit_context = [*context.implicit]
    result.warnings += context.left_out
    return PromptInputs(job, instructions, context, own)


def _make_job(touches: tuple[str, ...]) -> ModelJob:
    """Turn an ordinary task's files into a job, which reviewing and repairing need."""
    return ModelJob(touches[0] if touches else "", ModelJobMode.EDIT, outputs=touches, targets=touches)


def _read_texts(staging: TextReader, paths: Iterable[str]) -> dict[str, str]:
    """Read the texts of the existing files. Raises JobError for a path that a job may not name."""
    try:
        texts = {path: staging.read(path) for path in paths}
    except StagingError as error:
        raise JobError(f"{error.message}; a job can't use it", Category.USAGE) from error
    return {path: text for path, text in texts.items() if text is not None}


def _list_tracked(spec: ModelJobSpec) -> frozenset[str]:
    try:
        return frozenset(Git(Path(spec.workspace)).run("ls-files", "-z").fields)
    except WorldError:  # it works without git, too
        return frozenset()


def _build_context(
    spec: ModelJobSpec, job: ModelJob, own: PromptInputs, staging: TextReader, tracked: frozenset[str]
) -> JobContext:
    """Gather the files that the job names and other useful ones; not those it changes, which are shown as such."""
    limits = ContextLimits(spec.settings.context_lines, spec.settings.context_tokens)
    changed = {*job_spec.writable_paths(job), job.tests}
    given = {path: staging.read_or_none(path) for path in job.context if posixpath.normpath(path) not in changed}
    helpful = guess_context_files(job, own.instructions, own.texts, tracked - {spec.source})
    return gather_context(given, {path: staging.read_or_none(path) for path in helpful}, limits)


def _read_system_prompts(spec: ModelJobSpec, staging: StagedWrites) -> dict[str, str]:
    """Read the system prompts of the repository, by name: those of the configured folder, else those beside the jobs."""
    folder = job_prompts.find_prompts_folder(spec)
    prompts: dict[str, str] = {}
    with suppress(OSError):  # there is no such folder
        for file in sorted(Path(spec.workspace, folder).iterdir()):
            name = job_prompts.parse_prompt_name(file.name)
            text = _read_prompt(spec, staging, file) if name is not None else None
            if name is not None and text is not None:
                prompts[name] = text
    return prompts


def _read_prompt(spec: ModelJobSpec, staging: StagedWrites, file: Path) -> str | None:
    """Read a prompt. No link in the workspace is followed: its target would be sent to a server."""
    if file.is_relative_to(spec.workspace):
        return staging.read_or_none(file.relative_to(spec.workspace).as_posix())
    try:
        return file.read_bytes()[:_MAX_PROMPT_BYTES].decode("utf-8", "replace")
    except OSError:
        return None


class _JobRunner:
    """Does one job. Without a job in its spec, it does an ordinary task: in one turn, by whole files or edits."""

    def __init__(  # noqa: PLR0913, PLR0917 - each is a thing of its own
        self,
        spec: ModelJobSpec,
        inputs: PromptInputs,
        staging: StagedWrites,
        server: ChatClient,
        reporter: JobReporter,
        result: JobResult,
    ) -> None:
        self._spec = spec
        self._inputs = inputs
        self._staging = staging
        self._server = server
        self._reporter = reporter
        self._result = result
        settings = spec.settings
        self._checks = CheckRunner(settings.checks, Path(spec.workspace), settings.key, reporter)
        self._files: dict[str, str] = {}
        self._last_prompt: tuple[ChatMessage, ...] = ()
        self._last_answer = ""

    def run(self) -> None:
        self._write()
        while True:
            self._pass_checks()
            judged = self._judge()
            if judged is None or judged.passed:
                break
            why = f"judged {judged.ruling}: {judged.reasons or 'no reasons were given'}"
            if judged.ruling is Ruling.FAIL_HARD:  # another answer wouldn't help
                raise JobError(why, Category.VERIFY)
            self._take_retry(why)
            self._rewrite(judged.reasons)
        written = [JobOutput(path, len(text.splitlines())) for path, text in self._files.items()]
        tests = self._inputs.job.tests
        self._result.outputs = [output for output in written if output.path != tests]
        self._result.tests = [output for output in written if output.path == tests]

    def _write(self, feedback: str = "") -> None:
        """Do all turns from the beginning."""
        for turn in _list_turns(self._inputs.job):
            self._reporter.report_phase(f"writing {turn}" if turn else "writing")
            self._run_turn(turn, self._build_prompt(turn, feedback))

    def _rewrite(self, reasons: str) -> None:
        """Write again. A single answer is corrected in its conversation; several are written from the beginning."""
        self._staging.undo()
        self._files = {}
        self._reporter.report_phase("writing again")
        turns = _list_turns(self._inputs.job)
        if len(turns) > 1:
            self._write(reasons)
        else:
            self._run_turn(turns[0], job_prompts.build_retry_prompt(self._last_prompt, self._last_answer, reasons))

    def _run_turn(self, turn: str | None, messages: tuple[ChatMessage, ...]) -> None:
        while True:
            reply = self._ask(messages, self._spec.model, self._max_lines(turn))
            answer = self._apply(answers.CUT_OFF_ANSWER if reply.cut else self._parse_answer(turn, reply.text))
            self._last_prompt, self._last_answer = messages, reply.text
            if not answer.errors:
                return
            listed = format_errors(answer.errors)
            self._take_retry(f"the answer can't be taken: {listed}", Category.TASK)
            messages = job_prompts.build_retry_prompt(messages, reply.text, listed)

    def _build_prompt(self, turn: str | None, feedback: str) -> tuple[ChatMessage, ...]:
        inputs = self._inputs
        if feedback:
            instructions = f"{inputs.instructions}\n\n## What was wrong with an earlier answer\n\n{feedback}"
            inputs = replace(inputs, instructions=instructions)
        return _build_turn_prompt(self._spec, replace(inputs, done=self._files, only=turn))

    def _parse_answer(self, turn: str | None, text: str) -> JobAnswer:
        max_lines = self._spec.settings.output_lines
        if self._spec.job is not None:
            return answers.parse_answer(self._spec.job, text, self._inputs.texts, only=turn, max_lines=max_lines)
        allowed = self._spec.touches or None
        return answers.parse_reply_files(text, self._staging.read_or_none, allowed=allowed, max_lines=max_lines)

    def _max_lines(self, turn: str | None) -> int:
        """Return the maximum number of lines of an answer, by how many files it has at most."""
        if self._spec.job is None:
            files = len(self._spec.touches) or _DEFAULT_MAX_FILES
        elif turn is None:
            files = max(1, len(job_spec.output_paths(self._spec.job)), len(self._spec.job.targets))
        else:
            files = 1
        return self._spec.settings.output_lines * files + _EXTRA_LINES

    def _apply(self, answer: JobAnswer) -> JobAnswer:
        """Write the answer to the workspace; the returned answer has the errors if it can't be written."""
        if answer.errors:
            return answer
        if not answer.files:
            return JobAnswer({}, (AnswerError("it names no file"),))
        try:
            self._staging.apply(answer.files)
        except FileChangedError as error:  # another answer to the same question would not fit either
            raise JobError(f"nothing was written: {error.message}") from error
        except StagingError as error:
            return JobAnswer({}, (AnswerError(error.message),))
        self._files.update(answer.files)
        self._result.warnings += answer.notes
        for path in answer.files:
            self._reporter.report_activity(path, ActivityKind.EDITS)
        return answer

    def _pass_checks(self) -> None:
        """Run the checks, and let the model repair what fails. Raises JobError if it can't within its rounds."""
        if self._spec.settings.checks:
            self._reporter.report_phase("checks")
        while (failed := self._run_checks()) is not None:
            if self._result.fixes >= self._spec.settings.fixes:
                raise JobError(str(failed), Category.VERIFY)
            self._result.fixes += 1
            self._reporter.report_phase(f"repair {self._result.fixes}")
            self._repair(failed)

    def _run_checks(self) -> CheckFailure | None:
        """Run the checks, which may reformat files: the reformatted files are repaired and reviewed."""
        failed = self._checks.run()
        for path in self._files:
            with suppress(StagingError):
                self._files[path] = self._staging.read(path) or self._files[path]
        return failed

    def _repair(self, failed: CheckFailure) -> None:
        """Do one round of repair. An unusable answer counts as a round."""
        inputs = self._result_inputs
        messages = job_prompts.build_repair_prompt(inputs, self._files, failed.command, failed.output)
        reply = self._ask(messages, self._spec.model, self._max_lines(None))
        answer = answers.CUT_OFF_ANSWER
        if not reply.cut:
            max_lines = self._spec.settings.output_lines
            answer = answers.parse_repair(inputs.job, reply.text, self._files, max_lines=max_lines)
        for flaw in self._apply(answer).errors:
            self._reporter.report_activity(f"the repair can't be taken: {flaw}", ActivityKind.FAILS)

    def _judge(self) -> ReviewVerdict | None:
        settings = self._spec.settings
        if not (settings.verify_replies and self._inputs.job.verify):
            return None
        self._reporter.report_phase(VERIFICATION_PHASE)
        messages = job_prompts.build_verification_prompt(self._result_inputs, self._files)
        reply = self._ask(messages, settings.verify_model or self._spec.model, _MAX_VERDICT_LINES)
        verdict = parse_verdict(reply.text)
        self._result.verdict = verdict.ruling.value
        self._reporter.report_activity(f"{verdict.ruling.value} {verdict.reasons}")
        if verdict.ruling is Ruling.PASS_WITH_WARNINGS and verdict.reasons:
            self._result.warnings.append(verdict.reasons)
        return verdict

    @property
    def _result_inputs(self) -> PromptInputs:
        """Return the inputs for the files to review: for a task that isn't a job, those it wrote."""
        return self._inputs if self._spec.job is not None else replace(self._inputs, job=_make_job(tuple(self._files)))

    def _take_retry(self, why: str, category: Category = Category.VERIFY) -> None:
        """Use the one retry of this attempt; raises JobError if it was used already."""
        if self._result.retry_used:
            raise JobError(why, category)
        self._result.retry_used = True
        self._reporter.report_activity(why, ActivityKind.FAILS)

    def _ask(self, messages: tuple[ChatMessage, ...], model: str, lines: int) -> ChatReply:
        self._reporter.save_text("prompt", job_prompts.format_messages(messages))
        reply = self._server.complete(messages, model, lines=lines)
        self._reporter.save_text("answer", reply.text)
        return reply


def _list_turns(job: ModelJob) -> tuple[str | None, ...]:
    """List the turns: one file per turn, or None for all remaining files."""
    first = (job.tests,) if job.tests else ()
    one_by_one = job.sequential and job_spec.writes_whole_files(job)
    return (*first, *job_spec.output_paths(job)) if one_by_one else (*first, None)


def _build_turn_prompt(spec: ModelJobSpec, inputs: PromptInputs) -> tuple[ChatMessage, ...]:
    if spec.job is not None:
        return job_prompts.build_writing_prompt(inputs)
    parts = [inputs.instructions, *_format_context_files(inputs), build_reply_instructions(spec.touches)]
    return (
        ChatMessage(ChatRole.SYSTEM, _TASK_SYSTEM_PROMPT),
        ChatMessage(ChatRole.USER, "\n\n".join(parts) + "\n"),
    )


def _format_context_files(inputs: PromptInputs) -> list[str]:
    texts = {**{piece.path: piece.text for piece in inputs.context.files}, **inputs.texts}
    if not texts:
        return []
    omitted = "".join(f"\n- {sentence}" for sentence in inputs.context.left_out)
    return ["## Files as they are", format_files(texts.items()), *([f"Not shown:{omitted}"] if omitted else [])]
