"""The processes of this machine: `every` of them in one pass, a `look` at one, and `send`, which hits no other one."""

from __future__ import annotations

import os
import signal
import sys

from plait.site.process import Process

if sys.platform == "linux":
    from plait.site.procfs import boot, every, footprint, look, now, start_of, words
else:
    from plait.site.psprocesses import boot, every, footprint, look, now, start_of, words

__all__ = ["boot", "every", "footprint", "hold", "look", "now", "send", "start_of", "words"]


def hold(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends, and that no later process of its pid gets; None where
    there is no such thing, or no process.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def send(process: Process, number: signal.Signals) -> None:
    """It may be over already, or not ours to end: then nothing happens."""
    fd = hold(process.pid)
    try:
        found = look(process.pid)
        if found is None or found.start != process.start:
            return
        if fd is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(fd, number)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        if fd is not None:
            os.close(fd)
