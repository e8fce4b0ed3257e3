"""The tokens that the server asks for, and where they are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.client.server_tokens import ServerTokens, TokenFiles  # noqa: TC004 - a name for type checkers only
    from plait.server.used_codes import UsedCodes

__all__ = ["ServerTokens"]


def get_full_token() -> tuple[str, Path]:
    """What opens the server, and where it is kept. The first time, it is made."""
    from plait.client.server_tokens import read_or_create_token as read  # noqa: PLC0415

    path = open_token_files().full
    return read(path), path


def get_read_only_token() -> tuple[str, Path]:
    """What lets look and change nothing, and where it is kept. The first time, it is made."""
    from plait.client.server_tokens import read_or_create_token as read  # noqa: PLC0415

    path = open_token_files().read_only
    return read(path), path


def rotate_full_token() -> tuple[str, Path]:
    """A new token. Both old ones, and all links and logins that came of them, are dead, also for a server that runs."""
    files = open_token_files()
    return files.rotate(), files.full


def rotate_read_only_token() -> tuple[str, Path]:
    """Only the one that lets look, with its links and logins."""
    from plait.client.server_tokens import replace_token  # noqa: PLC0415

    path = open_token_files().read_only
    return replace_token(path), path


def open_token_files() -> TokenFiles:
    from plait.client.server_tokens import TokenFiles as Files  # noqa: PLC0415

    return Files(find_user_state_folder())


def open_used_codes() -> UsedCodes:
    from plait.server.used_codes import UsedCodes as Codes  # noqa: PLC0415

    return Codes(find_user_state_folder() / "spent-codes")


def find_user_state_folder() -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("plait")
