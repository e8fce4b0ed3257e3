"""`cn`: Continue. It prints what it says in the end and nothing before; its errors are a line of JSON."""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.model import AgentSpec, Brief, Command, Doing, Listener, Reports, Signal
from plait.agents.plain import plain
from plait.agents.tools.events import Events, Json, doing
from plait.agents.tools.providers import error
from plait.agents.tools.routed import Routed
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("CONTINUE_CLI_ENABLE_TELEMETRY", "0"),
    ("CONTINUE_METRICS_ENABLED", "0"),
    ("CONTINUE_CLI_AUTO_UPDATED", "true"),
    ("CONTINUE_CLI_DISABLE_COMMIT_SIGNATURE", "1"),
)
_EDITS = ("--allow", "Write", "--allow", "Edit", "--allow", "MultiEdit", "--exclude", "Bash")


class Continue(Routed):
    program = "cn"
    told = Reports.NOTHING

    def __init__(self, spec: AgentSpec) -> None:
        super().__init__(spec)
        self._permit = self.permit(("--auto",), _EDITS)

    def command(self, brief: Brief) -> Command:
        """After `-p` it takes any word for a prompt, and then reads none: it comes last."""
        words = (*self.choice(brief), *self._permit)
        return Command((*self.argv(*words), "-p"), brief.prompt_file, _ENV)

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return _Heard(before, self.may)


class _Heard(Events):
    def event(self, event: Json) -> Iterator[Signal]:
        """Also its answer is JSON, where a person's arguments ask for that."""
        said = event.get("message") or event.get("response")
        words = said if isinstance(said, str) else ""
        if event.get("status") == "error":
            self.error = error(words or "it failed, and does not say why")
            yield from doing(words, Doing.FAILS)
        else:
            self.finished = True
            yield from doing(words, Doing.SAYS)

    def unread(self, line: str) -> Iterator[Signal]:
        """Its answer may begin with a brace."""
        yield from self.text(line)

    def text(self, line: str) -> Iterator[Signal]:
        if plain(line):
            self.finished = True
        yield from super().text(line)

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        """It says nothing where its model does."""
        if code == 0 and self.error is None and not self.finished:
            return Outcome(Category.EMPTY, code, "the model's answer was empty")
        return super().end(code, tail, said_at)
