"""The check: what verifies an agent's work. No agent, but spoken to in the same way."""

from __future__ import annotations

from collections.abc import Sequence

from plait.agents.failures import outcome
from plait.agents.model import Command, Listener, Signal
from plait.core.reports import Outcome


class Check:
    def command(self, text: str) -> Command:
        return Command(("sh", "-c", text))

    def listen(self) -> Listener:
        return _Heard()


class _Heard:
    """Nothing that a check prints means anything but its exit status."""

    def hear(self, line: str) -> Sequence[Signal]:  # noqa: ARG002 - the protocol's
        return ()

    def end(self, code: int, tail: str) -> Outcome:
        return outcome(code, tail)
