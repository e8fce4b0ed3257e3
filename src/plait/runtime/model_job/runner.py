"""A model job from start to end: read its files and context, write, check, review.

A result that doesn't pass is undone. One answer per attempt may be requested again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from plait.agents.interface import ActivityKind
from plait.agents.model_jobs.answer import JobAnswer, parse_repair
from plait.agents.model_jobs.context import ContextLimits, JobContext, gather_context, guess_context_files
from plait.agents.model_jobs.edit_blocks import AnswerError, format_errors
from plait.agents.model_jobs.job_prompts import (
    ChatMessage,
    PromptInputs,
    build_repair_prompt,
    build_retry_prompt,
    build_verification_prompt,
    parse_prompt_name,
)
from plait.agents.model_jobs.job_spec import (
    ModelJobSpec,
    target_paths,
    writable_paths,
    writes_whole_files,
)
from plait.agents.model_jobs.review_verdict import ReviewVerdict, Ruling, parse_verdict
from plait.config.agent_keys import ModelConfig
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.status import Category
from plait.core.task import ModelJob
from plait.git.command import Git
from plait.runtime.agent_process import JobError
from plait.runtime.atomic_apply import StagedWrites
from plait.runtime.model_job.chat_client import ChatClient, ChatReply
from plait.runtime.model_job.checks import CheckFailure, CheckRunner
from plait.runtime.model_job.job_output import JobOutput, JobReporter, JobResult
from plait.runtime.model_job.ollama import check_server, is_local
from plait.runtime.model_job.turns import JobTurns, TaskTurns, Turns, make_job
from plait.runtime.workspace_files import FileChangedError, StagingError

_MAX_PROMPT_BYTES = 64 << 10  # bytes of a system prompt


def read_texts(staging: StagedWrites, paths: Iterable[str]) -> dict[str, str]:
    """The texts of the existing files. Raises JobError for a path that a job may not name."""
    found: dict[str, str] = {}
    for path in paths:
        try:
            text = staging.read(path)
        except StagingError as error:
            raise JobError(f"{error.message}; so no job can be about it", Category.USAGE) from error
        if text is not None:
            found[path] = text
    return found


def build_context(
    spec: ModelJobSpec, job: ModelJob, instructions: str, staging: StagedWrites, own: Mapping[str, str]
) -> JobContext:
    """The files that the job names and other useful ones. `own` are the job's files, which are shown anyway."""
    limits = ContextLimits(spec.settings.context_lines, spec.settings.context_tokens)
    given = {path: staging.read_or_none(path) for path in job.context}
    helpful = guess_context_files(job, instructions, own, _list_tracked_files(Path(spec.workspace)) - {spec.source})
    return gather_context(given, {path: staging.read_or_none(path) for path in helpful}, limits)


def read_system_prompts(spec: ModelJobSpec, staging: StagedWrites) -> dict[str, str]:
    """The system prompts of the repository, by name: those of the folder that is set, else those beside the jobs."""
    asked = spec.settings.prompts
    folder = asked if asked is not None else str(PurePosixPath(spec.source).parent)
    found: dict[str, str] = {}
    for file in sorted(_prompt_files(Path(spec.workspace, folder))):
        name = parse_prompt_name(file.name)
        text = _read_prompt(spec, staging, file) if name is not None else None
        if name is not None and text is not None:
            found[name] = text
    return found


def _read_prompt(spec: ModelJobSpec, staging: StagedWrites, file: Path) -> str | None:
    """No link in the workspace is followed: its target would be sent to a server."""
    try:
        return staging.read_or_none(file.relative_to(spec.workspace).as_posix())
    except ValueError:
        pass
    try:
        return file.read_bytes()[:_MAX_PROMPT_BYTES].decode("utf-8", "replace")
    except OSError:
        return None


def _prompt_files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.name.startswith("_")]
    except OSError:
        return []


def _list_tracked_files(workspace: Path) -> frozenset[str]:
    """All files that git tracks; none without git."""
    try:
        return frozenset(Git(workspace).run("ls-files", "-z").fields)
    except WorldError:
        return frozenset()


_EXTRA_LINES = 200  # lines that a model may write around the files
_MAX_VERDICT_LINES = 400  # lines of one answer


@dataclass(frozen=True, slots=True)
class _Exchange:
    """The last prompt and its answer."""

    messages: tuple[ChatMessage, ...]
    answer: str


def run_job(spec: ModelJobSpec, instructions: str, reporter: JobReporter, result: JobResult) -> None:
    """Raises JobError after undoing all changes. `result` is filled in along the way."""
    settings = spec.settings
    reporter.report_phase("preflight")
    server = ChatClient(settings, _find_api_key(settings), reporter)
    check_server(settings, spec.model, reporter)
    with StagedWrites(Path(spec.workspace)) as staging:
        result.warnings += [f"{path} was changed by another process and is kept" for path in staging.changed_since]
        work, prompts = _prepare_turns(spec, instructions, staging, result)
        _JobRunner(spec, work, prompts, staging, server, reporter, result).run()
        staging.keep()


def _find_api_key(settings: ModelConfig) -> str:
    """A missing key is no error for a server on this machine, which usually needs none."""
    found = os.environ.get(settings.key or "", "")
    if settings.key and not found and not is_local(settings.base_url):
        raise JobError(f"{settings.key}, which [model] key names, is not set", Category.AUTH)
    return found


