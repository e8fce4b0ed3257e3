"""Trust: what a repository's own settings would have plait run is run only if a person says so. --yes is no answer to this."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from plait.cli.say import Page, console, harmless
from plait.config.model import Config, commands
from plait.core.errors import UserError, WorldError
from plait.front.trust import FORMAT, UntrustedError, Wanted, remember, visible, wanted, way_out
from plait.wiring import Place, find_place

_YES = frozenset({"y", "yes"})
_NO = frozenset({"n", "no"})


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
            raise UntrustedError(found, self._where)
        show(found)
        if not asked("Do you trust these commands? [y/N] ", default=False):
            raise UserError("nothing was started", hint=way_out(found, self._where))
        if place is not None:
            try:
                remember(place, found)
            except WorldError as error:  # it was said all the same
                page = Page()
                page.line(("warning", "yellow"), f" {error.message}: you will be asked again")
                page.show(stderr=True)


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
    page.show()


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
