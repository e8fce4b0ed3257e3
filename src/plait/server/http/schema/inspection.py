"""Why tasks are where they are, and what they changed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plait.core.status import Category, EndWhy, TaskStatus, Waiting
from plait.core.task import NeedKind, Step
from plait.git.interfaces import ConflictKind
from plait.server.http.schema.base import ApiModel
from plait.server.http.schema.batches import Cost, Diffstat


class NeedStanding(ApiModel):
    """`status` null: it is not in this batch."""

    id: str
    kind: NeedKind
    reason: str
    at: str | None
    status: TaskStatus | None


class Try(ApiModel):
    """`completedAt` null: it is at work."""

    step: Step
    attempt: int
    agent: str
    started_at: str
    completed_at: str | None
    category: Category | None
    exit_code: int | None
    detail: str | None
    ended_for: EndWhy | None
    retried_for: str | None


class GateSeen(ApiModel):
    """`passed` null: it is at work, or its end is not known."""

    gate: int
    commit: str
    passed: bool | None


class ResultShape(ApiModel):
    branch: str | None
    tip: str | None
    ref: str | None
    worktree_path: str | None
    files: list[str]
    commit: str | None
    place: int | None
    gate: GateSeen | None
    published: str | None


class Entrant(ApiModel):
    entrant: str
    agent: str
    status: TaskStatus | None
    verdict: str
    seconds: float | None
    cost: Cost
    diffstat: Diffstat | None
    rank: int | None
    score: float | None
    branch: str | None


class ContestShape(ApiModel):
    why: str | None
    entrants: list[Entrant]


class ConflictMet(ApiModel):
    """`with` is the commit of the batch branch that it was to be put onto."""

    with_: str = Field(alias="with")
    files: list[str]


class Explanation(ApiModel):
    """`way`: what would make it go on, in words."""

    batch_id: str
    task_id: str
    title: str
    source: str | None
    status: TaskStatus
    reason: str
    waiting: Waiting | None
    needs: list[NeedStanding]
    attempts: list[Try]
    way: str
    result: ResultShape | None
    contest: ContestShape | None
    conflict: ConflictMet | None


class ConflictFile(ApiModel):
    """`ours` is the batch branch's, `theirs` the task's, `merged` has both between markers. Null: it is not there on that
    side, or it is `binary`, or its name is in `cut`, since it is too long. `touchedBy` are the tasks whose change of it is
    on the branch, the newest first; `said` is git's word on it.
    """

    path: str
    kind: ConflictKind
    said: str
    binary: bool
    base: str | None
    ours: str | None
    theirs: str | None
    merged: str | None
    cut: list[Literal["base", "ours", "theirs", "merged"]]
    touched_by: list[str]


class ConflictShape(ApiModel):
    """`with` is the commit of the batch branch that the change from `base` to `tip` was to be put onto. `more`: so many
    files are not told.
    """

    batch_id: str
    task_id: str
    with_: str = Field(alias="with")
    base: str
    tip: str
    files: list[ConflictFile]
    more: int


class ChangedFile(ApiModel):
    """`before` is the name it had, if it had another; lines of binary files are not counted."""

    path: str
    before: str | None
    plus: int
    minus: int
    binary: bool


class DiffShape(ApiModel):
    """`cut`: the text is longer than this; it can be had whole as text. `tip` null: files that are being written."""

    batch_id: str
    task_id: str | None
    attempt: int | None
    base: str
    tip: str | None
    plus: int
    minus: int
    files: list[ChangedFile]
    diff: str
    cut: bool
