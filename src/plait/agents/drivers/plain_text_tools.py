"""Tools that plait could not be tried with: how they are called is by their documents, what they print is read as text.

`cube`: Agent Cube, which has writers and judges of its own. It prints the phase it is in; its exit status counts.
"""

from __future__ import annotations

from plait.agents.drivers.base import READ_PROMPT_FILE, CodingTool, reject_edits_permission
from plait.agents.interface import AgentSpec, AttemptContext, Command, CostReporting, OutputParser
from plait.agents.output_parser import PlainTextParser
from plait.config.agent_keys import Permission
from plait.core.settings import NO_SPEND, Spend


class _PlainTextTool(CodingTool):
    cost_reporting = CostReporting.NOTHING

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:  # noqa: ARG002 - no session is known
        return PlainTextParser(use_output=True)


class Amp(_PlainTextTool):
    program = "amp"
    default_provider = "amp"

    def __init__(self, spec: AgentSpec) -> None:
        reject_edits_permission(spec, "its own settings say what it may do")
        super().__init__(spec)

    def build_command(self, context: AttemptContext) -> Command:
        """It chooses its model itself."""
        words = (*self.permission_args(("--dangerously-allow-all",), ()), "--execute")
        return Command(self.build_argv(*words), context.prompt_file)


class Goose(_PlainTextTool):
    program = "goose"
    default_provider = "goose"

    def build_command(self, context: AttemptContext) -> Command:
        model = self.choose_model(context)
        env = (
            *((("GOOSE_MODE", self._mode),) if self._mode else ()),
            *((("GOOSE_MODEL", model),) if model else ()),
        )
        return Command(self.build_argv("run", "--no-session", "--instructions", context.prompt_file), None, env)

    @property
    def _mode(self) -> str:
        match self.spec.permission:
            case Permission.FULL:
                return "auto"
            case Permission.EDITS:
                return "smart_approve"
            case Permission.OWN:
                return ""


class CursorAgent(_PlainTextTool):
    program = "cursor-agent"
    default_provider = "cursor"

    def __init__(self, spec: AgentSpec) -> None:
        reject_edits_permission(spec, "it proposes changes or makes them, with all the rest")
        super().__init__(spec)

    def build_command(self, context: AttemptContext) -> Command:
        words = (
            *("--print", "--output-format", "text"),
            *self.permission_args(("--force",), ()),
            *self.model_and_session_args(context),
        )
        return Command((*self.build_argv(*words), READ_PROMPT_FILE.format(context.prompt_file)))


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
