from __future__ import annotations

from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CommandSuggestion:
    """A command, and what was seen that speaks for it.

    The words are our own, but for names that no shell takes for anything else: no file's text gets into a command.
    """

    command: str
    why: str
