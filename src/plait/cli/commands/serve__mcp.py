"""`plait mcp`: the project's batches for an agent, by the Model Context Protocol on standard input and output."""

from __future__ import annotations

import signal
from importlib.util import find_spec
from pathlib import Path

from plait.cli.output import OK
from plait.core.errors import UserError
from plait.git.location import find_repo


def mcp_command(where: Path, *, read_only: bool) -> int:
    if find_spec("mcp") is None:
        raise UserError(
            "plait mcp needs the Model Context Protocol's SDK, and it is not installed",
            hint="pip install 'plait[mcp]'",
        )
    from plait.server.mcp.server__reach import detect_scope  # noqa: PLC0415 - an extra, and it takes its time
    from plait.server.mcp.server__stdio import serve_stdio  # noqa: PLC0415

    # At once: nothing that matters is in memory, and a thread that reads the input can't be told to stop.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    place = find_repo(where)
    serve_stdio(place, detect_scope(place, read_only=read_only))
    return OK
