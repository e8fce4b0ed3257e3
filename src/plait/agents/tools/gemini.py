"""`gemini`: Gemini CLI. It exits with its provider's status of HTTP, as far as that fits into a byte.

What its provider refuses, it tells as text beside its events: how often it tried, and when it will again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from plait.agents.complaints import judged
from plait.agents.model import Brief, Command, Doing, Listener, Refused, Reports, Signal
from plait.agents.prices import Tokens
from plait.agents.tools.doings import Uses
from plait.agents.tools.events import Error, Json, count, doing, sub
from plait.agents.tools.tool import Tool
from plait.agents.tools.words import MISREAD, api_error, otherwise, unwrapped
from plait.agents.waits import Wait
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ("GEMINI_CLI_NO_RELAUNCH", "true"),  # a second process does nothing but keep signals from the first
)
_STATUSES = range(144, 256)  # exit statuses that are 400 and more, less 256
_EXITS: Mapping[int, tuple[Category, str]] = {
    41: (Category.AUTH, "nobody is logged in"),
    42: (Category.USAGE, "it does not understand its arguments or its input"),
    44: (Category.USAGE, "its sandbox can't be used"),
    52: (Category.USAGE, "its settings are wrong"),
    53: (Category.TASK, "it used up the turns that its settings allow it"),
    55: (Category.USAGE, "it does not trust the folder"),
}
_RETRIES = re.compile(r"Attempt (?P<n>\d+) failed(?: with status (?P<status>\d{3}))?[.:]? ?(?P<why>.*)")
_AGAIN = re.compile(r"Retrying after (?P<ms>\d{1,9})ms")
_NOISE = re.compile(
    r"Warning: (?:Basic terminal|256-color|True color)|YOLO mode is enabled|Ripgrep is not available|\[STARTUP\]"
    r"|Loaded cached credentials|Suggested retry after|\s+(?:at |\w+:|\[\w+\]:)|\s*[\]}]|Skill conflict"
)
_GONE = "Error resuming session"
_LONGEST = 4000  # characters of a message that are kept


class Gemini(Tool):
    program = "gemini"
    maker = "google"
    told = Reports.TOKENS

    def command(self, brief: Brief) -> Command:
        words = ("--output-format=stream-json", *self.permit(("--yolo",), ("--approval-mode=auto_edit",)))
        return Command(self.argv(*words, *self.choice(brief, "--resume")), brief.prompt_file, _ENV)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(self, before)


class _Heard(Uses):
    exit_counts = True

    def __init__(self, tool: Gemini, before: Spend) -> None:
        super().__init__(before, tool.may)
        self._tool = tool
        self._model = ""
        self._goes_on = False  # a message comes in pieces
        self._complained = ""
        self._failing = ""
        self._opening = ""  # the first line that is no noise

    def event(self, event: Json) -> Iterator[Signal]:
        going_on, self._goes_on = self._goes_on, False
        match event.get("type"):
            case "init":
                self._model = str(event.get("model") or "")
                yield from self.known(event.get("session_id"))
            case "message" if event.get("role") == "assistant":
                self._goes_on = True
                before = self.said if going_on else ""
                self.said = (before + str(event.get("content") or ""))[-_LONGEST:]
                yield from doing(self.said, Doing.SAYS)
            case "tool_use":
                yield from self.use(event.get("tool_name"), sub(event, "parameters"))
            case "error":
                self._complained = str(event.get("message") or "")
                yield from doing(self._complained, Doing.FAILS)
            case "result":
                yield from self._result(event)
            case _:
                pass

    def text(self, line: str) -> Iterator[Signal]:
        tried = _RETRIES.match(line)
        if tried:
            self._failing = tried["why"]
        if tried or self._failing:
            yield from self._retry(line, int(tried["status"]) if tried and tried["status"] else None)
        if tried or _NOISE.match(line):
            return
        self._opening = self._opening or line.strip()
        if line.startswith(MISREAD):
            self.error = Error(line.strip(), category=Category.USAGE)
        elif line.startswith(_GONE):
            self.gone, self.error = True, Error(line.strip())
        yield from super().text(line)

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        """What it exits with may look like a signal: 408 less 256 is what a process leaves that used up its time."""
        if code in _STATUSES and self.error is not None:
            self.error = replace(self.error, status=code + 256)
            return super().end(1, tail, said_at)
        if code in _EXITS and not self.gone:
            category, what = _EXITS[code]
            said = self.error.said if self.error else self._complained or self._opening
            self.error = Error(f"{what}: {said}" if said else what, category=category)
        return super().end(code, tail, said_at)

    def _retry(self, line: str, status: int | None) -> Iterator[Signal]:
        """A line says that it failed, or the one after it, when it will try again: so it does only for a limit."""
        again = _AGAIN.search(line)
        found = judged(self._failing, status)
        if again:
            seconds = int(again["ms"]) / 1000
            self._failing = ""
            yield Refused(Wait(after=seconds))
            yield from doing(f"waiting {seconds:.0f}s for the provider, which refuses for now", Doing.WAITS)
        elif "Retrying with backoff" in line:
            if found is not None and found.category is Category.RATE_LIMIT:
                yield Refused(found.wait)
            said, self._failing = unwrapped(self._failing.partition("... ")[2]), ""
            yield from doing("waiting to try again:", Doing.WAITS, said or f"status {status}")
        elif "Max attempts reached" in line:
            self._failing = ""

    def _result(self, event: Json) -> Iterator[Signal]:
        self.finished, self.error = True, None
        if event.get("status") not in {"success", None}:
            said = str(sub(event, "error").get("message") or self._complained or "it failed")
            words = api_error(said) or said
            self.error = Error(words, otherwise=otherwise(words))
            yield from doing(self.error.said, Doing.FAILS)
        yield from self.used(self._spent(sub(event, "stats")))

    def _spent(self, stats: Json) -> Spend:
        """By model: each has its price. What it thought is in the whole only, and paid for as what it wrote."""
        models = sub(stats, "models") or {self._model: stats}
        spent = NO_SPEND
        for model, used in models.items():
            read, written = count(sub(used), "input_tokens"), count(sub(used), "output_tokens")
            written = max(written, count(sub(used), "total_tokens") - read)
            spent += self._tool.spend(Tokens(read, written, count(sub(used), "cached")), model)
        return spent
