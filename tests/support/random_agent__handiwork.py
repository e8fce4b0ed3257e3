"""An agent for real batches: it works by chance, as its seed, its task and its attempt say, and signs what it did.

python -m tests.support.random_agent__handiwork SEED
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tests.support.random_agent import fake_agent

TOLD = "TOLD"  # the file in which agents tell that they begin and end
Leaving = Callable[[], None]


def main(seed: str) -> None:
    batch, task, n = (os.environ[f"PLAIT_{name}"] for name in ("BATCH", "TASK_ID", "ATTEMPT"))
    _tell("begin", batch, task, n)
    rng = Random(f"{seed} {task} {n}")  # noqa: S311 - chance, not secrets
    top = Path.cwd()
    fake_agent(rng)(top)
    sign(top, task, n)
    rng.choice(_LEAVINGS)()
    _tell("end", batch, task, n)


def sign(top: Path, task: str, n: str) -> None:
    path = top / signature(task, n)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{task} was here, for the {n}. time\n")


def signature(task: str, n: int | str) -> str:
    """The file that an attempt leaves as a proof that it was there."""
    return f"signed/{task}-{n}.txt"


def _tell(*words: str) -> None:
    with Path(os.environ[TOLD]).open("a") as told:
        told.write(f"{' '.join(words)}\n")


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, stdout=subprocess.DEVNULL)  # noqa: S603, S607 - an agent's own words


def _dirty() -> None:
    pass


def _staged() -> None:
    _git("add", "--all", "signed")


def _committed() -> None:
    _git("add", "--all")
    _git("commit", "--quiet", "--message", "by the agent")


def _partly() -> None:
    _git("add", "--all", "signed")
    _git("commit", "--quiet", "--message", "a part of it")


def _detached() -> None:
    _git("checkout", "--quiet", "--detach")
    _committed()


def _elsewhere() -> None:
    """On a branch of its own making."""
    name = f"{os.environ['PLAIT_TASK_ID']}-{os.environ['PLAIT_ATTEMPT']}"
    _git("checkout", "--quiet", "-b", f"plait/agents-own-{name}")
    _committed()


_LEAVINGS: Sequence[Leaving] = (_dirty, _dirty, _staged, _committed, _partly, _detached, _elsewhere)

if __name__ == "__main__":
    main(sys.argv[1])
