"""Tools that may do everything or ask: none of them can be held to changing files."""

from __future__ import annotations

from plait.agents.interface import AgentSpec, Permission
from plait.core.errors import ConfigError


def reject_edits_permission(spec: AgentSpec, why: str) -> None:
    """Raises ConfigError, before anything starts: less than what was asked for would be no surprise that anybody likes."""
    if spec.permission is Permission.EDITS:
        raise ConfigError(
            f"{spec.name} can't be held to changing files: {why}",
            hint=f'Say {spec.name} = "full" or "own" under [agents.permissions].',
        )
