"""`plait init`: write a `plait.toml` with the sources, agent, setup and test command found here or typed by the user."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Protocol, TypeVar

import typer

from plait.agents.table import AGENTS
from plait.cli import options as opt
from plait.cli.format import pluralize
from plait.cli.output import OK, is_interactive, print_json, print_line, prompt_line
from plait.client.programs import find_missing_program
from plait.client.repo_scan import FoundSource, RepoScan, examine_source, has_settings_in_pyproject, scan_repo
from plait.client.trust import RepoCommand, escape_command, list_repo_commands, save_trust
from plait.config.config import Layer
from plait.config.keys import KEYS_BY_NAME
from plait.config.loading import PLAIT_TOML, PYPROJECT, ConfigDocument, merge_layers, read_document
from plait.config.reference import render_config_template
from plait.config.toml_file import format_toml, parse_toml
from plait.config.value_types import InvalidValueError
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.store.state_claim import open_repo
from plait.system.atomic_files import create_file, replace_file

_HINT_BY_ERRNO = {
    errno.ENOSPC: "Free some disk space, then run `plait init` again.",
    errno.EDQUOT: "Free some of your quota, then run `plait init` again.",
    errno.EROFS: "The file system is read-only.",
    errno.EISDIR: "Move the folder of that name away.",
}


_PERMISSION_HINT = "Check the permissions: ls -ld ."

SAMPLE_FOLDER, SAMPLE_TASK = "tasks", "tasks/01-overview.md"
_SAMPLE_TEXT = """\
# Write an overview of this project

