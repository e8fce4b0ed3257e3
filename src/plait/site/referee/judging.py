"""Judging: an agent is asked for the order of the candidates, as a process of its own beside the referee's."""

from __future__ import annotations

import os
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import IO

from plait.agents.model import Activity, Agent, AgentSpec, Brief, Used
from plait.agents.table import load
from plait.agents.tools.events import Events
from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category
from plait.core.task import Attempt, Step, Task
from plait.site.folder import make_private, put
from plait.site.referee.telling import RefereeError, Telling
from plait.site.referee.verdict import order, question

ASKED = 2  # times
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PIECE = 64 << 10
_LINE = 8 << 20  # bytes of one line that are looked at: a whole message may be in it
_KEPT = 1 << 20  # bytes of what it printed that are kept
_TAIL = 8 << 10  # bytes that an exit is judged by
# What passes: then the contest waits, rather than being decided without its judge.
_PASSING = frozenset({Category.RATE_LIMIT, Category.OVERLOADED, Category.NETWORK})


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    outcome: Outcome


class Judge:
    def __init__(self, spec: AgentSpec, workspace: Path, folder: Path, telling: Telling) -> None:
        self._spec = spec
        self._workspace = workspace
        self._room = folder / "judge"
        self._telling = telling
        self._spent = NO_SPEND

    def order(self, task: str, diffs: Mapping[str, str], seed: str) -> tuple[list[str] | None, str]:
        """The entrants, best first; None: it could not be asked or understood, and the words say why.

        Raises RefereeError for what passes by itself.
        """
        names = list(diffs)
        Random(seed).shuffle(names)  # noqa: S311 - chance, not secrets: nobody is always the first
        lettered = dict(zip(_LETTERS, names, strict=False))
        why = ""
        for turn in range(ASKED):
            answer = self._ask(task, {letter: diffs[name] for letter, name in lettered.items()}, turn)
            if answer.outcome.category not in {Category.OK, Category.EMPTY}:
                return None, self._failed(answer.outcome)
            found = order(answer.text, list(lettered))
            if found is not None:
                return [lettered[letter] for letter in found], ""
            why = f"{self._spec.name} named no order that can be read"
        return None, why

    def _failed(self, outcome: Outcome) -> str:
        why = f"{self._spec.name} could not judge: {outcome.detail or outcome.category.value}"
        if outcome.category in _PASSING:
            after = outcome.retry_after
            if after is None and outcome.retry_at is not None:
                after = max(1.0, outcome.retry_at - time.time())
            raise RefereeError(why, outcome.category, after)
        return why

    def _ask(self, task: str, diffs: Mapping[str, str], turn: int) -> _Answer:
        make_private(self._room)
        files = {letter: str(self._room / f"{letter}.diff") for letter in diffs}
        for letter, diff in diffs.items():
            put(Path(files[letter]), diff)
        prompt = self._room / "prompt.md"
        put(prompt, question(task, diffs, files, again=turn > 0))
        try:
            return self._run(load(self._spec), prompt, turn)
        except (PlaitError, OSError) as error:
            return _Answer("", Outcome(Category.USAGE, detail=str(error)))

    def _run(self, agent: Agent, prompt: Path, turn: int) -> _Answer:
        attempt = Attempt("", "", Step.WRITE, turn + 1)
        told = Brief(
            attempt,
            Task("judge", "Which of these changes is the best?"),
            str(self._workspace),
            task_file=str(prompt),
            prompt_file=str(prompt),
            folder=str(self._room),
        )
        command = agent.command(told)
        for name, text in command.files:
            put(self._room / name, text)
        stdin = Path(command.stdin).open("rb") if command.stdin else None  # noqa: SIM115 - closed below
        try:
            return self._hear(agent, command.argv, dict(command.env), stdin)
        finally:
            if stdin is not None:
                stdin.close()

    def _hear(
        self, agent: Agent, argv: tuple[str, ...], env: Mapping[str, str], stdin: IO[bytes] | None
    ) -> _Answer:
        listener, printed, before = agent.listen(), _Kept(), self._spent
        with subprocess.Popen(  # noqa: S603 - the judge's own words
            argv,
            cwd=self._workspace,
            env={**os.environ, **env},
            stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        ) as tool:
            assert tool.stdout is not None
            for line in _lines(tool.stdout):
                printed.add(line)
                for signal in listener.hear(line.decode("utf-8", "replace").removesuffix("\n")):
                    if isinstance(signal, Activity):
                        self._telling.doing(f"{self._spec.name}: {signal.text}")
                    elif isinstance(signal, Used):
                        self._spend(before + signal.spend)
        code = 128 - tool.returncode if tool.returncode < 0 else tool.returncode
        text = printed.text()
        outcome = listener.end(code, text[-_TAIL:], time.time())
        self._spend(before + outcome.spend)
        said = listener.said if isinstance(listener, Events) else ""
        # A tool that prints its answer in an object of its own makes one line of it.
        return _Answer(said or text.replace("\\n", "\n"), outcome)

    def _spend(self, spend: Spend) -> None:
        if spend != self._spent:
            self._spent = self._spent.at_least(spend)
            self._telling.used(self._spent)


class _Kept:
    """The end of what was printed."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._size = 0

    def add(self, line: bytes) -> None:
        self._lines.append(line)
        self._size += len(line)
        while self._size > _KEPT and len(self._lines) > 1:
            self._size -= len(self._lines.popleft())

    def text(self) -> str:
        return b"".join(self._lines).decode("utf-8", "replace")


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Each as it comes; of one without an end, as much as can be looked at."""
    rest = b""
    while piece := stream.read(_PIECE):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line + b"\n"
        rest = rest[:_LINE]
    if rest:
        yield rest
