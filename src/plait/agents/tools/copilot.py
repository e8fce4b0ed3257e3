"""`copilot`: GitHub Copilot CLI. It tells neither tokens nor money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.agents.model import Brief, Command, Doing, Listener, Reports, Signal
from plait.agents.tools.doings import kind, using
from plait.agents.tools.events import Error, Events, Json, count, doing, sub
from plait.agents.tools.providers import error, refused
from plait.agents.tools.tool import Tool
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (("COPILOT_AUTO_UPDATE", "false"),)
_NO_LOGIN = "No authentication information found"
_GONE = "No session, task, or name matched"
_DEEDS = frozenset({Doing.EDITS, Doing.RUNS})
_TYPES = {
    "rate_limit": Category.RATE_LIMIT,
    "quota": Category.QUOTA,
    "authentication": Category.AUTH,
    "authorization": Category.AUTH,
    "context_limit": Category.CONTEXT,
}
_PIECES = (
    '{"type":"assistant.message_delta"',
    '{"type":"assistant.tool_call_delta"',
    '{"type":"assistant.reasoning_delta"',
)


class Copilot(Tool):
    program = "copilot"
    maker = "github"
    told = Reports.NOTHING

    def command(self, brief: Brief) -> Command:
        """A session would go on in the folder that it began in: `-C` says where."""
        words = (
            *("-C", brief.workspace, "--output-format", "json", "--no-ask-user"),
            *self.choice(brief, "--resume"),
            *self.permit(("--allow-all",), ("--allow-tool=write",)),
        )
        return Command(self.argv(*words), brief.prompt_file, _ENV)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(before, self.may)


class _Heard(Events):
    def __init__(self, before: Spend, may: str) -> None:
        super().__init__(before, may)
        self.deeds = 0
        self._uses: dict[str, object] = {}

    def hear(self, line: str) -> Sequence[Signal]:
        return () if line.startswith(_PIECES) else super().hear(line)

    def text(self, line: str) -> Iterator[Signal]:
        if _NO_LOGIN in line:
            self.error = Error(line.strip(), category=Category.AUTH)
        elif _GONE in line:
            self.error = Error(line.strip())  # how to resume, which follows, explains nothing
            self.session = ""  # it must not be tried again
        yield from super().text(line)

    def event(self, event: Json) -> Iterator[Signal]:
        data = sub(event, "data")
        match event.get("type"):
            case "assistant.message":
                self.said = str(data.get("content") or "")
                yield from doing(self.said, Doing.SAYS)
            case "tool.execution_start":
                self._uses[str(data.get("toolCallId"))] = data.get("toolName")
                yield from using(data.get("toolName"), sub(data, "arguments"), self.workspace)
            case "tool.execution_complete":
                yield from self._used(data)
            case "model.call_failure":
                said = data.get("errorMessage")
                yield from refused(said if isinstance(said, str) else "", count(data, "statusCode") or None)
            case "session.error":
                yield from self._failed(data)
            case "session.info" if data.get("infoType") == "model_retry":
                yield from doing(data.get("message"), Doing.WAITS)
            case "result":
                yield from self._result(event)
            case _:
                pass

    def _used(self, data: Json) -> Iterator[Signal]:
        name = self._uses.pop(str(data.get("toolCallId")), None)
        why = sub(data, "error")
        if data.get("success") is not False:
            if kind(name) in _DEEDS:
                self.did()
        elif why.get("code") in {"denied", "rejected"}:
            self.denied.append(str(name))
            yield from doing(f"{name} was not allowed", Doing.FAILS)
        else:
            yield from doing(f"{name} failed:", Doing.FAILS, why.get("message"))

    def _failed(self, data: Json) -> Iterator[Signal]:
        said = data.get("message")
        words = said if isinstance(said, str) and said else "it failed, and does not say why"
        words = words.rpartition("Last error: ")[2] or words
        failed = error(words, count(data, "statusCode") or None)
        sort = data.get("errorType")
        otherwise = _TYPES.get(sort, failed.otherwise) if isinstance(sort, str) else failed.otherwise
        self.error = Error(failed.said, failed.status, otherwise=otherwise)
        yield from doing(words, Doing.FAILS)

    def _result(self, event: Json) -> Iterator[Signal]:
        yield from self.known(event.get("sessionId"))
        if count(event, "exitCode") == 0:
            self.error = None
            self.finished = True
