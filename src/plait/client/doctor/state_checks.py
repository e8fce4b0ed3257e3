"""What was left behind: folders of no batch, secrets of batches that have ended, processes that nobody watches."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from plait.client.doctor.check import DoctorCheck, format_count, format_names, ok, warning
from plait.client.doctor.repository_checks import find_leftover_worktrees
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.system.process_identity import attempt_tag, tag_prefix
from plait.system.psutil_processes import command_line, list_processes
from plait.system.state_paths import StateFolder, safe_filename

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
        *(
            find_leftover_worktrees(worktrees, known.batches, engine=known.engine)
            if worktrees is not None
            else ()
        ),
    ]
    return found or [ok(_LEFTOVERS, "none")]


def _check_folders(folder: StateFolder, known: KnownBatches) -> Iterator[DoctorCheck]:
    ours = {safe_filename(batch) for batch in known.batches}
    strange = [
        each
        for each in _list_folder(folder.batches)
        if each.name not in ours and _measure_age(each) > _MIN_AGE_SECONDS
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
        said = f"the environment of {format_count(len(left), 'ended batch', 'es')} is still on disk: {format_names(left)}"
        yield warning(_LEFTOVERS, said, f"It may hold keys. Remove {environment} in {folder.batch(left[0])}.")


def _check_processes(folder: StateFolder, known: KnownBatches) -> Iterator[DoctorCheck]:
    start = tag_prefix(folder.root)
    running = {attempt_tag(start, attempt) for attempt in known.alive}
    ours = [
        process for process in list_processes() if process.tag.startswith(start) and not process.is_zombie
    ]
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
    for lock in (
        (git / "index.lock", git / "HEAD.lock", git / "config.lock", git / "packed-refs.lock") if git else ()
    ):
        if _measure_age(lock) > _STALE_LOCK_SECONDS:
            hint = f"If no git is at work here, remove it: rm {lock}"
            yield warning(
                _LEFTOVERS, f"{lock} has been there for {_measure_age(lock) / 60:.0f} minutes", hint
            )


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
