"""An arena: an estate with one task, two agents to be written for it, and a judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.cli_runner import Answer
from tests.support.contest_agents import FOLDER
from tests.support.temp_project__estate import Estate, estate

AMBER, BIRCH, JUDGE = (f"tests.support.contest_agents:{name}" for name in ("Amber", "Birch", "Judge"))


@dataclass(frozen=True)
class Arena:
    """A repository with tasks, and two agents to be written."""

    estate: Estate
    scripts: Path

    def agent(self, name: str, script: str) -> None:
        """What it does; the prompt is on its standard input, and it works in its worktree."""
        (self.scripts / f"{name}.sh").write_text(f"cat >/dev/null\n{script}\n")

    def judge(self, script: str) -> None:
        """It finds the prompt in $ASKED."""
        asked = self.scripts / "asked.md"
        (self.scripts / "judge.sh").write_text(f"cat >{asked}\nASKED={asked}\n{script}\n")

    @property
    def asked(self) -> str:
        return (self.scripts / "asked.md").read_text()

    def run(self, *words: str, contest: str = f"{AMBER},{BIRCH}") -> Answer:
        flags = ("--contest", contest) if contest else ()
        answer = self.estate.plait("run", "tasks", "--yes", "--retries", "0", *flags, *words)
        if answer.code != 2:
            self.estate.until_quiet()
        return answer

    def explained(self, task: str) -> dict[str, Any]:
        """As `plait explain --json` tells it: any JSON."""
        answer = self.estate.plait("explain", task, "--json")
        assert answer.code == 0, answer
        return json.loads(answer.out)  # type: ignore[no-any-return]  # a test looks at what is there

    def table(self, task: str = "a") -> dict[str, dict[str, Any]]:
        return {row["entrant"]: row for row in self.explained(task)["contest"]["entrants"]}

    def branches(self) -> set[str]:
        return set(self.estate.git("branch", "--format=%(refname:short)").split())


@contextmanager
def arena(folder: Path) -> Iterator[Arena]:
    with estate(folder) as made:
        scripts = folder / "scripts"
        scripts.mkdir()
        made.env[FOLDER] = str(scripts)
        found = Arena(made, scripts)
        found.agent("amber", "echo amber >a.txt")
        found.agent("birch", "printf 'birch\\nbirch\\n' >a.txt")
        made.task("a")
        yield found
