"""Finds and kills processes that a test left behind, by working directory, environment and command line."""

from __future__ import annotations

import os
from pathlib import Path

import psutil


def find_leaked_processes(folder: Path) -> list[psutil.Process]:
    """Processes that run in this folder, or whose environment or command line names it; never this process."""
    return [
        process
        for process in psutil.process_iter()
        if process.pid != os.getpid() and _uses_folder(process, str(folder))
    ]


def kill_leaked_processes(folder: Path) -> list[str]:
    """Kill them until none is left, and return their command lines."""
    found: list[str] = []
    while left := find_leaked_processes(folder):
        for process in left:
            try:
                found.append(" ".join(process.cmdline())[-100:])
                process.kill()
            except psutil.NoSuchProcess:
                pass
        psutil.wait_procs(left, timeout=5)
    return found


def _uses_folder(process: psutil.Process, folder: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        told = (*process.environ().values(), *process.cmdline())
        return f"{process.cwd()}/".startswith(f"{folder}/") or any(folder in word for word in told)
    except psutil.Error:
        return False
