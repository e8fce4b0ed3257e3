"""The commands that a person trusts: one small file for each, in the user's own state folder.

A file is named by the hash of its content, and its folder by that of the repository, so nothing is ever overwritten:
two confirmations at the same time are both kept. A file that is damaged, or that another user could have written, is
ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.system.atomic_files import create_file, make_private_folder, read_private_file, replace_file


def open_trust_store(place: RepoLocation) -> TrustStore:
    """It is outside of the repository, so that write access to a repository isn't enough to trust a command."""
    return TrustStore(_find_trust_root(), place.state)


def list_all_trusted() -> list[TrustedCommand]:
    """The trusted commands of all repositories."""
    return read_all_trusted(_find_trust_root())


def _find_trust_root() -> Path:
    from platformdirs import user_state_path

    return user_state_path("plait") / "trust"


IDENTITY_FILE = "identity"


_VALID_IDENTITY = re.compile(r"[0-9a-f]{32}")


_MAX_BYTES = 1 << 20  # bytes; no command is longer


@dataclass(frozen=True, slots=True)
class TrustedCommand:
    """A trusted command; `when` is in seconds since 1970. `repository` is its git folder, for people."""

    key: str
    value: str
    repository: str = ""
    when: float = 0.0


class TrustStore:
    """The trusted commands of one repository. `state` is its state folder (`RepoLocation.state`).

    A repository is identified by its path and a random id, which is written to its state folder when one of its commands
    is first trusted. So another repository at the same path is not mistaken for it.
    """

    def __init__(self, root: Path, state: Path) -> None:
        self._root = root
        self._identity = state / IDENTITY_FILE
        self.repository = os.path.realpath(state.parent)

    def list_commands(self) -> list[TrustedCommand]:
        """The newest last."""
        folder = self._folder(_read_own_file(self._identity))
        return [] if folder is None else _read_commands(folder)

    def add(self, commands: Iterable[tuple[str, str]]) -> None:
        """Trust these commands, each a key and its exact value. Durable on return; raises WorldError if it can't be saved."""
        now = time.time()
        try:
            folder = self._folder(_read_or_create_identity(self._identity))
            if folder is None:
                raise WorldError(f"{self._identity} is damaged", hint="Remove it, and say again what you trust.")
            make_private_folder(folder)
            for key, value in commands:
                _write_command(folder / _digest(key, value), TrustedCommand(key, value, self.repository, now))
        except OSError as error:
            raise _build_storage_error(error, self._root) from error

    def revoke(self) -> list[TrustedCommand]:
        """Revoke the trust in all commands of this repository; returns them."""
        folder = self._folder(_read_own_file(self._identity))
        if folder is None or not folder.is_dir():
            return []
        before = _read_commands(folder)
        try:
            for path in list(folder.iterdir()):
                path.unlink(missing_ok=True)
            with suppress(OSError):  # a command was trusted again just now
                folder.rmdir()
        except OSError as error:
            raise _build_storage_error(error, self._root) from error
        return before

    def _folder(self, identity: str | None) -> Path | None:
        known = identity is not None and _VALID_IDENTITY.fullmatch(identity)
        return self._root / _digest(self.repository, identity) if known and identity else None


def read_all_trusted(root: Path) -> list[TrustedCommand]:
    """The trusted commands of all repositories, grouped by repository."""
    try:
        folders = sorted(path for path in root.iterdir() if path.is_dir())
    except OSError:
        return []
    found = [command for folder in folders for command in _read_commands(folder)]
    return sorted(found, key=lambda command: command.repository)


def _read_commands(folder: Path) -> list[TrustedCommand]:
    return sorted(_read_valid_commands(folder), key=lambda command: (command.when, command.key))


def _read_valid_commands(folder: Path) -> Iterator[TrustedCommand]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are wanted
    except OSError:
        return
    for name in names:
        text = None if name.startswith(".") else _read_own_file(folder / name)
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            told = json.loads(text or "")
            command = TrustedCommand(str(told["key"]), str(told["value"]), str(told["repository"]), float(told["when"]))
            if _digest(command.key, command.value) == name:
                yield command


def _read_own_file(path: Path) -> str | None:
    """The content of a file that only its owner can write; None if it is missing, or others could have written it."""
    try:
        return read_private_file(path, _MAX_BYTES, must_own=True).decode("utf-8", "replace").strip()
    except OSError:
        return None


def _read_or_create_identity(path: Path) -> str | None:
    """The repository's id, created if there is none. Two processes that create it at once get the same one."""
    if not os.path.lexists(path):
        make_private_folder(path.parent)
        with suppress(FileExistsError):  # another process was faster: use its identity
            create_file(path, f"{token_hex(16)}\n".encode("ascii"), durable=True)
    return _read_own_file(path)


def _write_command(path: Path, command: TrustedCommand) -> None:
    """Write the file atomically: a reader sees all of it, or nothing."""
    told = {
        "repository": command.repository,
        "key": command.key,
        "value": command.value,
        "when": command.when,
    }
    replace_file(path, f"{json.dumps(told)}\n".encode("ascii"), durable=True)


def _digest(*words: str) -> str:
    return hashlib.sha256(json.dumps(words).encode("ascii")).hexdigest()


def _build_storage_error(error: OSError, root: Path) -> WorldError:
    where = error.filename or root
    return WorldError(
        f"what you trust can't be kept: {where}: {error.strerror}",
        hint=f"See who may write there: ls -ld {root}.",
    )
