"""Commands in a repository's own settings, and whether the user trusts them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plait.config.config import Config, ValueOrigin, find_repository_commands
from plait.config.keys import KEYS_BY_NAME
from plait.config.loading import find_user_file
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation

# These run when they are loaded, before there is a plan to show.
FORMAT_KEY = "sources.format"
AGENT_KEYS = ("run.agent", "run.fallback", "run.judge")
_COMMAND_KEY, _SHELL_KEY = "run.agent_command", "run.agent_shell"

_LONG_GAP = re.compile(r" {8,}")  # what follows might be off screen


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


def list_repo_commands(config: Config, place: RepoLocation | None) -> list[RepoCommand]:
    """All of them, with their trust in this repository; without one, nothing is trusted."""
    found = [_make_repo_command(config, command.key, command.given) for command in find_repository_commands(config)]
    if not found or place is None:
        return found
    from plait.client.trust_store import open_trust_store

    known = [(each.key, each.value) for each in open_trust_store(place).list_commands()]
    last = dict(known)
    return [replace(each, trusted=(each.name, each.value) in known, before=last.get(each.name)) for each in found]


def _make_repo_command(config: Config, key: str, given: ValueOrigin) -> RepoCommand:
    value = config.value(KEYS_BY_NAME[key])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A shell makes another command of the same words.
    name = f"{key} with {_SHELL_KEY}" if key == _COMMAND_KEY and config.run.agent_shell else key
    return RepoCommand(key, name, text, given)


def save_trust(place: RepoLocation, repo_commands: Sequence[RepoCommand]) -> None:
    """Raises WorldError if it can't be saved."""
    from plait.client.trust_store import open_trust_store

    open_trust_store(place).add((each.name, each.value) for each in repo_commands)


class UntrustedError(UserError):
    """Nothing was started: the user has to review these commands first."""

    def __init__(self, found: Sequence[RepoCommand], where: Path | None) -> None:
        super().__init__(_format_untrusted(found), hint=format_trust_hint(found, where))
        self.commands = tuple(found)


def require_trust(config: Config, place: RepoLocation, early: Sequence[str] | None = None) -> None:
    """Raises UntrustedError unless everything is trusted; `early`: only if one of these keys is among it."""
    named = find_repository_commands(config)
    if not named or (early is not None and not any(command.key in early for command in named)):
        return
    found = list_repo_commands(config, place)
    if not all(each.trusted for each in found):
        raise UntrustedError(found, place.top)


def format_trust_hint(found: Sequence[RepoCommand], where: Path | None) -> str:
    flags = [KEYS_BY_NAME[each.key].flag for each in found if not each.trusted]
    said = " and ".join(f"{flag} …" for flag in flags if flag)
    own = f"in your own settings ({find_user_file()})"
    by_hand = f"Or pass them yourself with {said}, or {own}." if said else f"Or put them {own}."
    return f"Review and trust them: {format_trust_command(where)}\n  {by_hand}"


def format_trust_command(where: Path | None) -> str:
    """The command that reviews them, from the current folder."""
    if where is None or where.resolve() == Path.cwd():
        return "plait trust"
    return f"plait -C {shlex.quote(str(where.resolve()))} trust"


def escape_command(text: str) -> str:
    """A command on one line with invisible characters escaped, so nothing in it is hidden."""
    escaped = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return _LONG_GAP.sub(lambda gap: f" [{len(gap.group())} spaces] ", escaped)


def _format_untrusted(found: Sequence[RepoCommand]) -> str:
    told = [
        f"  {each.given}: {each.name} = {escape_command(each.value)}{_format_change(each)}"
        for each in found
        if not each.trusted
    ]
    known = [each.name for each in found if each.trusted]
    rest = [f"  trusted already: {', '.join(known)}"] if known else []
    return "\n".join(["this repository's settings run commands that you haven't trusted:", *told, *rest])


def _format_change(each: RepoCommand) -> str:
    return "" if each.before is None else f" (changed; it was: {escape_command(each.before)})"
