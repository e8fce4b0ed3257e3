"""What people trust repositories to have run, and where that is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plait.wiring import Place

if TYPE_CHECKING:  # only where a repository's settings run commands
    from plait.adapters.trust import Trusted, TrustFolder  # noqa: TC004 - names for type checkers only

__all__ = ["TrustFolder", "Trusted"]


def trust_of(place: Place) -> TrustFolder:
    """Outside of the repository: nothing in it, and nobody who can only write there, says what is trusted."""
    from plait.adapters.trust import TrustFolder as Folder  # noqa: PLC0415

    return Folder(_folder(), place.state)


def all_trusted() -> list[Trusted]:
    """Of all repositories."""
    from plait.adapters.trust import everything  # noqa: PLC0415

    return everything(_folder())


def _folder() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("plait") / "trust"
