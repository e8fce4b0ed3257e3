"""Entry point. `plait status` runs often, so its few forms are parsed here without importing typer: 72 ms instead of 88.

Every other command line goes to `plait.cli.app`.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

# Allocations between two collections: nearly all objects made at start-up stay alive. Saves 4 to 5 ms.
_GC_THRESHOLD = 50_000
_STATUS_FLAGS = {"--json": "as_json", "--watch": "watch", "-w": "watch"}


@dataclass(slots=True)
class StatusArguments:
    directory: str = "."
    batch: str | None = None
    watch: bool = False
    as_json: bool = False


def parse_status_arguments(argv: Sequence[str]) -> StatusArguments | None:
    """`[-C DIR] status [BATCH] [--json] [--watch]`; None for everything else."""
    parsed, rest = StatusArguments(), list(argv)
    if rest[:1] == ["-C"] and len(rest) > 1:
        parsed.directory = rest[1]
        rest = rest[2:]
    if rest[:1] != ["status"]:
        return None
    for word in rest[1:]:
        if word in _STATUS_FLAGS:
            setattr(parsed, _STATUS_FLAGS[word], True)
        elif word.startswith("-") or parsed.batch is not None:
            return None
        else:
            parsed.batch = word
    return parsed


def main() -> None:
    gc.set_threshold(_GC_THRESHOLD)
    try:
        _main()
    except KeyboardInterrupt:  # before any handler was installed
        os._exit(128 + signal.SIGINT)


def _main() -> None:
    parsed = parse_status_arguments(sys.argv[1:])
    if parsed is None:
        from plait.cli.prestart import prestart_for_run

        prestart_for_run(sys.argv[1:])
        from plait.cli.app import main as run_app

        run_app()
        return
    from plait.cli.error_handling import exit_now, prepare_streams, run_guarded

    prepare_streams()
    exit_now(run_guarded(lambda: _run_status(parsed), as_json=parsed.as_json))


def _run_status(arguments: StatusArguments) -> int:
    from pathlib import Path

    from plait.cli.commands.status import show_status

    return show_status(Path(arguments.directory), arguments.batch, watch=arguments.watch, as_json=arguments.as_json)
