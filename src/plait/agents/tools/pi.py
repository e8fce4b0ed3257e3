"""`pi`: Pi. It exits 0 however it ended: the last message tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.agents.model import Brief, Command, Doing, Listener, Reports, Signal
from plait.agents.prices import Tokens
from plait.agents.tools.doings import kind, using
from plait.agents.tools.events import Error, Events, Json, count, doing, micro, sub
from plait.agents.tools.providers import error, refused
from plait.agents.tools.routed import Routed
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0"))  # offline: nothing but the model is asked
_EDITS = "read,edit,write,grep,find,ls"
_DEEDS = frozenset({Doing.EDITS, Doing.RUNS})
# Each tells the whole message so far, over and over.
_REPEATS = ('{"type":"message_update"', '{"type":"tool_execution_update"', '{"type":"turn_end"')
_NO_KEY = ("No API key found", "No models available")
_GONE = "No session found matching"
_LAST = '{"type":"agent_end"'  # with all messages: too long to be heard to its end


class Pi(Routed):
    program = "pi"
    told = Reports.COST

    def command(self, brief: Brief) -> Command:
        model = self.model(brief)
        words = (
            *("-p", "--mode", "json"),
            *(("--model", model) if model else ()),
            *(("--session", brief.session) if brief.session else ()),
            *self.permit((), ("--tools", _EDITS)),
        )
        return Command(self.argv(*words), brief.prompt_file, _ENV)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(self, before)


class _Heard(Events):
    def __init__(self, tool: Pi, before: Spend) -> None:
        super().__init__(before, tool.may)
        self.deeds = 0
        self._tool = tool
        self._uses: dict[str, object] = {}  # the tools at work, by call

    def hear(self, line: str) -> Sequence[Signal]:
        if line.startswith(_REPEATS):
            return ()
        if line.startswith(_LAST):
            self.finished = True
            return ()
        return super().hear(line)

    def text(self, line: str) -> Iterator[Signal]:
        if line.startswith(_GONE):
            self.session = ""  # it must not be tried again
        elif line.startswith(_NO_KEY):
            self.error = Error(line.strip(), category=Category.AUTH)
        yield from super().text(line)

    def event(self, event: Json) -> Iterator[Signal]:
        match event.get("type"):
            case "session":
                self.workspace = str(event.get("cwd") or "")
                yield from self.known(event.get("id"))
            case "message_end":
                yield from self._message(sub(event, "message"))
            case "tool_execution_start":
                self._uses[str(event.get("toolCallId"))] = event.get("toolName")
                yield from using(event.get("toolName"), sub(event, "args"), self.workspace)
            case "tool_execution_end":
                yield from self._used(event)
            case "auto_retry_start":
                yield from self._retry(event)
            case _:
                pass

    def _message(self, message: Json) -> Iterator[Signal]:
        if message.get("role") != "assistant":
            return
        yield from self._spent(message)
        said = message.get("errorMessage")
        if message.get("stopReason") in {"error", "aborted"}:
            self.error = error(said if isinstance(said, str) and said else "its model gave no answer")
            yield from doing(said, Doing.FAILS)
            return
        self.error = None
        content = message.get("content")
        texts = [sub(part) for part in content] if isinstance(content, list) else []
        self.said = "\n".join(str(part.get("text") or "") for part in texts if part.get("type") == "text")
        yield from doing(self.said, Doing.SAYS)

    def _spent(self, message: Json) -> Iterator[Signal]:
        usage = sub(message, "usage")
        cached = count(usage, "cacheRead")
        tokens = Tokens(
            count(usage, "input") + cached + count(usage, "cacheWrite"), count(usage, "output"), cached
        )
        cost = micro(sub(usage, "cost").get("total"))
        model = message.get("model")
        now = self._tool.spent(cost, tokens, model if isinstance(model, str) else "")
        yield from self.used(self.spend + now)

    def _used(self, event: Json) -> Iterator[Signal]:
        name = self._uses.pop(str(event.get("toolCallId")), event.get("toolName"))
        if event.get("isError"):
            yield from doing(f"{name} failed", Doing.FAILS)
        elif kind(name) in _DEEDS:
            self.did()

    def _retry(self, event: Json) -> Iterator[Signal]:
        said = event.get("errorMessage")
        words = said if isinstance(said, str) else ""
        after = count(event, "delayMs") / 1000
        yield from refused(words, after=after or None)
        yield from doing(f"waiting {after:g} s:" if after else "waiting:", Doing.WAITS, words)
