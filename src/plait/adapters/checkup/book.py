"""What the journal, the inbox and the engine tell of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from plait.adapters.checkup.leftovers import Known
from plait.adapters.checkup.model import Check, count, names, ok, problem, warning
from plait.core.plan import Problem
from plait.core.state import State
from plait.core.views import batch_view


def journal(path: Path, state: State | None, problems: tuple[Problem, ...]) -> Check:
    if problems:
        return problem("journal", problems[0].message, problems[0].hint)
    if state is None:
        return ok("journal", f"{path}, made when the first batch is submitted")
    told = f"{count(state.seq, 'record')} of {count(len(state.batches), 'batch', 'es')}"
    return ok("journal", f"{path}: {told}, {len(state.open)} unfinished")


def inbox(path: Path, pending: int, aside: Mapping[str, str]) -> Check:
    if aside:
        said = f"{count(len(aside), 'request')} in {path} can't be read: {next(iter(aside.values()))}"
        return warning("inbox", said, "They are kept, and passed over. A newer plait may read them.")
    return ok(
        "inbox",
        f"{path}: {count(pending, 'request')} on the way" if pending else f"{path}: nothing on the way",
    )


def engine(pid: int | None, since: float, log: Path, state: State | None, trouble: str = "") -> Check:
    """`pid` None: no engine has the lease; 0: somebody has it who has not said who."""
    if pid is not None and trouble:
        return problem("engine", f"process {pid} can't go on; its log is {log}", trouble)
    if pid is not None:
        began = datetime.fromtimestamp(since, UTC).astimezone()
        return ok("engine", f"process {pid}, at work since {began:%Y-%m-%d %H:%M:%S}; its log is {log}")
    left = _unattended(state) if state else []
    if left:
        said = f"none is at work, and {names(left)} {'is' if len(left) == 1 else 'are'} not finished; its log is {log}"
        return warning("engine", said, f"Go on: plait resume {left[0]}.")
    return ok("engine", f"none is at work, and nothing is to be done; its log is {log}")


def _unattended(state: State) -> list[str]:
    """Batches that an engine would go on with; the others wait for a person, and no engine for them."""
    views = [batch_view(state, batch) for batch in state.open.values() if batch.paused is None]
    return [view.id for view in views if not view.waits_for_person]


def known(state: State, *, engine: bool) -> Known:
    return Known(
        {batch.id: batch.ended is not None for batch in state.batches.values()},
        [attempt for batch in state.open.values() for attempt in batch.alive],
        engine,
    )
