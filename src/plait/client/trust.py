"""Commands in a repository's own settings, and whether the user trusts them.

What is trusted is kept in the user's own state folder, one small file for each command: write access to a repository
isn't enough to trust a command. A file is named by the hash of its content, and its folder by that of the repository, so
nothing is ever overwritten: two confirmations at the same time are both kept. A file that is damaged, or that another
user could have written, is ignored.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from plait.config.config import Config, ValueOrigin, find_repository_commands
from plait.config.keys import KEYS_BY_NAME
from plait.config.loading import find_user_file
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.store.state_claim import IDENTITY_FILE, claim_state, find_user_folder, hash_texts, read_identity
from plait.system.atomic_files import make_private_folder, read_private_file, replace_file

# These run when they are loaded, before there is a plan to show.
FORMAT_KEY = "sources.format"
_JUDGE_KEY = "run.judge"
AGENT_KEYS = ("run.agent", "run.fallback", _JUDGE_KEY)
_COMMAND_KEY, _SHELL_KEY = "run.agent_command", "run.agent_shell"

_LONG_GAP = re.compile(r" {8,}")  # what follows might be off screen

_MAX_BYTES = 1 << 20  # no command is longer


@dataclass(frozen=True, slots=True)
class RepoCommand:
    """A command in a repository's settings. `before` is the value that was trusted earlier.

    `name` is its key, and whatever else in the settings makes it another command: the hash covers it and the exact value.
    """

    key: str
    name: str
    value: str
    given: ValueOrigin
    trusted: bool = False
    before: str | None = None

    @property
    def trust_status(self) -> str:
        if self.trusted:
            return "trusted"
        return "new" if self.before is None else "changed"


def list_repo_commands(config: Config, location: RepoLocation | None) -> list[RepoCommand]:
    """All of them, with their trust in this repository; without one, nothing is trusted."""
    commands = [_make_repo_command(config, command.key, command.given) for command in find_repository_commands(config)]
    if not commands or location is None:
        return commands
    known = [(trusted.key, trusted.value) for trusted in open_trust_store(location).list_commands()]
    last = dict(known)
    return [
        replace(command, trusted=(command.name, command.value) in known, before=last.get(command.name))
        for command in commands
    ]


def _make_repo_command(config: Config, key: str, origin: ValueOrigin) -> RepoCommand:
    value = config.value(KEYS_BY_NAME[key])
    if key == _JUDGE_KEY and isinstance(value, tuple) and len(value) == 1:
        value = value[0]  # as it was trusted when there was one judge at most
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A shell makes another command of the same words.
    name = f"{key} with {_SHELL_KEY}" if key == _COMMAND_KEY and config.run.agent_shell else key
    return RepoCommand(key, name, text, origin)


def save_trust(location: RepoLocation, repo_commands: Sequence[RepoCommand]) -> None:
    """Raises WorldError if it can't be saved."""
    open_trust_store(location).add((command.name, command.value) for command in repo_commands)


class UntrustedError(UserError):
    """Nothing was started: the user has to review these commands first."""

    def __init__(self, commands: Sequence[RepoCommand], where: Path | None) -> None:
        super().__init__(_format_untrusted(commands), hint=format_trust_hint(commands, where))
        self.commands = tuple(commands)


def require_trust(config: Config, location: RepoLocation, early: Sequence[str] | None = None) -> None:
    """Raises UntrustedError unless everything is trusted; `early`: only if one of these keys is among it."""
    repo_commands = find_repository_commands(config)
    if not repo_commands or (early is not None and not any(command.key in early for command in repo_commands)):
        return
    commands = list_repo_commands(config, location)
    if not all(command.trusted for command in commands):
        raise UntrustedError(commands, location.top)


def format_trust_hint(commands: Sequence[RepoCommand], where: Path | None) -> str:
    flags = [KEYS_BY_NAME[command.key].flag for command in commands if not command.trusted]
    options = " and ".join(f"{flag} …" for flag in flags if flag)
    own_settings = f"in your own settings ({find_user_file()})"
    alternative = (
        f"Or pass them yourself with {options}, or {own_settings}." if options else f"Or put them {own_settings}."
    )
    return f"Review and trust them: {format_trust_command(where)}\n  {alternative}"


def format_trust_command(where: Path | None) -> str:
    """The command that reviews them, from the current folder."""
    if where is None or where.resolve() == Path.cwd():
        return "plait trust"
    return f"plait -C {shlex.quote(str(where.resolve()))} trust"


def escape_command(text: str) -> str:
    """A command on one line with invisible characters escaped, so nothing in it is hidden."""
    escaped = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return _LONG_GAP.sub(lambda gap: f" [{len(gap.group())} spaces] ", escaped)


def _format_untrusted(commands: Sequence[RepoCommand]) -> str:
    untrusted = [
        f"  {command.given}: {command.name} = {escape_command(command.value)}{_format_change(command)}"
        for command in commands
        if not command.trusted
    ]
    known = [command.name for command in commands if command.trusted]
    rest = [f"  trusted already: {', '.join(known)}"] if known else []
    return "\n".join(["this repository's settings run commands that you haven't trusted:", *untrusted, *rest])


def _format_change(command: RepoCommand) -> str:
    return "" if command.before is None else f" (changed; it was: {escape_command(command.before)})"


def open_trust_store(location: RepoLocation) -> TrustStore:
    return TrustStore(find_trust_root(), location.state)


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
        """The newest last."""
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
        """Revoke the trust in all commands of this repository; returns them."""
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
    """The trusted commands of all repositories, grouped by repository."""
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
    """The content of a file that only its owner can write; None if it is missing, or others could have written it."""
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
        f"what you trust can't be kept: {where}: {error.strerror}",
        hint=f"See who may write there: ls -ld {root}.",
    )
