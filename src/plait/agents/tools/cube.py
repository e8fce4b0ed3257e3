"""`cube`: Agent Cube, which has writers and judges of its own. It prints the phase it is in; its exit status counts."""

from __future__ import annotations

from plait.agents.listening import Listening
from plait.agents.model import AgentSpec, Brief, Command, Listener, Reports
from plait.agents.tools.tool import Tool
from plait.agents.tools.whole import refuse_edits
from plait.core.settings import NO_SPEND, Spend


class Cube(Tool):
    program = "cube"
    maker = "cube"
    told = Reports.NOTHING

    def __init__(self, spec: AgentSpec) -> None:
        refuse_edits(spec, "its own settings say what its agents may do")
        super().__init__(spec)

    def command(self, brief: Brief) -> Command:
        """It goes on with a task by the file's name: from the second attempt on."""
        again = ("--resume",) if brief.attempt.n > 1 else ()
        return Command(self.argv("auto", brief.task_file, *again))

    def listen(self, before: Spend = NO_SPEND) -> Listener:  # noqa: ARG002 - it has no sessions
        return Listening(words=True)
