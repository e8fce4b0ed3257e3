"""How soon the quick verbs answer, against a Python that only imports typer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.graphs import independent
from bench.ours import at_home, left, run, task_master
from bench.table import Row, interleaved
from tests.support.temp_project import TempProject

_WISH = "at most 2x"
_FLOOR = ("-c", "import typer")
_VERBS: dict[str, Sequence[str]] = {
    "plait --help": ("-m", "plait", "--help"),
    "plait status": ("-m", "plait", "status"),
    "plait status --json": ("-m", "plait", "status", "--json"),
}


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    tasks, rounds = (10, 5) if quick else (100, 21)
    with TemporaryDirectory() as folder, at_home(Path(folder) / "home") as home:
        (home.top / "tasks.json").write_text(task_master(independent(tasks)))
        nothing = _measured(home, rounds)
        run(home, "tasks.json", "--agent-command", "true")
        left(home)
        after = _measured(home, rounds)
    return [
        *(Row(f"{verb}, nothing was ever run", *both, _WISH) for verb, both in nothing.items()),
        *(Row(f"{verb}, after a batch of {tasks}", *both, _WISH) for verb, both in after.items()),
    ]


def _measured(home: TempProject, rounds: int) -> dict[str, tuple[float, str, float]]:
    works = [lambda words=words: _run(home, words) for words in (_FLOOR, *_VERBS.values())]
    interleaved(1, *works)  # to warm up
    floor, *times = interleaved(rounds, *works)
    return {verb: (1e3 * taken, "ms", 1e3 * floor) for verb, taken in zip(_VERBS, times, strict=True)}


def _run(home: TempProject, words: Sequence[str]) -> None:
    subprocess.run([sys.executable, *words], cwd=home.top, env=home.env, check=True, stdout=subprocess.DEVNULL)
