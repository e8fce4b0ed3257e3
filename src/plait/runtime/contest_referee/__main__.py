"""`python -m plait.runtime.contest_referee SPEC`: chooses the winner, and leaves its change in the workspace.

It finds out which candidates fit onto the base, ranks them, and applies the best one's change.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from plait.agents.drivers.referee import REFEREE_RESULT_FILE, RefereeSpec
from plait.core.ballot import BallotResult, Vote, count_votes
from plait.core.decisions import Candidate
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.retry_policy import describe_failure
from plait.core.status import Category
from plait.core.text import join_names
from plait.runtime.agent_process import EventReporter, JobError, run_until_signal, to_job_error
from plait.runtime.contest_referee.candidates import CandidateWorkspace, score_candidate
from plait.runtime.contest_referee.judge import JudgePanel
from plait.runtime.sandbox.child_sandboxes import ChildSandboxes
from plait.system.decoders import decode_json

_FAILED = 1
_MAX_DIFF_BYTES = 4 << 20  # bytes of a change that the judge's prompt may contain


@dataclass(slots=True)
class ContestRow:
    """What is known of one candidate. `rank` 0: it is disqualified, and `why` says why."""

    entrant: str
    rank: int = 0
    score: float | None = None
    why: str = ""


class RefereeReporter(EventReporter):
    """Reports what the referee does. Judges report from threads of their own."""

    max_message_chars = 500

    def __init__(self, result_file: Path) -> None:
        super().__init__(result_file)
        self._lock = threading.Lock()

    def print_event(self, kind: str, **values: object) -> None:
        with self._lock:
            super().print_event(kind, **values)

    def report_result(
        self, winner: str, why: str, rows: Sequence[ContestRow], ballot: BallotResult | None = None
    ) -> None:
        """Report the result. The file is written first: it must exist when the event is read."""
        self.save_choice(winner or None, why, rows)
        self.print_event("result", winner=winner, why=self.clean(why), ballot=ballot)

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
        is_rejected = failure.category is Category.REJECTED
        reporter.save_choice(None, describe_failure(failure.category) if is_rejected else failure.message, rows)
        reporter.report_error(failure)
        return _FAILED
    return 0


def _read_spec(file: Path) -> RefereeSpec:
    try:
        return decode_json(file.read_bytes(), RefereeSpec)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"what is to be chosen from can't be read from {file}: {error}"
        raise JobError(message, Category.USAGE) from error


@dataclass(frozen=True, slots=True)
class _Contestant:
    """A candidate whose change fits. Without a score or a judge, the one with the smallest `key` wins."""

    candidate: Candidate
    lines: int
    diff: str = ""

    @property
    def key(self) -> tuple[int, float, str]:
        return (self.lines, self.candidate.seconds, self.candidate.task)


def select_winner(spec: RefereeSpec, reporter: RefereeReporter, rows: list[ContestRow]) -> None:
    """Select the winner. `rows` gets what is known of each candidate, even if there is no winner. Raises JobError or
    PlaitError.
    """
    rows += [ContestRow(candidate.task) for candidate in spec.candidates]
    known_rows = {row.entrant: row for row in rows}
    workspace, sandboxes = CandidateWorkspace(Path(spec.workspace), spec.base), ChildSandboxes.load(Path(spec.folder))
    if not spec.candidates:
        reporter.report_result("", "no entrant changed anything", rows)
        return
    reporter.report_phase("Look at the candidates")
    left = _find_fitting(spec, workspace, reporter, known_rows, sandboxes)
    order, why, ballot = _rank_candidates(spec, reporter, known_rows, left, sandboxes)
    if not order:
        why = "; ".join(f"{row.entrant}: {row.why}" for row in rows if row.why)
        raise JobError(f"no candidate can be taken: {why}")
    for rank, name in enumerate(order, 1):
        known_rows[name].rank = rank
    winner = left[order[0]].candidate
    fit = workspace.apply(winner)
    if fit.objection:
        raise JobError(f"{winner.task} was chosen, and {fit.objection}")
    reporter.report_result(winner.task, f"{winner.task} won: {why}", rows, ballot)


def _find_fitting(
    spec: RefereeSpec,
    workspace: CandidateWorkspace,
    reporter: RefereeReporter,
    rows: Mapping[str, ContestRow],
    sandboxes: ChildSandboxes | None,
) -> dict[str, _Contestant]:
    """Return the candidates whose change applies to the base and, with a score command, that have a score."""
    left: dict[str, _Contestant] = {}
    for candidate in spec.candidates:
        row, fit = rows[candidate.task], workspace.apply(candidate)
        row.why = fit.objection
        if not fit.objection and spec.score:
            reporter.report_activity(f"scoring {candidate.task}")
            folder = Path(spec.folder)
            row.score, row.why = score_candidate(spec.score, Path(spec.workspace), folder, candidate, sandboxes)
        if row.why:
            reporter.report_activity(f"{candidate.task} is out: {row.why}")
            continue
        diff = workspace.diff(_MAX_DIFF_BYTES) if spec.judges else ""
        left[candidate.task] = _Contestant(candidate, fit.lines, diff)
    workspace.reset()
    return left


def _rank_candidates(
    spec: RefereeSpec,
    reporter: RefereeReporter,
    rows: Mapping[str, ContestRow],
    left: Mapping[str, _Contestant],
    sandboxes: ChildSandboxes | None,
) -> tuple[Sequence[str], str, BallotResult | None]:
    """Return the candidates, best first, why the first one is the best, and the result of the judges' votes, if any."""
    plain = sorted(left, key=lambda name: left[name].key)
    if not plain or (len(plain) == 1 and not spec.votes):
        return plain, "it is the only one that can be taken", None
    if spec.score:
        ordered = sorted(plain, key=lambda name: -(rows[name].score or 0.0))
        return ordered, f"its score is {rows[ordered[0]].score:g}", None
    if not spec.judges:
        return plain, f"its change is the smallest ({left[plain[0]].lines} lines)", None
    reporter.report_phase(f"Ask {join_names([judge.name for judge in spec.judges], 3)}")
    task = f"# {spec.title or spec.task}\n\n{spec.body}"
    votes = JudgePanel(spec, reporter, sandboxes).collect_votes(
        task, {name: contestant.diff for name, contestant in left.items()}
    )
    count = count_votes(plain, votes)
    for name in plain:
        if name not in count.order:
            rows[name].why = "the judges rejected it"
    if not count.order:
        raise JobError(_describe_rejection(votes), Category.REJECTED)
    return count.order, count.why, count.result


def _describe_rejection(votes: Sequence[Vote]) -> str:
    reasons = "; ".join(f"{vote.judge}: {vote.reason}" for vote in votes if vote.reason and vote.rejected)
    return reasons or f"{sum(not vote.failure for vote in votes)} of {len(votes)} voted"


if __name__ == "__main__":
    sys.exit(run_until_signal(lambda: main(sys.argv[1:])))
