"""`codex`: Codex. It counts tokens over a whole session, tells no cost, and waits for a network without end.

It complains of things that pass by themselves, too: only what it says last counts, or that a turn failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import dumps

from plait.agents.complaints import judged
from plait.agents.model import Brief, Command, Doing, Listener, Permission, Refused, Reports, Signal
from plait.agents.prices import Tokens
from plait.agents.tools.doings import bare, near
from plait.agents.tools.events import Error, Events, Json, count, difference, doing, sub
from plait.agents.tools.tool import Tool
from plait.agents.tools.words import otherwise, unwrapped
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_RECONNECTS = re.compile(r"Reconnecting\.\.\. ?(?P<how>[^(]*?) ?\((?P<why>.*)\)", re.DOTALL)
_STATUS = re.compile(r"\bstatus:? ([45]\d\d)\b")
_LOGGED = re.compile(
    r"\d{4}-\d\d-\d\dT\S+ +(?:ERROR|WARN|INFO|DEBUG|TRACE)\b|WARNING: proceeding, even though"
)
_NOISE = ("Reading additional input from stdin", "Reading prompt from stdin")
_GONE = "no rollout found for thread"
_WRONG = ("Not inside a trusted directory", "Error loading config")


class Codex(Tool):
    program = "codex"
    maker = "openai"
    told = Reports.TOKENS

    def command(self, brief: Brief) -> Command:
        """A person's words come before the subcommand, which knows fewer of them."""
        words = ["exec", "--json", "--skip-git-repo-check", "-c", "analytics.enabled=false"]
        words += self.permit(
            ("--dangerously-bypass-approvals-and-sandbox",), ("--sandbox", "workspace-write")
        )
        words += self._trust(brief.workspace)
        goes_on = ("resume", brief.session) if brief.session else ()
        return Command((*self.argv(*words, *self.choice(brief)), *goes_on, "-"), brief.prompt_file)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(self, before)

    def _trust(self, workspace: str) -> tuple[str, ...]:
        """Otherwise it writes every folder it works in into the user's settings, as one to be trusted."""
        if self.spec.permission is Permission.OWN or not workspace.isprintable():
            return ()
        key = dumps(workspace, ensure_ascii=False)  # a text in JSON is one in TOML
        return ("-c", f'projects={{{key}={{trust_level="trusted"}}}}')


class _Heard(Events):
    exit_counts = True

    def __init__(self, tool: Codex, before: Spend) -> None:
        super().__init__(before, tool.may)
        self.deeds = 0
        self._tool = tool
        self._trouble = ""  # what it is trying to get over

    def event(self, event: Json) -> Iterator[Signal]:
        match event.get("type"):
            case "thread.started":
                yield from self.known(event.get("thread_id"))
            case "item.started" | "item.updated" | "item.completed":
                self._trouble = ""
                yield from self._item(sub(event, "item"), over=event.get("type") == "item.completed")
            case "error":
                yield from self._complaint(str(event.get("message") or ""))
            case "turn.failed":
                self.error = _error(str(sub(event, "error").get("message") or ""))
                yield from doing(self.error.said, Doing.FAILS)
            case "turn.completed":
                self.finished, self.error, self._trouble = True, None, ""
                yield from self.used(self._spent(sub(event, "usage")))
            case _:
                pass

    def text(self, line: str) -> Iterator[Signal]:
        if _GONE in line:
            self.gone = True
        elif line.startswith(_WRONG):
            self.error = Error(line.strip(), category=Category.USAGE)
        if not line.startswith(_NOISE) and not _LOGGED.match(line):
            yield from super().text(line)

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        if code and self.error is None and self._trouble:
            self.error = _error(self._trouble)
        return super().end(code, tail, said_at)

    def _complaint(self, said: str) -> Iterator[Signal]:
        found = _RECONNECTS.fullmatch(said)
        if found is None:
            self.error = _error(said)
            yield from doing(self.error.said, Doing.FAILS)
            return
        self._trouble = found["why"]
        error = _error(found["why"])
        why = judged(error.said, error.status)
        if why is not None and why.category is Category.RATE_LIMIT:
            yield Refused(why.wait)
        yield from doing(f"reconnecting, {found['how'].strip()}: {error.said}", Doing.WAITS)

    def _item(self, item: Json, *, over: bool) -> Iterator[Signal]:
        match item.get("type"):
            case "agent_message":
                self.said = str(item.get("text") or "")
                yield from doing(self.said, Doing.SAYS)
            case "reasoning":
                yield from doing(item.get("text"), Doing.THINKS)
            case "command_execution":
                yield from self._ran(item, over=over)
            case "file_change":
                yield from self._changed(item, over=over)
            case "mcp_tool_call" if not over:
                self.did()
                yield from doing(f"using {item.get('tool')}", Doing.USES)
            case "web_search":
                yield from doing("searching for", Doing.SEARCHES, item.get("query"))
            case "todo_list":
                items = (sub(one) for one in item.get("items") or ())
                current = next((one for one in items if one.get("completed") is False), None)
                yield from self.stage(current.get("text") if current else None)
            case _:
                pass

    def _ran(self, item: Json, *, over: bool) -> Iterator[Signal]:
        said = bare(str(item.get("command") or ""))
        if item.get("status") == "declined":
            self.denied.append("a shell")
            yield from doing("it was not allowed to run", Doing.FAILS, said)
        elif not over:
            self.did()
            yield from doing("running", Doing.RUNS, said)
        elif not self.deeds:
            self.did()  # some commands are told only when they are over

    def _changed(self, item: Json, *, over: bool) -> Iterator[Signal]:
        files = [near(str(sub(one).get("path") or "")) for one in item.get("changes") or ()]
        if item.get("status") in {"failed", "declined"}:
            yield from doing("could not change", Doing.FAILS, ", ".join(files))
            return
        self.did()
        if over:
            yield from doing("editing", Doing.EDITS, ", ".join(files))

    def _spent(self, usage: Json) -> Spend:
        """Of this attempt: what the session took in all, less what it had taken; unless it counts from nothing again."""
        read, cached = count(usage, "input_tokens"), count(usage, "cached_input_tokens")
        whole = self._tool.spend(Tokens(read, count(usage, "output_tokens"), cached))
        return difference(whole, self.before)


def _error(said: str) -> Error:
    found = _STATUS.search(said)
    return Error(unwrapped(said), int(found[1]) if found else None, otherwise=otherwise(said))
