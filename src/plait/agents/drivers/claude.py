"""`claude`: Claude Code. It reports its activity, cost and rate limits as events.

Its exit status is right about failures, but not about denied tools; `subtype` is success for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.agents.drivers.activity_labels import changes_files, format_question, is_question_tool
from plait.agents.drivers.base import CodingTool, ToolUseParser
from plait.agents.drivers.provider_errors import guess_category
from plait.agents.interface import Activity, ActivityKind, AgentEvent, AttemptContext, Command, ProviderRefused
from plait.agents.output_parser import Json, ToolError, get_count, get_object, make_activity, to_microdollars
from plait.agents.prices import TokenCounter, Tokens
from plait.agents.retry_after import NO_RETRY_AFTER, RetryAfter
from plait.agents.table import AGENTS
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    # Some eight seconds: enough for a burst; plait does the long waits. By default it retries for minutes, even with a
    # wrong key.
    ("CLAUDE_CODE_MAX_RETRIES", "4"),
)
# Its names of errors, for messages that match no pattern.
_CATEGORY_BY_TAG: Mapping[str, Category] = {
    "authentication_failed": Category.AUTH,
    "oauth_org_not_allowed": Category.AUTH,
    "billing_error": Category.QUOTA,
    "rate_limit": Category.RATE_LIMIT,
    "overloaded": Category.OVERLOADED,
    "server_error": Category.OVERLOADED,
    "model_not_found": Category.USAGE,
}
_LIMIT_MESSAGES: Mapping[object, str] = {
    "error_max_turns": "it reached the turn limit of its arguments",
    "error_max_budget_usd": "it reached the budget of its arguments",
}
_ROOT_REFUSED = "cannot be used with root"
_SESSION_GONE = "No conversation found"


class _ClaudeParser(ToolUseParser):
    trust_exit_status = True
    result_prefix = '{"type":"result"'

    _tag = ""
    _limit = NO_RETRY_AFTER

    def __init__(self, tool: CodingTool, before: Spend = NO_SPEND) -> None:
        super().__init__(tool, before)
        self._token_counter = TokenCounter()
        self._changing_calls: set[str] = set()  # by id

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        yield from self.update_session(event.get("session_id"))
        match event.get("type"):
            case "system":
                yield from self._handle_system(event)
            case "assistant":
                yield from self._handle_message(event)
            case "rate_limit_event":
                yield from self._handle_rate_limit(get_object(event, "rate_limit_info"))
            case "result":
                yield from self._handle_result(event)
            case _:
                pass

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        if _ROOT_REFUSED in line:
            self.error = ToolError(
                "it refuses to skip permissions as root: set IS_SANDBOX=1 if this machine is a sandbox, or"
                ' [agents.permissions] claude = "edits"',
                category=Category.USAGE,
            )
        elif line.startswith(_SESSION_GONE):
            self.session_gone = True
        yield from super().handle_text(line)

    def _handle_system(self, event: Json) -> Iterator[AgentEvent]:
        match event.get("subtype"):
            case "init":
                self.workspace = str(event.get("cwd") or "")
            case "api_retry":
                yield from self._handle_retry(event)
            case "permission_denied":
                self._record_denial(event)
            case "compact_boundary":
                yield Activity("compacting its context", ActivityKind.THINKS)
            case _:
                pass

    def _handle_retry(self, event: Json) -> Iterator[AgentEvent]:
        status, seconds = get_count(event, "error_status"), get_count(event, "retry_delay_ms") / 1000
        if status == 429 or event.get("error") == "rate_limit":
            yield ProviderRefused(RetryAfter(after=seconds))
        why = f"status {status}" if status else "no connection"
        tries = f"{get_count(event, 'attempt')} of {get_count(event, 'max_retries')}"
        yield from make_activity(f"waiting {seconds:.0f}s for the provider ({why}), try {tries}", ActivityKind.WAITS)

    def _handle_rate_limit(self, limit: Json) -> Iterator[AgentEvent]:
        """Report a refusal; most changes of the limits are none."""
        if limit.get("status") == "rejected":
            at = get_count(limit, "resetsAt")
            self._limit = RetryAfter(at=float(at)) if at else NO_RETRY_AFTER
            yield ProviderRefused(self._limit)

    def _handle_message(self, event: Json) -> Iterator[AgentEvent]:
        message = get_object(event, "message")
        self._tag = str(event.get("error") or "")
        for part in message.get("content") or ():
            yield from self.handle_part(get_object(part))
        usage = get_object(message, "usage")
        if usage:
            tokens = self._token_counter.add(message.get("id"), _read_tokens(usage))
            yield from self.report_growing_spend(self.tool.compute_spend(tokens, str(message.get("model") or "")))

    def handle_part(self, part: Json) -> Iterator[AgentEvent]:
        if part.get("type") == "tool_use" and changes_files(part.get("name")):
            self._changing_calls.add(str(part.get("id")))
        yield from super().handle_part(part)

    def _record_denial(self, denial: Json) -> None:
        if is_question_tool(denial.get("tool_name")):  # it runs unattended
            self.question = format_question(get_object(denial, "tool_input")) if self.is_idle else None
            return
        self.denied.append(str(denial.get("tool_name") or "a tool"))
        self._changing_calls.discard(str(denial.get("tool_use_id")))
        self.changes_made = len(self._changing_calls)

    def _handle_result(self, event: Json) -> Iterator[AgentEvent]:
        self.report_success()
        text, end = event.get("result"), event.get("subtype")
        self.last_message = text if isinstance(text, str) else self.last_message
        for denial in event.get("permission_denials") or ():
            self._record_denial(get_object(denial))
        if event.get("is_error") is True or str(end).startswith("error"):
            yield from self.report_error(self._read_failure(event, end))
        yield from self.report_spend(self._read_spend(event))

    def _read_failure(self, event: Json, end: object) -> ToolError:
        errors = event.get("errors")
        messages = [one for one in errors if isinstance(one, str)] if isinstance(errors, list) else []
        message = "; ".join(messages) or (self.last_message if "result" in event else "") or str(end)
        self.session_gone = self.session_gone or message.startswith(_SESSION_GONE)
        if end in _LIMIT_MESSAGES:
            return ToolError(f"{_LIMIT_MESSAGES[end]}: {message}", category=Category.TASK)
        long = event.get("terminal_reason") == "prompt_too_long"
        return ToolError(
            message,
            get_count(event, "api_error_status") or None,
            Category.CONTEXT if long else None,
            _CATEGORY_BY_TAG.get(self._tag) or guess_category(message),
            self._limit,
        )

    def _read_spend(self, event: Json) -> Spend:
        """Read the cost and the tokens; by model if these are reported, because that includes subagents."""
        by_model = get_object(event, "modelUsage").values()
        names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        tokens = sum(get_count(get_object(used), name) for used in by_model for name in names)
        return Spend(
            to_microdollars(event.get("total_cost_usd")),
            tokens or _read_tokens(get_object(event, "usage")).total,
        )


class Claude(CodingTool):
    info = AGENTS["claude"]
    parser_type = _ClaudeParser

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command. A session can only continue in its folder; a task's attempts share one workspace."""
        args = (
            *("-p", "--output-format", "stream-json", "--verbose"),
            *self.permission_args(("--permission-mode", "acceptEdits")),
            *self.model_and_session_args(context, "--resume"),
        )
        return Command(self.build_argv(*args), context.prompt_file, _ENV)


def _read_tokens(usage: Json) -> Tokens:
    cached = get_count(usage, "cache_read_input_tokens")
    fresh = get_count(usage, "input_tokens") + get_count(usage, "cache_creation_input_tokens")
    return Tokens(fresh + cached, get_count(usage, "output_tokens"), cached)
