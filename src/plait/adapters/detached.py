"""Starting a process that outlives this one: a session of its own, no input, its output in a log."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.site.folder import make_private
from plait.site.marker import VARIABLE

_started: list[int] = []


def spawn(words: Sequence[str], log: Path, *, most: int) -> int:
    """Its process id. A log longer than `most` bytes is put aside first."""
    _reap()
    try:
        make_private(log.parent)
        _put_aside(log, most)
        pid = os.posix_spawn(
            words[0],
            list(words),
            # An attempt may have started it, and is not to end it.
            {name: value for name, value in os.environ.items() if name != VARIABLE},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE],
        )
    except OSError as error:
        raise WorldError(
            f"the engine can't be started: {error}",
            hint=f"its log would be {log}; plait doctor tells more",
        ) from error
    _started.append(pid)
    return pid


def _put_aside(log: Path, most: int) -> None:
    with suppress(FileNotFoundError):
        if log.stat().st_size > most:
            log.replace(log.with_name(f"{log.name}.1"))


def _reap() -> None:
    """Those that have ended are not kept as zombies by a front that lives long."""
    for pid in list(_started):
        with suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        _started.remove(pid)
