"""The check: what verifies an agent's work. No agent, but spoken to in the same way."""

from __future__ import annotations

from collections.abc import Sequence

from plait.agents.failures import outcome
from plait.agents.model import Command, Listener, Signal
from plait.agents.script import script
from plait.core.reports import Outcome


class Check:
    def command(self, text: str, folder: str) -> Command:
        """`folder` is the attempt's own."""
        return script(text, folder)

    def listen(self) -> Listener:
        return _Heard()


class _Heard:
    """Nothing that a check prints means anything but its exit status."""

    def hear(self, line: str) -> Sequence[Signal]:  # noqa: ARG002 - the protocol's
        return ()

    def missed(self) -> None:
        pass

    def end(self, code: int, tail: str, said_at: float) -> Outcome:  # noqa: ARG002
        return outcome(code, tail)
