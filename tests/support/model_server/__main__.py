"""`python -m tests.support.model_server`: a scripted provider to try tools with by hand."""

from __future__ import annotations

import threading
from argparse import ArgumentParser
from contextlib import suppress

from tests.support.model_server.server import ModelServer


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.support.model_server", description="A scripted model server.")
    parser.add_argument("--port", type=int, default=0, help="by default any free port")
    parser.add_argument("--fault", default="", help="the fault of every request: KIND[:TIMES][;after=SECONDS]")
    chosen = parser.parse_args()
    with ModelServer(port=chosen.port) as server, suppress(KeyboardInterrupt):
        server.set_faults(chosen.fault)
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
