"""`plait run --web`: serve the page in a child process while the batch is followed.

The child is `python -m plait.cli.sidecar FOLDER`; it stops when its standard input is closed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO

from plait.cli.commands.serve import is_output_logged, serve_command
from plait.cli.error_handling import describe_os_error, exit_now, prepare_streams, run_guarded
from plait.cli.output import print_line, print_notice
from plait.core.errors import UserError

SIDECAR_START_TIMEOUT_SECONDS = 30.0
SIDECAR_STOP_TIMEOUT_SECONDS = 5.0


@contextmanager
def run_sidecar(folder: Path, *, as_json: bool) -> Iterator[None]:
    """Run the server. One that can't start is reported, and the batch runs without it."""
    with ExitStack() as stack:
        try:
            errors = stack.enter_context(tempfile.TemporaryFile())
            server = _start_server(folder, errors)
            stack.callback(_stop_server, server)
            answer = _wait_until_ready(server, errors)
        except OSError as error:
            answer = describe_os_error(error)
        with suppress(OSError):  # following the batch reports lost output
            _print_address(answer, as_json=as_json)
        yield


def _start_server(folder: Path, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the server in its own session: Ctrl+C reaches only this process, which stops the server when it ends."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "plait.cli.sidecar", str(folder.resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
    )


def _wait_until_ready(server: subprocess.Popen[bytes], errors: IO[bytes]) -> dict[str, str] | str:
    """Return what the server announces when it is ready, or why it did not start."""
    assert server.stdout is not None
    if not select.select([server.stdout], [], [], SIDECAR_START_TIMEOUT_SECONDS)[0]:
        return "the server does not answer"
    line = server.stdout.readline()
    if line.endswith(b"\n"):
        announcement: dict[str, str] = json.loads(line)
        return announcement
    server.wait()
    errors.seek(0)
    message = " ".join(errors.read(4096).decode(errors="replace").split()).removeprefix("plait: ")
    return message or "the server ended immediately"


def _print_address(answer: dict[str, str] | str, *, as_json: bool) -> None:
    if isinstance(answer, str):
        print_notice(f"plait: the page can't be served: {answer}")
        return
    lines = [f"The page is at {answer['url']} while this command runs; plait serve keeps it running."]
    if is_output_logged():
        lines += [f"  For a login link: plait token --link --url {answer['url']}"]
    else:
        lines += ["  Log in with this link, once and within ten minutes:", f"  {answer['link']}"]
    for line in lines:
        print_line(line, stderr=as_json)


def _stop_server(server: subprocess.Popen[bytes]) -> None:
    """Close the pipe and terminate; requests in progress get a few seconds."""
    for pipe in (server.stdin, server.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    server.terminate()
    try:
        server.wait(SIDECAR_STOP_TIMEOUT_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        server.kill()
        server.wait()


def main(folder: str) -> int:
    """Serve on the default port if it is free, else on any. Raises PlaitError."""
    Thread(target=_exit_with_parent, daemon=True).start()
    try:
        return serve_command(Path(folder), as_json=True)
    except UserError:  # an error that is not about the port is raised again
        return serve_command(Path(folder), port=0, as_json=True)


def _exit_with_parent() -> None:
    """Exit when the pipe is closed, which happens when the parent ends, however it ends."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    prepare_streams()
    exit_now(run_guarded(lambda: main(sys.argv[1]), as_json=False))
