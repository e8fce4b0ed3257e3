"""`gemini`: Gemini CLI. Its exit status is the provider's HTTP status modulo 256.

It reports refusals of the provider as text beside its events: the number of tries, and when it will retry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from plait.agents.drivers.base import CodingTool, ToolUseParser
from plait.agents.drivers.provider_errors import USAGE_ERROR_PREFIXES, extract_api_error, guess_category, unwrap_error
from plait.agents.error_patterns import classify_error
from plait.agents.interface import ActivityKind, AgentEvent, AttemptContext, Command, ProviderRefused
from plait.agents.output_parser import Json, ToolError, get_count, get_object, make_activity
from plait.agents.prices import Tokens
from plait.agents.retry_after import RetryAfter
from plait.agents.table import AGENTS
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ("GEMINI_CLI_NO_RELAUNCH", "true"),  # a wrapper process would keep signals from it
)
_HTTP_EXIT_STATUSES = range(144, 256)  # 400 to 511, less 256
_EXIT_MEANINGS: Mapping[int, tuple[Category, str]] = {
    41: (Category.AUTH, "it is not logged in"),
    42: (Category.USAGE, "it does not understand its arguments or its input"),
    44: (Category.USAGE, "its sandbox can't be used"),
    52: (Category.USAGE, "its settings are wrong"),
    53: (Category.TASK, "it reached the turn limit of its settings"),
    55: (Category.USAGE, "it does not trust the folder"),
}
_ATTEMPT_FAILED = re.compile(r"Attempt (?P<n>\d+) failed(?: with status (?P<status>\d{3}))?[.:]? ?(?P<why>.*)")
_RETRY_AFTER = re.compile(r"Retrying after (?P<ms>\d{1,9})ms")
_NOISE = re.compile(
    r"Warning: (?:Basic terminal|256-color|True color)|YOLO mode is enabled|Ripgrep is not available|\[STARTUP\]"
    r"|Loaded cached credentials|Suggested retry after|\s+(?:at |\w+:|\[\w+\]:)|\s*[\]}]|Skill conflict"
)
_SESSION_GONE = "Error resuming session"
_MAX_MESSAGE_CHARS = 4000


class _GeminiParser(ToolUseParser):
    trust_exit_status = True
    _model = ""
    _message_continues = False  # messages come in pieces
    _last_error = ""
    _retry_reason = ""
    _first_line = ""  # the first line that is no noise

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        going_on, self._message_continues = self._message_continues, False
        match event.get("type"):
            case "init":
                self._model = str(event.get("model") or "")
                yield from self.update_session(event.get("session_id"))
            case "message" if event.get("role") == "assistant":
                self._message_continues = True
                before = self.last_message if going_on else ""
                yield from self.report_message((before + str(event.get("content") or ""))[-_MAX_MESSAGE_CHARS:])
            case "tool_use":
                yield from self.handle_tool_use(event.get("tool_name"), get_object(event, "parameters"))
            case "error":
                self._last_error = str(event.get("message") or "")
                yield from make_activity(self._last_error, ActivityKind.FAILS)
            case "result":
                yield from self._handle_result(event)
            case _:
                pass

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        tried = _ATTEMPT_FAILED.match(line)
        if tried:
            self._retry_reason = tried["why"]
        if tried or self._retry_reason:
            yield from self._handle_retry(line, int(tried["status"]) if tried and tried["status"] else None)
        if tried or _NOISE.match(line):
            return
        self._first_line = self._first_line or line.strip()
        if line.startswith(USAGE_ERROR_PREFIXES):
            self.error = ToolError(line.strip(), category=Category.USAGE)
        elif line.startswith(_SESSION_GONE):
            self.session_gone, self.error = True, ToolError(line.strip())
        yield from super().handle_text(line)

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        """Return the outcome, by the tool's exit statuses first: some look like signals (408 - 256 is that of SIGXCPU)."""
        if code in _HTTP_EXIT_STATUSES and self.error is not None:
            self.error = replace(self.error, status=code + 256)
            return super().finish(1, tail, printed_at)
        if code in _EXIT_MEANINGS and not self.session_gone:
            category, what = _EXIT_MEANINGS[code]
            text = self.error.message if self.error else self._last_error or self._first_line
            self.error = ToolError(f"{what}: {text}" if text else what, category=category)
        return super().finish(code, tail, printed_at)

    def _handle_retry(self, line: str, status: int | None) -> Iterator[AgentEvent]:
        """Report a refusal. A failed try and its delay are on one line or two; a delay is only given for a rate limit."""
        again = _RETRY_AFTER.search(line)
        match = classify_error(self._retry_reason, status)
        if again:
            seconds = int(again["ms"]) / 1000
            self._retry_reason = ""
            yield ProviderRefused(RetryAfter(after=seconds))
            yield from make_activity(
                f"waiting {seconds:.0f}s for the provider, which refuses for now", ActivityKind.WAITS
            )
        elif "Retrying with backoff" in line:
            if match is not None and match.category is Category.RATE_LIMIT:
                yield ProviderRefused(match.wait)
            text, self._retry_reason = unwrap_error(self._retry_reason.partition("... ")[2]), ""
            yield from make_activity("waiting to try again:", ActivityKind.WAITS, text or f"status {status}")
        elif "Max attempts reached" in line:
            self._retry_reason = ""

    def _handle_result(self, event: Json) -> Iterator[AgentEvent]:
        self.report_success()
        if event.get("status") not in {"success", None}:
            text = str(get_object(event, "error").get("message") or self._last_error or "it failed")
            message = extract_api_error(text) or text
            yield from self.report_error(ToolError(message, fallback=guess_category(message)))
        yield from self.report_spend(self._read_spend(get_object(event, "stats")))

    def _read_spend(self, stats: Json) -> Spend:
        """Read the spend by model. Thoughts are only in the total, and cost as much as output."""
        models = get_object(stats, "models") or {self._model: stats}
        spent = NO_SPEND
        for model in models:
            used = get_object(models, model)
            read = get_count(used, "input_tokens")
            written = max(get_count(used, "output_tokens"), get_count(used, "total_tokens") - read)
            spent += self.tool.compute_spend(Tokens(read, written, get_count(used, "cached")), model)
        return spent


class Gemini(CodingTool):
    info = AGENTS["gemini"]
    parser_type = _GeminiParser

    def build_command(self, context: AttemptContext) -> Command:
        args = (
            "--output-format=stream-json",
            *self.permission_args(("--approval-mode=auto_edit",)),
            *self.model_and_session_args(context, "--resume"),
        )
        return Command(self.build_argv(*args), context.prompt_file, _ENV)
