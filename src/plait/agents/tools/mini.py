"""`mini`: mini-swe-agent. It prints each step with what it cost so far; a run that gave up exits 0, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.agents.failures import killed, outcome
from plait.agents.model import AgentSpec, Brief, Command, Doing, Listener, Reports, Signal, Used
from plait.agents.plain import cut, plain
from plait.agents.tools.events import Error, doing, failed, micro
from plait.agents.tools.providers import error, refused
from plait.agents.tools.routed import Routed
from plait.agents.tools.tool import READ_FILE
from plait.agents.tools.whole import refuse_edits
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("MSWEA_CONFIGURED", "true"),
    ("MSWEA_SILENT_STARTUP", "1"),
    ("MSWEA_COST_TRACKING", "ignore_errors"),  # it would not start with a model that it knows no price of
)
_STEP = re.compile(r"mini-swe-agent \(step (?P<step>\d{1,9}), \$(?P<cost>\d{1,9}\.\d+)\):")
_OTHERS = frozenset({"System:", "User:", "Tool:"})
_RETRY = re.compile(r"Retrying \S+ in (?P<seconds>\d+(?:\.\d+)?) seconds as it raised (?P<why>.+)")
_EXIT = "Exit:"
_AFTER = "Saved trajectory"
_FRAME = re.compile(
    "[\u2500-\u257f]"
)  # a stack, drawn on the other stream: it may come between any two lines
_GAVE_UP = re.compile(r"[A-Z]\w+(?:Error|Exceeded|Exception|Interruption)")
_NO_MODEL = "ValueError: No default model set"
_UNSET = Error("no model is set for it: say which under [agents.models]", category=Category.USAGE)
_FENCE = "```"
_LONGEST = 2000  # characters of its last words


class Mini(Routed):
    program = "mini"
    told = Reports.COST

    def __init__(self, spec: AgentSpec) -> None:
        refuse_edits(spec, "a shell is all it has")
        super().__init__(spec)

    def command(self, brief: Brief) -> Command:
        words = (
            *self.choice(brief),
            *self.permit(("--yolo",), ()),
            *("--exit-immediately", "--output", f"{brief.folder}/mini.trajectory.json"),
        )
        return Command((*self.argv(*words), "--task", READ_FILE.format(brief.prompt_file)), None, _ENV)

    def listen(self, before: Spend = NO_SPEND) -> Listener:  # noqa: ARG002 - it has no sessions
        return _Heard()


class _Heard:
    """What it was asked and what commands print is passed over: only its own words are told."""

    def __init__(self) -> None:
        self._speaks = False
        self._fenced = False
        self._last: str | None = None  # how it says that it ended
        self._open = False
        self._unset = False  # whether it knows of no model
        self._spend = NO_SPEND

    def hear(self, line: str) -> Sequence[Signal]:
        told = plain(line)
        if _FRAME.match(told):
            return ()
        if not told:
            self._open = self._open and not self._last
            return ()
        return tuple(self._read(told))

    def missed(self) -> None:
        pass

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        """Where it dies, it first says of what; the stack that follows is long."""
        last = self._last
        if killed(code):
            ended = outcome(code, tail)
        elif code and (self._unset or last):
            ended = failed(code, _UNSET if self._unset else error(last or ""), said_at)
        elif code:
            ended = outcome(code, tail, said_at=said_at, words=True)
        elif last is None:
            ended = Outcome(Category.TASK, code, "it ended without saying how")
        elif _GAVE_UP.fullmatch(last):
            ended = Outcome(Category.TASK, code, f"it gave up: {cut(last, 100)}")
        else:
            ended = Outcome(Category.OK, code)
        return replace(ended, spend=self._spend)

    def _read(self, told: str) -> Iterator[Signal]:
        if told == _EXIT:
            self._last, self._open, self._speaks = "", True, False
        elif self._open:
            self._open = not told.startswith(_AFTER)
            if self._open and self._last is not None:
                self._last = f"{self._last} {told}".strip()[:_LONGEST]
        elif step := _STEP.fullmatch(told):
            yield from self._step(step)
        elif told in _OTHERS:
            self._speaks = False
        elif again := _RETRY.match(told):
            yield from refused(again["why"], after=float(again["seconds"]))
            yield from doing(told, Doing.WAITS)
        elif told.startswith(_NO_MODEL):
            self._unset = True
        elif self._speaks:
            yield from self._own(told)

    def _step(self, step: re.Match[str]) -> Iterator[Signal]:
        self._speaks, self._fenced = True, False
        spend = Spend(micro(float(step["cost"])))
        if self._spend.at_least(spend) != self._spend:
            self._spend = spend
            yield Used(spend)

    def _own(self, told: str) -> Iterator[Signal]:
        if told.startswith(_FENCE):
            self._fenced = not self._fenced
        elif self._fenced:
            self._speaks = False  # the first line of a command says enough
            yield from doing("running", Doing.RUNS, told)
        else:
            yield from doing(told, Doing.SAYS)
