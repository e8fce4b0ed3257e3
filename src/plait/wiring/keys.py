"""The tokens that the server asks for, and where they are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.adapters.spent import SpentCodes
    from plait.adapters.token import TokenFiles, Tokens  # noqa: TC004 - a name for type checkers only

__all__ = ["Tokens"]


def token() -> tuple[str, Path]:
    """What opens the server, and where it is kept. The first time, it is made."""
    from plait.adapters.token import token as read  # noqa: PLC0415

    path = token_files().full
    return read(path), path


def read_only_token() -> tuple[str, Path]:
    """What lets look and change nothing, and where it is kept. The first time, it is made."""
    from plait.adapters.token import token as read  # noqa: PLC0415

    path = token_files().read_only
    return read(path), path


def rotate_token() -> tuple[str, Path]:
    """A new token. Both old ones, and all links and logins that came of them, are dead, also for a server that runs."""
    files = token_files()
    return files.rotate(), files.full


def rotate_read_only_token() -> tuple[str, Path]:
    """Only the one that lets look, with its links and logins."""
    from plait.adapters.token import rotate  # noqa: PLC0415

    path = token_files().read_only
    return rotate(path), path


def token_files() -> TokenFiles:
    from plait.adapters.token import TokenFiles as Files  # noqa: PLC0415

    return Files(_folder())


def spent_codes() -> SpentCodes:
    from plait.adapters.spent import SpentCodes as Codes  # noqa: PLC0415

    return Codes(_folder() / "spent-codes")


def _folder() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("plait")
