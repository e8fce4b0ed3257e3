"""Check the journal, the inbox, the engine, plait's folders, and what was left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from plait.client.doctor.check import (
    GC_HINT,
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
from plait.core.plan import Problem
from plait.core.state import State
from plait.core.views import make_batch_view
from plait.engine.daemon import EngineInfo
from plait.git.worktrees.worktree import WorkspaceLayout, list_children
from plait.store.batch_files import ENVIRONMENT_FILE
from plait.store.interfaces import JournalError
from plait.store.journal_reader import verify_for_writing
from plait.store.state_claim import ADOPT_COMMAND
from plait.system.process_identity import attempt_tag, tag_prefix
from plait.system.processes import command_line, list_processes
from plait.system.state_paths import StateFolder, safe_filename


def check_journal(path: Path, state: State | None, problems: tuple[Problem, ...]) -> DoctorCheck:
    if problems:
        return problem("journal", problems[0].message, problems[0].hint)
    if state is None:
        return ok("journal", f"{path}, created when the first batch is submitted")
    try:
        verify_for_writing(path)
    except JournalError as error:
        return problem("journal", error.message, error.hint)
    text = f"{format_count(state.seq, 'record')} of {format_count(len(state.batches), 'batch', 'es')}"
    return ok("journal", f"{path}: {text}, {len(state.open)} unfinished")


def check_inbox(path: Path, pending: int, unreadable: Mapping[str, str]) -> DoctorCheck:
    if unreadable:
        text = f"{format_count(len(unreadable), 'request')} in {path} can't be read: {next(iter(unreadable.values()))}"
        return warning("inbox", text, "They are kept and skipped. A newer plait may read them.")
    return ok(
        "inbox",
        f"{path}: {format_count(pending, 'request')} pending" if pending else f"{path}: nothing pending",
    )


def check_engine(engine: EngineInfo | None, log: Path, state: State | None) -> DoctorCheck:
    if engine is not None and engine.trouble:
        return problem("engine", f"process {engine.pid} can't continue; its log is {log}", engine.trouble)
    if engine is not None:
        since = datetime.fromtimestamp(engine.since, UTC).astimezone()
        return ok("engine", f"process {engine.pid}, running since {since:%Y-%m-%d %H:%M:%S}; its log is {log}")
    unattended = _find_unattended(state) if state else []
    if unattended:
        text = f"not running, and {format_names(unattended)} {'is' if len(unattended) == 1 else 'are'} not finished; its log is {log}"
        return warning("engine", text, f"Continue: plait resume {unattended[0]}.")
    return ok("engine", f"not running; nothing to do; its log is {log}")


def _find_unattended(state: State) -> list[str]:
    """List the batches that an engine would work on; the others wait for a person."""
    views = [make_batch_view(state, batch) for batch in state.open.values() if batch.paused is None]
    return [view.id for view in views if not view.waits_for_person]


def check_write_back(state: State) -> Iterator[DoctorCheck]:
    for batch in state.batches.values():
        for unwritten in batch.unwritten.values():
            if unwritten.retried:
                text = f"statuses of batch {batch.id} are not in {unwritten.source}: {unwritten.why}"
                yield warning("sources", text, unwritten.hint)


def check_state_folder(folder: Path) -> DoctorCheck:
    write_problem = find_write_problem(folder)
    if write_problem:
        return problem("state", f"{folder}: {write_problem}", "plait can't run batches until it can write there.")
    if not folder.exists():
        return ok("state", f"{folder}, created when the first batch is submitted")
    parts = ", ".join(f"{name} {format_bytes(count)}" for name, count in _measure_parts(folder))
    return ok("state", f"{folder}: {parts or 'nothing yet'}")


def report_foreign_state(folder: Path, why: str) -> DoctorCheck:
    hint = f"If it is yours, review and accept it: {ADOPT_COMMAND}. Other commands move it away."
    return problem("state", f"{folder} {why}; nothing in it is run, and nothing else was checked", hint)


def check_set_aside(folders: Sequence[Path]) -> Iterator[DoctorCheck]:
    if folders:
        text = f"{format_count(len(folders), 'state')} from elsewhere, set aside: {format_names(map(str, folders))}"
        yield warning("set aside", text, f"To review and accept the newest: {ADOPT_COMMAND}. To forget one, delete it.")


def check_shared_state(folder: Path) -> DoctorCheck:
    """Check the folder that all engines of one user share."""
    write_problem = find_write_problem(folder)
    if write_problem:
        hint = "Without it, engines of several repositories can't share slots and ports."
        return warning("commons", f"{folder}: {write_problem}", hint)
    return ok("commons", str(folder) if folder.exists() else f"{folder}, created when an engine starts")


def _measure_parts(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield sizes: of files by their stem (a database has several), and of folders."""
    sizes: dict[str, int] = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name = f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name.partition(".")[0]
        sizes[name] = sizes.get(name, 0) + measure_disk_use([entry.path])[0]
    yield from ((name, count) for name, count in sizes.items() if count)


_LEFTOVERS = "leftovers"
_MIN_AGE_SECONDS = 120.0  # a younger folder may not be in the journal yet
_MIN_WORKTREE_AGE_SECONDS = 600.0  # a younger worktree may be in the making
_STALE_LOCK_SECONDS = 600.0


