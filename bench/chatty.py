"""Two hundred agents that talk without end, and one that prints a million lines at once: what the engine takes for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import monotonic

import psutil

from bench.graphs import independent
from bench.ours import at_home, left, run, task_master
from bench.table import Row
from tests.support.temp_project import TempProject

_SCRIPT = Path(__file__).parent / "scripts" / "chatty.py"
_MB = 1_000_000
_SAMPLE = 0.1
_LINES = 1_000_000
_PER_SECOND = 50


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    agents, seconds = (50, 5.0) if quick else (200, 30.0)
    with TemporaryDirectory() as folder, at_home(Path(folder) / "home") as home:
        (home.top / "plait.toml").write_text("[engine]\nparallel_limit = 0\n")
        (home.top / "tasks.json").write_text(task_master(independent(agents + 1)))
        words = f"{sys.executable} -S -E {_SCRIPT} {{task_id}} {seconds} {_PER_SECOND} {_LINES}"
        with _watched(home) as seen:
            run(home, "tasks.json", "--agent-command", words, "-p", "0")
        left(home)
    what = f"{agents} agents of {_PER_SECOND} lines/s, and {_LINES:,} lines at once"
    return [
        Row(f"engine's memory at most: {what}", seen.memory / _MB, "MB", 150.0, "under 150 MB"),
        Row(f"engine's share of a core: {what}", seen.share, "cores", 0.5, "under half a core"),
        Row("agents at once, at most", float(seen.children), "agents", float(agents), "all of them"),
    ]


@dataclass(slots=True)
class _Seen:
    memory: int = 0
    share: float = 0.0
    children: int = 0
    over: Event = field(default_factory=Event)


@contextmanager
def _watched(home: TempProject) -> Iterator[_Seen]:
    """The engine is found by its lease. Its share is counted from the moment it is there until the front leaves."""
    seen = _Seen()
    watcher = Thread(target=_watch, args=(home, seen), daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        seen.over.set()
        watcher.join()


def _watch(home: TempProject, seen: _Seen) -> None:
    while (pid := home.find_engine()) is None:
        if seen.over.wait(_SAMPLE):
            return
    engine, since = psutil.Process(pid), monotonic()
    while not seen.over.wait(_SAMPLE):
        try:
            spent, memory, children = engine.cpu_times(), engine.memory_info().rss, len(engine.children())
        except psutil.NoSuchProcess:
            return
        seen.memory = max(seen.memory, memory)
        seen.children = max(seen.children, children)
        seen.share = (spent.user + spent.system) / (monotonic() - since)
