"""Writing: what a model is asked for, file by file where the job says so, and what its answers come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from plait.agents.jobs.answer import Answer, understand, understand_replies
from plait.agents.jobs.context import Context
from plait.agents.jobs.files import outputs, whole
from plait.agents.jobs.prompts import Ask, Message, Role, writing
from plait.agents.replies import how, shown
from plait.core.frozen import dataclass
from plait.core.task import Job, JobMode
from plait.site.modeljob.server import Reply
from plait.site.staging import Staging, StagingError

_SYSTEM = "You change files of a repository, as the task asks. You have no tools: you answer with the files."
_FREE = 8  # files that a task may write which names none, for the length of its answer


class Work(Protocol):
    """What is to be written, in turns. `ask` is what judging and repairing it needs to know."""

    @property
    def ask(self) -> Ask: ...

    @property
    def turns(self) -> tuple[str | None, ...]:
        """A file each, or None: all that is left."""

    def size(self, turn: str | None) -> int:
        """How many files the answer has, at most."""

    def prompt(self, turn: str | None, done: Mapping[str, str], feedback: str) -> tuple[Message, ...]: ...

    def answer(self, turn: str | None, reply: Reply, staging: Staging) -> Answer: ...


@dataclass(frozen=True, slots=True)
class JobWork:
    """As a job says."""

    ask: Ask
    systems: Mapping[str, str]
    most: int

    @property
    def turns(self) -> tuple[str | None, ...]:
        job = self.ask.job
        first = (job.tests,) if job.tests else ()
        return (*first, *outputs(job)) if job.sequential and whole(job) else (*first, None)

    def size(self, turn: str | None) -> int:
        return 1 if turn is not None else max(1, len(outputs(self.ask.job)), len(self.ask.job.targets))

    def prompt(self, turn: str | None, done: Mapping[str, str], feedback: str) -> tuple[Message, ...]:
        return writing(replace(_told(self.ask, feedback), done=done, only=turn), self.systems)

    def answer(self, turn: str | None, reply: Reply, staging: Staging) -> Answer:  # noqa: ARG002 - of other work
        texts = self.ask.texts or {}
        return understand(self.ask.job, reply.text, texts, only=turn, cut=reply.cut, most=self.most)


@dataclass(frozen=True, slots=True)
class FreeWork:
    """A task like any other: named files, as a whole or as edits. `touches` are those that it may write; none: any."""

    ask: Ask
    touches: tuple[str, ...]
    most: int

    turns = (None,)

    def size(self, turn: str | None) -> int:  # noqa: ARG002 - there is but one
        return len(self.touches) or _FREE

    def prompt(self, turn: str | None, done: Mapping[str, str], feedback: str) -> tuple[Message, ...]:  # noqa: ARG002
        parts = [_told(self.ask, feedback).instructions, *_files(self.ask.context, self.ask.texts or {})]
        return (
            Message(Role.SYSTEM, _SYSTEM),
            Message(Role.USER, "\n\n".join([*parts, how(self.touches)]) + "\n"),
        )

    def answer(self, turn: str | None, reply: Reply, staging: Staging) -> Answer:  # noqa: ARG002
        def read(path: str) -> str | None:
            try:
                return staging.read(path)
            except StagingError:
                return None  # putting it there says why not

        allowed = self.touches or None
        return understand_replies(reply.text, read, cut=reply.cut, allowed=allowed, most=self.most)


def as_job(touches: tuple[str, ...]) -> Job:
    """What judging and repairing need: a task's files, as those of a job."""
    return Job(touches[0] if touches else "", JobMode.EDIT, outputs=touches, targets=touches)


def _told(ask: Ask, feedback: str) -> Ask:
    if not feedback:
        return ask
    said = f"{ask.instructions}\n\n## What was wrong with an earlier answer\n\n{feedback}"
    return replace(ask, instructions=said)


def _files(context: Context, texts: Mapping[str, str]) -> list[str]:
    seen = {**{piece.path: piece.text for piece in context.pieces}, **texts}
    if not seen:
        return []
    left = "".join(f"\n- {sentence}" for sentence in context.left_out)
    return ["## Files as they are", shown(seen.items()), *([f"Not shown:{left}"] if left else [])]
