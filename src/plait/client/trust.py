"""Commands in a repository's own settings, and whether the user trusts them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plait.client.project_sources import find_refused_paths
from plait.config.config import SHARED_LAYERS, Config, Layer, ValueOrigin, find_repository_commands
from plait.config.keys import KEYS_BY_NAME
from plait.config.loading import find_user_file
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Origin
from plait.git.location import RepoLocation
from plait.store.file_access import OUTSIDE_PATH
from plait.store.trust_store import TrustStore, find_trust_root

# These run when they are loaded, before there is a plan to show.
FORMAT_KEY = "sources.format"
_JUDGE_KEY = "run.judge"
AGENT_KEYS = ("run.agent", "run.fallback", _JUDGE_KEY)
_COMMAND_KEY, _SHELL_KEY = "run.agent_command", "run.agent_shell"

_LONG_GAP = re.compile(r" {8,}")  # what follows might be off screen


@dataclass(frozen=True, slots=True)
class RepoCommand:
    """A command in a repository's settings. `before` is the value that was trusted earlier.

    `name` is its key, and whatever else in the settings makes it another command: the hash covers it and the exact
    value.
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
    """List all commands, with their trust in this repository; without one, nothing is trusted."""
    commands = [_make_repo_command(config, command.key, command.given) for command in find_repository_commands(config)]
    if not commands or location is None:
        return commands
    known = [(trusted.key, trusted.value) for trusted in open_trust_store(location).list_commands()]
    last = dict(known)
    return [
        replace(command, trusted=(command.name, command.value) in known, before=last.get(command.name))
        for command in commands
    ]


def list_outside_paths(config: Config, location: RepoLocation) -> list[RepoCommand]:
    """List the paths outside the repository that its sources lead to, and the user hasn't allowed to read."""
    origin = config.origins["sources.paths"]
    layer = origin.layer if origin.layer in SHARED_LAYERS else Layer.REPOSITORY
    refused = find_refused_paths(location, config)
    return [
        RepoCommand("sources.paths", OUTSIDE_PATH, real, ValueOrigin(layer, Origin(location.relative_name(Path(name)))))
        for name, real in refused.items()
    ]


def _make_repo_command(config: Config, key: str, origin: ValueOrigin) -> RepoCommand:
    value = config.value(KEYS_BY_NAME[key])
    if key == _JUDGE_KEY and isinstance(value, tuple) and len(value) == 1:
        value = value[0]  # the form in which it was trusted when there was at most one judge
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # In a shell, the same words are another command.
    name = f"{key} with {_SHELL_KEY}" if key == _COMMAND_KEY and config.run.agent_shell else key
    return RepoCommand(key, name, text, origin)


def save_trust(location: RepoLocation, repo_commands: Sequence[RepoCommand]) -> None:
    """Save the trust in these commands; raises WorldError if it can't be saved."""
    open_trust_store(location).add((command.name, command.value) for command in repo_commands)


class UntrustedError(UserError):
    """Commands are not trusted, so nothing was started: the user has to review them first."""

    def __init__(self, commands: Sequence[RepoCommand], where: Path | None) -> None:
        super().__init__(_format_untrusted(commands), hint=format_trust_hint(commands, where))
        self.commands = tuple(commands)


def require_trust(config: Config, location: RepoLocation, early: Sequence[str] | None = None) -> None:
    """Raise UntrustedError unless everything is trusted; `early`: only if one of these keys is among it."""
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
    """Return the command that reviews them, from the current folder."""
    if where is None or where.resolve() == Path.cwd():
        return "plait trust"
    return f"plait -C {shlex.quote(str(where.resolve()))} trust"


def escape_command(text: str) -> str:
    """Format a command on one line with invisible characters escaped, so nothing in it is hidden."""
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
