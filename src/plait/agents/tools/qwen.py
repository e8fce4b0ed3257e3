"""`qwen`: Qwen Code. It says success of everything, and its exit status does too: the truth is in its last words.

An answer that failed ends with `[API Error: …]`; a session is counted as a whole; of a limit it says nothing until it
gives up.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.model import Brief, Command, Doing, Listener, Reports, Signal
from plait.agents.prices import Tally, Tokens
from plait.agents.tools.doings import Uses
from plait.agents.tools.events import Error, Json, count, difference, doing, sub
from plait.agents.tools.tool import Tool
from plait.agents.tools.words import MISREAD, api_error, otherwise
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("QWEN_CODE_NO_RELAUNCH", "true"),  # otherwise what is asked to stop is not what works
    ("NO_BROWSER", "true"),
)
_GONE = "No saved session found"


class Qwen(Tool):
    program = "qwen"
    maker = "qwen"
    told = Reports.TOKENS

    def command(self, brief: Brief) -> Command:
        words = ("--output-format=stream-json", *self.permit(("--yolo",), ("--approval-mode=auto-edit",)))
        return Command(self.argv(*words, *self.choice(brief, "--resume")), brief.prompt_file, _ENV)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(self, before)


class _Heard(Uses):
    exit_counts = True
    last_word = '{"type":"result"'

    def __init__(self, tool: Qwen, before: Spend) -> None:
        super().__init__(before, tool.may)
        self._tool = tool
        self._model = ""
        self._asked = Tally()
        self._silent = False  # whether the model wrote nothing of the last message

    def event(self, event: Json) -> Iterator[Signal]:
        yield from self.known(event.get("session_id"))
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                self.workspace = str(event.get("cwd") or "")
                self._model = str(event.get("model") or "")
            case "assistant":
                yield from self._message(sub(event, "message"))
            case "result":
                yield from self._result(event)
            case _:
                pass

    def text(self, line: str) -> Iterator[Signal]:
        self.gone = self.gone or line.startswith(_GONE)
        if line.startswith(MISREAD):
            self.error = Error(line.strip(), category=Category.USAGE)
        yield from super().text(line)

    def _message(self, message: Json) -> Iterator[Signal]:
        for part in message.get("content") or ():
            yield from self.part(sub(part))
        asked = _tokens(sub(message, "usage"))
        self._silent = not asked.output
        whole = self._asked.take(message.get("id"), asked)
        yield from self.rising(self._tool.spend(whole, self._model))

    def _result(self, event: Json) -> Iterator[Signal]:
        self.finished, self.error = True, None
        said = event.get("result")
        self.said = said if isinstance(said, str) else self.said
        for denial in event.get("permission_denials") or ():
            self.denied.append(str(sub(denial).get("tool_name") or "a tool"))
        self.error = self._failure(event)
        if self.error is not None:
            yield from doing(self.error.said, Doing.FAILS)
        whole = self._tool.spend(_tokens(sub(event, "usage")), self._model)
        yield from self.used(difference(whole, self.before))

    def _failure(self, event: Json) -> Error | None:
        """A message that begins so, or that the model wrote nothing of: its own words may end like that."""
        told = api_error(self.said)
        if told is not None and (self._silent or self.said.startswith("[API Error: ")):
            return Error(told, otherwise=otherwise(told))
        failed = event.get("is_error") is True or str(event.get("subtype")).startswith("error")
        if not failed:
            return None
        message = sub(event, "error").get("message")
        words = message if isinstance(message, str) else self.said or "it failed"
        return Error(words, otherwise=otherwise(words))


def _tokens(usage: Json) -> Tokens:
    return Tokens(
        count(usage, "input_tokens"),
        count(usage, "output_tokens"),
        count(usage, "cache_read_input_tokens", "cached_input_tokens"),
    )
