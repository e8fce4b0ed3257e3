"""`qwen`: Qwen Code. It always reports success: an answer that failed ends with `[API Error: …]`.

A session is counted as a whole; a rate limit is only reported when it gives up.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.drivers.base import CodingTool, ToolUseParser
from plait.agents.drivers.provider_errors import USAGE_ERROR_PREFIXES, extract_api_error, guess_category
from plait.agents.interface import AgentEvent, AttemptContext, Command
from plait.agents.output_parser import Json, ToolError, get_count, get_object, get_text, spend_since
from plait.agents.prices import TokenCounter, Tokens
from plait.agents.table import AGENTS
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("QWEN_CODE_NO_RELAUNCH", "true"),  # a wrapper process would keep signals from it
    ("NO_BROWSER", "true"),
)
_SESSION_GONE = "No saved session found"


class _QwenParser(ToolUseParser):
    trust_exit_status = True
    result_prefix = '{"type":"result"'
    _model = ""
    _message_empty = False  # the model wrote nothing of the last message

    def __init__(self, tool: CodingTool, before: Spend = NO_SPEND) -> None:
        super().__init__(tool, before)
        self._token_counter = TokenCounter()

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        yield from self.update_session(event.get("session_id"))
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                self.workspace = str(event.get("cwd") or "")
                self._model = str(event.get("model") or "")
            case "assistant":
                yield from self._handle_message(get_object(event, "message"))
            case "result":
                yield from self._handle_result(event)
            case _:
                pass

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        self.session_gone = self.session_gone or line.startswith(_SESSION_GONE)
        if line.startswith(USAGE_ERROR_PREFIXES):
            self.error = ToolError(line.strip(), category=Category.USAGE)
        yield from super().handle_text(line)

    def _handle_message(self, message: Json) -> Iterator[AgentEvent]:
        for part in message.get("content") or ():
            yield from self.handle_part(get_object(part))
        asked = _read_tokens(get_object(message, "usage"))
        self._message_empty = not asked.output
        whole = self._token_counter.add(message.get("id"), asked)
        yield from self.report_growing_spend(self.tool.compute_spend(whole, self._model))

    def _handle_result(self, event: Json) -> Iterator[AgentEvent]:
        self.report_success()
        text = event.get("result")
        self.last_message = text if isinstance(text, str) else self.last_message
        for denial in event.get("permission_denials") or ():
            self.denied.append(str(get_object(denial).get("tool_name") or "a tool"))
        failure = self._read_failure(event)
        if failure is not None:
            yield from self.report_error(failure)
        whole = self.tool.compute_spend(_read_tokens(get_object(event, "usage")), self._model)
        yield from self.report_spend(spend_since(whole, self.before))

    def _read_failure(self, event: Json) -> ToolError | None:
        """Return the failure that the result reports, or None. An API error in the last message only counts if the
        message starts with it, or if the model wrote nothing: the model's own text may end like one.
        """
        api_error = extract_api_error(self.last_message)
        if api_error is not None and (self._message_empty or self.last_message.startswith("[API Error: ")):
            return ToolError(api_error, fallback=guess_category(api_error))
        failed = event.get("is_error") is True or str(event.get("subtype")).startswith("error")
        if not failed:
            return None
        message = get_text(get_object(event, "error"), "message") or self.last_message or "it failed"
        return ToolError(message, fallback=guess_category(message))


class Qwen(CodingTool):
    info = AGENTS["qwen"]
    parser_type = _QwenParser

    def build_command(self, context: AttemptContext) -> Command:
        args = (
            "--output-format=stream-json",
            *self.permission_args(("--approval-mode=auto-edit",)),
            *self.model_and_session_args(context, "--resume"),
        )
        return Command(self.build_argv(*args), context.prompt_file, _ENV)


def _read_tokens(usage: Json) -> Tokens:
    return Tokens(
        get_count(usage, "input_tokens"),
        get_count(usage, "output_tokens"),
        get_count(usage, "cache_read_input_tokens", "cached_input_tokens"),
    )
