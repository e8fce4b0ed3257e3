"""`plait trust`, and the check before a run: commands from a repository's own settings run only if a person trusts them.

`--yes` of other commands doesn't count as trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.format import format_date
from plait.cli.output import INTERRUPTED, NEEDS_PERSON, OK, Page, ask_yes_no, is_interactive, print_json, print_line
from plait.client.json_encoding import to_iso
from plait.client.project_state import load_project_config
from plait.client.trust import (
    FORMAT_KEY,
    RepoCommand,
    TrustedCommand,
    UntrustedError,
    escape_command,
    find_trust_root,
    format_trust_command,
    format_trust_hint,
    list_repo_commands,
    open_trust_store,
    read_all_trusted,
    save_trust,
)
from plait.config.config import Config, find_repository_commands
from plait.core.errors import UserError, WorldError
from plait.git.location import RepoLocation, find_repo


class TrustCheck:
    """Ask once for all commands; a yes is saved for the repository at `where`, or holds for this run if that is None.

    `interactive`: a person can answer; `early_keys`: settings that already run code while the plan is made.
    """

    def __init__(
        self, *, interactive: bool, early_keys: Sequence[str] = (FORMAT_KEY,), where: Path | None = None
    ) -> None:
        self.interactive = interactive
        self._early_keys = early_keys
        self._where = where
        self._granted = False

    def check_before_reading(self, config: Config) -> None:
        """Raises UserError unless the commands of the early keys are trusted."""
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
            except WorldError as error:  # trusted for this run all the same
                print_line(("warning", "yellow"), f" {error.message}: you will be asked again", stderr=True)


def print_commands(found: Sequence[RepoCommand]) -> None:
    page = Page()
    page.add_line(("This repository's settings run these commands:", "bold"))
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


def trust_command(
    where: Path,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust them without a prompt.")] = False,
    everything: Annotated[bool, typer.Option("--list", help="List trusted commands of all repositories.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke trust in this repository's commands.")] = False,
    as_json: opt.Json = False,
) -> int:
    """Here --yes is an answer, because trust is the only question."""
    if yes + everything + revoke > 1:
        raise UserError("--yes, --list and --revoke can't be combined", hint="Use one of them.")
    if everything:
        return _print_trusted(read_all_trusted(find_trust_root()), as_json=as_json)
    place = find_repo(where)
    if revoke:
        return _revoke(place, as_json=as_json)
    found = list_repo_commands(load_project_config(where), place)
    if as_json:
        return _print_json(place, found, yes=yes)
    if all(each.trusted for each in found):
        return _print_nothing_to_trust(found)
    return _ask(where, place, found, yes=yes)


def _print_json(place: RepoLocation, found: Sequence[RepoCommand], *, yes: bool) -> int:
    """Never asks: without --yes the exit code says that a person is needed."""
    if yes and found:
        save_trust(place, found)
        found = [replace(each, trusted=True) for each in found]
    trusted = all(each.trusted for each in found)
    print_json(_describe_commands(place, found, trusted=trusted))
    return OK if trusted else NEEDS_PERSON


def _ask(where: Path, place: RepoLocation, found: Sequence[RepoCommand], *, yes: bool) -> int:
    print_commands(found)
    if not yes and not is_interactive():
        raise UserError(
            "not a terminal: can't ask whether to trust these commands",
            hint=f"To trust them: {format_trust_command(where)} --yes",
        )
    if not yes and not ask_yes_no("Do you trust these commands? [y/N] ", default=False):
        print_line("Nothing was changed.")
        return INTERRUPTED
    save_trust(place, found)
    print_line("These commands are trusted, as they are now. If one of them changes, you will be asked again.")
    return OK


def _print_nothing_to_trust(found: Sequence[RepoCommand]) -> int:
    if found:
        print_commands(found)
        print_line("All of them are trusted.")
    else:
        print_line("This repository's own settings run no commands: there is nothing to trust.")
    return OK


def _revoke(place: RepoLocation, *, as_json: bool) -> int:
    gone = open_trust_store(place).revoke()
    if as_json:
        print_json(
            {
                "repository": _format_repository(str(place.state.parent)),
                "revoked": [_describe_trusted_command(each) for each in gone],
            }
        )
        return OK
    if not gone:
        print_line("No commands of this repository were trusted.")
    for each in gone:
        print_line(f"no longer trusted: {escape_command(each.value)}  ({each.key})")
    return OK


def _print_trusted(found: Sequence[TrustedCommand], *, as_json: bool) -> int:
    by_repository = [(name, list(each)) for name, each in groupby(found, key=lambda each: each.repository)]
    if as_json:
        print_json(
            {
                "repositories": [
                    {
                        "repository": _format_repository(name),
                        "commands": [_describe_trusted_command(each) for each in each_of_it],
                    }
                    for name, each_of_it in by_repository
                ]
            }
        )
        return OK
    page = Page()
    for name, commands in by_repository:
        page.add_line((_format_repository(name), "bold"))
        for each in commands:
            page.add_line(f"  {escape_command(each.value)}", (f"  ({each.key}, since {format_date(each.when)})", "dim"))
    if not found:
        page.add_line("No repository's commands are trusted.")
    page.show()
    return OK


def _describe_commands(place: RepoLocation, found: Sequence[RepoCommand], *, trusted: bool) -> dict[str, object]:
    return {
        "repository": _format_repository(str(place.state.parent)),
        "trusted": trusted,
        "commands": [
            {
                "key": each.name,
                "value": each.value,
                "file": each.given.at.file if each.given.at else None,
                "line": each.given.at.line if each.given.at else None,
                "standing": each.trust_status,
                "before": None if each.trusted else each.before,
            }
            for each in found
        ],
    }


def _describe_trusted_command(each: TrustedCommand) -> dict[str, object]:
    return {"key": each.key, "value": each.value, "since": to_iso(each.when)}


def _format_repository(git_folder: str) -> str:
    """The path of the checkout."""
    return git_folder.removesuffix("/.git")
