"""The programs that commands name: which ones can be determined without running them, and which are missing here."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from plait.config.config import Config
from plait.core.plan import Problem, Severity
from plait.core.settings import Isolation, Settings
from plait.core.task import Task

# A command after one of these changes what a name means, or may not run at all: from there on nothing is certain.
_UNCERTAIN = frozenset(
    """
    . source eval exec export set unset alias trap shift command builtin hash function
    if then elif else fi for while until do done case esac select { } ! [[ time coproc
    """.split()  # noqa: SIM905 - a list would be 30 lines
)
_BUILTINS = frozenset(
    "cd true false test [ echo printf exit return : pwd read ulimit umask wait type times getopts".split()  # noqa: SIM905
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_OPERATORS = re.compile(r"[();<>|&\n]+")
_REDIRECTION = re.compile(r"\d*[<>]&[\d-]+|&>>?")
_EXPANSION = re.compile(r"[$`*?\[\]{}~]")


def list_programs(command: str) -> list[str]:
    """List the programs that a shell would certainly look for, in order; a builtin, a file of the workspace or a word
    that the shell expands is not among them. In doubt the list ends.
    """
    return list(_iter_programs(command))


def _iter_programs(command: str) -> Iterator[str]:
    for words, operator in _split_commands(command):
        named = [word for word in words if not _ASSIGNMENT.match(word)]
        if any(word.startswith("PATH=") for word in words) or "||" in operator or "(" in operator:
            return
        if not named:
            continue
        program = named[0]
        if program in _UNCERTAIN:
            return
        if program not in _BUILTINS and not _EXPANSION.search(program):
            yield program


def _split_commands(command: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each command and the operator after it, up to what can't be split."""
    text = _REDIRECTION.sub(" ", command.replace("\\\n", " "))
    if "<<" in text:  # the lines of a here document are no commands
        text = text.partition("<<")[0].rpartition("\n")[0]
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, "#"
    words: list[str] = []
    try:
        for word in lexer:
            if _OPERATORS.fullmatch(word) and not word.startswith(("<", ">")):
                yield words, word.strip("\n") or "\n"
                words = []
            else:
                words.append(word)
    except ValueError:  # an unclosed quote
        return
    yield words, ""


def find_missing_program(command: str) -> str | None:
    """Return the first program of a command line that isn't installed; None if none is known to be missing."""
    return next((program for program in list_programs(command) if not is_installed(program)), None)


def is_installed(program: str) -> bool:
    """Whether the program is installed. A path in the workspace counts as such: it can only be looked for there."""
    if "/" not in program:
        return shutil.which(program) is not None
    return not program.startswith("/") or (Path(program).is_file() and os.access(program, os.X_OK))


def check_programs(
    config: Config, settings: Settings, tasks: Sequence[Task], *, contest: bool = False
) -> list[Problem]:
    """Report programs that commands of the settings or the tasks name and that aren't installed.

    Setup may install what verification and the gate run, so with one they are only warnings, as without preflight.
    """
    in_worktrees = settings.isolation is Isolation.WORKTREE
    setup = config.workspace.setup if in_worktrees else None
    commands = {"run.verify": settings.verify, "run.gate": settings.gate, "workspace.setup": setup}
    if contest:
        commands["run.score"] = config.run.score
    problems: list[Problem] = []
    for key, command in commands.items():
        missing = find_missing_program(command) if command else None
        if missing is not None:
            place = f"{config.origins[key]}: {missing} is not installed, and {key.partition('.')[2]} runs it"
            problems.append(_make_problem(place, config, setup if key != "workspace.setup" else None))
    by_program: dict[str, list[Task]] = {}
    for task in tasks:
        own_path = any(name == "PATH" for name, _ in task.env)
        missing = find_missing_program(task.verify) if task.verify and not own_path else None
        if missing is not None:
            by_program.setdefault(missing, []).append(task)
    for missing, (first, *others) in by_program.items():
        more = f" (and {len(others)} more like it)" if others else ""
        message = f"{first.id}: {missing} is not installed, and its verify runs it{more}"
        problems.append(replace(_make_problem(message, config, setup), at=first.origin))
    return problems


def _make_problem(message: str, config: Config, setup: str | None) -> Problem:
    if not config.run.preflight:
        return Problem(Severity.WARNING, message, hint="Install it, or put it on the PATH.")
    if setup:
        return Problem(Severity.WARNING, message, hint="Unless setup installs it, install it or put it on the PATH.")
    hint = "Install it, put it on the PATH, or name another command; --no-preflight runs the tasks anyway."
    return Problem(Severity.ERROR, message, hint=hint)
