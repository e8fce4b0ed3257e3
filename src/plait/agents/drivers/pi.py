"""`pi`: Pi. It always exits 0: the result is in the last message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.agents.drivers.activity_labels import describe_tool_use
from plait.agents.drivers.base import CodingTool, ToolUseParser
from plait.agents.drivers.provider_errors import make_provider_error, report_refusal
from plait.agents.interface import ActivityKind, AgentEvent, AttemptContext, Command
from plait.agents.output_parser import Json, ToolError, get_count, get_object, get_text, make_activity, to_microdollars
from plait.agents.prices import Tokens
from plait.agents.table import AGENTS
from plait.core.status import Category

_ENV = (("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0"))  # offline: only the model is contacted
_EDIT_TOOLS = "read,edit,write,grep,find,ls"
# Each repeats the whole message so far.
_REPEATED_PREFIXES = ('{"type":"message_update"', '{"type":"tool_execution_update"', '{"type":"turn_end"')
_NO_KEY = ("No API key found", "No models available")
_SESSION_GONE = "No session found matching"
_END_PREFIX = '{"type":"agent_end"'  # contains all messages, so it may be cut off


class _PiParser(ToolUseParser):
    def feed(self, line: str) -> Sequence[AgentEvent]:
        if line.startswith(_REPEATED_PREFIXES):
            return ()
        if line.startswith(_END_PREFIX):
            self.finished = True
            return ()
        return super().feed(line)

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        if line.startswith(_SESSION_GONE):
            self.session_gone = True
        elif line.startswith(_NO_KEY):
            self.error = ToolError(line.strip(), category=Category.AUTH)
        yield from super().handle_text(line)

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        match event.get("type"):
            case "session":
                self.workspace = str(event.get("cwd") or "")
                yield from self.update_session(event.get("id"))
            case "message_end":
                yield from self._handle_message(get_object(event, "message"))
            case "tool_execution_start":
                yield from describe_tool_use(event.get("toolName"), get_object(event, "args"), self.workspace)
            case "tool_execution_end":
                error = "no reason given" if event.get("isError") else ""
                yield from self.handle_tool_result(event.get("toolName"), error=error)
            case "auto_retry_start":
                yield from self._handle_retry(event)
            case _:
                pass

    def _handle_message(self, message: Json) -> Iterator[AgentEvent]:
        if message.get("role") != "assistant":
            return
        yield from self._report_usage(message)
        if message.get("stopReason") in {"error", "aborted"}:
            text = get_text(message, "errorMessage")
            self.error = make_provider_error(text or "its model gave no answer")
            yield from make_activity(text, ActivityKind.FAILS)
            return
        self.error = None
        content = message.get("content")
        texts = [get_object(part) for part in content] if isinstance(content, list) else []
        yield from self.report_message(
            "\n".join(str(part.get("text") or "") for part in texts if part.get("type") == "text")
        )

    def _report_usage(self, message: Json) -> Iterator[AgentEvent]:
        usage = get_object(message, "usage")
        cached = get_count(usage, "cacheRead")
        read = get_count(usage, "input") + cached + get_count(usage, "cacheWrite")
        tokens = Tokens(read, get_count(usage, "output"), cached)
        cost = to_microdollars(get_object(usage, "cost").get("total"))
        now = self.tool.compute_reported_spend(cost, tokens, get_text(message, "model"))
        yield from self.report_spend(self.spend + now)

    def _handle_retry(self, event: Json) -> Iterator[AgentEvent]:
        message = get_text(event, "errorMessage")
        after = get_count(event, "delayMs") / 1000
        yield from report_refusal(message, after=after or None)
        yield from make_activity(f"waiting {after:g} s:" if after else "waiting:", ActivityKind.WAITS, message)


class Pi(CodingTool):
    info = AGENTS["pi"]
    parser_type = _PiParser

    def build_command(self, context: AttemptContext) -> Command:
        model = self.choose_model(context)
        args = (
            *("-p", "--mode", "json"),
            *(("--model", model) if model else ()),
            *(("--session", context.session) if context.session else ()),
            *self.permission_args(("--tools", _EDIT_TOOLS)),
        )
        return Command(self.build_argv(*args), context.prompt_file, _ENV)
