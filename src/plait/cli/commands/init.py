"""`plait init`: write a `plait.toml` with the sources, agent and test command found here or typed by the user."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Protocol, TypeVar

import typer

from plait.agents.table import AGENTS
from plait.cli import options as opt
from plait.cli.format import pluralize
from plait.cli.output import OK, is_interactive, print_json, print_line, prompt_line
from plait.client.repo_scan import FoundSource, RepoScan, examine_source, has_settings_in_pyproject, scan_repo
from plait.config.keys import KEYS_BY_NAME
from plait.config.loading import PLAIT_TOML, PYPROJECT
from plait.config.reference import render_config_template
from plait.config.toml_file import format_toml
from plait.config.value_types import InvalidValueError
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation, find_repo
from plait.system.atomic_files import create_file, replace_file

_HINT_BY_ERRNO = {
    errno.ENOSPC: "Free some disk space, then run `plait init` again.",
    errno.EDQUOT: "Free some of your quota, then run `plait init` again.",
    errno.EROFS: "The file system is read-only.",
    errno.EISDIR: "Move the folder of that name away.",
}


_PERMISSION_HINT = "Check the permissions: ls -ld ."


def init_command(
    where: Path,
    *,
    yes: opt.NoPrompt = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing plait.toml.")] = False,
    as_json: opt.Json = False,
) -> int:
    quiet = yes or as_json or not is_interactive()
    return init_project(where, None if quiet else ask_on_terminal, force=force, as_json=as_json)


def init_project(
    where: Path, ask: Prompt | None, *, force: bool = False, as_json: bool = False, path: str | None = None
) -> int:
    """Return the exit code. Runs nothing, and writes only after all questions are answered.

    Without `ask`, the suggestions are written. `path` replaces PATH.
    """
    location = find_repo(where)
    _check_not_configured(location.top, force=force)
    scan = scan_repo(location, os.environ.get("PATH", os.defpath) if path is None else path)
    if not as_json:
        _print_findings(location, scan)
    choice = suggest_choice(scan) if ask is None else _ask_choice(ask, location, scan)
    _write_config(location.top, render_config_template(choice.list_settings()), force=force)
    if as_json:
        print_json(
            {
                "written": str(location.top / PLAIT_TOML),
                "repository": location.repository,
                "sources": scan.sources,
                "agents": scan.agents,
                "agent": choice.agent,
                "verify": choice.verify,
                "verifyReason": scan.verify.why if scan.verify else None,
            }
        )
    else:
        _print_next_steps(location, choice)
    return OK


def _check_not_configured(top: Path, *, force: bool) -> None:
    """Settings in pyproject.toml rule out a plait.toml, even with --force."""
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


T = TypeVar("T")
NO_ANSWER = "none"


class Prompt(Protocol):
    """Like `typer.prompt`: takes a question and the default answer."""

    def __call__(self, text: str, default: str) -> str: ...


@dataclass(frozen=True, slots=True)
class InitChoice:
    sources: tuple[str, ...] = ()
    agent: str | None = None
    verify: str | None = None

    def list_settings(self) -> dict[str, object]:
        """The chosen settings by key."""
        chosen = {"sources.paths": list(self.sources), "run.agent": self.agent, "run.verify": self.verify}
        return {key: value for key, value in chosen.items() if value}


def suggest_choice(scan: RepoScan) -> InitChoice:
    """Sources that have tasks, the first of the well-known agents, the test command."""
    sources = tuple(source.path for source in scan.sources if source.problem is None)
    return InitChoice(sources, scan.agent, scan.verify.command if scan.verify else None)


def ask_on_terminal(text: str, default: str) -> str:
    return prompt_line(f"{text} [{quote_unprintable(default)}]: ") or default


def _ask_choice(ask: Prompt, location: RepoLocation, scan: RepoScan) -> InitChoice:
    """Keep, other or none, for each of the three."""
    suggestion = suggest_choice(scan)
    print_line()
    print_line("Press Return to keep the value in brackets, or type another one, or none.")

    def sources(answer: str) -> tuple[str, ...]:
        names = tuple(filter(None, map(str.strip, answer.split(","))))
        for source in (examine_source(location, name) for name in names):
            if source.problem:
                raise InvalidValueError(quote_unprintable(f"{source.path}: {source.problem}"))
        return names

    suggested_sources = ", ".join(suggestion.sources)
    return InitChoice(
        _ask_until_valid(
            ask,
            "Sources",
            suggested_sources,
            lambda answer: suggestion.sources if answer == suggested_sources else sources(answer),
        )
        or (),
        _ask_until_valid(ask, "Agent", suggestion.agent, lambda answer: _check_value("run.agent", answer)),
        _ask_until_valid(ask, "Test command", suggestion.verify, lambda answer: _check_value("run.verify", answer)),
    )


def _check_value(key: str, value: str) -> str:
    kind = KEYS_BY_NAME[key].value_type
    try:
        kind.read(value)
    except InvalidValueError:
        raise InvalidValueError(f"this must be {kind.allowed}") from None
    return value


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
    rows = [*_make_source_rows(scan), _make_agent_row(scan), _make_verify_row(scan)]
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


def _make_verify_row(scan: RepoScan) -> tuple[str, str, str]:
    if scan.verify is None:
        return "verify", "none found", "found no file that says how to run the tests"
    return "verify", scan.verify.command, scan.verify.why


def _print_next_steps(location: RepoLocation, choice: InitChoice) -> None:
    print_line()
    print_line(f"Wrote {quote_unprintable(str(location.top / PLAIT_TOML))}.")
    if choice.agent is None:
        print_line("No agent is set: install one, or set agent under [run].")
    first = "" if choice.sources else "write some tasks, or set paths under [sources]; then "
    print_line(f"Next: {first}`plait plan` shows what would run, in which order, and why.")
