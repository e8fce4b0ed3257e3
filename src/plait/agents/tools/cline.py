"""`cline`: Cline. Its sessions can't be gone on with unattended, so each attempt begins anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.agents.model import AgentSpec, Brief, Command, Doing, Listener, Reports, Signal
from plait.agents.prices import Tokens
from plait.agents.tools.doings import bare, kind, question, using
from plait.agents.tools.events import Events, Json, count, doing, micro, sub
from plait.agents.tools.providers import error
from plait.agents.tools.routed import Routed
from plait.agents.tools.tool import READ_FILE
from plait.agents.tools.whole import refuse_edits
from plait.core.settings import NO_SPEND, Spend

# Left alone it works inside of a daemon that all its runs share: whoever ended the first would end them all.
_ENV = (("CLINE_SESSION_BACKEND_MODE", "local"), ("CLINE_NO_AUTO_UPDATE", "1"))
_NAMES: Mapping[str, str] = {
    "editor": "edit",
    "run_commands": "bash",
    "read_files": "read",
    "search_codebase": "grep",
    "fetch_web_content": "webfetch",
}
_DEEDS = frozenset({Doing.EDITS, Doing.RUNS})
_ASKS = "ask_question"
_DENIED = "requires approval"


class Cline(Routed):
    program = "cline"
    told = Reports.COST

    def __init__(self, spec: AgentSpec) -> None:
        refuse_edits(spec, "it approves of everything or of nothing")
        super().__init__(spec)

    def command(self, brief: Brief) -> Command:
        """It reads no prompt from its standard input."""
        words = (
            *("--json", "--cwd", brief.workspace),
            *self.choice(brief),
            *self.permit(("--auto-approve", "true"), ()),
        )
        return Command((*self.argv(*words), READ_FILE.format(brief.prompt_file)), None, _ENV)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(self, before)


class _Heard(Events):
    def __init__(self, tool: Cline, before: Spend) -> None:
        super().__init__(before, tool.may)
        self.deeds = 0
        self._tool = tool

    def text(self, line: str) -> Iterator[Signal]:  # noqa: ARG002 - the base's
        """Warnings of its libraries."""
        yield from ()

    def event(self, event: Json) -> Iterator[Signal]:
        match event.get("type"):
            case "agent_event":
                yield from self._agent(sub(event, "event"))
            case "run_result":
                yield from self._result(event)
            case "error":
                yield from self._failed(event.get("message"))
            case _:
                pass

    def _agent(self, event: Json) -> Iterator[Signal]:
        tool = event.get("contentType") == "tool"
        match event.get("type"):
            case "content_start" if tool:
                yield from self._begun(event.get("toolName"), sub(event, "input"))
            case "content_end" if tool:
                yield from self._used(event)
            case "content_end":
                self.said = str(event.get("text") or "")
                yield from doing(self.said, Doing.SAYS)
            case "usage":
                yield from self._spent(
                    count(event, "totalInputTokens"),
                    count(event, "totalOutputTokens"),
                    0,
                    event.get("totalCost"),
                )
            case "error":
                yield from self._failed(sub(event, "error").get("message"))
            case "notice":
                yield from doing(event.get("message"), Doing.WAITS)
            case _:
                pass

    def _begun(self, name: object, given: Json) -> Iterator[Signal]:
        """Unattended, it answers its own questions, with the first choice: fine, if it does something then."""
        if name == _ASKS:
            self.question = question(given)
            yield from doing("asking:", Doing.SAYS, self.question)
        else:
            yield from _using(name, given, self.workspace)

    def _used(self, event: Json) -> Iterator[Signal]:
        name, why = event.get("toolName"), event.get("error")
        if not why:
            if kind(_name(name)) in _DEEDS:
                self.did()
        elif _DENIED in str(why):
            self.denied.append(str(name))
            yield from doing(f"{name} was not allowed", Doing.FAILS)
        else:
            yield from doing(f"{name} failed:", Doing.FAILS, why)

    def _result(self, event: Json) -> Iterator[Signal]:
        usage = sub(event, "aggregateUsage") or sub(event, "usage")
        cached = count(usage, "cacheReadTokens")
        read = count(usage, "inputTokens")
        yield from self._spent(read, count(usage, "outputTokens"), cached, usage.get("totalCost"))
        if event.get("finishReason") == "completed":
            self.finished = True
            self.error = None
        elif self.error is None:
            self.error = error(str(event.get("text") or event.get("finishReason") or "it did not finish"))

    def _spent(self, read: int, written: int, cached: int, cost: object) -> Iterator[Signal]:
        yield from self.used(self._tool.spent(micro(cost), Tokens(read, written, cached)))

    def _failed(self, said: object) -> Iterator[Signal]:
        words = said if isinstance(said, str) and said else "it failed, and does not say why"
        self.error = error(words)
        yield from doing(words, Doing.FAILS)


def _name(tool: object) -> object:
    return _NAMES.get(tool, tool) if isinstance(tool, str) else tool


def _using(tool: object, given: Json, workspace: str) -> Iterator[Signal]:
    commands, files = given.get("commands"), given.get("files")
    if isinstance(commands, list) and commands:
        return doing("running", Doing.RUNS, bare(str(commands[0])))
    first = sub(files[0]) if isinstance(files, list) and files else given
    return using(_name(tool), first, workspace)