Create OVERVIEW.md, of one page at most: what the project does, what its main folders contain, and how to run its tests.
Change no other file.
"""


def init_command(
    where: Path,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Don't prompt: write the suggestions, and trust their commands.")
    ] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help=f"Without a task file, write a sample task: {SAMPLE_TASK}.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing plait.toml.")] = False,
    as_json: opt.Json = False,
) -> int:
    quiet = yes or as_json or not is_interactive()
    ask = None if quiet else ask_on_terminal
    return init_project(where, ask, confirmed=yes or not quiet, sample=sample, force=force, as_json=as_json)


def init_project(
    where: Path,
    ask: Prompt | None,
    *,
    confirmed: bool = False,
    sample: bool = False,
    force: bool = False,
    as_json: bool = False,
    path: str | None = None,
) -> int:
    """Write the settings and return the exit code. This runs no program, and writes only after all questions are
    answered.

    Without `ask`, the suggestions are written. `confirmed`: a person agreed to the commands, so they are trusted.
    `path` replaces PATH.
    """
    location = open_repo(where)
    _check_not_configured(location.top, force=force)
    scan = scan_repo(location, os.environ.get("PATH", os.defpath) if path is None else path)
    if not as_json:
        _print_findings(location, scan)
    choice = suggest_choice(location, scan, sample=sample)
    if ask is not None:
        choice = _ask_choice(ask, location, choice)
    text = render_config_template(choice.list_settings())
    _write_config(location.top, text, force=force)
    if choice.sample:
        _write_sample(location.top)
    commands = _list_commands(text)
    trusted = confirmed and _save_trust(location, commands)
    if as_json:
        print_json(_describe_result(location, scan, choice, trusted=trusted))
    else:
        _print_next_steps(location, choice, commands, trusted=trusted)
    return OK


def _list_commands(text: str) -> list[RepoCommand]:
    """List the commands in the file that was written."""
    document = ConfigDocument(PLAIT_TOML, parse_toml(text, PLAIT_TOML))
    return list_repo_commands(merge_layers([read_document(document, Layer.REPOSITORY)]), None)


def _save_trust(location: RepoLocation, commands: list[RepoCommand]) -> bool:
    try:
        if commands:
            save_trust(location, commands)
    except WorldError as error:  # the file is written all the same
        print_line(("warning", "yellow"), f" {error.message}: plait run will ask", stderr=True)
        return False
    return True


def _describe_result(
    location: RepoLocation, scan: RepoScan, choice: InitChoice, *, trusted: bool
) -> Mapping[str, object]:
    setup, verify = scan.commands.setup, scan.commands.verify
    return {
        "written": str(location.top / PLAIT_TOML),
        "repository": location.repository,
        "sources": scan.sources,
        "agents": scan.agents,
        "agent": choice.agent,
        "setup": choice.setup,
        "setupReason": setup.why if setup else None,
        "verify": choice.verify,
        "verifyReason": verify.why if verify else None,
        "missing": scan.commands.missing or None,
        "sampleTask": SAMPLE_TASK if choice.sample else None,
        "trusted": trusted,
    }


def _check_not_configured(top: Path, *, force: bool) -> None:
    """Raise an error if there are settings already: those in pyproject.toml rule out a plait.toml, even with --force."""
    if has_settings_in_pyproject(top):
        raise UserError(
            f"{PYPROJECT} already has settings, under [tool.plait]",
            hint=f"`plait config` shows them. For a {PLAIT_TOML} instead, delete that table first.",
        )
    if not force and os.path.lexists(top / PLAIT_TOML):
        raise _make_exists_error(f"{PLAIT_TOML} already exists")


def _make_exists_error(message: str) -> UserError:
    return UserError(
        message,
        hint="`plait config` shows the settings in effect; `plait init --force` overwrites the file.",
    )


def _write_config(top: Path, text: str, *, force: bool) -> None:
    try:
        write = replace_file if force else create_file
        write(top / PLAIT_TOML, text.encode(), mode=0o666, durable=True)
    except FileExistsError:
        raise _make_exists_error(f"another process has just created {PLAIT_TOML}: it was not changed") from None
    except OSError as error:
        hint = _HINT_BY_ERRNO.get(error.errno or 0, _PERMISSION_HINT)
        raise WorldError(f"{top / PLAIT_TOML} can't be written: {error.strerror or error}", hint=hint) from error


def _write_sample(top: Path) -> None:
    try:
        (top / SAMPLE_FOLDER).mkdir(exist_ok=True)
        create_file(top / SAMPLE_TASK, _SAMPLE_TEXT.encode(), mode=0o666, durable=True)
    except FileExistsError:  # just now: keep it
        return
    except OSError as error:
        hint = _HINT_BY_ERRNO.get(error.errno or 0, _PERMISSION_HINT)
        message = f"{top / SAMPLE_TASK} can't be written: {error.strerror or error} ({PLAIT_TOML} was written)"
        raise WorldError(message, hint=hint) from error


T = TypeVar("T")
NO_ANSWER = "none"


class Prompt(Protocol):
    """A function like `typer.prompt`: takes a question and the default answer."""

    def __call__(self, text: str, default: str) -> str: ...


@dataclass(frozen=True, slots=True)
class InitChoice:
    """What to write. `sample`: write a sample task, and use it."""

    sources: tuple[str, ...] = ()
    sample: bool = False
    agent: str | None = None
    setup: str | None = None
    setup_reads: tuple[str, ...] = ()
    setup_makes: tuple[str, ...] = ()
    verify: str | None = None

    def list_settings(self) -> dict[str, object]:
        """Return the chosen settings by key."""
        chosen = {
            "sources.paths": [*self.sources, *([SAMPLE_FOLDER] if self.sample else [])],
            "run.agent": self.agent,
            "run.verify": self.verify,
            "workspace.setup": self.setup,
            "workspace.setup_reads": list(self.setup_reads),
            "workspace.setup_makes": list(self.setup_makes),
        }
        return {key: value for key, value in chosen.items() if value}


def suggest_choice(location: RepoLocation, scan: RepoScan, *, sample: bool) -> InitChoice:
    """Suggest sources that have tasks, the first of the well-known agents, and the commands for this kind of project."""
    sources = tuple(source.path for source in scan.sources if source.problem is None)
    setup, verify = scan.commands.setup, scan.commands.verify
    return InitChoice(
        sources,
        sample and not sources and _can_write_sample(location.top),
        scan.agent,
        setup.command if setup else None,
        setup.reads if setup else (),
        setup.makes if setup else (),
        verify.command if verify else None,
    )


def _can_write_sample(top: Path) -> bool:
    folder = top / SAMPLE_FOLDER
    return (folder.is_dir() or not os.path.lexists(folder)) and not os.path.lexists(top / SAMPLE_TASK)


def ask_on_terminal(text: str, default: str) -> str:
    return prompt_line(f"{text} [{quote_unprintable(default)}]: ") or default


def _ask_choice(ask: Prompt, location: RepoLocation, suggestion: InitChoice) -> InitChoice:
    """Ask for each setting whether to keep the suggestion, enter another value, or leave it out."""
    print_line()
    print_line("Press Return to keep the value in brackets, or type another one, or none.")

    def sources(answer: str) -> tuple[str, ...]:
        names = tuple(filter(None, map(str.strip, answer.split(","))))
        for source in (examine_source(location, name) for name in names):
            if source.problem:
                raise InvalidValueError(quote_unprintable(f"{source.path}: {source.problem}"))
        return names

    suggested_sources = ", ".join(suggestion.sources)
    choice = replace(
        suggestion,
        sources=_ask_until_valid(
            ask,
            "Sources",
            suggested_sources,
            lambda answer: suggestion.sources if answer == suggested_sources else sources(answer),
        )
        or (),
    )
    if not choice.sources and _can_write_sample(location.top):
        question = f"Write a sample task to {SAMPLE_TASK}"
        choice = replace(choice, sample=bool(_ask_until_valid(ask, question, "yes", _read_yes_no)))
    agent = _ask_until_valid(ask, "Agent", suggestion.agent, _check_setting("run.agent"))
    if location.repository:
        setup = _ask_until_valid(ask, "Setup command", suggestion.setup, _check_setting("workspace.setup"))
        if setup != suggestion.setup:
            choice = replace(choice, setup=setup, setup_reads=(), setup_makes=())
    verify = _ask_until_valid(ask, "Test command", suggestion.verify, _check_setting("run.verify"))
    return replace(choice, agent=agent, verify=verify)


def _read_yes_no(answer: str) -> bool:
    if answer.lower() not in {"y", "yes", "n", "no"}:
        raise InvalidValueError("this must be yes or no")
    return answer.lower() in {"y", "yes"}


def _check_setting(key: str) -> Callable[[str], str]:
    kind = KEYS_BY_NAME[key].value_type

    def check(value: str) -> str:
        try:
            kind.read(value)
        except InvalidValueError:
            raise InvalidValueError(f"this must be {kind.allowed}") from None
        return value

    return check


def _ask_until_valid(ask: Prompt, label: str, default: str | None, read: Callable[[str], T]) -> T | None:
    """Ask until the answer is valid; None for `none`."""
    while True:
        answer = ask(label, default or NO_ANSWER).strip() or default or NO_ANSWER
        if answer.lower() == NO_ANSWER:
            return None
        try:
            return read(answer)
        except InvalidValueError as error:
            print_line((f"  {error}", "yellow"))


_MAX_COLUMN_WIDTH = 40


def quote_unprintable(text: str) -> str:
    """Quote and escape a text with control characters, so that a repository can't control the terminal."""
    return text if text.isprintable() else format_toml(text)


