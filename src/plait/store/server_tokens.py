"""The server's tokens and where they are kept: random, created on first use, readable only by their owner. One gives
full access, the other read-only access.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.store.state_claim import find_user_folder
from plait.system.atomic_files import (
    NotPrivateError,
    create_file,
    fsync_path,
    make_private_folder,
    read_private_file,
    replace_file,
)

_TOKEN_BYTES = 32
_VALID_TOKEN = re.compile(r"[0-9a-f]{64}")
_MAX_BYTES = 1024


@dataclass(frozen=True, slots=True)
class ServerTokens:
    """The tokens that are valid now. `read_only` is None if it was never requested."""

    full: str
    read_only: str | None = None


class TokenFiles:
    """Both tokens of one user, in the user's own folder."""

    def __init__(self, folder: Path) -> None:
        self.full = folder / "token"
        self.read_only = folder / "token-read-only"

    def read(self) -> ServerTokens:
        """Read the tokens, each time, so that a rotation takes effect at once in a running server."""
        return ServerTokens(read_or_create_token(self.full), _read_valid(self.read_only))

    def rotate(self) -> str:
        """Create and return a new full token. This invalidates both old ones with all their links and logins, also in a
        running server.

        After a crash in between, only one is invalid, and rotating again is fine.
        """
        try:
            self.read_only.unlink(missing_ok=True)
        except OSError as error:
            raise _build_storage_error(self.read_only, error) from error
        return replace_token(self.full)


def read_or_create_token(path: Path) -> str:
    """Return the token in this file, created if there is none. Two processes that create it at once get the same one."""
    token = _read_valid(path)
    if token is not None:
        return token
    try:
        make_private_folder(path.parent)
        with suppress(FileExistsError):  # another process was faster: use its token
            create_file(path, f"{token_hex(_TOKEN_BYTES)}\n".encode("ascii"), durable=True)
    except OSError as error:
        raise _build_storage_error(path, error) from error
    token = _read_valid(path)
    if token is None:
        raise WorldError(f"{path} was removed right after it was created", hint="See who removes it.")
    return token


def replace_token(path: Path) -> str:
    """Replace the token atomically, whatever the file contains now."""
    token = token_hex(_TOKEN_BYTES)
    try:
        make_private_folder(path.parent)
        replace_file(path, f"{token}\n".encode("ascii"), durable=True)
        fsync_path(path.parent)  # a power cut must not restore the old one
    except OSError as error:
        raise _build_storage_error(path, error) from error
    return token


def _read_valid(path: Path) -> str | None:
    """Return the token, or None if there is no file; raises if it contains no token, or others can access it."""
    try:
        token = read_private_file(path, _MAX_BYTES, follow_links=True).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except NotPrivateError as error:
        raise WorldError(
            f"the token {path} could be read by others",
            hint="Remove it: a new one is created on the next use. Or, if you are the only user of this machine: chmod 600.",
        ) from error
    except OSError as error:
        raise _build_storage_error(path, error) from error
    if not _VALID_TOKEN.fullmatch(token):
        raise WorldError(f"{path} holds no token", hint="Remove it: a new one is created on the next use.")
    return token


def _build_storage_error(path: Path, error: OSError) -> WorldError:
    return WorldError(f"the token {path} can't be saved: {error.strerror}", hint="See who may write there: ls -ld.")


def open_token_files() -> TokenFiles:
    return TokenFiles(find_user_folder())


def list_server_tokens() -> list[str]:
    """List the tokens that exist; one that can't be read is left out."""
    files = open_token_files()
    tokens = []
    for path in (files.full, files.read_only):
        with suppress(WorldError):
            tokens.append(_read_valid(path))
    return [token for token in tokens if token is not None]
