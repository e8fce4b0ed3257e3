"""Agents for contests in tests: each is a script of its name in the folder that $CONTENDERS names, with the prompt to read.

A line `spent MICRODOLLARS TOKENS` is what it has spent so far; its exit status is its success.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from plait.agents.interface import (
    AgentEvent,
    AgentSpec,
    AttemptContext,
    Command,
    CostReporting,
    OutputParser,
    SpendUpdated,
)
from plait.agents.output_parser import PlainTextParser
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend

SCRIPTS_VARIABLE = "CONTENDERS"
_SPENT = re.compile(r"spent (\d{1,9}) (\d{1,9})")


class _ScriptAgent:
    reports = CostReporting.COST

    def __init__(self, spec: AgentSpec) -> None:
        self.name = spec.name
        self.provider = spec.account or spec.name

    def build_command(self, context: AttemptContext) -> Command:
        script = f'exec sh "${SCRIPTS_VARIABLE}/{type(self).__name__.lower()}.sh"'
        return Command(("sh", "-c", script), context.prompt_file)

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:  # noqa: ARG002 - the protocol's
        return _SpendParser()


class Amber(_ScriptAgent):
    """One of the two agents that write."""


class Birch(_ScriptAgent):
    """The other agent that writes."""


class Judge(_ScriptAgent):
    """An agent that judges and writes nothing."""


class _SpendParser:
    def __init__(self) -> None:
        self._plain = PlainTextParser(use_output=True)
        self._spend = NO_SPEND

    def feed(self, line: str) -> Sequence[AgentEvent]:
        found = _SPENT.fullmatch(line)
        if found is None:
            return self._plain.feed(line)
        self._spend = Spend(int(found[1]), int(found[2]))
        return (SpendUpdated(self._spend),)

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        return replace(self._plain.finish(code, tail, printed_at), spend=self._spend)
