"""`mini`: mini-swe-agent. It prints each step with the cost so far; a run that gave up exits 0, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.agents.drivers.base import READ_PROMPT_FILE, CodingTool
from plait.agents.drivers.provider_errors import make_provider_error, report_refusal
from plait.agents.interface import ActivityKind, AgentEvent, AttemptContext, Command, OutputParser, SpendUpdated
from plait.agents.output_parser import ToolError, classify_failure, make_activity, to_microdollars
from plait.agents.plain_text import to_plain_text, truncate
from plait.agents.table import AGENTS
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

_ENV = (
    ("MSWEA_CONFIGURED", "true"),
    ("MSWEA_SILENT_STARTUP", "1"),
    ("MSWEA_COST_TRACKING", "ignore_errors"),  # it would not start with a model that it knows no price of
)
_STEP = re.compile(r"mini-swe-agent \(step (?P<step>\d{1,9}), \$(?P<cost>\d{1,9}\.\d+)\):")
_OTHER_SPEAKERS = frozenset({"System:", "User:", "Tool:"})
_RETRY = re.compile(r"Retrying \S+ in (?P<seconds>\d+(?:\.\d+)?) seconds as it raised (?P<why>.+)")
_EXIT = "Exit:"
_EXIT_FOLLOWED_BY = "Saved trajectory"
_FRAME = re.compile("[\u2500-\u257f]")  # a traceback on stderr may come between any two lines
_GAVE_UP = re.compile(r"[A-Z]\w+(?:Error|Exceeded|Exception|Interruption)")
_NO_MODEL = "ValueError: No default model set"
_NO_MODEL_ERROR = ToolError("no model is set: set one under [agents.models]", category=Category.USAGE)
_FENCE = "```"
_MAX_EXIT_CHARS = 2000


class Mini(CodingTool):
    info = AGENTS["mini"]

    def build_command(self, context: AttemptContext) -> Command:
        args = (
            *self.model_and_session_args(context),
            *self.permission_args(),
            *("--exit-immediately", "--output", f"{context.folder}/mini.trajectory.json"),
        )
        return Command((*self.build_argv(*args), "--task", READ_PROMPT_FILE.format(context.prompt_file)), None, _ENV)

    def create_parser(self, _before: Spend = NO_SPEND, /) -> OutputParser:
        return _MiniParser()


class _MiniParser:
    """Parses the output. Only the agent's own messages become activity, not the prompt or the output of commands."""

    _in_own_message = False
    _fenced = False
    _exit_message: str | None = None  # its result
    _exit_continues = False
    _model_missing = False
    _spend = NO_SPEND

    def feed(self, line: str) -> Sequence[AgentEvent]:
        text = to_plain_text(line)
        if _FRAME.match(text):
            return ()
        if not text:
            self._exit_continues = self._exit_continues and not self._exit_message
            return ()
        return tuple(self._read_line(text))

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        """Return the outcome. An error is taken from the last message, because a long traceback follows it."""
        last, error = self._exit_message, None
        if code and self._model_missing:
            error = _NO_MODEL_ERROR
        elif code and last:
            error = make_provider_error(last)
        ended = classify_failure(code, tail, printed_at, error)
        if ended is None and last is None:
            ended = Outcome(Category.TASK, code, "it exited without reporting a result")
        elif ended is None and last and _GAVE_UP.fullmatch(last):
            ended = Outcome(Category.TASK, code, f"it gave up: {truncate(last, 100)}")
        return replace(ended or Outcome(Category.OK, code), spend=self._spend)

    def _read_line(self, text: str) -> Iterator[AgentEvent]:
        if text == _EXIT:
            self._exit_message, self._exit_continues, self._in_own_message = "", True, False
        elif self._exit_continues:
            self._exit_continues = not text.startswith(_EXIT_FOLLOWED_BY)
            if self._exit_continues and self._exit_message is not None:
                self._exit_message = f"{self._exit_message} {text}".strip()[:_MAX_EXIT_CHARS]
        elif step := _STEP.fullmatch(text):
            yield from self._handle_step(step)
        elif text in _OTHER_SPEAKERS:
            self._in_own_message = False
        elif again := _RETRY.match(text):
            yield from report_refusal(again["why"], after=float(again["seconds"]))
            yield from make_activity(text, ActivityKind.WAITS)
        elif text.startswith(_NO_MODEL):
            self._model_missing = True
        elif self._in_own_message:
            yield from self._read_own_line(text)

    def _handle_step(self, step: re.Match[str]) -> Iterator[AgentEvent]:
        self._in_own_message, self._fenced = True, False
        spend = Spend(to_microdollars(float(step["cost"])))
        if self._spend.at_least(spend) != self._spend:
            self._spend = spend
            yield SpendUpdated(spend)

    def _read_own_line(self, text: str) -> Iterator[AgentEvent]:
        if text.startswith(_FENCE):
            self._fenced = not self._fenced
        elif self._fenced:
            self._in_own_message = False  # the first line of a command is enough
            yield from make_activity("running", ActivityKind.RUNS, text)
        else:
            yield from make_activity(text, ActivityKind.SAYS)
