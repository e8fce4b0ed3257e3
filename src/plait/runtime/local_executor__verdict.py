"""The verdict: what the files of an attempt say of it. One that can't be read is as good as none, and never an error."""

from __future__ import annotations

from contextlib import suppress

from plait.core.errors import WorldError
from plait.runtime import pidfile, pidfile__exitstatus
from plait.runtime.pidfile import PidFile
from plait.runtime.process_tree import LiveAttempt
from plait.runtime.supervisor import EXIT_CANNOT_WRITE
from plait.store.interfaces import ExitedProcess, LostProcess

NO_EXIT_STATUS = "nothing of it runs any more, and it left no exit status"


def read_claim(live: LiveAttempt) -> PidFile | None:
    """None: by nobody. A claim that can't be read is somebody's: its warden is looked for among the processes."""
    try:
        return pidfile.read_pidfile(live.folder.pidfile)
    except (OSError, WorldError):
        return PidFile()


def read_status(live: LiveAttempt) -> int | None:
    with suppress(OSError):
        return pidfile__exitstatus.read_exit_status(live.folder.exit_status)
    return None


def determine_result(live: LiveAttempt, code: int | None) -> ExitedProcess | LostProcess:
    """Its warden is over, and exited with `code`, if that is known."""
    try:
        found = pidfile__exitstatus.read_exit_status(live.folder.exit_status)
    except OSError as error:
        return LostProcess(f"its exit status can't be read: {error.strerror or error}")
    return LostProcess(_explain_loss(code)) if found is None else ExitedProcess(found)


def _explain_loss(code: int | None) -> str:
    if code == EXIT_CANNOT_WRITE:
        return "it did not start: its folder can't be written, or the disk has no room"
    if code is not None and code < 0:
        return f"its warden was ended by signal {-code}, and left no exit status"
    return NO_EXIT_STATUS