def _print_findings(location: RepoLocation, scan: RepoScan) -> None:
    if not location.repository:
        top = quote_unprintable(str(location.top))
        print_line((f"{top} is not in a git repository: {PLAIT_TOML} is written to this folder.", "yellow"))
    rows = [*_make_source_rows(scan), _make_agent_row(scan), *_make_command_rows(scan)]
    width = min(_MAX_COLUMN_WIDTH, max(len(value) for _, value, _ in rows))
    for label, value, note in rows:
        print_line(f"{label:8} {value:{width}}  {note}".rstrip())


def _make_source_rows(scan: RepoScan) -> Iterator[tuple[str, str, str]]:
    if not scan.sources:
        yield "sources", "none found", "add a folder tasks/ with one Markdown file per task, or a TODO.md"
    for index, source in enumerate(scan.sources):
        yield "" if index else "sources", quote_unprintable(source.path), _describe_source(source)


def _describe_source(source: FoundSource) -> str:
    if source.problem:
        return f"left out: {quote_unprintable(source.problem)}"
    return f"{source.format} · {source.open} of {pluralize(source.total, 'task')} open"


def _make_agent_row(scan: RepoScan) -> tuple[str, str, str]:
    agent = scan.agent
    others = ", ".join(name for name in scan.agents if name != agent)
    if agent:
        return (
            "agent",
            agent,
            f"installed; so are {others}" if "," in others else f"installed{others and f'; so is {others}'}",
        )
    proposed = [info.name for info in AGENTS.values() if info.proposed]
    return "agent", "none found", f"none of {', '.join(proposed)}{others and f'; but {others}'}"


def _make_command_rows(scan: RepoScan) -> Iterator[tuple[str, str, str]]:
    setup, verify, missing = scan.commands.setup, scan.commands.verify, scan.commands.missing
    if setup:
        yield "setup", setup.command, setup.why
    if verify:
        yield "verify", verify.command, "; ".join(filter(None, (verify.why, missing)))
    else:
        yield "verify", "none found", missing or "found no file that says how to run the tests"


def _print_next_steps(
    location: RepoLocation, choice: InitChoice, commands: list[RepoCommand], *, trusted: bool
) -> None:
    print_line()
    print_line(f"Wrote {quote_unprintable(str(location.top / PLAIT_TOML))}.")
    if choice.sample:
        print_line(f"Wrote a sample task, {SAMPLE_TASK}.")
    if commands and trusted:
        names = ", ".join(f"`{escape_command(command.value)}`" for command in commands)
        print_line(f"Trusted in this repository: {names}.")
    for command in filter(None, (choice.setup, choice.verify)):
        if missing := find_missing_program(command):
            print_line(
                (f"{quote_unprintable(missing)} is not installed, and `{escape_command(command)}` needs it.", "yellow")
            )
    if choice.agent is None:
        print_line("No agent is set: install one, or set agent under [run].")
    if commands and not trusted:
        print_line("`plait trust` shows its commands, which run only after you trust them.")
    first = "" if choice.sources or choice.sample else "write some tasks, or set paths under [sources]; then "
    print_line(f"Next: {first}`plait plan` shows what would run, in which order, and why.")
