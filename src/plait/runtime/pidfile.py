"""The files of a supervisor: the pidfile by which it owns an attempt, and the exit status that it leaves.

The exit status is three digits and a newline, written over four blanks that reserved the space.
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
    """A pid and the signature that the supervisor was launched with, which is also on its command line.

    `pid` 0: not written yet. The supervisor is about to, or died, or the file was made to prevent a launch.
    """

    pid: int = 0
    signature: str = ""

    @property
    def since(self) -> int:
        """The supervisor started no earlier, in the unit of `Process.start`."""
        since, _, _ = self.signature.partition(" ")
        return int(since) if since.isdecimal() else 0

    @property
    def is_from_another_boot(self) -> bool:
        """Then none of its processes can be left."""
        _, _, boot = self.signature.partition(" ")
        return boot not in {"", processes.boot_id()}


def make_signature() -> str:
    """Distinguishes a supervisor that is launched now from earlier and later processes with its pid."""
    boot = processes.boot_id()
    return f"{processes.clock_ticks()} {boot}" if boot else ""


def read_pidfile(path: Path) -> PidFile | None:
    """None: there is none. Raises WorldError if it can't be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WorldError(
            f"can't read {path}: {error.strerror or error}",
            hint="check the owner and mode of its parent folders",
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
    """Make an empty pidfile, so that a supervisor that starts late does not run. False: there was one already."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


_COMPLETE = re.compile(rb"[0-9]{3}\n\Z")


def read_exit_status(path: Path) -> int | None:
    """None: there is none, or it is incomplete."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        data = os.read(fd, 8)
    finally:
        os.close(fd)
    return int(data) if _COMPLETE.match(data) else None
