"""Random repositories, random edits, random drops and retries through the command line, and engines killed in between."""

from __future__ import annotations

import os

import pytest

from tests.support.random_batch import RandomBatch
from tests.support.temp_project import TempProject

LONG = bool(os.environ.get("PLAIT_SOAK_LONG"))
SEEDS = range(60 if LONG else 2)
TURNS = 5 if LONG else 2


@pytest.mark.parametrize("seed", SEEDS)
def test_after_random_batches_the_branch_has_the_remaining_changes_and_nothing_is_lost(
    project: TempProject, seed: int
) -> None:
    story = RandomBatch(project, seed)
    story.run()
    story.drop()
    for _ in range(TURNS):
        story.step()
