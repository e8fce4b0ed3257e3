"""The description of the interface, as it is had without a server."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.support.running_server import RunningServer


def printed(seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "plait.server.http.openapi"],
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_it_is_what_the_server_says_and_always_the_same_text(server: RunningServer) -> None:
    told = printed("1")
    assert json.loads(told) == server.get("/api/openapi.json")
    assert told == printed("2")
