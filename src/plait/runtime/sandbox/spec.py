"""How an attempt is to be confined, and what it may reach: the input of every kind of sandbox."""

from __future__ import annotations

from plait.agents.table import AgentFolder
from plait.core.fast_dataclass import dataclass
from plait.core.settings import SandboxMode


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """The limits of a strict attempt: bytes of memory and disk, and a number of processes; 0: no limit.

    `disk` is that of /tmp, and of any one file; all that it writes may take FILES_FACTOR times that.
    """

    memory: int = 0
    processes: int = 0
    disk: int = 0


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """How an attempt is confined.

    `readable` and `writable` are the paths of the settings. `folders` and `copied_files` are the agent's own, below the
    home folder. `programs` are the files that the command names. `hosts` and `limits` are for strict and container,
    `image` is for container. `confine_setup`: the setup command of the workspace runs in the sandbox, too.
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
