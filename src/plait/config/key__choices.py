"""What can be chosen for settings that the core does not know."""

from __future__ import annotations

from enum import StrEnum


class PromptDeliveryChoice(StrEnum):
    AUTO = "auto"
    STDIN = "stdin"
    FILE = "file"


class PermissionChoice(StrEnum):
    """What a tool may do without asking."""

    FULL = "full"
    EDITS = "edits"
    OWN = "own"


class WhenDone(StrEnum):
    """What is done with a batch branch at the end."""

    ASK = "ask"
    OFF = "off"
    PUSH = "push"
    PR = "pr"
    DRAFT = "draft"


class ForgeKind(StrEnum):
    AUTO = "auto"
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"

    @property
    def explicit(self) -> str:
        """What a person says of the host; nothing, if its name is to tell."""
        return "" if self is ForgeKind.AUTO else self.value