def check_leftovers(
    folder: StateFolder,
    state: State,
    *,
    engine_runs: bool,
    git: Path | None,
    worktrees: Path | None = None,
) -> list[DoctorCheck]:
    """Report what was left behind; `git` is the repository's git folder."""
    batches = {batch.id: batch.ended is not None for batch in state.batches.values()}
    checks = [
        *_check_folders(folder, batches),
        *([] if engine_runs else _check_environments(folder, batches)),
        *_check_processes(folder, state, engine_runs=engine_runs),
        *_check_git_locks(git),
        *(find_leftover_worktrees(worktrees, batches, engine=engine_runs) if worktrees is not None else ()),
    ]
    return checks or [ok(_LEFTOVERS, "none")]


def _check_folders(folder: StateFolder, batches: Iterable[str]) -> Iterator[DoctorCheck]:
    known = {safe_filename(batch) for batch in batches}
    unknown = [
        path
        for path in _list_folder(folder.batches)
        if path.name not in known and _measure_age(path) > _MIN_AGE_SECONDS
    ]
    if unknown:
        text = f"{format_count(len(unknown), 'folder')} in {folder.batches} of no batch: {format_names(path.name for path in unknown)}"
        yield warning(_LEFTOVERS, text, "The journal does not know them. plait gc --forget NAME removes one.")


def _check_environments(folder: StateFolder, batches: Mapping[str, bool]) -> Iterator[DoctorCheck]:
    """Report environments of ended batches; a running engine removes them itself."""
    kept = [
        batch for batch, ended in batches.items() if ended and os.path.lexists(folder.batch(batch) / ENVIRONMENT_FILE)
    ]
    if kept:
        text = (
            f"the environment of {format_count(len(kept), 'ended batch', 'es')} is still on disk: {format_names(kept)}"
        )
        yield warning(_LEFTOVERS, text, "It may hold keys. The next plait run masks them in the logs and deletes it.")


def _check_processes(folder: StateFolder, state: State, *, engine_runs: bool) -> Iterator[DoctorCheck]:
    prefix = tag_prefix(folder.root)
    running = {attempt_tag(prefix, attempt) for batch in state.open.values() for attempt in batch.alive}
    tagged = [process for process in list_processes() if process.tag.startswith(prefix) and not process.is_zombie]
    strays = [process.pid for process in tagged if process.tag not in running]
    if strays:
        text = f"{format_count(len(strays), 'process', 'es')} of attempts that have ended: {format_names(map(_format_process, strays))}"
        yield warning(_LEFTOVERS, text, f"Check what they do, then end them: kill {strays[0]}.")
    unwatched = [process.pid for process in tagged if process.tag in running]
    if unwatched and not engine_runs:
        text = f"{format_count(len(unwatched), 'process', 'es')} of attempts that no engine watches: {format_names(map(_format_process, unwatched))}"
        yield warning(_LEFTOVERS, text, "The next engine adopts them: plait resume.")


def _check_git_locks(git: Path | None) -> Iterator[DoctorCheck]:
    """Report locks that git left behind when it was killed: every later git waits for them."""
    for lock in (git / "index.lock", git / "HEAD.lock", git / "config.lock", git / "packed-refs.lock") if git else ():
        if _measure_age(lock) > _STALE_LOCK_SECONDS:
            hint = f"If no git is running here, remove it: rm {lock}"
            yield warning(_LEFTOVERS, f"{lock} has been there for {_measure_age(lock) / 60:.0f} minutes", hint)


def find_leftover_worktrees(root: Path, batches: Mapping[str, bool], *, engine: bool) -> Iterator[DoctorCheck]:
    """Report worktrees that no open batch uses; a running engine removes them itself. `batches` are those in the
    journal, with whether each has ended.
    """
    if engine:
        return
    layout = WorkspaceLayout(root)
    open_names = {layout.batch(batch).name for batch, over in batches.items() if not over}
    ended_names = {layout.batch(batch).name for batch in batches} - open_names
    for description, folders in (
        ("of batches that have ended", [path for path in layout.list_batches() if path.name in ended_names]),
        ("of no batch", [path for path in layout.list_batches() if path.name not in ended_names | open_names]),
        ("left incomplete", [layout.making, layout.trash]),
    ):
        worktrees = [
            path
            for folder in folders
            for path in list_children(folder)
            if _measure_age(path) > _MIN_WORKTREE_AGE_SECONDS
        ]
        if worktrees:
            text = f"{format_count(len(worktrees), 'worktree')} {description}: {format_names(str(path.relative_to(root)) for path in worktrees)}"
            yield warning(_LEFTOVERS, text, GC_HINT)


def _list_folder(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _measure_age(path: Path) -> float:
    """Return the age of a file in seconds; 0 if it doesn't exist."""
    try:
        return max(0.0, time.time() - path.lstat().st_mtime)
    except OSError:
        return 0.0


def _format_process(pid: int) -> str:
    """Describe a process without its arguments, which may hold secrets."""
    program = next(iter(command_line(pid)), "")
    return f"{pid} ({Path(program).name})" if program else str(pid)
