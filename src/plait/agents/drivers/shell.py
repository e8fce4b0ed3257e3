"""`shell`: the command of the task's own `run:`, as it is written. For codemods and scripts."""

from __future__ import annotations

from plait.agents.drivers.shell__script import build_script_command
from plait.agents.interface import AgentSpec, AttemptContext, Command, CostReporting, OutputParser
from plait.agents.output_parser__listening import PlainTextParser
from plait.core.errors import UserError
from plait.core.settings import NO_SPEND, Spend
from plait.core.task import Task


class ShellAgent:
    reports = CostReporting.FREE

    def __init__(self, spec: AgentSpec) -> None:
        self.name = spec.name
        self.provider = spec.name

    def build_command(self, context: AttemptContext) -> Command:
        """Raises UserError for a task that has nothing to run."""
        problem = explain_missing_run(context.task)
        if problem is not None or context.task.run is None:
            raise UserError(f"{context.task.id} {problem}")
        return build_script_command(context.task.run, context.folder)

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:  # noqa: ARG002 - the protocol's
        return PlainTextParser(use_output=False)


def explain_missing_run(task: Task) -> str | None:
    """Why this task can't be run by a shell, to be put after its name."""
    if not (task.run or "").strip():
        return "has no `run:` in its front matter: there is no command for a shell"
    if "\0" in (task.run or ""):
        return "has a null character in its `run:`, which no shell reads"
    return None
