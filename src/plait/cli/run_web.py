"""`plait run --web`: the page beside a batch, served for as long as this front watches it."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from plait.cli.run_show import tell
from plait.cli.say import Page, of_system
from plait.cli.serve import kept

PATIENCE = 30.0  # seconds for the server to begin in
GRACE = 5.0  # … and to end in


@contextmanager
def page_beside(folder: Path, *, as_json: bool) -> Iterator[None]:
    """That it can't be served costs the batch nothing: it is told, and that is all."""
    with ExitStack() as ending:
        try:
            complaints = ending.enter_context(tempfile.TemporaryFile())
            server = _started(folder, complaints)
            ending.callback(_end, server)
            told = _ready(server, complaints)
        except OSError as error:
            told = of_system(error)
        with suppress(OSError):  # whoever follows the batch meets the same, and knows what to do
            _tell_of(told, as_json=as_json)
        yield


def _started(folder: Path, complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    """In a session of its own: Ctrl+C is said to the front, which ends it when it ends."""
    return subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-P", "-m", "plait.cli.beside", str(folder.resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        start_new_session=True,
    )


def _ready(server: subprocess.Popen[bytes], complaints: IO[bytes]) -> dict[str, str] | str:
    """What it says as soon as it answers, or why it does not."""
    assert server.stdout is not None
    if not select.select([server.stdout], [], [], PATIENCE)[0]:
        return "its server does not answer"
    line = server.stdout.readline()
    if line.endswith(b"\n"):
        told: dict[str, str] = json.loads(line)
        return told
    server.wait()
    complaints.seek(0)
    said = " ".join(complaints.read(4096).decode(errors="replace").split()).removeprefix("plait: ")
    return said or "its server ended at once"


def _tell_of(told: dict[str, str] | str, *, as_json: bool) -> None:
    if isinstance(told, str):
        tell(f"plait: the page can't be served: {told}")
        return
    page = Page()
    for each in _greeting(told):
        page.line(each)
    page.show(stderr=as_json)
    sys.stdout.flush()


def _greeting(told: dict[str, str]) -> list[str]:
    where = f"The page is at {told['url']} for as long as this runs; plait serve keeps it."
    if kept():
        return [where, f"  A link that logs a browser in: plait token --link --url {told['url']}"]
    return [where, "  Open this link to log in, once and within ten minutes:", f"  {told['link']}"]


def _end(server: subprocess.Popen[bytes]) -> None:
    """With the pipe it loses its reason to be; who is being answered has a moment."""
    for pipe in (server.stdin, server.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    server.terminate()
    try:
        server.wait(GRACE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        server.kill()
        server.wait()
