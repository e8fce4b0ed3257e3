"""The OpenAPI document, printed without a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from plait.server.http.app import render_openapi
from tests.support.running_server import RunningServer


def test_the_printed_document_is_the_one_that_the_server_sends_and_always_the_same_text(server: RunningServer) -> None:
    command = [sys.executable, "-m", "plait.server.http.app"]
    printed = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, check=True).stdout
    assert json.loads(printed) == server.get("/api/openapi.json")
    assert printed.decode() == render_openapi()
