"""Trust: what a repository's own settings would have plait run, and whether anybody has said that it may."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plait.config.files import user_file
from plait.config.model import Config, Given, commands
from plait.config.schema import BY_NAME
from plait.core.errors import UserError
from plait.core.frozen import dataclass
from plait.wiring import Place

# They run by being loaded: before there is any plan to show.
FORMAT = "sources.format"
AGENTS = ("run.agent", "run.fallback", "run.judge")
_COMMAND, _SHELL = "run.agent_command", "run.agent_shell"

_GAP = re.compile(r" {8,}")  # what follows might be out of sight


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a repository's own settings would have plait run. `before` is what was trusted in its place.

    `name` is its key, and what else of the settings makes it another command: the hash is over it and the exact value.
    """

    key: str
    name: str
    value: str
    given: Given
    trusted: bool = False
    before: str | None = None

    @property
    def standing(self) -> str:
        if self.trusted:
            return "trusted"
        return "new" if self.before is None else "changed"


def wanted(config: Config, place: Place | None) -> list[Wanted]:
    """All of it, with what is known of each in this repository; nothing is known of nowhere."""
    found = [_wanted(config, command.key, command.given) for command in commands(config)]
    if not found or place is None:
        return found
    from plait.wiring.trust import trust_of  # noqa: PLC0415 - only where there is something to trust

    known = [(each.key, each.value) for each in trust_of(place).commands()]
    last = dict(known)
    return [
        replace(each, trusted=(each.name, each.value) in known, before=last.get(each.name)) for each in found
    ]


def _wanted(config: Config, key: str, given: Given) -> Wanted:
    value = config.value(BY_NAME[key])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # The same words are another command where a shell reads them.
    name = f"{key} with {_SHELL}" if key == _COMMAND and config.run.agent_shell else key
    return Wanted(key, name, text, given)


def remember(place: Place, all_of_it: Sequence[Wanted]) -> None:
    """Raises WorldError if it can't be kept."""
    from plait.wiring.trust import trust_of  # noqa: PLC0415

    trust_of(place).add((each.name, each.value) for each in all_of_it)


class UntrustedError(UserError):
    """Nothing was started: a person has to look at these commands first."""

    def __init__(self, found: Sequence[Wanted], where: Path | None) -> None:
        super().__init__(_untrusted(found), hint=way_out(found, where))
        self.found = tuple(found)


def require_trust(config: Config, place: Place, early: Sequence[str] | None = None) -> None:
    """Raises UntrustedError unless everything is trusted; `early`: only if one of these keys is among it."""
    named = commands(config)
    if not named or (early is not None and not any(command.key in early for command in named)):
        return
    found = wanted(config, place)
    if not all(each.trusted for each in found):
        raise UntrustedError(found, place.top)


def way_out(found: Sequence[Wanted], where: Path | None) -> str:
    flags = [BY_NAME[each.key].flag for each in found if not each.trusted]
    said = " and ".join(f"{flag} …" for flag in flags if flag)
    own = f"in your own settings ({user_file()})"
    by_hand = f"Or say them yourself with {said}, or {own}." if said else f"Or put them {own}."
    return f"Look at them, and trust them if you do: {verb(where)}\n  {by_hand}"


def verb(where: Path | None) -> str:
    """What to type, from here, to be asked."""
    if where is None or where.resolve() == Path.cwd():
        return "plait trust"
    return f"plait -C {shlex.quote(str(where.resolve()))} trust"


def visible(text: str) -> str:
    """A command on one line, with nothing in it that could hide or pretend: what is not plain to see is spelt out."""
    spelt = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return _GAP.sub(lambda gap: f" [{len(gap.group())} spaces] ", spelt)


def _untrusted(found: Sequence[Wanted]) -> str:
    told = [
        f"  {each.given}: {each.name} = {visible(each.value)}{_news(each)}"
        for each in found
        if not each.trusted
    ]
    known = [each.name for each in found if each.trusted]
    rest = [f"  trusted already: {', '.join(known)}"] if known else []
    return "\n".join(
        ["this repository's own settings would run commands that nobody has trusted yet:", *told, *rest]
    )


def _news(each: Wanted) -> str:
    return "" if each.before is None else f" (changed; it was: {visible(each.before)})"
