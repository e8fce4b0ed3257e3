"""Choosing: who fits onto the base, in which order they stand, and the first of them into the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plait.agents.tools.referee import RefereeSpec
from plait.core.decisions import Candidate
from plait.core.frozen import dataclass
from plait.site.referee.ground import Ground, known
from plait.site.referee.judging import Judge
from plait.site.referee.scoring import scored
from plait.site.referee.telling import RefereeError, Row, Telling

_DIFF = 4 << 20  # bytes of a change that a judge can look at


@dataclass(frozen=True, slots=True)
class _Standing:
    """A candidate that is in the contest: whoever has the smallest `key` comes first where nobody says otherwise."""

    candidate: Candidate
    lines: int
    diff: str = ""

    @property
    def key(self) -> tuple[int, float, str]:
        return (self.lines, self.candidate.seconds, self.candidate.task)


def choose(spec: RefereeSpec, telling: Telling, rows: list[Row]) -> None:
    """`rows` are what is known of each candidate, also if it comes to nothing. Raises RefereeError or PlaitError."""
    rows += [Row(candidate.task) for candidate in spec.candidates]
    known_rows = {row.entrant: row for row in rows}
    ground = Ground(Path(spec.workspace), spec.base)
    if not spec.candidates:
        telling.result("", "no entrant changed anything", rows)
        return
    telling.phase("Look at the candidates")
    left = _fitting(spec, ground, telling, known_rows)
    order, why = _ordered(spec, telling, known_rows, left)
    if not order:
        raise RefereeError(f"no candidate can be taken: {_told(rows)}")
    for rank, name in enumerate(order, 1):
        known_rows[name].rank = rank
    winner = left[order[0]].candidate
    fit = known(ground, winner)
    if fit.against:
        raise RefereeError(f"{winner.task} was chosen, and {fit.against}")
    telling.result(winner.task, f"{winner.task} won: {why}", rows)


def _fitting(
    spec: RefereeSpec, ground: Ground, telling: Telling, rows: Mapping[str, Row]
) -> dict[str, _Standing]:
    """Those whose change can be put onto the base; with a score command, those that have a score."""
    left: dict[str, _Standing] = {}
    for candidate in spec.candidates:
        row, fit = rows[candidate.task], known(ground, candidate)
        row.why = fit.against
        if not fit.against and spec.score:
            telling.doing(f"scoring {candidate.task}")
            found = scored(spec.score, Path(spec.workspace), Path(spec.folder), candidate)
            row.score, row.why = found.score, found.why
        if row.why:
            telling.doing(f"{candidate.task} is out: {row.why}")
            continue
        diff = ground.diff(_DIFF) if spec.judge is not None else ""
        left[candidate.task] = _Standing(candidate, fit.lines, diff)
    ground.clear()
    return left


def _ordered(
    spec: RefereeSpec, telling: Telling, rows: Mapping[str, Row], left: Mapping[str, _Standing]
) -> tuple[list[str], str]:
    """Best first, and by what the first one is the best."""
    plain = sorted(left, key=lambda name: left[name].key)
    if len(plain) <= 1:
        return plain, "it is the only one that can be taken"
    if spec.score:
        ordered = sorted(plain, key=lambda name: -(rows[name].score or 0.0))
        return ordered, f"its score is {rows[ordered[0]].score:g}"
    if spec.judge is None:
        return plain, f"its change is the smallest ({left[plain[0]].lines} lines)"
    telling.phase(f"Ask {spec.judge.name}")
    judge = Judge(spec.judge, Path(spec.workspace), Path(spec.folder), telling)
    task = f"# {spec.title or spec.task}\n\n{spec.body}"
    found, why = judge.order(task, {name: standing.diff for name, standing in left.items()}, spec.attempt)
    if found is None:
        telling.doing(why)
        return plain, f"its change is the smallest; {why}"
    return found, f"{spec.judge.name} put it first"


def _told(rows: list[Row]) -> str:
    return "; ".join(f"{row.entrant}: {row.why}" for row in rows if row.why)
