"""`shell`, which runs the task's own `run:`; and the check command that verifies an agent's work.

Both are scripts in files that only the user can read: command lines are visible to all users of the machine.
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
    """Build a command that runs the text as a script in `folder`, which is the attempt's own."""
    end = "" if text.endswith("\n") else "\n"
    return Command(("sh", f"{folder}/{SCRIPT_NAME}"), files=((SCRIPT_NAME, f"{text}{end}"),))


class ShellAgent:
    reports = CostReporting.FREE

    def __init__(self, spec: AgentSpec) -> None:
        self.name = spec.name
        self.provider = spec.name

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command; raises UserError for a task without one."""
        problem = explain_missing_run(context.task)
        if problem is not None or context.task.run is None:
            raise UserError(f"{context.task.id} {problem}")
        return build_script_command(context.task.run, context.folder)

    def create_parser(self, _before: Spend = NO_SPEND, /) -> OutputParser:
        return PlainTextParser(use_output=False)


def explain_missing_run(task: Task) -> str | None:
    """Say why a shell can't run this task, as a text to follow the task's name; None if it can."""
    if not (task.run or "").strip():
        return "has no `run:` in its front matter: there is no command for a shell"
    if "\0" in (task.run or ""):
        return "has a null character in its `run:`, which no shell reads"
    return None


class CheckParser:
    """Parses the output of a check: only its exit status counts."""

    def feed(self, _line: str, /) -> Sequence[AgentEvent]:
        return ()

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, _printed_at: float, /) -> Outcome:
        return classify_exit(code, tail)
