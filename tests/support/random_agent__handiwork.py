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

from tests.support.random_agent import make_random_agent

LOG_VARIABLE = "TOLD"  # the file in which agents tell that they begin and end
Ending = Callable[[], None]


def main(seed: str) -> None:
    batch, task, n = (os.environ[f"PLAIT_{name}"] for name in ("BATCH", "TASK_ID", "ATTEMPT"))
    _log("begin", batch, task, n)
    rng = Random(f"{seed} {task} {n}")  # noqa: S311 - chance, not secrets
    top = Path.cwd()
    make_random_agent(rng)(top)
    write_signature(top, task, n)
    rng.choice(_ENDINGS)()
    _log("end", batch, task, n)


def write_signature(top: Path, task: str, n: str) -> None:
    path = top / signature_path(task, n)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{task} was here, for the {n}. time\n")


def signature_path(task: str, n: int | str) -> str:
    """The file that an attempt leaves as a proof that it was there."""
    return f"signed/{task}-{n}.txt"


def _log(*words: str) -> None:
    with Path(os.environ[LOG_VARIABLE]).open("a") as told:
        told.write(f"{' '.join(words)}\n")


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, stdout=subprocess.DEVNULL)  # noqa: S603, S607 - an agent's own words


def _leave_dirty() -> None:
    pass


def _stage() -> None:
    _git("add", "--all", "signed")


def _commit_all() -> None:
    _git("add", "--all")
    _git("commit", "--quiet", "--message", "by the agent")


def _commit_part() -> None:
    _git("add", "--all", "signed")
    _git("commit", "--quiet", "--message", "a part of it")


def _commit_detached() -> None:
    _git("checkout", "--quiet", "--detach")
    _commit_all()


def _commit_on_branch() -> None:
    """On a branch of its own making."""
    name = f"{os.environ['PLAIT_TASK_ID']}-{os.environ['PLAIT_ATTEMPT']}"
    _git("checkout", "--quiet", "-b", f"plait/agents-own-{name}")
    _commit_all()


_ENDINGS: Sequence[Ending] = (
    _leave_dirty,
    _leave_dirty,
    _stage,
    _commit_all,
    _commit_part,
    _commit_detached,
    _commit_on_branch,
)

if __name__ == "__main__":
    main(sys.argv[1])
