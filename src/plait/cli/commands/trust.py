"""`plait trust`: look at what a repository's own settings would run, and say whether it may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli.commands.trust__trust import ask_yes_no, is_interactive, print_commands
from plait.cli.format import format_date
from plait.cli.output import INTERRUPTED, NEEDS_PERSON, OK, Page, print_json
from plait.client.json_encoding__instant import to_iso
from plait.client.project_sources import load_settings
from plait.client.trust import (
    RepoCommand,
    escape_command,
    format_trust_command,
    list_repo_commands,
    save_trust,
)
from plait.client.trust_store__trust import list_all_trusted, open_trust_store
from plait.core.errors import UserError
from plait.git.location import RepoLocation, find_repo

if TYPE_CHECKING:
    from plait.client.trust_store import TrustedCommand


def trust_command(where: Path, *, yes: bool, everything: bool, revoke: bool, as_json: bool) -> int:
    """Here --yes is an answer: it is said to the very question."""
    if yes + everything + revoke > 1:
        raise UserError("--yes, --list and --revoke are three different things", hint="Say one of them.")
    if everything:
        return _print_trusted(list_all_trusted(), as_json=as_json)
    place = find_repo(where)
    if revoke:
        return _revoke(place, as_json=as_json)
    found = list_repo_commands(load_settings(where), place)
    if as_json:
        return _print_json(place, found, yes=yes)
    if all(each.trusted for each in found):
        return _print_nothing_to_trust(found)
    return _ask(where, place, found, yes=yes)


def _print_json(place: RepoLocation, found: Sequence[RepoCommand], *, yes: bool) -> int:
    """A program is never asked: it says --yes, or is told that a person has to."""
    if yes and found:
        save_trust(place, found)
        found = [replace(each, trusted=True) for each in found]
    trusted = all(each.trusted for each in found)
    print_json(_commands_json(place, found, trusted=trusted))
    return OK if trusted else NEEDS_PERSON


def _ask(where: Path, place: RepoLocation, found: Sequence[RepoCommand], *, yes: bool) -> int:
    print_commands(found)
    if not yes and not is_interactive():
        raise UserError(
            "nobody is here to say whether these commands are trusted",
            hint=f"If you have read them and do: {format_trust_command(where)} --yes",
        )
    if not yes and not ask_yes_no("Do you trust these commands? [y/N] ", default=False):
        _print_line("Nothing was changed.")
        return INTERRUPTED
    save_trust(place, found)
    _print_line(
        "These commands are trusted, as they are now. If one of them changes, you will be asked again."
    )
    return OK


def _print_nothing_to_trust(found: Sequence[RepoCommand]) -> int:
    if found:
        print_commands(found)
        _print_line("All of them are trusted.")
    else:
        _print_line("This repository's own settings run no commands: there is nothing to trust.")
    return OK


def _revoke(place: RepoLocation, *, as_json: bool) -> int:
    gone = open_trust_store(place).revoke()
    if as_json:
        print_json(
            {
                "repository": _format_repository(str(place.state.parent)),
                "revoked": [_trusted_json(each) for each in gone],
            }
        )
        return OK
    if not gone:
        _print_line("Nothing of this repository was trusted.")
    for each in gone:
        _print_line(f"no longer trusted: {escape_command(each.value)}  ({each.key})")
    return OK


def _print_trusted(found: Sequence[TrustedCommand], *, as_json: bool) -> int:
    by_repository = [(name, list(each)) for name, each in groupby(found, key=lambda each: each.repository)]
    if as_json:
        print_json(
            {
                "repositories": [
                    {
                        "repository": _format_repository(name),
                        "commands": [_trusted_json(each) for each in each_of_it],
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
            page.add_line(
                f"  {escape_command(each.value)}", (f"  ({each.key}, since {format_date(each.when)})", "dim")
            )
    if not found:
        page.add_line("No repository's own commands are trusted.")
    page.show()
    return OK


def _commands_json(place: RepoLocation, found: Sequence[RepoCommand], *, trusted: bool) -> dict[str, object]:
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


def _trusted_json(each: TrustedCommand) -> dict[str, object]:
    return {"key": each.key, "value": each.value, "since": to_iso(each.when)}


def _format_repository(git_folder: str) -> str:
    """A repository by its checkout, as people know it."""
    return git_folder.removesuffix("/.git")


def _print_line(text: str) -> None:
    page = Page()
    page.add_line(text)
    page.show()
