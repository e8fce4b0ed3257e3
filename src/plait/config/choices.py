"""What can be chosen for settings that the core does not know."""

from __future__ import annotations

from enum import StrEnum


class PromptBy(StrEnum):
    AUTO = "auto"
    STDIN = "stdin"
    FILE = "file"
