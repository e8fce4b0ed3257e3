"""How statuses reach the files of a checkout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.wiring import LOCKS, Place, load_kit

if TYPE_CHECKING:  # reading and writing sources needs a lot, and not every engine has anything to tell
    from plait.core.plan import Problem
    from plait.engine.settle import Write
    from plait.sources.model import Change, Writer


def source_writer(place: Place) -> Write:
    """How statuses reach the files of this checkout."""
    from plait.adapters.sourcefiles import write_back  # noqa: PLC0415 - the fronts that only read go without

    def write(writer: Writer, changes: Sequence[Change]) -> Sequence[Problem]:
        top = _top(place, changes[0].batch) if changes else place.top
        if writer.creates and not (top / writer.path).parent.is_dir():
            return ()
        return write_back(top, writer, changes, locks=place.state / LOCKS).problems

    return write


def _top(place: Place, batch: str) -> Path:
    """The checkout that the batch was submitted from: a repository may have several, and one engine for all."""
    try:
        return Path(load_kit(place, batch).top)
    except WorldError:
        return place.top
