"""Asking: what a front brings, and what becomes of it. A request that was accepted and one that was answered differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from plait.core.decisions import RequestGranted, RequestRefused
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.requests import Drop, Feedback, Request, Resume, Retry, Ship

if TYPE_CHECKING:  # `plait status` comes by here, and submits nothing
    from plait.agents.interface import AgentSpec
    from plait.core.plan import Plan
    from plait.core.settings import Settings
    from plait.store.batch_inputs import RepoOptions

# What can open a batch that has ended: by then the environment it was submitted with is gone.
REOPENING_REQUESTS = (Retry, Feedback, Resume, Drop, Ship)


@dataclass(frozen=True, slots=True)
class Submission:
    """A batch to be. `plan` is whole; `environment` None: this process's own. `base` and `gear` are for worktrees."""

    plan: Plan
    settings: Settings
    agents: tuple[AgentSpec, ...] = ()
    sources: tuple[str, ...] = ()
    base: str = ""
    gear: RepoOptions | None = None
    template: str = ""
    environment: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """`granted` None: the request is safe in the inbox, and no engine has answered it yet."""

    request: str
    granted: bool | None = None
    tasks: tuple[str, ...] = ()
    why: str = ""


class PendingAnswers:
    """The answers that somebody waits for; others pass by."""

    def __init__(self) -> None:
        self._answers: dict[str, RequestAnswer] = {}

    def expect(self, requests: Iterable[Request]) -> None:
        self._answers.update({request.id: RequestAnswer(request.id) for request in requests})

    def handle_record(self, record: Record) -> None:
        event = record.event
        if isinstance(event, RequestGranted | RequestRefused) and event.request in self._answers:
            told = (
                RequestAnswer(event.request, granted=True, tasks=event.tasks)
                if isinstance(event, RequestGranted)
                else RequestAnswer(event.request, granted=False, why=event.why)
            )
            self._answers[event.request] = told

    def are_complete(self, requests: Iterable[Request]) -> bool:
        return all(self._answers[request.id].granted is not None for request in requests)

    def collect(self, requests: Iterable[Request]) -> list[RequestAnswer]:
        """In this order; nobody waits for them any more."""
        return [self._answers.pop(request.id) for request in requests]


def new_request_id() -> str:
    from uuid import uuid4  # noqa: PLC0415 - only whoever asks needs one

    return str(uuid4())
