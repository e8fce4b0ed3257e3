"""`claude`: Claude Code. It tells all it does as events, what it cost, and when its provider refuses.

Its exit status is right about failures, but not about what it was not allowed to do; `subtype` says success of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.agents.model import (
    Activity,
    Brief,
    Command,
    Doing,
    Listener,
    Refused,
    Reports,
    Signal,
)
from plait.agents.prices import Tally, Tokens
from plait.agents.tools.doings import Uses, asks, kind, question
from plait.agents.tools.events import Error, Json, count, doing, micro, sub
from plait.agents.tools.tool import Tool
from plait.agents.tools.words import otherwise
from plait.agents.waits import NO_WAIT, Wait
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    # Some eight seconds: a short burst costs nothing, and the long waits are plait's. Left alone it tries for minutes,
    # with a key that is wrong, too.
    ("CLAUDE_CODE_MAX_RETRIES", "4"),
)
# What it calls its errors, for those whose words tell nothing.
_TAGS: Mapping[str, Category] = {
    "authentication_failed": Category.AUTH,
    "oauth_org_not_allowed": Category.AUTH,
    "billing_error": Category.QUOTA,
    "rate_limit": Category.RATE_LIMIT,
    "overloaded": Category.OVERLOADED,
    "server_error": Category.OVERLOADED,
    "model_not_found": Category.USAGE,
}
_ENDS: Mapping[object, str] = {
    "error_max_turns": "it used up the turns that its arguments allow it",
    "error_max_budget_usd": "it used up the money that its arguments allow it",
}
_ROOT = "cannot be used with root"
_GONE = "No conversation found"


class Claude(Tool):
    program = "claude"
    maker = "anthropic"
    told = Reports.COST

    def command(self, brief: Brief) -> Command:
        """A session goes on only in the folder it began in; a task's attempts have one workspace."""
        words = ["-p", "--output-format", "stream-json", "--verbose"]
        words += self.permit(("--dangerously-skip-permissions",), ("--permission-mode", "acceptEdits"))
        return Command(self.argv(*words, *self.choice(brief, "--resume")), brief.prompt_file, _ENV)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(self, before)


class _Heard(Uses):
    exit_counts = True
    last_word = '{"type":"result"'

    def __init__(self, tool: Claude, before: Spend) -> None:
        super().__init__(before, tool.may)
        self._tool = tool
        self._asked = Tally()
        self._tag = ""
        self._limit = NO_WAIT
        self._uses: set[str] = set()  # the deeds, by their names

    def event(self, event: Json) -> Iterator[Signal]:
        yield from self.known(event.get("session_id"))
        match event.get("type"):
            case "system":
                yield from self._system(event)
            case "assistant":
                yield from self._message(event)
            case "rate_limit_event":
                yield from self._limited(sub(event, "rate_limit_info"))
            case "result":
                yield from self._result(event)
            case _:
                pass

    def text(self, line: str) -> Iterator[Signal]:
        if _ROOT in line:
            self.error = Error(
                "it refuses to do everything unasked as root: set IS_SANDBOX=1 if this machine is a sandbox, or"
                ' [agents.permissions] claude = "edits"',
                category=Category.USAGE,
            )
        elif line.startswith(_GONE):
            self.gone = True
        yield from super().text(line)

    def _system(self, event: Json) -> Iterator[Signal]:
        match event.get("subtype"):
            case "init":
                self.workspace = str(event.get("cwd") or "")
            case "api_retry":
                yield from self._retry(event)
            case "permission_denied":
                self._deny(event)
            case "compact_boundary":
                yield Activity("summing up what was said so far", Doing.THINKS)
            case _:
                pass

    def _retry(self, event: Json) -> Iterator[Signal]:
        status, seconds = count(event, "error_status"), count(event, "retry_delay_ms") / 1000
        if status == 429 or event.get("error") == "rate_limit":
            yield Refused(Wait(after=seconds))
        why = f"status {status}" if status else "no connection"
        tries = f"{count(event, 'attempt')} of {count(event, 'max_retries')}"
        yield from doing(f"waiting {seconds:.0f}s for the provider ({why}), try {tries}", Doing.WAITS)

    def _limited(self, told: Json) -> Iterator[Signal]:
        """It tells of every change of its limits; most are none."""
        if told.get("status") == "rejected":
            at = count(told, "resetsAt")
            self._limit = Wait(at=float(at)) if at else NO_WAIT
            yield Refused(self._limit)

    def _message(self, event: Json) -> Iterator[Signal]:
        message = sub(event, "message")
        self._tag = str(event.get("error") or "")
        for part in message.get("content") or ():
            yield from self.part(sub(part))
        usage = sub(message, "usage")
        if usage:
            tokens = self._asked.take(message.get("id"), _tokens(usage))
            yield from self.rising(self._tool.spend(tokens, str(message.get("model") or "")))

    def part(self, part: Json) -> Iterator[Signal]:
        if part.get("type") == "tool_use" and kind(part.get("name")) in {Doing.EDITS, Doing.RUNS}:
            self._uses.add(str(part.get("id")))
        yield from super().part(part)

    def _deny(self, denial: Json) -> None:
        if asks(denial.get("tool_name")):  # nobody was there to be asked
            self.question = question(sub(denial, "tool_input")) if self.idle else None
            return
        self.denied.append(str(denial.get("tool_name") or "a tool"))
        self._uses.discard(str(denial.get("tool_use_id")))
        self.deeds = len(self._uses)

    def _result(self, event: Json) -> Iterator[Signal]:
        self.finished, self.error = True, None
        said, end = event.get("result"), event.get("subtype")
        self.said = said if isinstance(said, str) else self.said
        for denial in event.get("permission_denials") or ():
            self._deny(sub(denial))
        if event.get("is_error") is True or str(end).startswith("error"):
            self.error = self._failure(event, end)
            yield from doing(self.error.said, Doing.FAILS)
        yield from self.used(self._spent(event))

    def _failure(self, event: Json, end: object) -> Error:
        errors = event.get("errors")
        told = [one for one in errors if isinstance(one, str)] if isinstance(errors, list) else []
        words = "; ".join(told) or (self.said if "result" in event else "") or str(end)
        self.gone = self.gone or words.startswith(_GONE)
        if end in _ENDS:
            return Error(f"{_ENDS[end]}: {words}", category=Category.TASK)
        long = event.get("terminal_reason") == "prompt_too_long"
        return Error(
            words,
            count(event, "api_error_status") or None,
            Category.CONTEXT if long else None,
            _TAGS.get(self._tag) or otherwise(words),
            self._limit,
        )

    def _spent(self, event: Json) -> Spend:
        """By model where it tells them: helpers that it started are among those."""
        by_model = sub(event, "modelUsage").values()
        names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        tokens = sum(count(sub(used), name) for used in by_model for name in names)
        return Spend(micro(event.get("total_cost_usd")), tokens or _tokens(sub(event, "usage")).all)


def _tokens(usage: Json) -> Tokens:
    cached = count(usage, "cache_read_input_tokens")
    fresh = count(usage, "input_tokens") + count(usage, "cache_creation_input_tokens")
    return Tokens(fresh + cached, count(usage, "output_tokens"), cached)
