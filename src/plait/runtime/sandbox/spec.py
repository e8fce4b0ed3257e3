"""What is asked for: how an attempt is confined, and which paths it needs nevertheless."""

from __future__ import annotations

from plait.agents.table import AgentFolder
from plait.core.fast_dataclass import dataclass
from plait.core.settings import SandboxMode


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Of a strict attempt, in bytes, and processes; 0: no limit. `disk` is that of /tmp, and of any one file."""

    memory: int = 0
    processes: int = 0
    disk: int = 0


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """`readable` and `writable` are the settings' paths. `folders` and `copied_files` are the agent's own, below the home
    folder. `hosts` that can be reached and `limits` are for strict and for
    containers, which are made of `image`. `programs` are the files that its command names. `confine_setup`: the workspace's setup command runs in the sandbox, too.
    """

    mode: SandboxMode
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    folders: tuple[AgentFolder, ...] = ()
    copied_files: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    confine_setup: bool = True
    hosts: tuple[str, ...] = ()
    limits: SandboxLimits = SandboxLimits()
    image: str = ""
