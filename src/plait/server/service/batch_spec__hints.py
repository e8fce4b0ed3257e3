"""Hints for those who ask over HTTP: what the command line has a flag for has a name in a body."""

from __future__ import annotations

import re
from dataclasses import replace

from plait.config.keys import KEYS
from plait.core.plan import Problem

_API_NAMES = {key.flag: key.saved_name for key in KEYS if key.flag} | {
    "--with-needs": "withNeeds",
    "--ignore-needs": "ignoreNeeds",
    "--select": "taskIds",
    "--contest": "contest",
    "-n": "times",
    "--draft": "whenDone",
    "--push": "whenDone",
}
_FLAG = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]*|-n\b)")


def translate_hint(hint: str) -> str:
    """A flag that nobody knows by another name stays: it belongs to a command that is told whole."""
    return _FLAG.sub(lambda found: f"`{name}`" if (name := _API_NAMES.get(found[0])) else found[0], hint)


def translate_problem(problem: Problem) -> Problem:
    return replace(problem, hint=translate_hint(problem.hint))
