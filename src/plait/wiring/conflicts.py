"""How a conflict is read, by fronts: in folders of its own, so that nothing in the repository is touched."""

from __future__ import annotations

import os
from collections.abc import Mapping

from plait import wiring
from plait.adapters.integrator.sides import Meeting, read_sides
from plait.core.decisions import Change
from plait.kit import Blending, KitError
from plait.ports import Clashing
from plait.wiring import Place
from plait.wiring.repository import git_dir


def conflict_sides(
    place: Place, batch: str, change: Change, onto: str, merged: Mapping[str, Change]
) -> tuple[list[Clashing], int]:
    """The files in conflict, and how many more there are. `merged` are the changes that `onto` has, by task."""
    try:
        blending = wiring.load_kit(place, batch).gear.blending
    except KitError:  # it was forgotten; the conflict is not
        blending = Blending()
    return read_sides(git_dir(place).absolute(), Meeting(change, onto, merged), blending, os.environ)
