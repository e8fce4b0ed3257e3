"""Finding a warden again: the process that a claim names, if it is still that one."""

from __future__ import annotations

import os

from plait.core.frozen import dataclass
from plait.site import processes
from plait.site.claim import Claim
from plait.site.folder import AttemptFolder
from plait.site.launch import NAME
from plait.site.process import Process


@dataclass(frozen=True, slots=True)
class Warden:
    """`fd` becomes readable when it ends, where there is such a thing; whoever takes the warden over closes it."""

    pid: int
    start: int
    fd: int | None


def of_child(pid: int) -> Warden:
    """The one that was just launched: its pid is its own until it is waited for."""
    fd = processes.hold(pid)
    process = processes.look(pid) if fd is None else None
    return Warden(pid, process.start if process else 0, fd)


def find(folder: AttemptFolder, claim: Claim, marker: str) -> Warden | None:
    """None: it is over. A reused pid, a dead process and somebody else's are never taken for it."""
    if claim.pid:
        return None if claim.is_of_another_boot else _held(folder, claim, marker)
    # It is about to sign, or nobody will.
    for process in processes.every():
        if process.marker == marker and process.pid == process.session:
            signature = processes.words(process.pid)[6:7]
            found = _held(folder, Claim(process.pid, *signature), marker)
            if found is not None:
                return found
    return None


def _held(folder: AttemptFolder, claim: Claim, marker: str) -> Warden | None:
    fd = processes.hold(claim.pid)  # first: what is looked at now can't become another one
    process = processes.look(claim.pid)
    if process is not None and _is_warden(process, folder, claim, marker):
        return Warden(process.pid, process.start, fd)
    if fd is not None:
        os.close(fd)
    return None


def _is_warden(process: Process, folder: AttemptFolder, claim: Claim, marker: str) -> bool:
    """By when it began, its command line, and its marker as far as the system lets us see it."""
    if process.start < claim.since or process.marker not in {"", marker}:
        return False
    words = processes.words(process.pid)  # a dead process has none
    return [*words[3:5], *words[6:7]] == [NAME, str(folder.path), claim.signature]
