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
_MANY = 50_000
_FLAGS = {"--json": "as_json", "--watch": "watch", "-w": "watch"}


@dataclass(slots=True)
class Quick:
    where: str = "."
    batch: str | None = None
    watch: bool = False
    as_json: bool = False


def recognised(words: Sequence[str]) -> Quick | None:
    """`[-C DIR] status [BATCH] [--json] [--watch]`; None for everything else."""
    said, left = Quick(), list(words)
    if left[:1] == ["-C"] and len(left) > 1:
        said.where = left[1]
        left = left[2:]
    if left[:1] != ["status"]:
        return None
    for word in left[1:]:
        if word in _FLAGS:
            setattr(said, _FLAGS[word], True)
        elif word.startswith("-") or said.batch is not None:
            return None
        else:
            said.batch = word
    return said


def main() -> None:
    gc.set_threshold(_MANY)
    try:
        _main()
    except KeyboardInterrupt:  # before anything was there to hear it
        os._exit(128 + signal.SIGINT)


def _main() -> None:
    said = recognised(sys.argv[1:])
    if said is None:
        from plait.cli.headstart import begin  # noqa: PLC0415

        begin(sys.argv[1:])
        from plait.cli.main import main as long_way  # noqa: PLC0415 - the point of it all

        long_way()
        return
    from plait.cli.guard import guarded, leave, prepare  # noqa: PLC0415

    prepare()
    leave(guarded(lambda: _status(said), as_json=said.as_json))


def _status(said: Quick) -> int:
    from pathlib import Path  # noqa: PLC0415

    from plait.cli.status import status_command  # noqa: PLC0415

    return status_command(Path(said.where), said.batch, watch=said.watch, as_json=said.as_json)
