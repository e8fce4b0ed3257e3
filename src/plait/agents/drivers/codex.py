"""`codex`: Codex. It counts tokens over a whole session, reports no cost, and waits endlessly for a network.

It also reports errors that it recovers from: only the last one counts, or a failed turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import dumps

from plait.agents.drivers.activity_labels import shorten_path, strip_shell
from plait.agents.drivers.base import CodingTool, ToolUseParser
from plait.agents.drivers.provider_errors import guess_category, unwrap_error
from plait.agents.error_patterns import classify_error
from plait.agents.interface import ActivityKind, AgentEvent, AttemptContext, Command, ProviderRefused
from plait.agents.output_parser import Json, ToolError, get_count, get_object, make_activity, spend_since
from plait.agents.prices import Tokens
from plait.agents.table import AGENTS
from plait.config.agent_keys import Permission
from plait.core.reports import Outcome
from plait.core.settings import Spend
from plait.core.status import Category

_RECONNECTS = re.compile(r"Reconnecting\.\.\. ?(?P<how>[^(]*?) ?\((?P<why>.*)\)", re.DOTALL)
_STATUS = re.compile(r"\bstatus:? ([45]\d\d)\b")
_LOG_LINE = re.compile(r"\d{4}-\d\d-\d\dT\S+ +(?:ERROR|WARN|INFO|DEBUG|TRACE)\b|WARNING: proceeding, even though")
_NOISE = ("Reading additional input from stdin", "Reading prompt from stdin")
_SESSION_GONE = "no rollout found for thread"
_USAGE_ERRORS = ("Not inside a trusted directory", "Error loading config")


class _CodexParser(ToolUseParser):
    trust_exit_status = True
    _reconnect_reason = ""

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        match event.get("type"):
            case "thread.started":
                yield from self.update_session(event.get("thread_id"))
            case "item.started" | "item.updated" | "item.completed":
                self._reconnect_reason = ""
                yield from self._handle_item(get_object(event, "item"), over=event.get("type") == "item.completed")
            case "error":
                yield from self._handle_error(str(event.get("message") or ""))
            case "turn.failed":
                yield from self.report_error(_parse_error(str(get_object(event, "error").get("message") or "")))
            case "turn.completed":
                self.report_success()
                self._reconnect_reason = ""
                yield from self.report_spend(self._read_spend(get_object(event, "usage")))
            case _:
                pass

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        if _SESSION_GONE in line:
            self.session_gone = True
        elif line.startswith(_USAGE_ERRORS):
            self.error = ToolError(line.strip(), category=Category.USAGE)
        if not line.startswith(_NOISE) and not _LOG_LINE.match(line):
            yield from super().handle_text(line)

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        if code and self.error is None and self._reconnect_reason:
            self.error = _parse_error(self._reconnect_reason)
        return super().finish(code, tail, printed_at)

    def _handle_error(self, text: str) -> Iterator[AgentEvent]:
        match = _RECONNECTS.fullmatch(text)
        if match is None:
            yield from self.report_error(_parse_error(text))
            return
        self._reconnect_reason = match["why"]
        error = _parse_error(match["why"])
        why = classify_error(error.message, error.status)
        if why is not None and why.category is Category.RATE_LIMIT:
            yield ProviderRefused(why.wait)
        yield from make_activity(f"reconnecting, {match['how'].strip()}: {error.message}", ActivityKind.WAITS)

    def _handle_item(self, item: Json, *, over: bool) -> Iterator[AgentEvent]:
        match item.get("type"):
            case "agent_message":
                yield from self.report_message(item.get("text"))
            case "reasoning":
                yield from make_activity(item.get("text"), ActivityKind.THINKS)
            case "command_execution":
                yield from self._handle_command(item, over=over)
            case "file_change":
                yield from self._handle_file_change(item, over=over)
            case "mcp_tool_call" if not over:
                self.record_change()
                yield from make_activity(f"using {item.get('tool')}", ActivityKind.USES)
            case "web_search":
                yield from make_activity("searching for", ActivityKind.SEARCHES, item.get("query"))
            case "todo_list":
                items = (get_object(one) for one in item.get("items") or ())
                current = next((one for one in items if one.get("completed") is False), None)
                yield from self.update_phase(current.get("text") if current else None)
            case _:
                pass

    def _handle_command(self, item: Json, *, over: bool) -> Iterator[AgentEvent]:
        text = strip_shell(str(item.get("command") or ""))
        if item.get("status") == "declined":
            self.denied.append("a shell")
            yield from make_activity("it was not allowed to run", ActivityKind.FAILS, text)
        elif not over:
            self.record_change()
            yield from make_activity("running", ActivityKind.RUNS, text)
        elif not self.changes_made:
            self.record_change()  # some commands are only reported at their end

    def _handle_file_change(self, item: Json, *, over: bool) -> Iterator[AgentEvent]:
        files = [shorten_path(str(get_object(one).get("path") or "")) for one in item.get("changes") or ()]
        if item.get("status") in {"failed", "declined"}:
            yield from make_activity("could not change", ActivityKind.FAILS, ", ".join(files))
            return
        self.record_change()
        if over:
            yield from make_activity("editing", ActivityKind.EDITS, ", ".join(files))

    def _read_spend(self, usage: Json) -> Spend:
        """Return this attempt's spend: the session's total, less what it had spent before."""
        counts = (get_count(usage, name) for name in ("input_tokens", "output_tokens", "cached_input_tokens"))
        return spend_since(self.tool.compute_spend(Tokens(*counts)), self.before)


class Codex(CodingTool):
    info = AGENTS["codex"]
    parser_type = _CodexParser

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command. The settings' arguments come before the subcommand, which knows fewer of them."""
        args = (
            *("exec", "--json", "--skip-git-repo-check", "-c", "analytics.enabled=false"),
            *self.permission_args(("--sandbox", "workspace-write")),
            *self._trust_args(context.workspace),
            *self.model_and_session_args(context),
        )
        resume = ("resume", context.session) if context.session else ()
        return Command((*self.build_argv(*args), *resume, "-"), context.prompt_file)

    def _trust_args(self, workspace: str) -> tuple[str, ...]:
        """Trust the workspace by arguments, or the tool adds each of its folders to the user's settings."""
        if self.spec.permission is Permission.OWN or not workspace.isprintable():
            return ()
        key = dumps(workspace, ensure_ascii=False)  # a JSON string is a TOML string
        return ("-c", f'projects={{{key}={{trust_level="trusted"}}}}')


def _parse_error(text: str) -> ToolError:
    match = _STATUS.search(text)
    return ToolError(unwrap_error(text), int(match[1]) if match else None, fallback=guess_category(text))
