"""Trust: what a repository's own file would have plait run is run only if a person says so. --yes is no answer to this."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from plait.cli.say import Page, console, harmless
from plait.config.files import user_file
from plait.config.model import Command, Config, commands
from plait.config.schema import BY_NAME
from plait.core.errors import UserError

FORMAT, AGENT = "sources.format", "run.agent"  # they run by being loaded: before there is any plan to show

_YES = frozenset({"y", "yes"})
_NO = frozenset({"n", "no"})


def on_terminal() -> bool:
    """Whether somebody is there to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


class Trust:
    """Asked once for everything. `someone`: a person is here to answer; `early`: what this verb loads to make its plan."""

    def __init__(self, *, someone: bool, early: Sequence[str] = (FORMAT,)) -> None:
        self.someone = someone
        self._early = early
        self._given = False

    def before_reading(self, config: Config) -> None:
        """Raises UserError unless what is about to be loaded is trusted."""
        if any(command.key in self._early for command in commands(config)):
            self.before_running(config)

    def before_running(self, config: Config) -> None:
        """Raises UserError unless everything is trusted."""
        wanted = commands(config)
        if not wanted or self._given:
            return
        if not self.someone:
            raise UserError(_untrusted(wanted), hint=_way_out(wanted))
        page = Page()
        page.line(("This repository's own settings would have plait run:", "bold"))
        for command in wanted:
            page.line(f"  {command.value}", (f"  ({command.key}, {command.given})", "dim"))
        page.show(console())
        if not asked("Do you trust these commands? [y/N] ", default=False):
            raise UserError("nothing was started", hint=_way_out(wanted))
        self._given = True


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


def _untrusted(wanted: Sequence[Command]) -> str:
    told = "\n".join(f"  {command.given}: {command.key} = {command.value}" for command in wanted)
    return f"this repository's own settings would run commands that nobody has trusted yet:\n{told}"


def _way_out(wanted: Sequence[Command]) -> str:
    flags = [BY_NAME[command.key].flag for command in wanted]
    said = " and ".join(f"{flag} …" for flag in flags if flag)
    return f"Say them yourself with {said}, or in your own settings ({user_file()})."
