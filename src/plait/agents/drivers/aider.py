"""`aider`: Aider. It prints text and always exits 0; its text includes the errors of its provider."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.agents.drivers.base import CodingTool
from plait.agents.drivers.provider_errors import make_provider_error, report_refusal
from plait.agents.interface import (
    Activity,
    ActivityKind,
    AgentEvent,
    AttemptContext,
    Command,
    OutputParser,
    SpendUpdated,
)
from plait.agents.output_parser import PlainTextParser, ToolError, classify_failure, make_activity, to_microdollars
from plait.agents.plain_text import to_plain_text
from plait.agents.prices import Tokens
from plait.agents.table import AGENTS
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_FIXED_ARGS = (
    *("--no-auto-commits", "--no-dirty-commits", "--no-gitignore"),  # plait makes the commits
    *("--no-analytics", "--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"),
    *("--no-pretty", "--no-fancy-input", "--no-detect-urls", "--disable-playwright"),
)
# It always keeps a cache in the workspace: a folder that ignores itself stays out of commits.
_CACHE = ".aider.tags.cache.v4"
_PREPARE_CACHE_SCRIPT = f"""mkdir -p {_CACHE} && echo '*' > {_CACHE}/.gitignore; exec "$@\""""
_LITELLM_ERROR = re.compile(r"litellm\.\w+: .*")  # anywhere in a line: it follows what the model had said until then
_ERROR_END = re.compile(r"The API provider|Retrying in |https?://|Tokens: |Applied edit to |$")
_RETRY = re.compile(r"Retrying in (?P<seconds>\d+(?:\.\d+)?) seconds")
_TOKENS = re.compile(r"Tokens: (?P<sent>.*?), (?P<got>[\d.,]+[kM]?) received\.(?P<cost>.*)")
_NUMBER = re.compile(r"(?P<number>\d[\d.,]*)(?P<unit>[kM]?) (?P<what>sent|cache write|cache hit)")
_COST = re.compile(r"\$(?P<cost>\d+(?:\.\d+)?) session")
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}
_TOO_LONG = re.compile(r"Model \S+ has hit a token limit!")
_EDIT_APPLIED = re.compile(r"Applied edit to (?P<file>.+)")
_EMPTY = "Empty response received from LLM"
_NO_KEY = "No LLM model was specified and no API keys were provided"
_MAX_ERROR_CHARS = 2000


class Aider(CodingTool):
    info = AGENTS["aider"]

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command. Histories go to the attempt's folder: files in the workspace become part of the change."""
        args = (
            *("--message-file", context.prompt_file),
            *self.model_and_session_args(context),
            *self.permission_args(("--yes-always", "--no-suggest-shell-commands")),
            *("--chat-history-file", f"{context.folder}/aider.chat.md"),
            *("--input-history-file", f"{context.folder}/aider.input"),
            *_FIXED_ARGS,
        )
        return Command(("sh", "-c", _PREPARE_CACHE_SCRIPT, "sh", *self.build_argv(*args)))

    def create_parser(self, _before: Spend = NO_SPEND, /) -> OutputParser:
        return _AiderParser(self)


class _AiderParser(PlainTextParser):
    _error: ToolError | None = None
    _error_continues = False  # on the next line
    _answered = False
    _spend = NO_SPEND
    _tokens = Tokens()

    def __init__(self, tool: Aider) -> None:
        super().__init__(use_output=True)
        self._tool = tool

    def feed(self, line: str) -> Sequence[AgentEvent]:
        text = to_plain_text(line)
        edited = _EDIT_APPLIED.fullmatch(text)
        shown = (Activity(f"editing {edited['file']}", ActivityKind.EDITS),) if edited else super().feed(line)
        return (*self._read_line(line, text), *shown)

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        ended = classify_failure(code, tail, printed_at, self._error)
        if ended is None and not self._answered:
            ended = Outcome(Category.TASK, code, "it exited without an answer from its model")
        return replace(ended or Outcome(Category.OK, code), spend=self._spend)

    def _read_line(self, line: str, text: str) -> Iterator[AgentEvent]:
        if error := _LITELLM_ERROR.search(line):
            self._error, self._error_continues = make_provider_error(to_plain_text(error[0])), True
        elif self._error_continues and self._error is not None and not _ERROR_END.match(text):
            self._error = make_provider_error(f"{self._error.message} {text}"[:_MAX_ERROR_CHARS])  # it wraps lines
        else:
            self._error_continues = False
            yield from self._read_other_line(text)

    def _read_other_line(self, text: str) -> Iterator[AgentEvent]:
        if (again := _RETRY.match(text)) and self._error is not None:
            yield from report_refusal(self._error.message, after=float(again["seconds"]))
            yield from make_activity(text, ActivityKind.WAITS)
        elif text.startswith("Tokens: ") and (spent := _TOKENS.match(text)):
            yield from self._read_usage(spent)
        elif _TOO_LONG.match(text):
            self._error = ToolError(text, category=Category.CONTEXT)
        elif text.startswith(_EMPTY):
            self._error = ToolError(text, category=Category.EMPTY)
        elif text.startswith(_NO_KEY):
            self._error = ToolError(text, category=Category.AUTH)  # it waits for a login in a browser

    def _read_usage(self, match: re.Match[str]) -> Iterator[AgentEvent]:
        counts = {one["what"]: _parse_number(one["number"], one["unit"]) for one in _NUMBER.finditer(match["sent"])}
        hit = counts.get("cache hit", 0)
        got = _parse_number(match["got"].rstrip("kM"), match["got"].lstrip("0123456789.,"))
        read = counts.get("sent", 0) + counts.get("cache write", 0) + hit
        self._tokens += Tokens(read, got, hit)
        cost = _COST.search(match["cost"])
        self._spend = self._spend.at_least(
            self._tool.compute_reported_spend(to_microdollars(float(cost["cost"])) if cost else 0, self._tokens)
        )
        if got:
            self._error, self._answered = None, True
        yield SpendUpdated(self._spend)


def _parse_number(text: str, unit: str) -> int:
    try:
        return min(round(float(text.replace(",", "")) * _UNITS[unit]), 10**12)
    except (ValueError, OverflowError, KeyError):
        return 0
