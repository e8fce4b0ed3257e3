"""The check: what verifies an agent's work. No agent, but spoken to in the same way."""

from __future__ import annotations

from collections.abc import Sequence

from plait.agents.drivers.shell__script import build_script_command
from plait.agents.error_patterns__failures import classify_exit
from plait.agents.interface import AgentEvent, Command, OutputParser
from plait.core.reports import Outcome


class CheckCommand:
    def build_command(self, text: str, folder: str) -> Command:
        """`folder` is the attempt's own."""
        return build_script_command(text, folder)

    def create_parser(self) -> OutputParser:
        return _CheckParser()


class _CheckParser:
    """Nothing that a check prints means anything but its exit status."""

    def feed(self, line: str) -> Sequence[AgentEvent]:  # noqa: ARG002 - the protocol's
        return ()

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:  # noqa: ARG002
        return classify_exit(code, tail)
