"""Other runners of graphs. Each is given a graph in a way of its own, in a folder of its own, and a command to run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.bytecode import INSTALLED
from bench.graphs import Graph, waves

HOME = Path(__file__).parent.parent / ".venv" / "peers"
PACKAGES = (
    "doit",
    "luigi",
    "dask[distributed]",
    "snakemake",
    "prefect",
    "fastapi>=0.139,<0.146",
    "ray",
    "ninja",
)
_SCRIPTS = Path(__file__).parent / "scripts"
_PREFECT = {"PREFECT_LOGGING_LEVEL": "CRITICAL", "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "60"}
_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

# Writes what the peer reads into the folder; gives the words that run it, `parallel` tasks at once.
Describe = Callable[[Graph, Path, int], list[str]]


class Runner(Protocol):
    """Something that runs a graph, `parallel` tasks at once. What is yielded is the run, and is all that is timed."""

    @property
    def name(self) -> str: ...
    @property
    def slow(self) -> bool: ...
    @property
    def missing(self) -> bool: ...

    def ready(self, graph: Graph, folder: Path, parallel: int) -> AbstractContextManager[Callable[[], None]]: ...


@dataclass(frozen=True, slots=True)
class Peer:
    """A Runner. `slow` ones are given fewer rounds: what is ten times behind is so in every round."""

    name: str
    describe: Describe
    needs: str = ""
    slow: bool = False

    @property
    def missing(self) -> bool:
        return bool(self.needs) and _program(self.needs) is None

    @contextmanager
    def ready(self, graph: Graph, folder: Path, parallel: int) -> Iterator[Callable[[], None]]:
        folder.mkdir(parents=True)
        words = self.describe(graph, folder, parallel)
        own = {"HOME": str(folder), "PREFECT_HOME": str(folder)}
        environment = {**os.environ, **INSTALLED, **_PREFECT, **_RAY, **own}
        yield lambda: _run(self.name, words, folder, environment)


def install() -> None:
    """An environment of the Python peers' own, made once. Of what can't be had, the peer is missing."""
    python, stamp, wanted = HOME / "bin" / "python", HOME / ".installed", " ".join(PACKAGES)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    codes = [subprocess.run([*pip, package], check=False).returncode for package in PACKAGES]
    if not any(codes):
        stamp.write_text(wanted)


def _asyncio(*how: str) -> Describe:
    """`--warded` and `--durable` give it what no run can go on without after a crash: supervisors, and commits."""

    def describe(graph: Graph, folder: Path, parallel: int) -> list[str]:
        return [sys.executable, str(_SCRIPTS / "bare_asyncio.py"), _json(graph, folder), str(parallel), *how]

    return describe


def _xargs(graph: Graph, folder: Path, parallel: int) -> list[str]:
    """A barrier after each layer: all that xargs can do about needs."""
    lines = []
    for place, wave in enumerate(waves(graph)):
        program, *argument = wave[0].command
        words = (node.command[1] if argument else node.name for node in wave)
        (folder / f"wave-{place}").write_text("\n".join(words) + "\n")
        lines.append(f"xargs -P {parallel} -n 1 {program} <wave-{place} || exit\n")
    (folder / "waves.sh").write_text("".join(lines))
    return ["sh", "waves.sh"]


def _make(graph: Graph, folder: Path, parallel: int) -> list[str]:
    names = " ".join(node.name for node in graph)
    rules = [f"{node.name}: {' '.join(node.needs)}\n\t@{' '.join(node.command)}\n" for node in graph]
    (folder / "Makefile").write_text(f"all: {names}\n.PHONY: all {names}\n{''.join(rules)}")
    return ["make", "-s", f"-j{parallel}"]


def _ninja(graph: Graph, folder: Path, parallel: int) -> list[str]:
    builds = [f"build {node.name}: run {' '.join(node.needs)}\n  words = {' '.join(node.command)}\n" for node in graph]
    (folder / "build.ninja").write_text("rule run\n  command = $words\n" + "".join(builds))
    return [_program("ninja") or "ninja", "--quiet", f"-j{parallel}"]


def _doit(graph: Graph, folder: Path, parallel: int) -> list[str]:
    _json(graph, folder)
    (folder / "dodo.py").write_text((_SCRIPTS / "dodo.py").read_text())
    return [str(_program("doit")), "-n", str(parallel)]


def _snakemake(graph: Graph, folder: Path, parallel: int) -> list[str]:
    _json(graph, folder)
    (folder / "Snakefile").write_text((_SCRIPTS / "Snakefile").read_text())
    return [str(_program("snakemake")), "--quiet", "all", "--cores", str(parallel)]


def _script(name: str) -> Describe:
    def describe(graph: Graph, folder: Path, parallel: int) -> list[str]:
        return [str(_program("python")), str(_SCRIPTS / name), _json(_sorted(graph), folder), str(parallel)]

    return describe


FLOOR = Peer("bare asyncio", _asyncio())
PEERS: Sequence[Peer] = (
    Peer("bare asyncio, each command under a supervisor", _asyncio("--warded")),
    Peer("bare asyncio, under supervisors, each change committed", _asyncio("--warded", "--durable")),
    Peer("xargs -P, a barrier per layer", _xargs, "xargs"),
    Peer("make -j", _make, "make"),
    Peer("ninja", _ninja, "ninja"),
    Peer("doit -n", _doit, "doit"),
    Peer("luigi", _script("run_luigi.py"), "luigi", slow=True),
    Peer("dask, 2 processes", _script("run_dask.py"), "dask", slow=True),
    Peer("snakemake", _snakemake, "snakemake", slow=True),
    Peer("ray, local", _script("run_ray.py"), "ray", slow=True),
    Peer("prefect", _script("run_prefect.py"), "prefect", slow=True),
)


def _program(name: str) -> str | None:
    own = HOME / "bin" / name
    return str(own) if own.exists() else shutil.which(name)


def _json(graph: Graph, folder: Path) -> str:
    nodes = [{"name": node.name, "needs": node.needs, "command": node.command} for node in graph]
    path = folder / "graph.json"
    path.write_text(json.dumps(nodes))
    return str(path)


def _sorted(graph: Graph) -> Graph:
    """These make a future from futures that are there already."""
    return [node for wave in waves(graph) for node in wave]


def _run(name: str, words: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed: {(done.stderr or done.stdout).decode(errors='replace')[-2000:]}")
