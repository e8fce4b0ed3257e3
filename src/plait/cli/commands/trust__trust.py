"""Trust: what a repository's own settings would have plait run is run only if a person says so. --yes is no answer to this."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from plait.cli.output import Page, make_console, replace_control_chars
from plait.client.trust import (
    FORMAT_KEY,
    RepoCommand,
    UntrustedError,
    escape_command,
    format_trust_hint,
    list_repo_commands,
    save_trust,
)
from plait.config.config import Config, find_repository_commands
from plait.core.errors import UserError, WorldError
from plait.git.location import RepoLocation, find_repo

_YES_ANSWERS = frozenset({"y", "yes"})
_NO_ANSWERS = frozenset({"n", "no"})


def is_interactive() -> bool:
    """Whether somebody is there to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


class TrustCheck:
    """Asked once for everything, and a yes is remembered for the repository at `where`; without one, for this run only.

    `someone`: a person is here to answer; `early`: what this verb loads to make its plan.
    """

    def __init__(
        self, *, interactive: bool, early_keys: Sequence[str] = (FORMAT_KEY,), where: Path | None = None
    ) -> None:
        self.interactive = interactive
        self._early_keys = early_keys
        self._where = where
        self._granted = False

    def check_before_reading(self, config: Config) -> None:
        """Raises UserError unless what is about to be loaded is trusted."""
        if any(command.key in self._early_keys for command in find_repository_commands(config)):
            self.check_before_running(config)

    def check_before_running(self, config: Config) -> None:
        """Raises UserError unless everything is trusted."""
        if self._granted or not find_repository_commands(config):
            return
        place = None if self._where is None else find_repo(self._where)
        found = list_repo_commands(config, place)
        if not all(each.trusted for each in found):
            self._ask(found, place)
        self._granted = True

    def _ask(self, found: Sequence[RepoCommand], place: RepoLocation | None) -> None:
        if not self.interactive:
            raise UntrustedError(found, self._where)
        print_commands(found)
        if not ask_yes_no("Do you trust these commands? [y/N] ", default=False):
            raise UserError("nothing was started", hint=format_trust_hint(found, self._where))
        if place is not None:
            try:
                save_trust(place, found)
            except WorldError as error:  # it was said all the same
                page = Page()
                page.add_line(("warning", "yellow"), f" {error.message}: you will be asked again")
                page.show(stderr=True)


def print_commands(found: Sequence[RepoCommand]) -> None:
    page = Page()
    page.add_line(("This repository's own settings would have plait run:", "bold"))
    for each in found:
        first, *rest = each.value.rstrip("\n").split("\n")
        style = "" if each.trusted else "bold"
        page.add_line(
            ("  " + escape_command(first), style),
            (f"  ({each.name}, {each.given}) {each.trust_status}", "dim"),
        )
        for line in rest:
            page.add_line(("  │ " + escape_command(line), style))
        if each.before is not None and not each.trusted:
            page.add_line((f"    it was: {escape_command(each.before)}", "dim"))
    page.show()


def ask_yes_no(question: str, *, default: bool) -> bool:
    out = make_console()
    while True:
        try:
            answer = out.input(replace_control_chars(question), markup=False, emoji=False).strip().lower()
        except EOFError:  # Ctrl+D leaves as Ctrl+C does
            raise KeyboardInterrupt from None
        if not answer:
            return default
        if answer in _YES_ANSWERS | _NO_ANSWERS:
            return answer in _YES_ANSWERS
