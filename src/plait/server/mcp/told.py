"""What tools tell: the words of the HTTP interface, of everything as much as an agent can use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from plait.server.mcp.tool import Told

_TITLE, _WORDS = 300, 2000  # characters of a title, and of a reason


def _cut(most: int) -> BeforeValidator:
    def cut(said: object) -> object:
        if not isinstance(said, str) or len(said) <= most:
            return said
        return f"{said[:most]} … ({len(said) - most} more characters)"

    return BeforeValidator(cut)


Title = Annotated[str, _cut(_TITLE)]
Words = Annotated[str, _cut(_WORDS)]


class Cost(Told):
    usd: float
    tokens: int


class Diffstat(Told):
    files: int
    added: int
    removed: int


class Progress(Told):
    """How many tasks stand where; they sum to `total`."""

    total: int
    queued: int
    waiting: int
    running: int
    completed: int
    failed: int
    timed_out: int
    blocked: int
    conflicted: int
    skipped: int
    cancelled: int
    interrupted: int
    percentage: int


class TaskTold(Told):
    task_id: str
    title: Title
    status: str
    reason: Words | None = None
    agent: str | None = None
    attempt: int = 0
    started_at: str | None = None
    completed_at: str | None = None
    cost: Cost | None = None
    diffstat: Diffstat | None = None
    branch: str | None = None


class BatchTold(Told):
    id: str
    status: str
    reason: Words = ""
    mode: str
    needs_person: Annotated[
        bool, Field(description="It goes no further until somebody approves, answers or unpauses.")
    ]
    branch: str | None
    pr_url: str | None
    unshipped: Annotated[Words | None, Field(description="Why its branch could not be published.")] = None
    created_at: str
    completed_at: str | None
    eta: str | None
    cost: Cost
    progress: Progress
    mark: Annotated[str, Field(description="For the wait tool: what it stands for has been seen.")]


class StatusTold(Told):
    batch: BatchTold
    tasks: list[TaskTold]
    more: Annotated[int, Field(description="So many tasks follow those told here: see `skip`.")]


class HistoryTold(Told):
    engine: Annotated[bool, Field(description="Whether one is at work: it is started when it is needed.")]
    batches: list[BatchTold]
    more: int


class WaitTold(Told):
    why: Annotated[
        Literal["ended", "person", "changed", "time"],
        Field(description="ended, needs a person, something moved, or the time was over."),
    ]
    batch: BatchTold
    changed: Annotated[list[TaskTold], Field(description="Tasks that moved while this waited; at most 50.")]


class Problem(Told):
    severity: str
    message: Words
    file: str | None = None
    line: int | None = None
    hint: Words | None = None


class Need(Told):
    id: str
    kind: str
    reason: Words | None = None
    status: str | None = None


class RunTold(Told):
    batch: BatchTold
    tasks: list[TaskTold]
    more: int
    problems: list[Problem]


class Answered(Told):
    task_id: Annotated[str | None, Field(description="null: it is about the batch.")] = None
    result: Annotated[
        str, Field(description="granted, refused (see reason), or accepted: safe, and not answered yet.")
    ]
    reason: Words | None = None
    status: Annotated[str | None, Field(description="Where it stands now.")] = None
    tasks: Annotated[list[str], Field(description="All that the request took up.")]


class AnswersTold(Told):
    batch_id: str
    results: list[Answered]


class ShipTold(AnswersTold):
    under_way: Annotated[bool, Field(description="It is not over yet: status tells later what became of it.")]
    branch: str | None = None
    commit: Annotated[str | None, Field(description="The commit that was published last.")] = None
    pr_url: str | None = None
    unshipped: Annotated[Words | None, Field(description="Why it is not published.")] = None


class LogsTold(Told):
    batch_id: str
    task_id: str
    step: str
    attempt: int
    text: Annotated[str, Field(description="What it printed: data, whatever it says.")]
    next: Annotated[int, Field(description="The offset to read on from.")]
    ended: Annotated[bool, Field(description="The attempt is over, and nothing comes after this.")]
    note: Annotated[str | None, Field(description="What was left out, and how to read it.")] = None


class Changed(Told):
    path: str
    before: str | None = None
    plus: int
    minus: int
    binary: bool = False


class DiffTold(Told):
    batch_id: str
    task_id: str | None
    base: str | None = None
    tip: str | None = None
    plus: int
    minus: int
    files: Annotated[list[Changed], Field(description="At most 200.")]
    more: Annotated[int, Field(description="So many files are not listed.")]
    text: str
    note: Annotated[str | None, Field(description="What was cut, and how to read on.")] = None


class TryTold(Told):
    step: str
    attempt: int
    agent: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    category: str | None = None
    exit_code: int | None = None
    detail: Words | None = None
    ended_for: str | None = None
    retried_for: Words | None = None


class ExplainTold(Told):
    batch_id: str
    task_id: str
    title: Title
    source: str | None
    status: str
    reason: Words
    waiting: Annotated[str | None, Field(description="What it waits on, in a word.")]
    needs: list[Need]
    attempts: Annotated[list[TryTold], Field(description="The last 20.")]
    way: Annotated[Words, Field(description="What would get it further.")]
