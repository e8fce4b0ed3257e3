"""The floor: a bare asyncio loop that counts needs, with a pidfd for each child.

python bare_asyncio.py GRAPH PARALLEL [--warded [--durable]]

With --warded, each command runs under plait's supervisor: so little must anybody pay who wants to find a command again after a
crash, and its exit status. With --durable, each start and each end is committed before anything follows from it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypedDict

# Without an import of plait's: what that costs is not the supervisor's.
WARDEN = Path(__file__).parents[2] / "src" / "plait" / "runtime" / "supervisor.sh"
# Whether the command failed.
Run = Callable[[str, list[str]], Awaitable[int]]


class Node(TypedDict):
    name: str
    needs: list[str]
    command: list[str]


async def main(graph: list[Node], parallel: int, failed: Run) -> None:
    left = {node["name"]: len(node["needs"]) for node in graph}
    commands = {node["name"]: node["command"] for node in graph}
    dependents: dict[str, list[str]] = {node["name"]: [] for node in graph}
    for node in graph:
        for need in node["needs"]:
            dependents[need].append(node["name"])
    slots = asyncio.Semaphore(parallel)

    async def run(name: str) -> None:
        async with slots:
            if await failed(name, commands[name]):
                sys.exit(1)
        for other in dependents[name]:
            left[other] -= 1
            if not left[other]:
                going.create_task(run(other))

    async with asyncio.TaskGroup() as going:
        for name in [name for name, count in left.items() if not count]:
            going.create_task(run(name))


async def bare(_: str, command: list[str]) -> int:
    child = await asyncio.create_subprocess_exec(*command)
    return await child.wait()


def warded(record: Callable[[str, str], object]) -> Run:
    lines = WARDEN.read_text().splitlines()
    text = "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
    here = str(Path.cwd())

    async def failed(name: str, command: list[str]) -> int:
        folder = f"{here}/attempt-{name}"
        os.mkdir(folder)  # noqa: PTH102 - a Path would be told to wait elsewhere
        record(name, "started")
        words = ("sh", "-c", text, "plait-warden", folder, here, "now", *command)
        child = await asyncio.create_subprocess_exec(*words, start_new_session=True)
        await child.wait()
        code = status(folder)
        record(name, "exited")
        return code

    return failed


def status(folder: str) -> int:
    return int(Path(folder, "exit").read_text())


def journal() -> Callable[[str, str], object]:
    import sqlite3  # the bare loop has no use for it

    database = sqlite3.connect("journal", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE record (task TEXT, event TEXT)")
    return lambda task, event: database.execute("INSERT INTO record VALUES (?, ?)", (task, event))


def how(words: list[str]) -> Run:
    if "--warded" not in words:
        return bare
    return warded(journal() if "--durable" in words else lambda _, __: None)


if sys.platform == "linux" and sys.version_info < (3, 12):  # later ones choose it themselves
    asyncio.set_child_watcher(asyncio.PidfdChildWatcher())
asyncio.run(main(json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2]), how(sys.argv[3:])))
