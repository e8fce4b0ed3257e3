"""`opencode`: OpenCode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from json import dumps

from plait.agents.drivers.activity_labels import describe_tool_use
from plait.agents.drivers.base import CodingTool, ToolUseParser
from plait.agents.drivers.provider_errors import make_provider_error
from plait.agents.interface import ActivityKind, AgentEvent, AttemptContext, Command
from plait.agents.output_parser import Json, ToolError, get_count, get_object, get_text, make_activity, to_microdollars
from plait.agents.plain_text import to_plain_text
from plait.agents.prices import Tokens
from plait.agents.table import AGENTS
from plait.config.agent_keys import Permission
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
)
# In addition to the user's own settings.
_EDIT_PERMISSIONS = dumps({"edit": "allow", "bash": "deny", "webfetch": "deny", "external_directory": "deny"})
_CATEGORY_BY_ERROR = {
    "ProviderAuthError": Category.AUTH,
    "ContextOverflowError": Category.CONTEXT,
    "ProviderModelNotFoundError": Category.USAGE,
}
_PERMISSION_REQUEST = re.compile(r"permission requested: (?P<what>.{1,200}?); auto-rejecting")
_REJECTED = re.compile(r"rejected permission|prevents? you from using|denied by", re.IGNORECASE)
_DATABASE_LOCKED = "database is locked"  # two first runs at the same time
_SESSION_GONE = "Session not found"


class _OpenCodeParser(ToolUseParser):
    _exact = False  # whether a text line named what was denied
    _cost = 0
    _tokens = Tokens()

    def __init__(self, tool: CodingTool, before: Spend = NO_SPEND) -> None:
        super().__init__(tool, before)
        self._steps: set[str] = set()  # already counted

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        yield from self.update_session(event.get("sessionID"))
        part = get_object(event, "part")
        match event.get("type"):
            case "text":
                yield from self.report_message(part.get("text"))
            case "reasoning":
                yield from make_activity(part.get("text"), ActivityKind.THINKS)
            case "tool_use":
                yield from self._handle_tool_use(part.get("tool"), get_object(part, "state"))
            case "step_finish":
                yield from self._handle_step(part)
            case "error":
                yield from self._handle_error(get_object(event, "error"))
            case _:
                pass

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        match = _PERMISSION_REQUEST.search(to_plain_text(line))
        if match:
            self._record_denial(match["what"], exactly=True)
        elif _SESSION_GONE in line:
            self.session_gone = True
        elif self.session is None and to_plain_text(line) == _DATABASE_LOCKED:
            self.error = ToolError(f"{_DATABASE_LOCKED}: another run was creating it", category=Category.LOST)
        yield from super().handle_text(line)

    def _handle_tool_use(self, tool: object, state: Json) -> Iterator[AgentEvent]:
        why = state.get("error")
        if state.get("status") != "error":
            yield from self.handle_tool_result(tool)
            yield from describe_tool_use(tool, get_object(state, "input"), self.workspace)
        elif isinstance(why, str) and _REJECTED.search(why):
            self._record_denial(str(tool), exactly=False)
            yield from make_activity(f"{tool} was not allowed", ActivityKind.FAILS)
        else:
            yield from make_activity(f"{tool} failed:", ActivityKind.FAILS, why)

    def _record_denial(self, what: str, *, exactly: bool) -> None:
        """Record a denied tool, which ends the run without a result. If a text line names exactly what was asked for,
        only such lines count.
        """
        self.finished = True
        if exactly and not self._exact:
            self.denied.clear()
        self._exact = self._exact or exactly
        if exactly is self._exact:
            self.denied.append(what)

    def _handle_step(self, part: Json) -> Iterator[AgentEvent]:
        name = part.get("id")
        if name not in self._steps:
            self._count_usage(part)
        if isinstance(name, str):
            self._steps.add(name)
        if part.get("reason") != "tool-calls":
            self.report_success()
        yield from self.report_spend(self.tool.compute_reported_spend(self._cost, self._tokens))

    def _count_usage(self, part: Json) -> None:
        tokens, cache = get_object(part, "tokens"), get_object(part, "tokens", "cache")
        cached = get_count(cache, "read")
        read = get_count(tokens, "input") + cached + get_count(cache, "write")
        self._cost += to_microdollars(part.get("cost"))
        self._tokens += Tokens(read, get_count(tokens, "output") + get_count(tokens, "reasoning"), cached)

    def _handle_error(self, error: Json) -> Iterator[AgentEvent]:
        data = get_object(error, "data")
        message = get_text(data, "message") or str(error.get("name"))
        wait = get_text(get_object(data, "responseHeaders"), "retry-after")
        failed = make_provider_error(message, get_count(data, "statusCode") or None, wait)
        self.error = replace(failed, category=_CATEGORY_BY_ERROR.get(get_text(error, "name")))
        yield from make_activity(message, ActivityKind.FAILS)


class OpenCode(CodingTool):
    info = AGENTS["opencode"]
    parser_type = _OpenCodeParser

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command. Without `--dir`, it works in the folder of the variable `PWD`."""
        args = (
            *("run", "--format", "json", "--dir", context.workspace),
            *self.model_and_session_args(context, "--session"),
            *self.permission_args(),
        )
        edits = self.spec.permission is Permission.EDITS
        env = (*_ENV, ("OPENCODE_PERMISSION", _EDIT_PERMISSIONS)) if edits else _ENV
        return Command(self.build_argv(*args), context.prompt_file, env)
