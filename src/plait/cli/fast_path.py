"""Entry point. `plait status` runs often, so its few forms are parsed here without importing typer: 72 ms instead of 88.

Every other command line goes to `plait.cli.app`. For `plait run`, the engine process is started first, since both take
equally long to import: a run of one task takes 270 ms instead of 326 (two idle cores). The engine waits for a command
and touches nothing before; `drop_engine` ends it if it is not needed.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from plait.engine.daemon import HeldProcess
    from plait.git.location import RepoLocation

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
    """Parse `[-C DIR] status [BATCH] [--json] [--watch]`; None for everything else."""
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


# With these nothing runs, or it runs in another repository.
_NO_RUN_FLAGS = ("--dry-run", "--help", "-h", "--repo")

_prestarted: tuple[RepoLocation, HeldProcess] | None = None


def find_run_directory(argv: Sequence[str]) -> Path | None:
    """Return the directory of `[-C DIR]... run …`; None for any other command."""
    from pathlib import Path

    where, rest = Path(), list(argv)
    while rest[:1] == ["-C"] and len(rest) > 1:
        where, rest = where / rest[1], rest[2:]
    runs = rest[:1] == ["run"] and not any(word.partition("=")[0] in _NO_RUN_FLAGS for word in rest)
    return where if runs else None


def prestart_for_run(argv: Sequence[str]) -> None:
    global _prestarted  # noqa: PLW0603 - one per process
    where = find_run_directory(argv)
    if where is None or None in {sys.stdin, sys.stdout, sys.stderr}:  # one was closed: the pipe would take its place
        return
    from plait.core.errors import PlaitError  # only for `plait run`
    from plait.engine.daemon import find_engine, spawn_held_engine
    from plait.git.location import find_repo

    try:
        location = find_repo(where)
        held = spawn_held_engine(location) if find_engine(location) is None else None
    except (PlaitError, OSError):  # the command itself will report it
        return
    _prestarted = (location, held) if held is not None else None


def take_engine(location: RepoLocation) -> HeldProcess | None:
    """Hand over the engine that was started for this repository, if any."""
    global _prestarted
    if _prestarted is None or _prestarted[0] != location:
        return None
    held, _prestarted = _prestarted[1], None
    return held


def drop_engine() -> None:
    """End the engine if it was not taken."""
    global _prestarted  # noqa: PLW0603
    if _prestarted is not None:
        _prestarted[1].discard()
        _prestarted = None
