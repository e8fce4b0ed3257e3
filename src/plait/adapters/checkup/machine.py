"""The machine: what plait itself runs on."""

from __future__ import annotations

import platform
import re
import shutil
import sys

from plait.adapters.checkup.model import Check, ok, problem, size, warning
from plait.adapters.checkup.programs import Program
from plait.core.room import shortage
from plait.ports import Weather

GIT = (2, 38)
_SMALL_DISK = 2 * 2**30
_SMALL_MEMORY = 2**30  # an agent takes a third of it, or all
_NUMBERS = re.compile(r"(\d+)\.(\d+)")


def git(program: Program) -> Check:
    least = ".".join(map(str, GIT))
    if program.path is None:
        return problem("git", "there is no git on the PATH", f"Install git {least} or newer.")
    numbers = _NUMBERS.match(program.version or "")
    if numbers is None:
        return warning("git", f"{program.path} does not say which version it is{_why(program)}")
    if (int(numbers[1]), int(numbers[2])) < GIT:
        return problem("git", f"git {program.version} is too old", f"plait needs {least} or newer.")
    return ok("git", f"git {program.version}")


def python() -> Check:
    return ok("python", f"Python {platform.python_version()}, {sys.executable}")


def shell() -> Check:
    path = shutil.which("sh")
    if path is None:
        return problem("sh", "there is no sh on the PATH", "Every attempt is started by one: mend the PATH.")
    return ok("sh", path)


def disk(weather: Weather) -> Check:
    left = f"{size(weather.disk)} of {size(weather.disk_total)} left"
    if weather.disk < _SMALL_DISK:
        return warning("disk", left, "Transcripts and worktrees need room: make some.")
    return ok("disk", left)


def memory(weather: Weather) -> Check:
    left = f"{size(weather.memory)} of {size(weather.memory_total)} left, {weather.cores} cores"
    if weather.memory < _SMALL_MEMORY:
        return warning("memory", left, "An agent takes 200 MB to 1 GB: fewer than asked for may run at once.")
    return ok("memory", left)


def room(weather: Weather, where: str) -> list[Check]:
    """What keeps an engine from starting anything just now."""
    short = shortage(weather, None, where)
    return [warning("room", f"nothing starts at the moment: {short}")] if short else []


def _why(program: Program) -> str:
    return f": {program.trouble}" if program.trouble else ""