def _prepare_turns(
    spec: ModelJobSpec, instructions: str, staging: StagedWrites, result: JobResult
) -> tuple[Turns, dict[str, str]]:
    job = spec.job or make_job(spec.touches)
    paths = writable_paths(job) if spec.job is not None else spec.touches
    own = read_texts(staging, dict.fromkeys((*paths, *((job.tests,) if job.tests else ()))))
    if spec.job is not None and not writes_whole_files(job) and not any(path in own for path in target_paths(job)):
        raise JobError(f"{', '.join(target_paths(job))}: to be changed, and not there", Category.USAGE)
    context = build_context(spec, job, instructions, staging, own)
    result.implicit_context = [*context.implicit]
    result.warnings += context.left_out
    ask, prompts = (
        PromptInputs(job, instructions, context, own),
        read_system_prompts(spec, staging),
    )
    if spec.job is None:
        return TaskTurns(ask, spec.touches, spec.settings.output_lines), prompts
    return JobTurns(ask, prompts, spec.settings.output_lines), prompts


class _JobRunner:
    def __init__(  # noqa: PLR0913, PLR0917 - each is a thing of its own
        self,
        spec: ModelJobSpec,
        work: Turns,
        systems: dict[str, str],
        staging: StagedWrites,
        server: ChatClient,
        reporter: JobReporter,
        result: JobResult,
    ) -> None:
        self._spec = spec
        self._turns = work
        self._systems = systems
        self._staging = staging
        self._server = server
        self._reporter = reporter
        self._result = result
        settings = spec.settings
        self._checks = CheckRunner(settings.checks, Path(spec.workspace), settings.key, reporter)
        self._files: dict[str, str] = {}
        self._last_exchange: _Exchange | None = None

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
        self._result.outputs = [JobOutput(path, len(text.splitlines())) for path, text in self._files.items()]

    def _write(self, feedback: str = "") -> None:
        """Do all turns from the beginning."""
        for turn in self._turns.turns:
            self._reporter.report_phase(f"writing {turn}" if turn else "writing")
            self._run_turn(turn, self._turns.build_prompt(turn, self._files, feedback))

    def _rewrite(self, reasons: str) -> None:
        """A single answer is corrected in its conversation; several are written again from the beginning."""
        last = self._last_exchange
        self._staging.undo()
        self._files = {}
        self._reporter.report_phase("writing again")
        if last is None or len(self._turns.turns) > 1:
            self._write(reasons)
        else:
            self._run_turn(self._turns.turns[0], build_retry_prompt(last.messages, last.answer, reasons))

    def _run_turn(self, turn: str | None, messages: tuple[ChatMessage, ...]) -> None:
        while True:
            reply = self._ask(messages, self._spec.model, self._max_lines(turn))
            answer = self._apply(self._turns.parse_answer(turn, reply, self._staging))
            self._last_exchange = _Exchange(messages, reply.text)
            if not answer.errors:
                return
            listed = format_errors(answer.errors)
            self._take_retry(f"the answer can't be taken: {listed}", Category.TASK)
            messages = build_retry_prompt(messages, reply.text, listed)

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
        """Raises JobError if the model can't repair it within its rounds."""
        if self._spec.settings.checks:
            self._reporter.report_phase("checks")
        while (failed := self._run_checks()) is not None:
            if self._result.fixes >= self._spec.settings.fixes:
                raise JobError(str(failed), Category.VERIFY)
            self._result.fixes += 1
            self._reporter.report_phase(f"repair {self._result.fixes}")
            self._repair(failed)

    def _run_checks(self) -> CheckFailure | None:
        """Run the checks, which may reformat files: the reformatted files are what is repaired and reviewed."""
        failed = self._checks.run()
        for path in self._files:
            with suppress(StagingError):
                self._files[path] = self._staging.read(path) or self._files[path]
        return failed

    def _repair(self, failed: CheckFailure) -> None:
        """One round of repair. An unusable answer counts as a round."""
        messages = build_repair_prompt(self._inputs, self._files, failed.command, failed.output, self._systems)
        reply = self._ask(messages, self._spec.model, self._max_lines(None))
        most = self._spec.settings.output_lines
        answer = parse_repair(self._inputs.job, reply.text, self._files, cut=reply.cut, max_lines=most)
        for flaw in self._apply(answer).errors:
            self._reporter.report_activity(f"the repair can't be taken: {flaw}", ActivityKind.FAILS)

    def _judge(self) -> ReviewVerdict | None:
        settings, job = self._spec.settings, self._turns.inputs.job
        if not (settings.verify_replies and job.verify):
            return None
        self._reporter.report_phase("verification")
        messages = build_verification_prompt(self._inputs, self._files, self._systems)
        reply = self._ask(messages, settings.verify_model or self._spec.model, _MAX_VERDICT_LINES)
        found = parse_verdict(reply.text)
        self._result.verdict = found.ruling.value
        self._reporter.report_activity(f"{found.ruling.value} {found.reasons}")
        if found.ruling is Ruling.PASS_WITH_WARNINGS and found.reasons:
            self._result.warnings.append(found.reasons)
        return found

    @property
    def _inputs(self) -> PromptInputs:
        """The files to review: of a task that isn't a job, those it wrote."""
        ask = self._turns.inputs
        return ask if self._spec.job is not None else replace(ask, job=make_job(tuple(self._files)))

    def _take_retry(self, why: str, category: Category = Category.VERIFY) -> None:
        """Use the one retry of this attempt; raises JobError if it was used already."""
        if self._result.retry_used:
            raise JobError(why, category)
        self._result.retry_used = True
        self._reporter.report_activity(why, ActivityKind.FAILS)

    def _ask(self, messages: tuple[ChatMessage, ...], model: str, lines: int) -> ChatReply:
        self._reporter.save_text("prompt", "\n\n".join(f"# {each.role.value}\n\n{each.text}" for each in messages))
        reply = self._server.complete(messages, model, lines=lines)
        self._reporter.save_text("answer", reply.text)
        return reply

    def _max_lines(self, turn: str | None) -> int:
        return self._spec.settings.output_lines * self._turns.max_files(turn) + _EXTRA_LINES
