"""bare_asyncio.py with a warden for each command: python warded_asyncio.py GRAPH PARALLEL [--durable]

So little must anybody pay who wants to find a command again after a crash, and its exit status. With --durable, each start
and each end is committed to SQLite before anything follows from it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

# Without an import of plait's: what that costs is not the warden's.
WARDEN = Path(__file__).parents[2] / "src" / "plait" / "site" / "warden.sh"
Record = Callable[[str, str], object]


class Node(TypedDict):
    name: str
    needs: list[str]
    command: list[str]


async def main(graph: list[Node], parallel: int, record: Record) -> None:
    left = {node["name"]: len(node["needs"]) for node in graph}
    commands = {node["name"]: node["command"] for node in graph}
    dependents: dict[str, list[str]] = {node["name"]: [] for node in graph}
    for node in graph:
        for need in node["needs"]:
            dependents[need].append(node["name"])
    slots, here = asyncio.Semaphore(parallel), str(Path.cwd())
    lines = WARDEN.read_text().splitlines()
    text = "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))

    async def run(name: str) -> None:
        async with slots:
            folder = Path(here, f"attempt-{name}")
            os.mkdir(folder)  # noqa: PTH102 - a Path would be told to wait elsewhere
            record(name, "started")
            words = ("sh", "-c", text, "plait-warden", str(folder), here, "now", *commands[name])
            child = await asyncio.create_subprocess_exec(*words, start_new_session=True)
            await child.wait()
            if int((folder / "exit").read_text()):
                sys.exit(1)
            record(name, "exited")
        for other in dependents[name]:
            left[other] -= 1
            if not left[other]:
                going.create_task(run(other))

    async with asyncio.TaskGroup() as going:
        for name in [name for name, count in left.items() if not count]:
            going.create_task(run(name))


def journal() -> Record:
    database = sqlite3.connect("journal", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE record (task TEXT, event TEXT)")
    return lambda task, event: database.execute("INSERT INTO record VALUES (?, ?)", (task, event))


if sys.platform == "linux" and sys.version_info < (3, 12):  # later ones choose it themselves
    asyncio.set_child_watcher(asyncio.PidfdChildWatcher())
nodes = json.loads(Path(sys.argv[1]).read_text())
asyncio.run(main(nodes, int(sys.argv[2]), journal() if "--durable" in sys.argv else lambda _, __: None))
