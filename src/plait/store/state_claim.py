"""Whose a repository's state is: the journal, open batches and saved settings run commands, so they must be the user's own.

State is claimed when it is first written: a random id in the state folder, and a file in the user's own state folder that
names this id and the repository's path. State that was copied from elsewhere has no such file. It is set aside: moved to
another folder, with nothing in it run, until the user adopts it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation, find_repo
from plait.store import journal_lock
from plait.store.project_files import JOURNAL_FILE, LOCKS_FOLDER
from plait.system.atomic_files import make_private_folder, read_private_file, read_regular_file, replace_file
from plait.system.flock import hold_lock

IDENTITY_FILE = "identity"
ADOPT_COMMAND = "plait trust --state"
_SET_ASIDE_SUFFIX = "-set-aside"
_VALID_IDENTITY = re.compile(r"[0-9a-f]{32}")
_MAX_BYTES = 1 << 16
# Nothing in these runs, and they may have been written before the state was claimed.
_HARMLESS_NAMES = frozenset(
    {
        IDENTITY_FILE,
        LOCKS_FOLDER,
        "workspaces.lock",
        "packs",
        "trash",
        "engine.log",
        "engine.log.1",
        "doorbell",
        "trouble",
    }
)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MAX_PER_SECOND = 100


class ForeignStateError(UserError):
    """The state may not be the user's own; nothing in it was run."""


def open_repo(path: Path) -> RepoLocation:
    """Find the repository as `find_repo`, to use its state. Raises ForeignStateError as `require_own_state`."""
    location = find_repo(path)
    require_own_state(location)
    return location


def require_own_state(location: RepoLocation) -> None:
    """Set foreign state aside, and raise ForeignStateError once to report it: from then on there is no state."""
    why = explain_foreign(location.state)
    if why is None:
        return
    message = f"plait's state in {location.state} {why}"
    if not _can_move(location.state):
        raise ForeignStateError(
            f"{message}; nothing in it is run",
            hint="Run plait as the user who owns it, and let its engine finish. "
            f"If it is yours, review and accept it: {ADOPT_COMMAND}.",
        )
    with _hold_claims_lock():
        # Another process may have been faster, and what is there now may be the user's own.
        folder = set_aside(location.state) if explain_foreign(location.state) is not None else None
    if folder is not None:
        raise ForeignStateError(
            f"{message}; nothing in it was run, and it is now in {folder}",
            hint="If it is yours, because you moved, copied or restored the repository, review and accept it: "
            f"{ADOPT_COMMAND}. Otherwise repeat your command: plait starts without it.",
        )


def claim_state(state: Path) -> None:
    """Claim the state folder as the user's own, before anything is written to it. Durable on return.

    Raises ForeignStateError if it has foreign state, which stays as it is, and WorldError if the claim can't be
    written.
    """
    if _read_valid_claim(state) is not None:
        return
    with _hold_claims_lock():
        why = explain_foreign(state)
        if why is not None:
            message = f"plait's state in {state} {why}; nothing in it is run"
            raise ForeignStateError(message, hint=f"If it is yours, review and accept it: {ADOPT_COMMAND}.")
        if _read_valid_claim(state) is None:
            _write_claim(state, read_identity(state) if _is_known_to_user(state) else None)


def explain_foreign(state: Path) -> str | None:
    """Say why this state may not be the user's own, to follow its path; None if it is, or if there is none."""
    if _is_harmless(state) or _read_valid_claim(state) is not None or _is_known_to_user(state):
        return None
    try:
        status = state.stat()
    except OSError as error:
        return f"can't be read ({error.strerror})"
    if not stat.S_ISDIR(status.st_mode):
        return None  # nothing can run from it; it is reported when it is used
    if status.st_uid != os.geteuid():
        return f"belongs to another user (uid {status.st_uid})"
    identity = read_identity(state)
    claims = [claim for claim in _list_claims() if claim.identity == identity]
    if any(claim.repository == _find_repository(state) for claim in claims):
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    written_at = max(claims, key=lambda claim: claim.when).repository if claims else ""
    return f"was written at {written_at}" if written_at else "was not written here by you"


def set_aside(state: Path) -> Path | None:
    """Move the state folder away and return where it is; None if another process was faster."""
    for n in range(_MAX_PER_SECOND):
        name = time.strftime("%Y%m%d-%H%M%S", time.gmtime()) + (f"-{n}" if n else "")
        folder = find_set_aside_folder(state) / name
        try:
            make_private_folder(folder.parent)
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        try:
            state.rename(folder / state.name)
        except FileNotFoundError:
            folder.rmdir()
            return None
        return folder / state.name
    raise WorldError(f"{state} can't be moved", hint=f"Look at {find_set_aside_folder(state)}.")


def find_set_aside_folder(state: Path) -> Path:
    return state.with_name(f"{state.name}{_SET_ASIDE_SUFFIX}")


def list_set_aside(state: Path) -> list[Path]:
    """List the folders that were set aside, the newest last."""
    folders = find_set_aside_folder(state).glob(f"*/{state.name}")
    return sorted((folder for folder in folders if folder.is_dir()), key=lambda folder: folder.parent.name)


