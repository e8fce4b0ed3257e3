"""A project with one task, two scripted agents, and a scripted judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.testing.contest_agents import SCRIPTS_VARIABLE
from tests.support.cli_runner import CliResult
from tests.support.temp_project import TempProject, temp_project

AMBER, BIRCH, JUDGE = (f"plait.testing.contest_agents:{name}" for name in ("Amber", "Birch", "Judge"))


@dataclass(frozen=True)
class ContestProject:
    """`scripts` holds the scripts of the agents and the judge."""

    project: TempProject
    scripts: Path

    def write_agent(self, name: str, script: str) -> None:
        """The script of an agent; it runs in the worktree."""
        (self.scripts / f"{name}.sh").write_text(f"cat >/dev/null\n{script}\n")

    def write_judge(self, script: str) -> None:
        """The script of the judge; $ASKED is the file with its prompt."""
        asked = self.scripts / "asked.md"
        (self.scripts / "judge.sh").write_text(f"cat >{asked}\nASKED={asked}\n{script}\n")

    @property
    def judge_prompt(self) -> str:
        return (self.scripts / "asked.md").read_text()

    def run(self, *words: str, contest: str = f"{AMBER},{BIRCH}") -> CliResult:
        flags = ("--contest", contest) if contest else ()
        answer = self.project.plait("run", "tasks", "--yes", "--retries", "0", *flags, *words)
        if answer.code != 2:
            self.project.wait_for_exit()
        return answer

    def explain(self, task: str) -> dict[str, Any]:
        """The output of `plait explain --json`. Any: tests read any field."""
        answer = self.project.plait("explain", task, "--json")
        assert answer.code == 0, answer
        return json.loads(answer.out)  # type: ignore[no-any-return]  # a test looks at what is there

    def read_entrants(self, task: str = "a") -> dict[str, dict[str, Any]]:
        return {row["entrant"]: row for row in self.explain(task)["contest"]["entrants"]}

    def list_branches(self) -> set[str]:
        return set(self.project.git("branch", "--format=%(refname:short)").split())


@contextmanager
def contest_project(folder: Path) -> Iterator[ContestProject]:
    with temp_project(folder, worktrees=True) as made:
        scripts = folder / "scripts"
        scripts.mkdir()
        made.env[SCRIPTS_VARIABLE] = str(scripts)
        found = ContestProject(made, scripts)
        found.write_agent("amber", "echo amber >a.txt")
        found.write_agent("birch", "printf 'birch\\nbirch\\n' >a.txt")
        made.task("a")
        yield found
