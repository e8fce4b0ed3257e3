"""`python -m plait.cli.sidecar__beside FOLDER`: a server beside a front, for as long as that has the other end of the standard input."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from threading import Thread

from plait.cli.commands.serve import ServeArguments, serve_command
from plait.cli.error_handling import exit_now, prepare_streams, run_guarded
from plait.core.errors import UserError

DEFAULT_PORT = 3001
HOST = "127.0.0.1"


def main(folder: str) -> int:
    """On the usual port if that is free, else on any. Raises PlaitError."""
    Thread(target=_exit_with_parent, daemon=True).start()
    try:
        return _serve(folder, DEFAULT_PORT)
    except UserError:  # nothing was started; if it is not about the port, it is said again
        return _serve(folder, 0)


def _serve(folder: str, port: int) -> int:
    return serve_command(Path(folder), ServeArguments(HOST, port, as_json=True))


def _exit_with_parent() -> None:
    """However the front ends, its end of the pipe is closed then."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    prepare_streams()
    exit_now(run_guarded(lambda: main(sys.argv[1]), as_json=False))
