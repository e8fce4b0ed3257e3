"""`shell`: the command of the task's own `run:`, as it is written. For codemods and scripts."""

from __future__ import annotations

from plait.agents.listening import Listening
from plait.agents.model import AgentSpec, Brief, Command, Listener, Reports
from plait.agents.script import script
from plait.core.errors import UserError
from plait.core.settings import NO_SPEND, Spend
from plait.core.task import Task


class Shell:
    reports = Reports.FREE

    def __init__(self, spec: AgentSpec) -> None:
        self.name = spec.name
        self.provider = spec.name

    def command(self, brief: Brief) -> Command:
        """Raises UserError for a task that has nothing to run."""
        problem = why_not(brief.task)
        if problem is not None or brief.task.run is None:
            raise UserError(f"{brief.task.id} {problem}")
        return script(brief.task.run, brief.folder)

    def listen(self, before: Spend = NO_SPEND) -> Listener:  # noqa: ARG002 - the protocol's
        return Listening(words=False)


def why_not(task: Task) -> str | None:
    """Why this task can't be run by a shell, to be put after its name."""
    if not (task.run or "").strip():
        return "has no `run:` in its front matter: there is no command for a shell"
    if "\0" in (task.run or ""):
        return "has a null character in its `run:`, which no shell reads"
    return None
