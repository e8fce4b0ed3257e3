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
from plait.client.set_aside_state import (
    StateSummary,
    adopt_foreign_state,
    find_foreign_state,
    summarize_state,
    to_json,
)
from plait.client.trust import (
    FORMAT_KEY,
    RepoCommand,
    UntrustedError,
    escape_command,
    format_trust_command,
    format_trust_hint,
    list_outside_paths,
    list_repo_commands,
    open_trust_store,
    save_trust,
)
from plait.config.config import Config, find_repository_commands
from plait.core.errors import UserError, WorldError
from plait.git.location import RepoLocation, find_repo
from plait.store.state_claim import ADOPT_COMMAND, open_repo
from plait.store.trust_store import TrustedCommand, find_trust_root, read_all_trusted


class TrustCheck:
    """Asks once whether to trust all commands; a yes is saved for the repository at `where`, or counts only for this
    run if that is None.

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
        """Raise UserError unless the commands of the early keys are trusted."""
        if any(command.key in self._early_keys for command in find_repository_commands(config)):
            self.check_before_running(config)

    def check_before_running(self, config: Config) -> None:
        """Raise UserError unless everything is trusted."""
        if self._granted or not find_repository_commands(config):
            return
        location = None if self._where is None else find_repo(self._where)
        commands = list_repo_commands(config, location)
        if not all(command.trusted for command in commands):
            self._ask(commands, location)
        self._granted = True

    def _ask(self, commands: Sequence[RepoCommand], location: RepoLocation | None) -> None:
        if not self.interactive:
            raise UntrustedError(commands, self._where)
        print_commands(commands)
        if not ask_yes_no("Do you trust these commands? [y/N] ", default=False):
            raise UserError("nothing was started", hint=format_trust_hint(commands, self._where))
        if location is not None:
            try:
                save_trust(location, commands)
            except WorldError as error:  # trusted for this run all the same
                print_line(("warning", "yellow"), f" {error.message}: you will be asked again", stderr=True)


def print_commands(commands: Sequence[RepoCommand]) -> None:
    page = Page()
    page.add_line(("This repository's settings run these commands:", "bold"))
    for command in commands:
        first, *rest = command.value.rstrip("\n").split("\n")
        style = "" if command.trusted else "bold"
        page.add_line(
            ("  " + escape_command(first), style),
            (f"  ({command.name}, {command.given}) {command.trust_status}", "dim"),
        )
        for line in rest:
            page.add_line(("  │ " + escape_command(line), style))
        if command.before is not None and not command.trusted:
            page.add_line((f"    it was: {escape_command(command.before)}", "dim"))
    page.show()


def trust_command(
    where: Path,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust them without a prompt.")] = False,
    everything: Annotated[bool, typer.Option("--list", help="List trusted commands of all repositories.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke trust in this repository's commands.")] = False,
    state: Annotated[
        bool, typer.Option("--state", help="Review and accept plait's state that was copied from elsewhere.")
    ] = False,
    as_json: opt.Json = False,
) -> int:
    """Review and trust commands. Here --yes is an answer, because trust is the only question."""
    if (yes or state) + everything + revoke > 1:
        raise UserError("--list and --revoke can't be combined with others", hint="Use one of them.")
    if everything:
        return _print_trusted(read_all_trusted(find_trust_root()), as_json=as_json)
    if state:
        return _adopt_state(find_repo(where), yes=yes, as_json=as_json)
    location = open_repo(where)
    if revoke:
        return _revoke(location, as_json=as_json)
    config = load_project_config(where)
    commands = [*list_repo_commands(config, location), *list_outside_paths(config, location)]
    if as_json:
        return _print_json(location, commands, yes=yes)
    if all(command.trusted for command in commands):
        return _print_nothing_to_trust(commands)
    return _ask(where, location, commands, yes=yes)


def _print_json(location: RepoLocation, commands: Sequence[RepoCommand], *, yes: bool) -> int:
    """Print the commands as JSON, without asking: unless --yes is given, the exit code says that a person is needed."""
    if yes and commands:
        save_trust(location, commands)
        commands = [replace(command, trusted=True) for command in commands]
    trusted = all(command.trusted for command in commands)
    print_json(_describe_commands(location, commands, trusted=trusted))
    return OK if trusted else NEEDS_PERSON


def _ask(where: Path, location: RepoLocation, commands: Sequence[RepoCommand], *, yes: bool) -> int:
    print_commands(commands)
    if not yes and not is_interactive():
        raise UserError(
            "not a terminal: can't ask whether to trust these commands",
            hint=f"To trust them: {format_trust_command(where)} --yes",
        )
    if not yes and not ask_yes_no("Do you trust these commands? [y/N] ", default=False):
        print_line("Nothing was changed.")
        return INTERRUPTED
    save_trust(location, commands)
    print_line("These commands are trusted, as they are now. If one of them changes, you will be asked again.")
    return OK


def _print_nothing_to_trust(commands: Sequence[RepoCommand]) -> int:
    if commands:
        print_commands(commands)
        print_line("All of them are trusted.")
    else:
        print_line("This repository's own settings run no commands: there is nothing to trust.")
    return OK


def _revoke(location: RepoLocation, *, as_json: bool) -> int:
    revoked = open_trust_store(location).revoke()
    if as_json:
        print_json(
            {
                "repository": _format_repository(str(location.state.parent)),
                "revoked": [_describe_trusted_command(command) for command in revoked],
            }
        )
        return OK
    if not revoked:
        print_line("No commands of this repository were trusted.")
    for command in revoked:
        print_line(f"no longer trusted: {escape_command(command.value)}  ({command.key})")
    return OK


def _adopt_state(location: RepoLocation, *, yes: bool, as_json: bool) -> int:
    """Adopt foreign state, which plain `plait trust --yes` doesn't: only a person can tell whether it is theirs."""
    folder = find_foreign_state(location)
    if folder is None:
        if as_json:
            print_json({"state": None, "accepted": True})
        else:
            print_line(f"There is no state from elsewhere: {location.state} is yours, or not there yet.")
        return OK
    summary = summarize_state(folder)
    if as_json:
        if yes:
            adopt_foreign_state(location, folder)
        print_json(to_json(summary, accepted=yes))
        return OK if yes else NEEDS_PERSON
    _print_state(summary)
    if not yes and not is_interactive():
        raise UserError(
            "not a terminal: can't ask whether this state is yours", hint=f"To accept it: {ADOPT_COMMAND} --yes"
        )
    if not yes and not ask_yes_no("Is this state yours, and may plait continue with it? [y/N] ", default=False):
        print_line("Nothing was changed.")
        return INTERRUPTED
    replaced = adopt_foreign_state(location, folder)
    print_line(f"Accepted: it is in {location.state}. Unfinished batches continue with: plait resume")
    if replaced is not None:
        print_line(f"What was there is now in {replaced}.")
    return OK


