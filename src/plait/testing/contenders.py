"""Agents for contests in tests: each is a script of its name in the folder that $CONTENDERS names, with the prompt to read.

A line `spent MICRODOLLARS TOKENS` is what it has spent so far; its exit status is its success.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from plait.agents.listening import Listening
from plait.agents.model import AgentSpec, Brief, Command, Listener, Reports, Signal, Used
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend

FOLDER = "CONTENDERS"
_SPENT = re.compile(r"spent (\d{1,9}) (\d{1,9})")


class _Contender:
    reports = Reports.COST

    def __init__(self, spec: AgentSpec) -> None:
        self.name = spec.name
        self.provider = spec.account or spec.name

    def command(self, brief: Brief) -> Command:
        script = f'exec sh "${FOLDER}/{type(self).__name__.lower()}.sh"'
        return Command(("sh", "-c", script), brief.prompt_file)

    def listen(self, before: Spend = NO_SPEND) -> Listener:  # noqa: ARG002 - the protocol's
        return _Heard()


class Amber(_Contender):
    """One of two that write."""


class Birch(_Contender):
    """The other one."""


class Judge(_Contender):
    """It writes nothing."""


class _Heard:
    def __init__(self) -> None:
        self._plain = Listening(words=True)
        self._spend = NO_SPEND

    def hear(self, line: str) -> Sequence[Signal]:
        found = _SPENT.fullmatch(line)
        if found is None:
            return self._plain.hear(line)
        self._spend = Spend(int(found[1]), int(found[2]))
        return (Used(self._spend),)

    def missed(self) -> None:
        pass

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        return replace(self._plain.end(code, tail, said_at), spend=self._spend)
