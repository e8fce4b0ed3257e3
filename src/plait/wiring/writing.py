"""How statuses reach the files of a checkout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plait.wiring import LOCKS, Place

if TYPE_CHECKING:  # reading and writing sources needs a lot, and not every engine has anything to tell
    from plait.core.plan import Problem
    from plait.engine.settle import Write
    from plait.sources.model import Change, Writer


def source_writer(place: Place) -> Write:
    """How statuses reach the files of this checkout."""
    from plait.adapters.sourcefiles import write_back  # noqa: PLC0415 - the fronts that only read go without

    def write(writer: Writer, changes: Sequence[Change]) -> Sequence[Problem]:
        if writer.creates and not (place.top / writer.path).parent.is_dir():
            return ()
        return write_back(place.top, writer, changes, locks=place.state / LOCKS).problems

    return write
