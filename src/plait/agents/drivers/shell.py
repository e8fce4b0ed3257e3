"""Scripts: a person's text for a shell, as a file that nobody else can read. Everybody sees what a command line holds.

`shell`: the command of the task's own `run:`, as it is written. For codemods and scripts.

The check: what verifies an agent's work. No agent, but spoken to in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.agents.error_patterns import classify_exit
from plait.agents.interface import AgentEvent, AgentSpec, AttemptContext, Command, CostReporting, OutputParser
from plait.agents.output_parser import PlainTextParser
from plait.core.errors import UserError
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.task import Task

SCRIPT_NAME = "script.sh"


def build_script_command(text: str, folder: str) -> Command:
    """`folder` is where the attempt's files are put."""
    end = "" if text.endswith("\n") else "\n"
    return Command(("sh", f"{folder}/{SCRIPT_NAME}"), files=((SCRIPT_NAME, f"{text}{end}"),))


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


class CheckCommand:
    def build_command(self, text: str, folder: str) -> Command:
        """`folder` is the attempt's own."""
        return build_script_command(text, folder)

    def create_parser(self) -> OutputParser:
        return _CheckParser()


class _CheckParser:
    """Nothing that a check prints means anything but its exit status."""

    def feed(self, line: str) -> Sequence[AgentEvent]:  # noqa: ARG002 - the protocol's
        return ()

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:  # noqa: ARG002
        return classify_exit(code, tail)
