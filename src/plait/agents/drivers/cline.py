"""`cline`: Cline. Its sessions can't be continued unattended, so each attempt starts a new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.agents.drivers.activity_labels import describe_tool_use, format_question, strip_shell
from plait.agents.drivers.base import READ_PROMPT_FILE, CodingTool, ToolUseParser
from plait.agents.drivers.provider_errors import make_provider_error
from plait.agents.interface import ActivityKind, AgentEvent, AttemptContext, Command
from plait.agents.output_parser import Json, get_count, get_object, get_text, make_activity, to_microdollars
from plait.agents.prices import Tokens
from plait.agents.table import AGENTS

# By default all runs share a daemon, and ending the first would end them all.
_ENV = (("CLINE_SESSION_BACKEND_MODE", "local"), ("CLINE_NO_AUTO_UPDATE", "1"))
_TOOL_ALIASES: Mapping[str, str] = {
    "editor": "edit",
    "run_commands": "bash",
    "read_files": "read",
    "search_codebase": "grep",
    "fetch_web_content": "webfetch",
}
_QUESTION_TOOL = "ask_question"
_DENIED = "requires approval"


class _ClineParser(ToolUseParser):
    def handle_text(self, _line: str, /) -> Iterator[AgentEvent]:
        """Ignore lines that are no events: they are only warnings of its libraries."""
        yield from ()

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        match event.get("type"):
            case "agent_event":
                yield from self._handle_agent_event(get_object(event, "event"))
            case "run_result":
                yield from self._handle_result(event)
            case "error":
                yield from self._handle_error(event)
            case _:
                pass

    def _handle_agent_event(self, event: Json) -> Iterator[AgentEvent]:
        tool = event.get("contentType") == "tool"
        match event.get("type"):
            case "content_start" if tool:
                yield from self._handle_tool_start(event.get("toolName"), get_object(event, "input"))
            case "content_end" if tool:
                yield from self._handle_tool_end(event)
            case "content_end":
                yield from self.report_message(event.get("text"))
            case "usage":
                tokens = Tokens(get_count(event, "totalInputTokens"), get_count(event, "totalOutputTokens"))
                yield from self._report_usage(tokens, event.get("totalCost"))
            case "error":
                yield from self._handle_error(get_object(event, "error"))
            case "notice":
                yield from make_activity(event.get("message"), ActivityKind.WAITS)
            case _:
                pass

    def _handle_tool_start(self, name: object, given: Json) -> Iterator[AgentEvent]:
        """Report a tool use. When it runs unattended, it answers its own questions with the first choice; so a question
        only counts if no changes follow.
        """
        if name == _QUESTION_TOOL:
            self.question = format_question(given)
            yield from make_activity("asking:", ActivityKind.SAYS, self.question)
        else:
            yield from _describe_use(name, given, self.workspace)

    def _handle_tool_end(self, event: Json) -> Iterator[AgentEvent]:
        name, why = event.get("toolName"), event.get("error")
        shown = name if why else _canonical_name(name)
        yield from self.handle_tool_result(shown, error=why, denied=_DENIED in str(why))

    def _handle_result(self, event: Json) -> Iterator[AgentEvent]:
        usage = get_object(event, "aggregateUsage") or get_object(event, "usage")
        counts = (get_count(usage, name) for name in ("inputTokens", "outputTokens", "cacheReadTokens"))
        yield from self._report_usage(Tokens(*counts), usage.get("totalCost"))
        if event.get("finishReason") == "completed":
            self.report_success()
        elif self.error is None:
            self.error = make_provider_error(str(event.get("text") or event.get("finishReason") or "it did not finish"))

    def _report_usage(self, tokens: Tokens, cost: object) -> Iterator[AgentEvent]:
        yield from self.report_spend(self.tool.compute_reported_spend(to_microdollars(cost), tokens))

    def _handle_error(self, event: Json) -> Iterator[AgentEvent]:
        message = get_text(event, "message") or "it failed without an error message"
        yield from self.report_error(make_provider_error(message))


class Cline(CodingTool):
    info = AGENTS["cline"]
    parser_type = _ClineParser

    def build_command(self, context: AttemptContext) -> Command:
        args = (
            *("--json", "--cwd", context.workspace),
            *self.model_and_session_args(context),
            *self.permission_args(),
        )
        return Command((*self.build_argv(*args), READ_PROMPT_FILE.format(context.prompt_file)), None, _ENV)


def _canonical_name(tool: object) -> object:
    return _TOOL_ALIASES.get(tool, tool) if isinstance(tool, str) else tool


def _describe_use(tool: object, given: Json, workspace: str) -> Iterator[AgentEvent]:
    commands, files = given.get("commands"), given.get("files")
    if isinstance(commands, list) and commands:
        return make_activity("running", ActivityKind.RUNS, strip_shell(str(commands[0])))
    first = get_object(files[0]) if isinstance(files, list) and files else given
    return describe_tool_use(_canonical_name(tool), first, workspace)
