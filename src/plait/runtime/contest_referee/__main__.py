"""`python -m plait.runtime.contest_referee SPEC`: choose, and leave the winner's change in the workspace.

Which candidates fit onto the base, their order, and the best one's change.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from plait.agents.drivers.referee import REFEREE_RESULT_FILE, RefereeSpec
from plait.core.decisions import Candidate
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.status import Category
from plait.runtime.agent_process import EventReporter, JobError, to_job_error
from plait.runtime.contest_referee.candidates import CandidateWorkspace, score_candidate
from plait.runtime.contest_referee.judge import ContestJudge

_FAILED = 1
_MAX_DIFF_BYTES = 4 << 20  # bytes of a change that the judge's prompt may contain


@dataclass(slots=True)
class ContestRow:
    """One candidate. `rank` 0: it is disqualified, and `why` says why."""

    entrant: str
    rank: int = 0
    score: float | None = None
    why: str = ""


class RefereeReporter(EventReporter):
    max_message_chars = 500

    def report_result(self, winner: str, why: str, rows: Sequence[ContestRow]) -> None:
        """The file first: it must exist when the event is read."""
        self.save_choice(winner or None, why, rows)
        self.print_event("result", winner=winner, why=self.clean(why))

    def save_choice(self, winner: str | None, why: str, rows: Sequence[ContestRow]) -> None:
        listed = [asdict(row) | {"why": self.clean(row.why)} for row in rows]
        self.save_result({"winner": winner, "why": self.clean(why), "rows": listed})


def main(argv: Sequence[str]) -> int:
    file = Path(argv[0]) if argv else Path()
    reporter, rows = RefereeReporter(file.parent / REFEREE_RESULT_FILE), list[ContestRow]()
    try:
        select_winner(_read_spec(file), reporter, rows)
    except (JobError, PlaitError, OSError) as error:
        failure = to_job_error(error)
        reporter.save_choice(None, failure.message, rows)
        reporter.report_error(failure)
        return _FAILED
    return 0


def _read_spec(file: Path) -> RefereeSpec:
    try:
        return msgspec.json.decode(file.read_bytes(), type=RefereeSpec)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"what is to be chosen from can't be read from {file}: {error}"
        raise JobError(message, Category.USAGE) from error


@dataclass(frozen=True, slots=True)
class _Contestant:
    """A candidate that fits. Without a score or a judge, the one with the smallest `key` wins."""

    candidate: Candidate
    lines: int
    diff: str = ""

    @property
    def key(self) -> tuple[int, float, str]:
        return (self.lines, self.candidate.seconds, self.candidate.task)


def select_winner(spec: RefereeSpec, reporter: RefereeReporter, rows: list[ContestRow]) -> None:
    """`rows` gets what is known of each candidate, even if there is no winner. Raises JobError or PlaitError."""
    rows += [ContestRow(candidate.task) for candidate in spec.candidates]
    known_rows = {row.entrant: row for row in rows}
    workspace = CandidateWorkspace(Path(spec.workspace), spec.base)
    if not spec.candidates:
        reporter.report_result("", "no entrant changed anything", rows)
        return
    reporter.report_phase("Look at the candidates")
    left = _find_fitting(spec, workspace, reporter, known_rows)
    order, why = _rank_candidates(spec, reporter, known_rows, left)
    if not order:
        why = "; ".join(f"{row.entrant}: {row.why}" for row in rows if row.why)
        raise JobError(f"no candidate can be taken: {why}")
    for rank, name in enumerate(order, 1):
        known_rows[name].rank = rank
    winner = left[order[0]].candidate
    fit = workspace.apply(winner)
    if fit.objection:
        raise JobError(f"{winner.task} was chosen, and {fit.objection}")
    reporter.report_result(winner.task, f"{winner.task} won: {why}", rows)


def _find_fitting(
    spec: RefereeSpec, workspace: CandidateWorkspace, reporter: RefereeReporter, rows: Mapping[str, ContestRow]
) -> dict[str, _Contestant]:
    """The candidates whose change applies to the base and, with a score command, that have a score."""
    left: dict[str, _Contestant] = {}
    for candidate in spec.candidates:
        row, fit = rows[candidate.task], workspace.apply(candidate)
        row.why = fit.objection
        if not fit.objection and spec.score:
            reporter.report_activity(f"scoring {candidate.task}")
            row.score, row.why = score_candidate(spec.score, Path(spec.workspace), Path(spec.folder), candidate)
        if row.why:
            reporter.report_activity(f"{candidate.task} is out: {row.why}")
            continue
        diff = workspace.diff(_MAX_DIFF_BYTES) if spec.judge is not None else ""
        left[candidate.task] = _Contestant(candidate, fit.lines, diff)
    workspace.reset()
    return left


def _rank_candidates(
    spec: RefereeSpec,
    reporter: RefereeReporter,
    rows: Mapping[str, ContestRow],
    left: Mapping[str, _Contestant],
) -> tuple[list[str], str]:
    """The candidates, best first, and why the first one is the best."""
    plain = sorted(left, key=lambda name: left[name].key)
    if len(plain) <= 1:
        return plain, "it is the only one that can be taken"
    if spec.score:
        ordered = sorted(plain, key=lambda name: -(rows[name].score or 0.0))
        return ordered, f"its score is {rows[ordered[0]].score:g}"
    if spec.judge is None:
        return plain, f"its change is the smallest ({left[plain[0]].lines} lines)"
    reporter.report_phase(f"Ask {spec.judge.name}")
    judge = ContestJudge(spec.judge, Path(spec.workspace), Path(spec.folder), reporter)
    task = f"# {spec.title or spec.task}\n\n{spec.body}"
    found, why = judge.rank(task, {name: contestant.diff for name, contestant in left.items()}, spec.attempt)
    if found is None:
        reporter.report_activity(why)
        return plain, f"its change is the smallest; {why}"
    return found, f"{spec.judge.name} put it first"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
