"""What the journal, the inbox and the engine tell of themselves.

Folders that plait keeps things in: whether they can be used, and how much lies there.

What was left behind: folders of no batch, secrets of batches that have ended, processes that nobody watches.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from plait.client.doctor.check import (
    DoctorCheck,
    find_write_problem,
    format_bytes,
    format_count,
    format_names,
    measure_disk_use,
    ok,
    problem,
    warning,
)
from plait.client.doctor.repository_checks import find_leftover_worktrees
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.state import State
from plait.core.task import Attempt
from plait.core.views import make_batch_view
from plait.system.process_identity import attempt_tag, tag_prefix
from plait.system.processes import command_line, list_processes
from plait.system.state_paths import StateFolder, safe_filename


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
        f"{path}: {format_count(pending, 'request')} on the way" if pending else f"{path}: nothing on the way",
    )


def check_engine(pid: int | None, since: float, log: Path, state: State | None, trouble: str = "") -> DoctorCheck:
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


def check_state_folder(folder: Path) -> DoctorCheck:
    wrong = find_write_problem(folder)
    if wrong:
        return problem("state", f"{folder}: {wrong}", "Batches can't be run as long as plait can't write there.")
    if not folder.exists():
        return ok("state", f"{folder}, made when the first batch is submitted")
    parts = ", ".join(f"{name} {format_bytes(count)}" for name, count in _measure_parts(folder))
    return ok("state", f"{folder}: {parts or 'nothing yet'}")


def check_shared_state(folder: Path) -> DoctorCheck:
    """What all engines of one user share."""
    wrong = find_write_problem(folder)
    if wrong:
        hint = "Without it, engines of several repositories do not know of each other's slots and ports."
        return warning("commons", f"{folder}: {wrong}", hint)
    return ok("commons", str(folder) if folder.exists() else f"{folder}, made when an engine starts")


def _measure_parts(folder: Path) -> Iterator[tuple[str, int]]:
    """The journal and its like with the files that belong to them, then the folders."""
    sizes: dict[str, int] = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name = f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name.partition(".")[0]
        sizes[name] = sizes.get(name, 0) + _measure_entry(entry)
    yield from ((name, count) for name, count in sizes.items() if count)


def _measure_entry(entry: os.DirEntry[str]) -> int:
    return measure_disk_use([entry.path])[0]


_LEFTOVERS = "leftovers"


_MIN_AGE_SECONDS = 120.0  # seconds: what is younger may be on its way to the journal


_STALE_LOCK_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class KnownBatches:
    """What the journal knows: batches, with whether each has ended; attempts that run; whether an engine does."""

    batches: Mapping[str, bool]
    alive: Collection[Attempt]
    engine: bool


def check_leftovers(
    folder: StateFolder,
    known: KnownBatches,
    *,
    environment: str,
    git: Path | None,
    worktrees: Path | None = None,
) -> list[DoctorCheck]:
    """`environment` names the file that holds a batch's secrets; `git` is the repository's git folder, `worktrees`
    where its worktrees lie.
    """
    found = [
        *_check_folders(folder, known),
        *_check_environments(folder, known, environment),
        *_check_processes(folder, known),
        *_check_git_locks(git),
        *(find_leftover_worktrees(worktrees, known.batches, engine=known.engine) if worktrees is not None else ()),
    ]
    return found or [ok(_LEFTOVERS, "none")]


def _check_folders(folder: StateFolder, known: KnownBatches) -> Iterator[DoctorCheck]:
    ours = {safe_filename(batch) for batch in known.batches}
    strange = [
        each for each in _list_folder(folder.batches) if each.name not in ours and _measure_age(each) > _MIN_AGE_SECONDS
    ]
    if strange:
        said = f"{format_count(len(strange), 'folder')} in {folder.batches} of no batch: {format_names(each.name for each in strange)}"
        yield warning(_LEFTOVERS, said, "The journal does not know them. plait gc --forget NAME removes one.")


def _check_environments(folder: StateFolder, known: KnownBatches, environment: str) -> Iterator[DoctorCheck]:
    """An engine removes them when it ends a batch, and the next one those that it did not come to."""
    if known.engine:
        return
    ended = [batch for batch, over in known.batches.items() if over]
    left = [batch for batch in ended if os.path.lexists(folder.batch(batch) / environment)]
    if left:
        said = (
            f"the environment of {format_count(len(left), 'ended batch', 'es')} is still on disk: {format_names(left)}"
        )
        yield warning(_LEFTOVERS, said, f"It may hold keys. Remove {environment} in {folder.batch(left[0])}.")


def _check_processes(folder: StateFolder, known: KnownBatches) -> Iterator[DoctorCheck]:
    start = tag_prefix(folder.root)
    running = {attempt_tag(start, attempt) for attempt in known.alive}
    ours = [process for process in list_processes() if process.tag.startswith(start) and not process.is_zombie]
    strays = [process.pid for process in ours if process.tag not in running]
    if strays:
        said = f"{format_count(len(strays), 'process', 'es')} of attempts that are over: {format_names(map(_format_process, strays))}"
        yield warning(_LEFTOVERS, said, f"Look at what they do, then end them: kill {strays[0]}.")
    alone = [process.pid for process in ours if process.tag in running]
    if alone and not known.engine:
        said = f"{format_count(len(alone), 'process', 'es')} of attempts that no engine watches: {format_names(map(_format_process, alone))}"
        yield warning(_LEFTOVERS, said, "The next engine adopts them: plait resume.")


def _check_git_locks(git: Path | None) -> Iterator[DoctorCheck]:
    """Git's own: they stay behind where a git was killed, and then everybody waits for nobody."""
    for lock in (git / "index.lock", git / "HEAD.lock", git / "config.lock", git / "packed-refs.lock") if git else ():
        if _measure_age(lock) > _STALE_LOCK_SECONDS:
            hint = f"If no git is at work here, remove it: rm {lock}"
            yield warning(_LEFTOVERS, f"{lock} has been there for {_measure_age(lock) / 60:.0f} minutes", hint)


def _list_folder(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _measure_age(path: Path) -> float:
    """0 for what is not there."""
    try:
        return max(0.0, time.time() - path.lstat().st_mtime)
    except OSError:
        return 0.0


def _format_process(pid: int) -> str:
    """With its program's name only: its arguments are nobody's business."""
    program = next(iter(command_line(pid)), "")
    return f"{pid} ({Path(program).name})" if program else str(pid)
