"""The tokens that the server asks for: random, made once, for their owner's eyes alone. One opens everything, the other,
which is made when somebody wants it, lets look.

The tokens that the server asks for, and where they are kept.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
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
    """What opens the server, as of now. `read_only` is None where nobody ever wanted one."""

    full: str
    read_only: str | None = None


class TokenFiles:
    """Both tokens of one user, in the folder that is his own."""

    def __init__(self, folder: Path) -> None:
        self.full = folder / "token"
        self.read_only = folder / "token-read-only"

    def read(self) -> ServerTokens:
        """Read anew each time: what was rotated is dead at once, also for a server that runs."""
        return ServerTokens(read_or_create_token(self.full), _read_valid(self.read_only))

    def rotate(self) -> str:
        """A new token; both old ones are dead. Whoever dies in between leaves one dead, and may rotate again."""
        try:
            self.read_only.unlink(missing_ok=True)
        except OSError as error:
            raise _build_storage_error(self.read_only, error) from error
        return replace_token(self.full)


def read_or_create_token(path: Path) -> str:
    """The token in this file, which is made where there is none. Of two who make it at once, both get the same one."""
    found = _read_valid(path)
    if found is not None:
        return found
    try:
        make_private_folder(path.parent)
        with suppress(FileExistsError):  # another process was faster: use its token
            create_file(path, f"{token_hex(_TOKEN_BYTES)}\n".encode("ascii"), durable=True)
    except OSError as error:
        raise _build_storage_error(path, error) from error
    found = _read_valid(path)
    if found is None:
        raise WorldError(f"{path} is gone as soon as it is made", hint="See who removes it.")
    return found


def replace_token(path: Path) -> str:
    """Another token takes this one's place, whatever is there now; whole, or not at all."""
    token = token_hex(_TOKEN_BYTES)
    try:
        make_private_folder(path.parent)
        replace_file(path, f"{token}\n".encode("ascii"), durable=True)
        fsync_path(path.parent)  # a power cut must not bring the old one back
    except OSError as error:
        raise _build_storage_error(path, error) from error
    return token


def _read_valid(path: Path) -> str | None:
    """None where there is no file; one that holds no token, or is not the owner's alone, is refused."""
    try:
        found = _read_private(path)
    except OSError as error:
        raise _build_storage_error(path, error) from error
    if found is not None and not _VALID_TOKEN.fullmatch(found):
        raise WorldError(f"{path} holds no token", hint="Remove it: a new one is made the next time.")
    return found


def _read_private(path: Path) -> str | None:
    try:
        return read_private_file(path, _MAX_BYTES, follow_links=True).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except NotPrivateError as error:
        raise WorldError(
            f"the token {path} could be read by others",
            hint="Remove it: a new one is made the next time. Or, if nobody else is on this machine: chmod 600.",
        ) from error


def _build_storage_error(path: Path, error: OSError) -> WorldError:
    return WorldError(f"the token {path} can't be kept: {error.strerror}", hint="See who may write there: ls -ld.")


def get_full_token() -> tuple[str, Path]:
    """What opens the server, and where it is kept. The first time, it is made."""
    path = open_token_files().full
    return read_or_create_token(path), path


def get_read_only_token() -> tuple[str, Path]:
    """What lets look and change nothing, and where it is kept. The first time, it is made."""
    path = open_token_files().read_only
    return read_or_create_token(path), path


def rotate_full_token() -> tuple[str, Path]:
    """A new token. Both old ones, and all links and logins that came of them, are dead, also for a server that runs."""
    files = open_token_files()
    return files.rotate(), files.full


def rotate_read_only_token() -> tuple[str, Path]:
    """Only the one that lets look, with its links and logins."""
    path = open_token_files().read_only
    return replace_token(path), path


def open_token_files() -> TokenFiles:

    return TokenFiles(find_user_state_folder())


def find_user_state_folder() -> Path:
    from platformdirs import user_state_path

    return user_state_path("plait")
