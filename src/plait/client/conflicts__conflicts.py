"""How a conflict is read, by fronts: in folders of its own, so that nothing in the repository is touched."""

from __future__ import annotations

import os
from collections.abc import Mapping

from plait.client.repository import find_git_dir
from plait.core.decisions import Change
from plait.git.location import RepoLocation
from plait.git.merge.conflict_view import ConflictingMerge, read_conflict_sides
from plait.store import project_files
from plait.store.batch_inputs import BatchInputsError, MergeRules
from plait.store.interfaces import ConflictedFile


def read_batch_conflict(
    place: RepoLocation, batch: str, change: Change, onto: str, merged: Mapping[str, Change]
) -> tuple[list[ConflictedFile], int]:
    """The files in conflict, and how many more there are. `merged` are the changes that `onto` has, by task."""
    try:
        blending = project_files.load_batch_inputs(place, batch).gear.blending
    except BatchInputsError:  # it was forgotten; the conflict is not
        blending = MergeRules()
    return read_conflict_sides(
        find_git_dir(place).absolute(), ConflictingMerge(change, onto, merged), blending, os.environ
    )
