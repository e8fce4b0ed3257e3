"""`aider`: Aider. It prints text, and exits 0 however it ended: what its provider refused is among the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.agents.failures import killed, outcome
from plait.agents.listening import Listening
from plait.agents.model import Activity, Brief, Command, Doing, Listener, Reports, Signal, Used
from plait.agents.plain import plain
from plait.agents.prices import Tokens
from plait.agents.tools.events import Error, doing, failed, micro
from plait.agents.tools.providers import error, refused
from plait.agents.tools.routed import Routed
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_WORDS = (
    *("--no-auto-commits", "--no-dirty-commits", "--no-gitignore"),  # a commit is plait's to make
    *("--no-analytics", "--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"),
    *("--no-pretty", "--no-fancy-input", "--no-detect-urls", "--disable-playwright"),
)
# It keeps what it knows of the code in the workspace, and nothing says it should not: a folder that ignores itself is
# in nobody's commit.
_CACHE = ".aider.tags.cache.v4"
_BEGIN = f"""mkdir -p {_CACHE} && echo '*' > {_CACHE}/.gitignore; exec "$@\""""
_COMPLAINT = re.compile(r"litellm\.\w+: ")
_ADVICE = re.compile(r"The API provider|Retrying in |https?://|$")
_RETRY = re.compile(r"Retrying in (?P<seconds>\d+(?:\.\d+)?) seconds")
_TOKENS = re.compile(r"Tokens: (?P<sent>.*?), (?P<got>[\d.,]+[kM]?) received\.(?P<cost>.*)")
_NUMBER = re.compile(r"(?P<number>\d[\d.,]*)(?P<unit>[kM]?) (?P<what>sent|cache write|cache hit)")
_COST = re.compile(r"\$(?P<cost>\d+(?:\.\d+)?) session")
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}
_TOO_LONG = re.compile(r"Model \S+ has hit a token limit!")
_EDITED = re.compile(r"Applied edit to (?P<file>.+)")
_EMPTY = "Empty response received from LLM"
_NO_KEY = "No LLM model was specified and no API keys were provided"
_LONGEST = 2000  # characters of a complaint


class Aider(Routed):
    program = "aider"
    told = Reports.TOKENS

    def command(self, brief: Brief) -> Command:
        """Its histories are put beside the transcript: what lies in the workspace becomes part of the change."""
        words = (
            *("--message-file", brief.prompt_file),
            *self.choice(brief),
            *self.permit(("--yes-always",), ("--yes-always", "--no-suggest-shell-commands")),
            *("--chat-history-file", f"{brief.folder}/aider.chat.md"),
            *("--input-history-file", f"{brief.folder}/aider.input"),
            *_WORDS,
        )
        return Command(("sh", "-c", _BEGIN, "sh", *self.argv(*words)))

    def listen(self, before: Spend = NO_SPEND) -> Listener:  # noqa: ARG002 - it has no sessions
        return _Heard(self)


class _Heard(Listening):
    def __init__(self, tool: Aider) -> None:
        super().__init__(words=True)
        self._tool = tool
        self._error: Error | None = None
        self._open = False  # whether a complaint goes on in the next line
        self._answered = False
        self._spend = NO_SPEND
        self._tokens = Tokens()

    def hear(self, line: str) -> Sequence[Signal]:
        told = plain(line)
        return (*self._read(told), *self._shown(line, told))

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        if killed(code):
            ended = outcome(code, tail)
        elif self._error is not None:
            ended = failed(code, self._error, said_at)
        elif code or self._answered:
            ended = outcome(code, tail, said_at=said_at, words=True)
        else:
            ended = Outcome(Category.TASK, code, "it ended without an answer of its model")
        return replace(ended, spend=self._spend)

    def _shown(self, line: str, told: str) -> Sequence[Signal]:
        edited = _EDITED.fullmatch(told)
        if edited:
            return (Activity(f"editing {edited['file']}", Doing.EDITS),)
        return super().hear(line)

    def _read(self, told: str) -> Iterator[Signal]:
        if _COMPLAINT.match(told):
            self._error, self._open = error(told), True
        elif self._open and self._error is not None and not _ADVICE.match(told):
            self._error = error(f"{self._error.said} {told}"[:_LONGEST])  # it breaks its lines
        else:
            self._open = False
            yield from self._other(told)

    def _other(self, told: str) -> Iterator[Signal]:
        if (again := _RETRY.match(told)) and self._error is not None:
            yield from refused(self._error.said, after=float(again["seconds"]))
            yield from doing(told, Doing.WAITS)
        elif told.startswith("Tokens: ") and (spent := _TOKENS.match(told)):
            yield from self._spent(spent)
        elif _TOO_LONG.match(told):
            self._error = Error(told, category=Category.CONTEXT)
        elif told.startswith(_EMPTY):
            self._error = Error(told, category=Category.EMPTY)
        elif told.startswith(_NO_KEY):
            self._error = Error(told, category=Category.AUTH)  # it now waits for somebody at a browser

    def _spent(self, found: re.Match[str]) -> Iterator[Signal]:
        told = {one["what"]: _number(one["number"], one["unit"]) for one in _NUMBER.finditer(found["sent"])}
        hit = told.get("cache hit", 0)
        got = _number(found["got"].rstrip("kM"), found["got"].lstrip("0123456789.,"))
        read = told.get("sent", 0) + told.get("cache write", 0) + hit
        self._tokens += Tokens(read, got, hit)
        cost = _COST.search(found["cost"])
        self._spend = self._spend.at_least(
            self._tool.spent(micro(float(cost["cost"])) if cost else 0, self._tokens)
        )
        if got:
            self._error, self._answered = None, True
        yield Used(self._spend)


def _number(said: str, unit: str) -> int:
    try:
        return min(round(float(said.replace(",", "")) * _UNITS[unit]), 10**12)
    except (ValueError, OverflowError, KeyError):
        return 0
