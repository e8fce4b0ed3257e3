"""`plait trust`: look at what a repository's own settings would run, and say whether it may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from plait.cli.say import ASKS, INTERRUPTED, OK, Page, write_json
from plait.cli.show import date
from plait.cli.trust import asked, on_terminal, show
from plait.core.errors import UserError
from plait.front.instant import iso
from plait.front.trust import Wanted, remember, verb, visible, wanted
from plait.wiring import Place, find_place
from plait.wiring.sources import settings
from plait.wiring.trust import all_trusted, trust_of

if TYPE_CHECKING:
    from plait.wiring.trust import Trusted


def trust_command(where: Path, *, yes: bool, everything: bool, revoke: bool, as_json: bool) -> int:
    """Here --yes is an answer: it is said to the very question."""
    if yes + everything + revoke > 1:
        raise UserError("--yes, --list and --revoke are three different things", hint="Say one of them.")
    if everything:
        return _list(all_trusted(), as_json=as_json)
    place = find_place(where)
    if revoke:
        return _revoke(place, as_json=as_json)
    found = wanted(settings(where), place)
    if as_json:
        return _show_json(place, found, yes=yes)
    if all(each.trusted for each in found):
        return _say_nothing_to_do(found)
    return _ask(where, place, found, yes=yes)


def _show_json(place: Place, found: Sequence[Wanted], *, yes: bool) -> int:
    """A program is never asked: it says --yes, or is told that a person has to."""
    if yes and found:
        remember(place, found)
        found = [replace(each, trusted=True) for each in found]
    trusted = all(each.trusted for each in found)
    write_json(_json(place, found, trusted=trusted))
    return OK if trusted else ASKS


def _ask(where: Path, place: Place, found: Sequence[Wanted], *, yes: bool) -> int:
    show(found)
    if not yes and not on_terminal():
        raise UserError(
            "nobody is here to say whether these commands are trusted",
            hint=f"If you have read them and do: {verb(where)} --yes",
        )
    if not yes and not asked("Do you trust these commands? [y/N] ", default=False):
        _say("Nothing was changed.")
        return INTERRUPTED
    remember(place, found)
    _say("These commands are trusted, as they are now. If one of them changes, you will be asked again.")
    return OK


def _say_nothing_to_do(found: Sequence[Wanted]) -> int:
    if found:
        show(found)
        _say("All of them are trusted.")
    else:
        _say("This repository's own settings run no commands: there is nothing to trust.")
    return OK


def _revoke(place: Place, *, as_json: bool) -> int:
    gone = trust_of(place).revoke()
    if as_json:
        write_json(
            {"repository": _shown(str(place.state.parent)), "revoked": [_trusted(each) for each in gone]}
        )
        return OK
    if not gone:
        _say("Nothing of this repository was trusted.")
    for each in gone:
        _say(f"no longer trusted: {visible(each.value)}  ({each.key})")
    return OK


def _list(found: Sequence[Trusted], *, as_json: bool) -> int:
    by_repository = [(name, list(each)) for name, each in groupby(found, key=lambda each: each.repository)]
    if as_json:
        write_json(
            {
                "repositories": [
                    {"repository": _shown(name), "commands": [_trusted(each) for each in each_of_it]}
                    for name, each_of_it in by_repository
                ]
            }
        )
        return OK
    page = Page()
    for name, each_of_it in by_repository:
        page.line((_shown(name), "bold"))
        for each in each_of_it:
            page.line(f"  {visible(each.value)}", (f"  ({each.key}, since {date(each.when)})", "dim"))
    if not found:
        page.line("No repository's own commands are trusted.")
    page.show()
    return OK


def _json(place: Place, found: Sequence[Wanted], *, trusted: bool) -> dict[str, object]:
    return {
        "repository": _shown(str(place.state.parent)),
        "trusted": trusted,
        "commands": [
            {
                "key": each.name,
                "value": each.value,
                "file": each.given.at.file if each.given.at else None,
                "line": each.given.at.line if each.given.at else None,
                "standing": each.standing,
                "before": None if each.trusted else each.before,
            }
            for each in found
        ],
    }


def _trusted(each: Trusted) -> dict[str, object]:
    return {"key": each.key, "value": each.value, "since": iso(each.when)}


def _shown(git_folder: str) -> str:
    """A repository by its checkout, as people know it."""
    return git_folder.removesuffix("/.git")


def _say(text: str) -> None:
    page = Page()
    page.line(text)
    page.show()
