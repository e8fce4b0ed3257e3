"""What the journal, the inbox and the engine tell of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from plait.client.doctor.check import DoctorCheck, format_count, format_names, ok, problem, warning
from plait.client.doctor.state_checks import KnownBatches
from plait.core.plan import Problem
from plait.core.state import State
from plait.core.views import make_batch_view


def check_journal(path: Path, state: State | None, problems: tuple[Problem, ...]) -> DoctorCheck:
    if problems:
        return problem("journal", problems[0].message, problems[0].hint)
    if state is None:
        return ok("journal", f"{path}, made when the first batch is submitted")
    told = f"{format_count(state.seq, 'record')} of {format_count(len(state.batches), 'batch', 'es')}"
    return ok("journal", f"{path}: {told}, {len(state.open)} unfinished")


def check_inbox(path: Path, pending: int, aside: Mapping[str, str]) -> DoctorCheck:
    if aside:
        said = f"{format_count(len(aside), 'request')} in {path} can't be read: {next(iter(aside.values()))}"
        return warning("inbox", said, "They are kept, and passed over. A newer plait may read them.")
    return ok(
        "inbox",
        f"{path}: {format_count(pending, 'request')} on the way"
        if pending
        else f"{path}: nothing on the way",
    )


def check_engine(
    pid: int | None, since: float, log: Path, state: State | None, trouble: str = ""
) -> DoctorCheck:
    """`pid` None: no engine has the lease; 0: somebody has it who has not said who."""
    if pid is not None and trouble:
        return problem("engine", f"process {pid} can't go on; its log is {log}", trouble)
    if pid is not None:
        began = datetime.fromtimestamp(since, UTC).astimezone()
        return ok("engine", f"process {pid}, at work since {began:%Y-%m-%d %H:%M:%S}; its log is {log}")
    left = _find_unattended(state) if state else []
    if left:
        said = f"none is at work, and {format_names(left)} {'is' if len(left) == 1 else 'are'} not finished; its log is {log}"
        return warning("engine", said, f"Go on: plait resume {left[0]}.")
    return ok("engine", f"none is at work, and nothing is to be done; its log is {log}")


def _find_unattended(state: State) -> list[str]:
    """Batches that an engine would go on with; the others wait for a person, and no engine for them."""
    views = [make_batch_view(state, batch) for batch in state.open.values() if batch.paused is None]
    return [view.id for view in views if not view.waits_for_person]


def summarize_journal(state: State, *, engine: bool) -> KnownBatches:
    return KnownBatches(
        {batch.id: batch.ended is not None for batch in state.batches.values()},
        [attempt for batch in state.open.values() for attempt in batch.alive],
        engine,
    )
