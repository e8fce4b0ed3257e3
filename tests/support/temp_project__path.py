"""A PATH without coding tools: what tests see does not depend on what is installed on their machine."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from plait.agents.table__known import KNOWN_AGENTS

_AGENT_PROGRAMS = frozenset(known.program for known in KNOWN_AGENTS if known.program)


def remove_agents_from_path(path: str) -> str:
    """The same PATH; a folder that holds a coding tool is replaced by one with links to all else that is in it."""
    return os.pathsep.join(_link_other_programs(folder) for folder in path.split(os.pathsep) if folder)


@cache
def _link_other_programs(folder: str) -> str:
    if not any(os.path.lexists(os.path.join(folder, name)) for name in _AGENT_PROGRAMS):  # noqa: PTH118 - thousands of times
        return folder
    links = Path(tempfile.mkdtemp(prefix="plait-path-"))
    for program in Path(folder).iterdir():
        if program.name not in _AGENT_PROGRAMS:
            (links / program.name).symlink_to(program)
    return str(links)
