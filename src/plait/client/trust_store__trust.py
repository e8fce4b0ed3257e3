"""What people trust repositories to have run, and where that is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plait.git.location import RepoLocation

if TYPE_CHECKING:  # only where a repository's settings run commands
    from plait.client.trust_store import TrustedCommand, TrustStore  # noqa: TC004 - names for type checkers only

__all__ = ["TrustStore", "TrustedCommand"]


def open_trust_store(place: RepoLocation) -> TrustStore:
    """Outside of the repository: nothing in it, and nobody who can only write there, says what is trusted."""
    from plait.client.trust_store import TrustStore as Folder  # noqa: PLC0415

    return Folder(_find_trust_root(), place.state)


def list_all_trusted() -> list[TrustedCommand]:
    """Of all repositories."""
    from plait.client.trust_store import read_all_trusted  # noqa: PLC0415

    return read_all_trusted(_find_trust_root())


def _find_trust_root() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("plait") / "trust"
