"""`cn`: Continue. It only prints its final message; errors are a line of JSON."""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.drivers.base import CodingTool, ToolParser
from plait.agents.drivers.provider_errors import make_provider_error
from plait.agents.interface import ActivityKind, AgentEvent, AttemptContext, Command
from plait.agents.output_parser import Json, get_text, make_activity
from plait.agents.plain_text import to_plain_text
from plait.agents.table import AGENTS
from plait.core.reports import Outcome
from plait.core.status import Category

_ENV = (
    ("CONTINUE_CLI_ENABLE_TELEMETRY", "0"),
    ("CONTINUE_METRICS_ENABLED", "0"),
    ("CONTINUE_CLI_AUTO_UPDATED", "true"),
    ("CONTINUE_CLI_DISABLE_COMMIT_SIGNATURE", "1"),
)
_EDIT_ARGS = ("--allow", "Write", "--allow", "Edit", "--allow", "MultiEdit", "--exclude", "Bash")


class _ContinueParser(ToolParser):
    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        """Handle an error, or the answer, which is also JSON if the settings' arguments ask for that."""
        message = get_text(event, "message", "response")
        if event.get("status") == "error":
            self.error = make_provider_error(message or "it failed without an error message")
            yield from make_activity(message, ActivityKind.FAILS)
        else:
            self.finished = True
            yield from make_activity(message, ActivityKind.SAYS)

    def handle_invalid(self, line: str, /) -> Iterator[AgentEvent]:
        """Handle an answer that starts with a brace as text."""
        yield from self.handle_text(line)

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        if to_plain_text(line):
            self.finished = True
        yield from super().handle_text(line)

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        """Return the outcome. If it printed nothing, the model's answer was empty."""
        if code == 0 and self.error is None and not self.finished:
            return Outcome(Category.EMPTY, code, "the model's answer was empty")
        return super().finish(code, tail, printed_at)


class Continue(CodingTool):
    info = AGENTS["cn"]
    parser_type = _ContinueParser

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command. `-p` comes last, because it takes the next argument as the prompt."""
        args = (*self.model_and_session_args(context), *self.permission_args(_EDIT_ARGS))
        return Command((*self.build_argv(*args), "-p"), context.prompt_file, _ENV)
