"""The claim: the file by which one warden owns an attempt, and who that warden is.

The exit status that a warden leaves: three digits and a newline, over the four blanks it put there before.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.system import processes

_MAX_BYTES = 256


@dataclass(frozen=True, slots=True)
class PidFile:
    """A pid and the signature that the warden was launched with, which is on its command line too.

    `pid` 0: claimed, but not signed. Its warden is about to, or died, or the claim was made to keep wardens out.
    """

    pid: int = 0
    signature: str = ""

    @property
    def since(self) -> int:
        """Its warden began no earlier, as processes' `start` tells it."""
        since, _, _ = self.signature.partition(" ")
        return int(since) if since.isdecimal() else 0

    @property
    def is_from_another_boot(self) -> bool:
        """Then no process of it can be left."""
        _, _, boot = self.signature.partition(" ")
        return boot not in {"", processes.boot_id()}


def make_signature() -> str:
    """What tells a warden that is launched now from every other process of its pid, before and after."""
    boot = processes.boot_id()
    return f"{processes.clock_ticks()} {boot}" if boot else ""


def read_pidfile(path: Path) -> PidFile | None:
    """None: nobody has claimed it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        # Not to know is not the same as not to be there.
        raise WorldError(
            f"{path} can't be read: {error.strerror or error}",
            hint="it tells whether an attempt runs; look at the owner and the mode of the folders above it",
        ) from error
    try:
        return parse_pidfile(os.read(fd, _MAX_BYTES))
    finally:
        os.close(fd)


def parse_pidfile(data: bytes) -> PidFile:
    line, end, _ = data.decode("ascii", "replace").partition("\n")
    pid, _, signature = line.partition(" ")
    whole = end and pid.isdecimal() and len(pid) < 10
    return PidFile(int(pid), signature) if whole else PidFile()


def block_launch(path: Path) -> bool:
    """Claim it for nobody, so that a warden that comes late does not run it. False: it was claimed already."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


_COMPLETE = re.compile(rb"[0-9]{3}\n\Z")


def read_exit_status(path: Path) -> int | None:
    """None: there is none, or not all of it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        data = os.read(fd, 8)
    finally:
        os.close(fd)
    return int(data) if _COMPLETE.match(data) else None
