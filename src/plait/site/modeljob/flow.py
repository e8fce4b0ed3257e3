"""The whole of a job: written, checked, judged. What does not pass is undone; one answer may be asked for again."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from plait.agents.jobs.answer import Answer, understand_repair
from plait.agents.jobs.files import targets, whole, writable
from plait.agents.jobs.flaw import Flaw, told
from plait.agents.jobs.prompts import Ask, Message, again, repair, verification
from plait.agents.jobs.verdict import Ruling, Verdict, verdict
from plait.agents.model import Doing
from plait.agents.tools.model_spec import ModelSettings, ModelSpec
from plait.core.frozen import dataclass
from plait.core.status import Category
from plait.site.modeljob import material
from plait.site.modeljob.checks import Checks, Failed
from plait.site.modeljob.failure import JobError
from plait.site.modeljob.place import here
from plait.site.modeljob.preflight import preflight
from plait.site.modeljob.server import Reply, Server
from plait.site.modeljob.telling import Output, Result, Telling
from plait.site.modeljob.writing import FreeWork, JobWork, Work, as_job
from plait.site.staging import ChangedError, Staging, StagingError

_SLACK = 200  # lines around files: what a model says of them
_VERDICT = 400  # lines that one may have


@dataclass(frozen=True, slots=True)
class _Talk:
    """What was asked last, and answered."""

    messages: tuple[Message, ...]
    said: str


def run(spec: ModelSpec, instructions: str, telling: Telling, result: Result) -> None:
    """Raises JobError, and nothing is kept. `result` is filled in as it goes."""
    settings = spec.settings
    telling.phase("preflight")
    server = Server(settings, _key(settings), telling)
    preflight(settings, spec.model, telling)
    with Staging(Path(spec.workspace)) as staging:
        result.warnings += [f"{path} was changed by somebody else, and stays" for path in staging.left]
        work, prompts = _work(spec, instructions, staging, result)
        _Flow(spec, work, prompts, staging, server, telling, result).run()
        staging.keep()


def _key(settings: ModelSettings) -> str:
    """Servers of this machine mostly want none, whatever is set."""
    found = os.environ.get(settings.key or "", "")
    if settings.key and not found and not here(settings.base_url):
        raise JobError(f"{settings.key}, which [model] key names, is not set", Category.AUTH)
    return found


def _work(
    spec: ModelSpec, instructions: str, staging: Staging, result: Result
) -> tuple[Work, dict[str, str]]:
    job = spec.job or as_job(spec.touches)
    paths = writable(job) if spec.job is not None else spec.touches
    own = material.texts(staging, dict.fromkeys((*paths, *((job.tests,) if job.tests else ()))))
    if spec.job is not None and not whole(job) and not any(path in own for path in targets(job)):
        raise JobError(f"{', '.join(targets(job))}: to be changed, and not there", Category.USAGE)
    context = material.context(spec, job, instructions, staging, own)
    result.implicit_context = [*context.implicit]
    result.warnings += context.left_out
    ask, prompts = Ask(job, instructions, context, own), material.systems(spec, staging)
    if spec.job is None:
        return FreeWork(ask, spec.touches, spec.settings.output_lines), prompts
    return JobWork(ask, prompts, spec.settings.output_lines), prompts


class _Flow:
    def __init__(  # noqa: PLR0913, PLR0917 - each is a thing of its own
        self,
        spec: ModelSpec,
        work: Work,
        systems: dict[str, str],
        staging: Staging,
        server: Server,
        telling: Telling,
        result: Result,
    ) -> None:
        self._spec = spec
        self._work = work
        self._systems = systems
        self._staging = staging
        self._server = server
        self._telling = telling
        self._result = result
        settings = spec.settings
        self._checks = Checks(settings.checks, Path(spec.workspace), settings.key, telling)
        self._files: dict[str, str] = {}
        self._talk: _Talk | None = None

    def run(self) -> None:
        self._write()
        while True:
            self._pass_checks()
            judged = self._judge()
            if judged is None or judged.passed:
                break
            why = f"judged {judged.ruling}: {judged.reasons or 'no reasons were given'}"
            if judged.ruling is Ruling.FAIL_HARD:  # another answer would not help
                raise JobError(why, Category.VERIFY)
            self._take_retry(why)
            self._rewrite(judged.reasons)
        self._result.outputs = [Output(path, len(text.splitlines())) for path, text in self._files.items()]

    def _write(self, feedback: str = "") -> None:
        """All turns, from the beginning."""
        for turn in self._work.turns:
            self._telling.phase(f"writing {turn}" if turn else "writing")
            self._turn(turn, self._work.prompt(turn, self._files, feedback))

    def _rewrite(self, reasons: str) -> None:
        """One answer is put right in its own conversation; several are begun anew."""
        talk = self._talk
        self._staging.undo()
        self._files = {}
        self._telling.phase("writing again")
        if talk is None or len(self._work.turns) > 1:
            self._write(reasons)
        else:
            self._turn(self._work.turns[0], again(talk.messages, talk.said, reasons))

    def _turn(self, turn: str | None, messages: tuple[Message, ...]) -> None:
        while True:
            reply = self._ask(messages, self._spec.model, self._most(turn))
            answer = self._applied(self._work.answer(turn, reply, self._staging))
            self._talk = _Talk(messages, reply.text)
            if not answer.flaws:
                return
            listed = told(answer.flaws)
            self._take_retry(f"the answer can't be taken: {listed}", Category.TASK)
            messages = again(messages, reply.text, listed)

    def _applied(self, answer: Answer) -> Answer:
        """It is in the workspace, or why not."""
        if answer.flaws:
            return answer
        if not answer.files:
            return Answer({}, (Flaw("it names no file"),))
        try:
            self._staging.apply(answer.files)
        except ChangedError as error:  # another answer to the same question would not fit either
            raise JobError(f"nothing was written: {error.message}") from error
        except StagingError as error:
            return Answer({}, (Flaw(error.message),))
        self._files.update(answer.files)
        self._result.warnings += answer.notes
        for path in answer.files:
            self._telling.activity(path, Doing.EDITS)
        return answer

    def _pass_checks(self) -> None:
        """Raises JobError when the model can't put it right in its rounds."""
        if self._spec.settings.checks:
            self._telling.phase("checks")
        while (failed := self._checked()) is not None:
            if self._result.fixes >= self._spec.settings.fixes:
                raise JobError(str(failed), Category.VERIFY)
            self._result.fixes += 1
            self._telling.phase(f"repair {self._result.fixes}")
            self._repair(failed)

    def _checked(self) -> Failed | None:
        """They may have put the files into another form: that is what is repaired, and judged."""
        failed = self._checks.run()
        for path in self._files:
            with suppress(StagingError):
                self._files[path] = self._staging.read(path) or self._files[path]
        return failed

    def _repair(self, failed: Failed) -> None:
        """One round. An answer that can't be taken is one too."""
        messages = repair(self._about, self._files, failed.command, failed.output, self._systems)
        reply = self._ask(messages, self._spec.model, self._most(None))
        most = self._spec.settings.output_lines
        answer = understand_repair(self._about.job, reply.text, self._files, cut=reply.cut, most=most)
        for flaw in self._applied(answer).flaws:
            self._telling.activity(f"the repair can't be taken: {flaw}", Doing.FAILS)

    def _judge(self) -> Verdict | None:
        settings, job = self._spec.settings, self._work.ask.job
        if not (settings.verify_replies and job.verify):
            return None
        self._telling.phase("verification")
        messages = verification(self._about, self._files, self._systems)
        reply = self._ask(messages, settings.verify_model or self._spec.model, _VERDICT)
        found = verdict(reply.text)
        self._result.verdict = found.ruling.value
        self._telling.activity(f"{found.ruling.value} {found.reasons}")
        if found.ruling is Ruling.PASS_WITH_WARNINGS and found.reasons:
            self._result.warnings.append(found.reasons)
        return found

    @property
    def _about(self) -> Ask:
        """A task that is no job is about what it wrote."""
        ask = self._work.ask
        return ask if self._spec.job is not None else replace(ask, job=as_job(tuple(self._files)))

    def _take_retry(self, why: str, category: Category = Category.VERIFY) -> None:
        """Once."""
        if self._result.retry_used:
            raise JobError(why, category)
        self._result.retry_used = True
        self._telling.activity(why, Doing.FAILS)

    def _ask(self, messages: tuple[Message, ...], model: str, lines: int) -> Reply:
        self._telling.keep("prompt", "\n\n".join(f"# {each.role.value}\n\n{each.text}" for each in messages))
        reply = self._server.reply(messages, model, lines=lines)
        self._telling.keep("answer", reply.text)
        return reply

    def _most(self, turn: str | None) -> int:
        return self._spec.settings.output_lines * self._work.size(turn) + _SLACK
