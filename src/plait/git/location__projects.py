"""Projects: what names one, and where it is kept which ones a user's server knows."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from plait.git.location import RepoLocation

PROJECT_ID_LENGTH = 12


def compute_project_id(place: RepoLocation) -> str:
    """The same for all checkouts of a repository, and whoever asks: it follows from where its own git folder lies."""
    return hashlib.sha256(os.fsencode(os.path.realpath(place.state.parent))).hexdigest()[:PROJECT_ID_LENGTH]


def find_project_register() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("plait") / "projects.json"