def adopt_state(state: Path, folder: Path) -> Path | None:
    """Make the content of this folder the repository's state, under a new id that no copy of it has.

    The state that is there now is set aside; return its new place, or None if there was none. Raises WorldError.
    """
    for used in {state, folder}:
        if _is_used_by_engine(used):
            raise WorldError(f"an engine is using {used}", hint="Wait until it exits; plait pause makes it stop.")
    replaced = None
    try:
        with _hold_claims_lock():
            if folder != state:
                replaced = set_aside(state) if os.path.lexists(state) else None
                folder.rename(state)
                with suppress(OSError):
                    folder.parent.rmdir()
            _write_claim(state, None)
    except OSError as error:
        raise WorldError(f"{folder} can't be moved to {state}: {error.strerror}", hint="Check who owns it.") from error
    return replaced


def _can_move(state: Path) -> bool:
    """Whether the folder is this user's, and no engine works with it."""
    try:
        owned = all(status.st_uid == os.geteuid() for status in (state.lstat(), state.stat()))
    except OSError:
        return False
    return owned and not _is_used_by_engine(state)


def _is_used_by_engine(state: Path) -> bool:
    try:
        return journal_lock.is_locked(state / JOURNAL_FILE)
    except OSError:
        return False


def _is_harmless(state: Path) -> bool:
    """Whether the state holds nothing that could run, as in a folder that was only just made."""
    if not os.path.lexists(state):
        return True
    try:
        with os.scandir(state) as entries:
            return not state.is_symlink() and all(map(_is_harmless_entry, entries))
    except OSError:
        return False


def _is_harmless_entry(entry: os.DirEntry[str]) -> bool:
    known = entry.name in _HARMLESS_NAMES or entry.name.startswith(f".{IDENTITY_FILE}.")
    return known and not entry.is_symlink()


@dataclass(frozen=True, slots=True)
class _Claim:
    """The user's record that a state is theirs. `repository` is the git folder. `private`: the file system can keep
    others from writing to the state.
    """

    repository: str
    identity: str
    private: bool
    when: float


def read_identity(state: Path) -> str | None:
    """Return the id in the state folder, or None."""
    try:
        text = read_regular_file(state / IDENTITY_FILE, _MAX_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return None
    return text if _VALID_IDENTITY.fullmatch(text) else None


def _read_valid_claim(state: Path) -> _Claim | None:
    """Return the user's claim on this state; None if there is none, or if others could have written to the state."""
    identity = read_identity(state)
    if identity is None:
        return None
    repository = _find_repository(state)
    claim = _read_claim(_find_claims_folder() / hash_texts(repository, identity))
    if claim is None or (claim.repository, claim.identity) != (repository, identity):
        return None
    try:
        status = state.stat()
    except OSError:
        return None
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return claim if is_own and not (claim.private and status.st_mode & _OTHERS_WRITE) else None


def _read_claim(path: Path) -> _Claim | None:
    try:
        fields = json.loads(read_private_file(path, _MAX_BYTES, must_own=True))
        return _Claim(
            str(fields["repository"]), str(fields["identity"]), bool(fields["private"]), float(fields["when"])
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _list_claims() -> Iterator[_Claim]:
    try:
        paths = list(_find_claims_folder().iterdir())
    except OSError:
        return
    for path in paths:
        claim = _read_claim(path)
        if claim is not None:
            yield claim


def _write_claim(state: Path, identity: str | None) -> None:
    """Write the claim; with `identity` None, under a new id."""
    try:
        make_private_folder(state)
        if state.stat().st_mode & _OTHERS_WRITE:
            with suppress(OSError):  # a file system without modes
                state.chmod(0o700)
        if identity is None:
            identity = os.urandom(16).hex()
            replace_file(state / IDENTITY_FILE, f"{identity}\n".encode("ascii"), durable=True)
        private = not state.stat().st_mode & _OTHERS_WRITE
    except OSError as error:
        raise WorldError(
            f"plait can't write its state to {state}: {error.strerror}", hint="Check permissions and free disk space."
        ) from error
    try:
        repository = _find_repository(state)
        claim = {"repository": repository, "identity": identity, "private": private, "when": time.time()}
        path = _find_claims_folder() / hash_texts(repository, identity)
        replace_file(path, f"{json.dumps(claim)}\n".encode("ascii"), durable=True)
    except OSError as error:
        raise _build_storage_error(error) from error


def _is_known_to_user(state: Path) -> bool:
    """Whether the user knows state that is older than claims: the user trusted commands of it, or it belongs to a
    mirror that plait keeps.
    """
    identity, repository = read_identity(state), _find_repository(state)
    try:
        if state.stat().st_uid != os.geteuid():
            return False
        trusted = find_user_folder() / "trust" / hash_texts(repository, identity or "")
        if identity is not None and trusted.stat().st_uid == os.geteuid():
            return True
    except OSError:
        pass
    from platformdirs import user_data_path

    mirrors = os.path.realpath(user_data_path("plait", appauthor=False) / "mirrors")
    return repository.startswith(f"{mirrors}/")


@contextmanager
def _hold_claims_lock() -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(_find_claims_folder() / "lock"))
        except OSError as error:
            raise _build_storage_error(error) from error
        yield


def _build_storage_error(error: OSError) -> WorldError:
    folder = _find_claims_folder()
    return WorldError(
        f"plait can't record that this repository's state is yours: {error.filename or folder}: {error.strerror}",
        hint=f"Check who may write to {folder}, or set XDG_STATE_HOME to a folder of yours.",
    )


def _find_repository(state: Path) -> str:
    return os.path.realpath(state.parent)


def _find_claims_folder() -> Path:
    return find_user_folder() / "states"


def find_user_folder() -> Path:
    """Return the folder where plait keeps the user's decisions about all repositories."""
    from platformdirs import user_state_path

    return user_state_path("plait")


def hash_texts(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()
