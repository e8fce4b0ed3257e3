"""Tools that plait could not be tried with: how they are called is by their documents, what they print is read as text."""

from __future__ import annotations

from plait.agents.listening import Listening
from plait.agents.model import AgentSpec, Brief, Command, Listener, Permission, Reports
from plait.agents.tools.tool import READ_FILE, Tool
from plait.agents.tools.whole import refuse_edits
from plait.core.settings import NO_SPEND, Spend


class _Untried(Tool):
    told = Reports.NOTHING

    def listen(self, before: Spend = NO_SPEND) -> Listener:  # noqa: ARG002 - no session is known
        return Listening(words=True)


class Amp(_Untried):
    program = "amp"
    maker = "amp"

    def __init__(self, spec: AgentSpec) -> None:
        refuse_edits(spec, "its own settings say what it may do")
        super().__init__(spec)

    def command(self, brief: Brief) -> Command:
        """It chooses its model itself."""
        words = (*self.permit(("--dangerously-allow-all",), ()), "--execute")
        return Command(self.argv(*words), brief.prompt_file)


class Goose(_Untried):
    program = "goose"
    maker = "goose"

    def command(self, brief: Brief) -> Command:
        model = self.model(brief)
        env = (
            *((("GOOSE_MODE", self._mode),) if self._mode else ()),
            *((("GOOSE_MODEL", model),) if model else ()),
        )
        return Command(self.argv("run", "--no-session", "--instructions", brief.prompt_file), None, env)

    @property
    def _mode(self) -> str:
        match self.spec.permission:
            case Permission.FULL:
                return "auto"
            case Permission.EDITS:
                return "smart_approve"
            case Permission.OWN:
                return ""


class CursorAgent(_Untried):
    program = "cursor-agent"
    maker = "cursor"

    def __init__(self, spec: AgentSpec) -> None:
        refuse_edits(spec, "it proposes changes or makes them, with all the rest")
        super().__init__(spec)

    def command(self, brief: Brief) -> Command:
        words = (
            *("--print", "--output-format", "text"),
            *self.permit(("--force",), ()),
            *self.choice(brief),
        )
        return Command((*self.argv(*words), READ_FILE.format(brief.prompt_file)))
