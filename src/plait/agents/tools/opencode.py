"""`opencode`: OpenCode, which speaks to many providers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import dumps

from plait.agents.model import Brief, Command, Doing, Listener, Permission, Reports, Signal
from plait.agents.plain import plain
from plait.agents.prices import Tokens
from plait.agents.tools.doings import kind, using
from plait.agents.tools.events import Error, Events, Json, count, doing, micro, sub
from plait.agents.tools.providers import error
from plait.agents.tools.routed import Routed
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
)
# Beside a person's own settings, which stay as they are.
_EDITS = dumps({"edit": "allow", "bash": "deny", "webfetch": "deny", "external_directory": "deny"})
_BY_NAME = {
    "ProviderAuthError": Category.AUTH,
    "ContextOverflowError": Category.CONTEXT,
    "ProviderModelNotFoundError": Category.USAGE,
}
_ASKED = re.compile(r"permission requested: (?P<what>.{1,200}?); auto-rejecting")
_REJECTED = re.compile(r"rejected permission|prevents? you from using|denied by", re.IGNORECASE)
_BUSY = "database is locked"  # two that start at once where it was never run before: nobody's fault
_GONE = "Session not found"
_DEEDS = frozenset({Doing.EDITS, Doing.RUNS})


class OpenCode(Routed):
    program = "opencode"
    told = Reports.COST

    def command(self, brief: Brief) -> Command:
        """It would work where the variable `PWD` says it is, wherever that may be."""
        words = (
            *("run", "--format", "json", "--dir", brief.workspace),
            *self.choice(brief, "--session"),
            *self.permit(("--auto",), ()),
        )
        edits = self.spec.permission is Permission.EDITS
        env = (*_ENV, ("OPENCODE_PERMISSION", _EDITS)) if edits else _ENV
        return Command(self.argv(*words), brief.prompt_file, env)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(self, before)


class _Heard(Events):
    def __init__(self, tool: OpenCode, before: Spend) -> None:
        super().__init__(before, tool.may)
        self.deeds = 0
        self._tool = tool
        self._exact = False  # whether it was told what exactly was not allowed
        self._steps: set[str] = set()  # those that are counted
        self._cost = 0
        self._tokens = Tokens()

    def event(self, event: Json) -> Iterator[Signal]:
        yield from self.known(event.get("sessionID"))
        part = sub(event, "part")
        match event.get("type"):
            case "text":
                self.said = str(part.get("text") or "")
                yield from doing(self.said, Doing.SAYS)
            case "reasoning":
                yield from doing(part.get("text"), Doing.THINKS)
            case "tool_use":
                yield from self._use(part.get("tool"), sub(part, "state"))
            case "step_finish":
                yield from self._step(part)
            case "error":
                yield from self._failed(sub(event, "error"))
            case _:
                pass

    def text(self, line: str) -> Iterator[Signal]:
        found = _ASKED.search(plain(line))
        if found:
            self._deny(found["what"], exactly=True)
        elif _GONE in line:
            self.session = ""  # it must not be tried again
        elif self.session is None and plain(line) == _BUSY:
            self.error = Error(f"{_BUSY}: another one was just making it", category=Category.LOST)
        yield from super().text(line)

    def _use(self, tool: object, state: Json) -> Iterator[Signal]:
        why = state.get("error")
        if state.get("status") != "error":
            if kind(tool) in _DEEDS:
                self.did()
            yield from using(tool, sub(state, "input"), self.workspace)
        elif isinstance(why, str) and _REJECTED.search(why):
            self._deny(str(tool), exactly=False)
            yield from doing(f"{tool} was not allowed", Doing.FAILS)
        else:
            yield from doing(f"{tool} failed:", Doing.FAILS, why)

    def _deny(self, what: str, *, exactly: bool) -> None:
        """A refused tool ends the run, without a word of how it ended. What was asked for may be told beside."""
        self.finished = True
        if exactly and not self._exact:
            self.denied.clear()
        self._exact = self._exact or exactly
        if exactly is self._exact:
            self.denied.append(what)

    def _step(self, part: Json) -> Iterator[Signal]:
        name = part.get("id")
        if name not in self._steps:
            self._count(part)
        if isinstance(name, str):
            self._steps.add(name)
        if part.get("reason") != "tool-calls":
            self.finished = True
            self.error = None
        yield from self.used(self._tool.spent(self._cost, self._tokens))

    def _count(self, part: Json) -> None:
        tokens, cache = sub(part, "tokens"), sub(part, "tokens", "cache")
        cached = count(cache, "read")
        read = count(tokens, "input") + cached + count(cache, "write")
        self._cost += micro(part.get("cost"))
        self._tokens += Tokens(read, count(tokens, "output") + count(tokens, "reasoning"), cached)

    def _failed(self, told: Json) -> Iterator[Signal]:
        name, data = told.get("name"), sub(told, "data")
        said = data.get("message")
        words = said if isinstance(said, str) and said else str(name)
        wait = sub(data, "responseHeaders").get("retry-after")
        failed = error(words, count(data, "statusCode") or None, wait if isinstance(wait, str) else "")
        plainly = _BY_NAME.get(name) if isinstance(name, str) else None
        self.error = Error(failed.said, failed.status, plainly, failed.otherwise)
        yield from doing(words, Doing.FAILS)
