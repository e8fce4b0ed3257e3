"""What was left behind: folders of no batch, secrets of batches that have ended, processes that nobody watches."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from plait.adapters.checkup.model import Check, count, names, ok, warning
from plait.adapters.checkup.worktrees import left_worktrees
from plait.core.frozen import dataclass
from plait.core.task import Attempt
from plait.site.folder import StateFolder, safe
from plait.site.marker import marker, prefix
from plait.site.processes import every, words

_TOPIC = "leftovers"
_FRESH = 120.0  # seconds: what is younger may be on its way to the journal
_OLD_LOCK = 600.0


@dataclass(frozen=True, slots=True)
class Known:
    """What the journal knows: batches, with whether each has ended; attempts that run; whether an engine does."""

    batches: Mapping[str, bool]
    alive: Collection[Attempt]
    engine: bool


def leftovers(
    folder: StateFolder, known: Known, *, environment: str, git: Path | None, worktrees: Path | None = None
) -> list[Check]:
    """`environment` names the file that holds a batch's secrets; `git` is the repository's git folder, `worktrees`
    where its worktrees lie.
    """
    found = [
        *_folders(folder, known),
        *_secrets(folder, known, environment),
        *_processes(folder, known),
        *_locks(git),
        *(left_worktrees(worktrees, known.batches, engine=known.engine) if worktrees is not None else ()),
    ]
    return found or [ok(_TOPIC, "none")]


def _folders(folder: StateFolder, known: Known) -> Iterator[Check]:
    ours = {safe(batch) for batch in known.batches}
    strange = [each for each in _listed(folder.batches) if each.name not in ours and _age(each) > _FRESH]
    if strange:
        said = f"{count(len(strange), 'folder')} in {folder.batches} of no batch: {names(each.name for each in strange)}"
        yield warning(_TOPIC, said, "The journal does not know them. plait gc --forget NAME removes one.")


def _secrets(folder: StateFolder, known: Known, environment: str) -> Iterator[Check]:
    """An engine removes them when it ends a batch, and the next one those that it did not come to."""
    if known.engine:
        return
    ended = [batch for batch, over in known.batches.items() if over]
    left = [batch for batch in ended if os.path.lexists(folder.batch(batch) / environment)]
    if left:
        said = f"the environment of {count(len(left), 'ended batch', 'es')} is still on disk: {names(left)}"
        yield warning(_TOPIC, said, f"It may hold keys. Remove {environment} in {folder.batch(left[0])}.")


def _processes(folder: StateFolder, known: Known) -> Iterator[Check]:
    start = prefix(folder.root)
    running = {marker(start, attempt) for attempt in known.alive}
    ours = [process for process in every() if process.marker.startswith(start) and not process.dead]
    strays = [process.pid for process in ours if process.marker not in running]
    if strays:
        said = (
            f"{count(len(strays), 'process', 'es')} of attempts that are over: {names(map(_process, strays))}"
        )
        yield warning(_TOPIC, said, f"Look at what they do, then end them: kill {strays[0]}.")
    alone = [process.pid for process in ours if process.marker in running]
    if alone and not known.engine:
        said = f"{count(len(alone), 'process', 'es')} of attempts that no engine watches: {names(map(_process, alone))}"
        yield warning(_TOPIC, said, "The next engine adopts them: plait resume.")


def _locks(git: Path | None) -> Iterator[Check]:
    """Git's own: they stay behind where a git was killed, and then everybody waits for nobody."""
    for lock in (
        (git / "index.lock", git / "HEAD.lock", git / "config.lock", git / "packed-refs.lock") if git else ()
    ):
        if _age(lock) > _OLD_LOCK:
            hint = f"If no git is at work here, remove it: rm {lock}"
            yield warning(_TOPIC, f"{lock} has been there for {_age(lock) / 60:.0f} minutes", hint)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _age(path: Path) -> float:
    """0 for what is not there."""
    try:
        return max(0.0, time.time() - path.lstat().st_mtime)
    except OSError:
        return 0.0


def _process(pid: int) -> str:
    """With its program's name only: its arguments are nobody's business."""
    program = next(iter(words(pid)), "")
    return f"{pid} ({Path(program).name})" if program else str(pid)
