"""`cube`: Agent Cube, which has writers and judges of its own. It prints the phase it is in; its exit status counts."""

from __future__ import annotations

from plait.agents.drivers.base import CodingTool
from plait.agents.drivers.base__whole import reject_edits_permission
from plait.agents.interface import AgentSpec, AttemptContext, Command, CostReporting, OutputParser
from plait.agents.output_parser__listening import PlainTextParser
from plait.core.settings import NO_SPEND, Spend


class Cube(CodingTool):
    program = "cube"
    default_provider = "cube"
    cost_reporting = CostReporting.NOTHING

    def __init__(self, spec: AgentSpec) -> None:
        reject_edits_permission(spec, "its own settings say what its agents may do")
        super().__init__(spec)

    def build_command(self, context: AttemptContext) -> Command:
        """It goes on with a task by the file's name: from the second attempt on."""
        again = ("--resume",) if context.attempt.n > 1 else ()
        return Command(self.build_argv("auto", context.task_file, *again))

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:  # noqa: ARG002 - it has no sessions
        return PlainTextParser(use_output=True)
