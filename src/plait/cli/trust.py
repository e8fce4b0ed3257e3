"""Trust: what a repository's own settings would have plait run is run only if a person says so. --yes is no answer to this."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plait.cli.say import Page, console, harmless
from plait.config.files import user_file
from plait.config.model import Config, Given, commands
from plait.config.schema import BY_NAME
from plait.core.errors import UserError, WorldError
from plait.core.frozen import dataclass
from plait.wiring import Place, find_place

# They run by being loaded: before there is any plan to show.
FORMAT = "sources.format"
AGENTS = ("run.agent", "run.fallback", "run.judge")
_COMMAND, _SHELL = "run.agent_command", "run.agent_shell"

_YES = frozenset({"y", "yes"})
_NO = frozenset({"n", "no"})
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


def on_terminal() -> bool:
    """Whether somebody is there to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


class Trust:
    """Asked once for everything, and a yes is remembered for the repository at `where`; without one, for this run only.

    `someone`: a person is here to answer; `early`: what this verb loads to make its plan.
    """

    def __init__(self, *, someone: bool, early: Sequence[str] = (FORMAT,), where: Path | None = None) -> None:
        self.someone = someone
        self._early = early
        self._where = where
        self._given = False

    def before_reading(self, config: Config) -> None:
        """Raises UserError unless what is about to be loaded is trusted."""
        if any(command.key in self._early for command in commands(config)):
            self.before_running(config)

    def before_running(self, config: Config) -> None:
        """Raises UserError unless everything is trusted."""
        if self._given or not commands(config):
            return
        place = None if self._where is None else find_place(self._where)
        found = wanted(config, place)
        if not all(each.trusted for each in found):
            self._ask(found, place)
        self._given = True

    def _ask(self, found: Sequence[Wanted], place: Place | None) -> None:
        if not self.someone:
            raise UserError(_untrusted(found), hint=self._way_out(found))
        show(found)
        if not asked("Do you trust these commands? [y/N] ", default=False):
            raise UserError("nothing was started", hint=self._way_out(found))
        if place is not None:
            try:
                remember(place, found)
            except WorldError as error:  # it was said all the same
                page = Page()
                page.line(("warning", "yellow"), f" {error.message}: you will be asked again")
                page.show(console(stderr=True))

    def _way_out(self, found: Sequence[Wanted]) -> str:
        flags = [BY_NAME[each.key].flag for each in found if not each.trusted]
        said = " and ".join(f"{flag} …" for flag in flags if flag)
        own = f"in your own settings ({user_file()})"
        by_hand = f"Or say them yourself with {said}, or {own}." if said else f"Or put them {own}."
        return f"Look at them, and trust them if you do: {verb(self._where)}\n  {by_hand}"


def verb(where: Path | None) -> str:
    """What to type, from here, to be asked."""
    if where is None or where.resolve() == Path.cwd():
        return "plait trust"
    return f"plait -C {shlex.quote(str(where.resolve()))} trust"


def show(found: Sequence[Wanted]) -> None:
    page = Page()
    page.line(("This repository's own settings would have plait run:", "bold"))
    for each in found:
        first, *rest = each.value.rstrip("\n").split("\n")
        style = "" if each.trusted else "bold"
        page.line(("  " + visible(first), style), (f"  ({each.name}, {each.given}) {each.standing}", "dim"))
        for line in rest:
            page.line(("  │ " + visible(line), style))
        if each.before is not None and not each.trusted:
            page.line((f"    it was: {visible(each.before)}", "dim"))
    page.show(console())


def visible(text: str) -> str:
    """A command on one line, with nothing in it that could hide or pretend: what is not plain to see is spelt out."""
    spelt = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return _GAP.sub(lambda gap: f" [{len(gap.group())} spaces] ", spelt)


def asked(question: str, *, default: bool) -> bool:
    out = console()
    while True:
        try:
            said = out.input(harmless(question), markup=False, emoji=False).strip().lower()
        except EOFError:  # Ctrl+D leaves as Ctrl+C does
            raise KeyboardInterrupt from None
        if not said:
            return default
        if said in _YES | _NO:
            return said in _YES


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
