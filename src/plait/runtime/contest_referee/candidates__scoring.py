"""Scoring: a command of the person's own says, in each candidate's files, how good they are. The highest number wins."""

from __future__ import annotations

import math
import os
import re
import subprocess
from pathlib import Path

from plait.core.decisions import Candidate
from plait.core.fast_dataclass import dataclass
from plait.runtime import transcript

_TAIL_BYTES = 16 << 10  # bytes of what it printed that are looked at
_MAX_MESSAGE_CHARS = 200  # characters
_NUMBER = re.compile(r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """`score` None: it is out, and `why` says by what."""

    score: float | None
    why: str = ""


def score_candidate(command: str, workspace: Path, folder: Path, candidate: Candidate) -> ScoreResult:
    """The last line of its output that is a number. It may print any amount: what it prints goes into files."""
    out, err = folder / "score.out", folder / "score.err"
    env = {**os.environ, "PLAIT_ENTRANT": candidate.task, "PLAIT_ENTRANT_AGENT": candidate.agent}
    with out.open("wb") as printed, err.open("wb") as complained:
        done = subprocess.run(  # noqa: S603 - the person's own command, for a shell as it says
            ["sh", "-c", command],  # noqa: S607 - as everywhere
            cwd=workspace,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=complained,
            check=False,
        )
    lines = [line.strip() for line in _read_tail(out).splitlines() if line.strip()]
    if done.returncode:
        complaints = [line.strip() for line in _read_tail(err).splitlines() if line.strip()] or lines
        said = f": {complaints[-1][:_MAX_MESSAGE_CHARS]}" if complaints else ""
        return ScoreResult(None, f"its score failed with exit status {done.returncode}{said}")
    number = next((line for line in reversed(lines) if _NUMBER.fullmatch(line)), None)
    value = float(number) if number is not None else math.nan
    if not math.isfinite(value):
        return ScoreResult(None, "its score is no number")
    return ScoreResult(value)


def _read_tail(path: Path) -> str:
    return transcript.tail(path, _TAIL_BYTES).decode("utf-8", "replace")
