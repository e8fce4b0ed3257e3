"""The quick way in: `plait status` is asked often, by people and programs, and needs no parser of options to be told.

What is not exactly one of its few forms goes the long way, which knows all verbs and what is wrong with a word.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

# Objects between two looks for garbage: what a start makes stays, and Python would look among it every few hundred.
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
    except KeyboardInterrupt:  # before anything was there to hear it
        os._exit(128 + signal.SIGINT)


def _main() -> None:
    parsed = parse_status_arguments(sys.argv[1:])
    if parsed is None:
        from plait.cli.prestart import prestart_for_run

        prestart_for_run(sys.argv[1:])
        from plait.cli.app import main as long_way  # the point of it all

        long_way()
        return
    from plait.cli.error_handling import exit_now, prepare_streams, run_guarded

    prepare_streams()
    exit_now(run_guarded(lambda: _run_status(parsed), as_json=parsed.as_json))


def _run_status(arguments: StatusArguments) -> int:
    from pathlib import Path

    from plait.cli.commands.status import status_command

    return status_command(Path(arguments.directory), arguments.batch, watch=arguments.watch, as_json=arguments.as_json)
