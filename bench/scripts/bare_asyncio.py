"""The floor: a bare asyncio loop that counts needs, with a pidfd for each child. python bare_asyncio.py GRAPH PARALLEL"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TypedDict


class Node(TypedDict):
    name: str
    needs: list[str]
    command: list[str]


async def main(graph: list[Node], parallel: int) -> None:
    left = {node["name"]: len(node["needs"]) for node in graph}
    commands = {node["name"]: node["command"] for node in graph}
    dependents: dict[str, list[str]] = {node["name"]: [] for node in graph}
    for node in graph:
        for need in node["needs"]:
            dependents[need].append(node["name"])
    slots = asyncio.Semaphore(parallel)

    async def run(name: str) -> None:
        async with slots:
            child = await asyncio.create_subprocess_exec(*commands[name])
            if await child.wait():
                sys.exit(1)
        for other in dependents[name]:
            left[other] -= 1
            if not left[other]:
                going.create_task(run(other))

    async with asyncio.TaskGroup() as going:
        for name in [name for name, count in left.items() if not count]:
            going.create_task(run(name))


if sys.platform == "linux" and sys.version_info < (3, 12):  # later ones choose it themselves
    asyncio.set_child_watcher(asyncio.PidfdChildWatcher())
asyncio.run(main(json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2])))
