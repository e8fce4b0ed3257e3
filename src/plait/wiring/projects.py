"""Projects: what names one, and where it is kept which ones a user's server knows."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from plait.wiring import Place

DIGITS = 12


def project_id(place: Place) -> str:
    """The same for all checkouts of a repository, and whoever asks: it follows from where its own git folder lies."""
    return hashlib.sha256(os.fsencode(os.path.realpath(place.state.parent))).hexdigest()[:DIGITS]


def register_file() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("plait") / "projects.json"
