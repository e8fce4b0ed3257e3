"""A workspace with two changes to choose from, and the referee as a process."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from plait.agents.drivers.referee import REFEREE_MODULE, REFEREE_RESULT_FILE, REFEREE_SPEC_FILE, Referee
from plait.agents.interface import AgentSpec, AttemptContext
from plait.core.ballot import Vote
from plait.core.decisions import Candidate
from plait.core.reports import Outcome
from plait.core.task import Attempt, Step, Task
from tests.support.git_repository import GitRepository, write_path


class RefereeProcess:
    """A workspace, two changes of one file, and a referee."""

    def __init__(self, folder: Path) -> None:
        self.printed = ""
        self.folder = folder / "attempt"
        self.folder.mkdir()
        self.repository = GitRepository(folder / "workspace")
        self.base = self.commit("a.txt", "one\n")
        self.candidates = tuple(
            Candidate(f"a@{name}", name, self.base, self.commit("a.txt", text), seconds=seconds)
            for name, text, seconds in (("long", "one\ntwo\nthree\nfour\n", 1.0), ("short", "two\n", 9.0))
        )
        self.repository.git("reset", "--hard", "--quiet", self.base)

    @property
    def workspace(self) -> Path:
        return self.repository.top

    def commit(self, name: str, text: str) -> str:
        """On the base, if there is one."""
        if hasattr(self, "base"):
            self.repository.git("reset", "--hard", "--quiet", self.base)
        write_path(self.workspace / name, text)
        self.repository.git("add", "--all")
        self.repository.git("commit", "--quiet", "--message", "more")
        return self.repository.git("rev-parse", "HEAD")

    def run(  # noqa: PLR0913 - what an attempt has
        self,
        spec: AgentSpec,
        candidates: tuple[Candidate, ...] | None = None,
        env: Mapping[str, str] | None = None,
        *,
        votes: tuple[Vote, ...] = (),
        slots: int = 3,
        timeout: float = 0.0,
    ) -> Outcome:
        agent = Referee(spec)
        context = AttemptContext(
            Attempt("b1", "a", Step.WRITE, 1),
            Task("a", "Count", "Count to two."),
            str(self.workspace),
            "",
            "",
            folder=str(self.folder),
            base=self.base,
            candidates=self.candidates if candidates is None else candidates,
            votes=votes,
            slots=slots,
            timeout=timeout,
        )
        command = agent.build_command(context)
        assert command.argv[3:] == ("-m", REFEREE_MODULE, str(self.folder / REFEREE_SPEC_FILE))
        for name, text in command.files:
            (self.folder / name).write_text(text)
        for checkout in command.checkouts:  # as the executor does
            if not Path(checkout).exists():
                self.repository.git("worktree", "add", "--quiet", "--detach", checkout, self.base)
        done = subprocess.run(
            command.argv,
            cwd=self.workspace,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        self.printed = done.stdout + done.stderr
        listener = agent.create_parser()
        for line in done.stdout.splitlines():
            listener.feed(line)
        return listener.finish(done.returncode, done.stdout[-8000:], 1000.0)

    @property
    def rows(self) -> dict[str, str]:
        data = json.loads((self.folder / REFEREE_RESULT_FILE).read_text())
        return {row["entrant"]: row["why"] for row in data["rows"]}