def _print_state(summary: StateSummary) -> None:
    page = Page()
    page.add_line((f"plait's state in {summary.folder} was not written here by you:", "bold"))
    if summary.problem:
        page.add_line(f"  it can't be read: {summary.problem}")
    for checkout in summary.checkouts:
        page.add_line(f"  batches submitted from {escape_command(checkout)}")
    unfinished = f", unfinished: {', '.join(map(escape_command, summary.unfinished))}" if summary.unfinished else ""
    page.add_line(f"  {summary.batches} batch{'' if summary.batches == 1 else 'es'}{unfinished}")
    if summary.commands:
        page.add_line("Accepting it lets plait run:")
    for command in summary.commands:
        page.add_line((f"  {escape_command(command.value)}", "bold"), (f"  ({escape_command(command.name)})", "dim"))
    page.show()


def _print_trusted(trusted: Sequence[TrustedCommand], *, as_json: bool) -> int:
    by_repository = [
        (name, list(command)) for name, command in groupby(trusted, key=lambda command: command.repository)
    ]
    if as_json:
        print_json(
            {
                "repositories": [
                    {
                        "repository": _format_repository(name),
                        "commands": [_describe_trusted_command(command) for command in group],
                    }
                    for name, group in by_repository
                ]
            }
        )
        return OK
    page = Page()
    for name, commands in by_repository:
        page.add_line((_format_repository(name), "bold"))
        for command in commands:
            page.add_line(
                f"  {escape_command(command.value)}", (f"  ({command.key}, since {format_date(command.when)})", "dim")
            )
    if not trusted:
        page.add_line("No repository's commands are trusted.")
    page.show()
    return OK


def _describe_commands(location: RepoLocation, commands: Sequence[RepoCommand], *, trusted: bool) -> dict[str, object]:
    return {
        "repository": _format_repository(str(location.state.parent)),
        "trusted": trusted,
        "commands": [
            {
                "key": command.name,
                "value": command.value,
                "file": command.given.at.file if command.given.at else None,
                "line": command.given.at.line if command.given.at else None,
                "standing": command.trust_status,
                "before": None if command.trusted else command.before,
            }
            for command in commands
        ],
    }


def _describe_trusted_command(command: TrustedCommand) -> dict[str, object]:
    return {"key": command.key, "value": command.value, "since": to_iso(command.when)}


def _format_repository(git_folder: str) -> str:
    """Return the path of the checkout."""
    return git_folder.removesuffix("/.git")
