"""plait as one of the runners: a fresh folder with a home of its own, the front until it exits, the engine until it has left."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.bytecode import INSTALLED
from bench.graphs import Graph
from tests.support.temp_project import TempProject, temp_project


@dataclass(frozen=True, slots=True)
class Plait:
    """A Runner. With `terminal` its display is drawn on one; otherwise it prints lines."""

    name: str
    terminal: bool = False
    slow: bool = False
    missing: bool = False

    @contextmanager
    def ready(self, graph: Graph, folder: Path, parallel: int) -> Iterator[Callable[[], None]]:
        with at_home(folder) as home:
            (home.top / "tasks.json").write_text(task_master(graph))
            words = ("tasks.json", "--agent-command", "true", "-p", str(parallel))
            yield lambda: run(home, *words, terminal=self.terminal)
            left(home)


@contextmanager
def at_home(folder: Path) -> Iterator[TempProject]:
    with temp_project(folder) as home:
        home.env.update(INSTALLED)
        yield home


def run(home: TempProject, *words: str, terminal: bool = False) -> None:
    """One batch, from the start of the front to its exit; everything in it must have been done."""
    asked = [sys.executable, "-m", "plait", "run", *words, "--isolation", "in-place", "--yes"]
    code, said = (_on_a_terminal if terminal else _piped)(asked, home)
    if code:
        raise RuntimeError(f"plait exited with {code}: {said[-2000:]}\n{home.read_engine_log()[-2000:]}")


def left(home: TempProject) -> None:
    """Wait until the engine has exited: the machine must be quiet before anything else is measured."""
    try:
        home.wait_for_exit()
    except TimeoutError as error:
        raise RuntimeError(f"plait left processes behind: {home.read_engine_log()[-2000:]}") from error


def task_master(graph: Graph) -> str:
    """Of the formats that know needs the one that is read fastest; its titles say how long a task sleeps."""
    ids = {node.name: place for place, node in enumerate(graph, start=1)}
    tasks = [
        {
            "id": ids[node.name],
            "title": node.command[-1] if node.seconds else node.name,
            "status": "pending",
            "dependencies": [ids[need] for need in node.needs],
        }
        for node in graph
    ]
    return json.dumps({"tasks": tasks})


def _piped(words: list[str], home: TempProject) -> tuple[int, str]:
    done = subprocess.run(
        words,
        cwd=home.top,
        env=home.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def _on_a_terminal(words: list[str], home: TempProject) -> tuple[int, str]:
    outer, inner = pty.openpty()
    try:
        termios.tcsetwinsize(inner, (40, 120))
        front = subprocess.Popen(
            words,
            cwd=home.top,
            env={**home.env, "TERM": "xterm-256color"},
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)
        said = b""
        with suppress(OSError):  # how a terminal says that the last writer has gone
            while piece := os.read(outer, 1 << 16):
                said = (said + piece)[-4000:]
        return front.wait(), said.decode(errors="replace")
    finally:
        os.close(outer)
