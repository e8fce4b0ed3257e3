"""`plait token`: the token that the server asks for."""

from __future__ import annotations

import sys
from pathlib import Path

from plait.cli.say import OK, write_json
from plait.wiring.checkup import token


def token_command(where: Path, *, as_json: bool) -> int:  # noqa: ARG001 - one token for all repositories of a user
    found, file = token()
    if as_json:
        write_json({"token": found, "file": str(file)})
    else:
        sys.stdout.write(f"{found}\n")
    return OK
