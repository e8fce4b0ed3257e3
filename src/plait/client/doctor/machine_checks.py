"""Check the machine and the installed coding tools."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from plait.agents.table import AGENTS
from plait.client.doctor.check import DoctorCheck, format_bytes, ok, problem, warning
from plait.client.installed_agents import LoggedIn, Program, detect_login
from plait.core.capacity import MachineReadings, describe_shortage

MIN_GIT_VERSION = (2, 38)

_LOW_DISK_BYTES = 2 * 2**30
_LOW_MEMORY_BYTES = 2**30  # an agent takes a third of it, or all
_VERSION_NUMBERS = re.compile(r"(\d+)\.(\d+)")


def check_git(program: Program) -> DoctorCheck:
    least = ".".join(map(str, MIN_GIT_VERSION))
    if program.path is None:
        return problem("git", "git isn't on PATH", f"Install git {least} or newer.")
    numbers = _VERSION_NUMBERS.match(program.version or "")
    if numbers is None:
        return warning(
            "git", f"{program.path} doesn't report its version{f': {program.trouble}' if program.trouble else ''}"
        )
    if (int(numbers[1]), int(numbers[2])) < MIN_GIT_VERSION:
        return problem("git", f"git {program.version} is too old", f"plait needs {least} or newer.")
    return ok("git", f"git {program.version}")


def check_python() -> DoctorCheck:
    return ok("python", f"Python {platform.python_version()}, {sys.executable}")


def check_shell() -> DoctorCheck:
    path = shutil.which("sh")
    if path is None:
        return problem("sh", "sh isn't on PATH", "plait starts agents through sh: fix PATH.")
    return ok("sh", path)


def check_disk(readings: MachineReadings) -> DoctorCheck:
    left = f"{format_bytes(readings.disk)} of {format_bytes(readings.disk_total)} left"
    if readings.disk < _LOW_DISK_BYTES:
        return warning("disk", left, "Transcripts and worktrees need space: free some.")
    return ok("disk", left)


def check_memory(readings: MachineReadings) -> DoctorCheck:
    left = f"{format_bytes(readings.memory)} of {format_bytes(readings.memory_total)} left, {readings.cores} cores"
    if readings.memory < _LOW_MEMORY_BYTES:
        return warning("memory", left, "An agent takes 200 MB to 1 GB: fewer tasks may run at once than you set.")
    return ok("memory", left)


def check_capacity(readings: MachineReadings, where: str) -> list[DoctorCheck]:
    """What keeps an engine from starting tasks now."""
    short = describe_shortage(readings, None, where)
    return [warning("room", f"waiting: {short}")] if short else []


def check_agents(
    programs: Mapping[str, Program], environment: Mapping[str, str], home: Path, *, keychain: bool
) -> DoctorCheck:
    here = [known for known in AGENTS.values() if known.program and programs[known.program].path]
    said = []
    for known in here:
        seen = detect_login(known.login, environment, home, keychain=keychain)
        out = ", not logged in" if seen.logged_in is LoggedIn.NO else ""
        said.append(f"{known.program} {programs[known.program].version or ''}".strip() + out)
    if not said:
        return ok("agents", "no coding tool is installed; see plait agents")
    return ok("agents", f"{'; '.join(said)}; see plait agents")
