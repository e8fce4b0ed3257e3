"""`plait run --web`: the page beside a batch, served for as long as this front watches it.

`python -m plait.cli.sidecar FOLDER`: a server beside a front, for as long as that has the other end of the standard input.
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

from plait.cli.commands.serve import ServeArguments, is_output_logged, serve_command
from plait.cli.error_handling import describe_os_error, exit_now, prepare_streams, run_guarded
from plait.cli.output import Page, print_notice
from plait.core.errors import UserError

SIDECAR_START_TIMEOUT_SECONDS = 30.0  # seconds for the server to begin in


SIDECAR_STOP_TIMEOUT_SECONDS = 5.0  # … and to end in


@contextmanager
def run_sidecar(folder: Path, *, as_json: bool) -> Iterator[None]:
    """That it can't be served costs the batch nothing: it is told, and that is all."""
    with ExitStack() as stack:
        try:
            errors = stack.enter_context(tempfile.TemporaryFile())
            server = _start_server(folder, errors)
            stack.callback(_stop_server, server)
            answer = _wait_until_ready(server, errors)
        except OSError as error:
            answer = describe_os_error(error)
        with suppress(OSError):  # whoever follows the batch meets the same, and knows what to do
            _print_address(answer, as_json=as_json)
        yield


def _start_server(folder: Path, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """In a session of its own: Ctrl+C is said to the front, which ends it when it ends."""
    return subprocess.Popen(  # our own words
        [sys.executable, "-P", "-m", "plait.cli.sidecar", str(folder.resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
    )


def _wait_until_ready(server: subprocess.Popen[bytes], errors: IO[bytes]) -> dict[str, str] | str:
    """What it says as soon as it answers, or why it does not."""
    assert server.stdout is not None
    if not select.select([server.stdout], [], [], SIDECAR_START_TIMEOUT_SECONDS)[0]:
        return "its server does not answer"
    line = server.stdout.readline()
    if line.endswith(b"\n"):
        told: dict[str, str] = json.loads(line)
        return told
    server.wait()
    errors.seek(0)
    said = " ".join(errors.read(4096).decode(errors="replace").split()).removeprefix("plait: ")
    return said or "its server ended at once"


def _print_address(answer: dict[str, str] | str, *, as_json: bool) -> None:
    if isinstance(answer, str):
        print_notice(f"plait: the page can't be served: {answer}")
        return
    page = Page()
    for each in _format_address(answer):
        page.add_line(each)
    page.show(stderr=as_json)
    sys.stdout.flush()


def _format_address(answer: dict[str, str]) -> list[str]:
    where = f"The page is at {answer['url']} for as long as this runs; plait serve keeps it."
    if is_output_logged():
        return [where, f"  A link that logs a browser in: plait token --link --url {answer['url']}"]
    return [where, "  Open this link to log in, once and within ten minutes:", f"  {answer['link']}"]


def _stop_server(server: subprocess.Popen[bytes]) -> None:
    """With the pipe it loses its reason to be; who is being answered has a moment."""
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
