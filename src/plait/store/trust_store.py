"""The user's decisions about a repository: what is trusted in it, kept in the user's own state folder.

Each is one small file: write access to a repository isn't enough to trust a command. A file is named by the hash of its
content, and its folder by that of the repository, so nothing is ever overwritten: two confirmations at the same time are
both kept. A file that is damaged, or that another user could have written, is ignored.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from plait.config.config import SHARED_LAYERS, Config
from plait.config.git_keys import WorkspaceConfig
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.store.state_claim import IDENTITY_FILE, claim_state, find_user_folder, hash_texts, read_identity
from plait.system.atomic_files import make_private_folder, read_private_file, replace_file

_MAX_BYTES = 1 << 20  # no command is longer


def find_trust_root() -> Path:
    return find_user_folder() / "trust"


@dataclass(frozen=True, slots=True)
class TrustedCommand:
    """A trusted command; `when` is in seconds since 1970. `repository` is its git folder, for people."""

    key: str
    value: str
    repository: str = ""
    when: float = 0.0


class TrustStore:
    """The trusted commands of one repository. `state` is its state folder (`RepoLocation.state`).

    A repository is identified by its path and the random id in its state folder, which is claimed when one of its
    commands is first trusted. So another repository at the same path is not mistaken for it.
    """

    def __init__(self, root: Path, state: Path) -> None:
        self._root = root
        self._state = state
        self.repository = os.path.realpath(state.parent)

    def list_commands(self) -> list[TrustedCommand]:
        """List the trusted commands, the newest last."""
        folder = self._find_folder()
        return [] if folder is None else _read_commands(folder)

    def add(self, commands: Iterable[tuple[str, str]]) -> None:
        """Trust these commands, each a key and its exact value. Durable on return; raises WorldError if it can't be saved."""
        now = time.time()
        try:
            claim_state(self._state)
            folder = self._find_folder()
            if folder is None:
                raise WorldError(f"{self._state / IDENTITY_FILE} was removed", hint="Trust the commands again.")
            make_private_folder(folder)
            for key, value in commands:
                _write_command(folder / hash_texts(key, value), TrustedCommand(key, value, self.repository, now))
        except OSError as error:
            raise _build_storage_error(error, self._root) from error

    def revoke(self) -> list[TrustedCommand]:
        """Revoke the trust in all commands of this repository, and return them."""
        folder = self._find_folder()
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

    def _find_folder(self) -> Path | None:
        identity = read_identity(self._state)
        return self._root / hash_texts(self.repository, identity) if identity else None


def read_all_trusted(root: Path) -> list[TrustedCommand]:
    """Return the trusted commands of all repositories, grouped by repository."""
    try:
        folders = sorted(path for path in root.iterdir() if path.is_dir())
    except OSError:
        return []
    commands = [command for folder in folders for command in _read_commands(folder)]
    return sorted(commands, key=lambda command: command.repository)


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
            fields = json.loads(text or "")
            command = TrustedCommand(
                str(fields["key"]), str(fields["value"]), str(fields["repository"]), float(fields["when"])
            )
            if hash_texts(command.key, command.value) == name:
                yield command


def _read_own_file(path: Path) -> str | None:
    """Return the content of a file that only its owner can write; None if it is missing, or others could."""
    try:
        return read_private_file(path, _MAX_BYTES, must_own=True).decode("utf-8", "replace").strip()
    except OSError:
        return None


def _write_command(path: Path, command: TrustedCommand) -> None:
    """Write the file atomically: a reader sees all of it, or nothing."""
    fields = {
        "repository": command.repository,
        "key": command.key,
        "value": command.value,
        "when": command.when,
    }
    replace_file(path, f"{json.dumps(fields)}\n".encode("ascii"), durable=True)


def _build_storage_error(error: OSError, root: Path) -> WorldError:
    where = error.filename or root
    return WorldError(
        f"what you trust can't be saved: {where}: {error.strerror}",
        hint=f"See who may write there: ls -ld {root}.",
    )


_LOCATION_KEY = "workspace.location"


def ignore_untrusted_location(location: RepoLocation, config: Config) -> Config:
    """Return the settings, with the usual folder for worktrees unless the user or a trusted setting has chosen another
    one.

    The repository's file may have changed since its commands were last reviewed.
    """
    folder = config.workspace.location
    if not folder or config.origins[_LOCATION_KEY].layer not in SHARED_LAYERS:
        return config
    trusted = TrustStore(find_trust_root(), location.state).list_commands()
    if any((command.key, command.value) == (_LOCATION_KEY, folder) for command in trusted):
        return config
    return replace(config, workspace=WorkspaceConfig(**{**config.workspace.values, "location": None}))
