"""`copilot`: GitHub Copilot CLI. It reports neither tokens nor cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.agents.drivers.activity_labels import describe_tool_use
from plait.agents.drivers.base import CodingTool, ToolUseParser
from plait.agents.drivers.provider_errors import make_provider_error, report_refusal
from plait.agents.interface import ActivityKind, AgentEvent, AttemptContext, Command
from plait.agents.output_parser import Json, ToolError, get_count, get_object, get_text, make_activity
from plait.agents.table import AGENTS
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (("COPILOT_AUTO_UPDATE", "false"),)
_NO_LOGIN = "No authentication information found"
_SESSION_GONE = "No session, task, or name matched"
_CATEGORY_BY_TYPE = {
    "rate_limit": Category.RATE_LIMIT,
    "quota": Category.QUOTA,
    "authentication": Category.AUTH,
    "authorization": Category.AUTH,
    "context_limit": Category.CONTEXT,
}
_DELTA_PREFIXES = (
    '{"type":"assistant.message_delta"',
    '{"type":"assistant.tool_call_delta"',
    '{"type":"assistant.reasoning_delta"',
)


class _CopilotParser(ToolUseParser):
    def __init__(self, tool: CodingTool, before: Spend = NO_SPEND) -> None:
        super().__init__(tool, before)
        self._tool_calls: dict[str, object] = {}

    def feed(self, line: str) -> Sequence[AgentEvent]:
        return () if line.startswith(_DELTA_PREFIXES) else super().feed(line)

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        if _NO_LOGIN in line:
            self.error = ToolError(line.strip(), category=Category.AUTH)
        elif _SESSION_GONE in line:
            self.error = ToolError(line.strip())  # the usage that follows explains nothing
            self.session_gone = True
        yield from super().handle_text(line)

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        data = get_object(event, "data")
        match event.get("type"):
            case "assistant.message":
                yield from self.report_message(data.get("content"))
            case "tool.execution_start":
                self._tool_calls[str(data.get("toolCallId"))] = data.get("toolName")
                yield from describe_tool_use(data.get("toolName"), get_object(data, "arguments"), self.workspace)
            case "tool.execution_complete":
                yield from self._handle_tool_end(data)
            case "model.call_failure":
                yield from report_refusal(get_text(data, "errorMessage"), get_count(data, "statusCode") or None)
            case "session.error":
                yield from self._handle_error(data)
            case "session.info" if data.get("infoType") == "model_retry":
                yield from make_activity(data.get("message"), ActivityKind.WAITS)
            case "result":
                yield from self._handle_result(event)
            case _:
                pass

    def _handle_tool_end(self, data: Json) -> Iterator[AgentEvent]:
        name = self._tool_calls.pop(str(data.get("toolCallId")), None)
        why = get_object(data, "error")
        failed = data.get("success") is False
        denied = failed and why.get("code") in {"denied", "rejected"}
        error = (why.get("message") or "no reason given") if failed else ""
        yield from self.handle_tool_result(name, error=error, denied=denied)

    def _handle_error(self, data: Json) -> Iterator[AgentEvent]:
        message = get_text(data, "message") or "it failed without an error message"
        message = message.rpartition("Last error: ")[2] or message
        failed = make_provider_error(message, get_count(data, "statusCode") or None)
        category = _CATEGORY_BY_TYPE.get(get_text(data, "errorType"), failed.fallback)
        yield from self.report_error(ToolError(message, failed.status, fallback=category))

    def _handle_result(self, event: Json) -> Iterator[AgentEvent]:
        yield from self.update_session(event.get("sessionId"))
        if get_count(event, "exitCode") == 0:
            self.report_success()


class Copilot(CodingTool):
    info = AGENTS["copilot"]
    parser_type = _CopilotParser

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command. Without `-C`, a session would continue in its original folder."""
        args = (
            *("-C", context.workspace, "--output-format", "json", "--no-ask-user"),
            *self.model_and_session_args(context, "--resume"),
            *self.permission_args(("--allow-tool=write",)),
        )
        return Command(self.build_argv(*args), context.prompt_file, _ENV)
