"""Finding a warden again: the process that a claim names, if it is still that one."""

from __future__ import annotations

import os

from plait.core.fast_dataclass import dataclass
from plait.runtime.pidfile import PidFile
from plait.runtime.supervisor import PROCESS_NAME
from plait.system import processes, psutil_processes
from plait.system.process_identity__process import Process
from plait.system.state_paths import AttemptFolder


@dataclass(frozen=True, slots=True)
class Supervisor:
    """`fd` becomes readable when it ends, where there is such a thing; whoever takes the warden over closes it."""

    pid: int
    start: int
    fd: int | None


def supervisor_of_child(pid: int) -> Supervisor:
    """The one that was just launched: its pid is its own until it is waited for."""
    fd = processes.open_pidfd(pid)
    process = psutil_processes.read_process(pid) if fd is None else None
    return Supervisor(pid, process.start if process else 0, fd)


def find_supervisor(folder: AttemptFolder, claim: PidFile, tag: str) -> Supervisor | None:
    """None: it is over. A reused pid, a dead process and somebody else's are never taken for it."""
    if claim.pid:
        return None if claim.is_from_another_boot else _open_supervisor(folder, claim, tag)
    # It is about to sign, or nobody will.
    for process in psutil_processes.list_processes():
        if process.tag == tag and process.pid == process.session:
            signature = psutil_processes.command_line(process.pid)[6:7]
            found = _open_supervisor(folder, PidFile(process.pid, *signature), tag)
            if found is not None:
                return found
    return None


def _open_supervisor(folder: AttemptFolder, claim: PidFile, tag: str) -> Supervisor | None:
    fd = processes.open_pidfd(claim.pid)  # first: what is looked at now can't become another one
    process = psutil_processes.read_process(claim.pid)
    if process is not None and _is_supervisor(process, folder, claim, tag):
        return Supervisor(process.pid, process.start, fd)
    if fd is not None:
        os.close(fd)
    return None


def _is_supervisor(process: Process, folder: AttemptFolder, claim: PidFile, tag: str) -> bool:
    """By when it began, its command line, and its marker as far as the system lets us see it."""
    if process.start < claim.since or process.tag not in {"", tag}:
        return False
    words = psutil_processes.command_line(process.pid)  # a dead process has none
    return [*words[3:5], *words[6:7]] == [PROCESS_NAME, str(folder.path), claim.signature]
