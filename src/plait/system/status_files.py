"""Writes statuses and edits into files that people and programs edit at the same time, without losing anything they
saved.

A new version is made beside the file and exchanged with it if the file is still as it was read (see merging_write for
the case that it is saved at that instant). The path always has a complete file. An error or a crash leaves at worst a
version beside it, which the next write merges. A file with several hard links becomes separate from them. One plait at
a time writes a file; other programs ignore that lock.

Not covered: unsaved buffers; a program that truncates the file and pauses for longer than we wait; and systems that
cannot exchange files (see file_exchange).
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.status_changes import ApplyStatuses, Rewrite, StatusChange, StatusFileWriter
from plait.sources.text import encode
from plait.system import file_exchange
from plait.system.atomic_files import fsync_path
from plait.system.flock import try_lock
from plait.system.merging_write import (
    MAX_REMEMBERED_VERSIONS,
    REREAD_DELAYS,
    Leftover,
    MergingWriter,
    NewVersion,
    TargetFile,
    make_busy_error,
    recover_leftover,
    remove_intent,
)

# Another plait holds it for as long as one write takes: moments, or a second or two when others write too.
_LOCK_ATTEMPTS = 600
_LOCK_POLL_SECONDS = 0.05


class SourceWriteError(WorldError):
    """Statuses could not be written to a source; its file is complete, with all that people saved."""


@contextmanager
def hold_file_lock(
    lock: Path, path: Path, pause: Callable[[float], None], lost: str = "no status was written"
) -> Iterator[None]:
    """Hold the lock of a file; raises SourceWriteError if it is not free within half a minute."""
    for _ in range(_LOCK_ATTEMPTS):
        with try_lock(lock) as is_held:
            if is_held:
                yield
                return
        pause(_LOCK_POLL_SECONDS)
    raise SourceWriteError(
        f"another plait has been writing {path} for {_LOCK_ATTEMPTS * _LOCK_POLL_SECONDS:.0f} seconds: {lost}",
        hint=f"look for a hanging plait; the lock is {lock}",
    )


_NO_SPACE_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_PERMISSION_ERRNOS = {errno.EACCES, errno.EPERM, errno.EROFS}
_MISSING_ERRNOS = {errno.ENOENT, errno.ENOTDIR}
_REPLACED_ERRNOS = {errno.EISDIR, errno.EINVAL}  # a folder, a pipe or the like is in its place


def _make_error(path: Path, error: OSError, *, is_edit: bool = False) -> SourceWriteError:
    """Make the error for a failed write. Its hint differs for an edit, which plait does not repeat."""
    cause, hint = _explain_os_error(error)
    reason = f"{cause}: {error.strerror} ({error.filename})" if error.filename else f"{cause}: {error.strerror}"
    if is_edit:
        return SourceWriteError(f"{path} could not be written, {reason}", hint=f"{hint}, and save again")
    if error.errno in _MISSING_ERRNOS:
        hint = f"{hint}, or end the batch"
    later = "the statuses are kept in plait's own records and written when plait next runs here"
    return SourceWriteError(f"no status could be written to {path}, {reason}", hint=f"{hint}; {later}")


def _explain_os_error(error: OSError) -> tuple[str, str]:
    """Return the cause in words, and what to do about it."""
    if error.errno in _NO_SPACE_ERRNOS:
        return "there is not enough space", "free some space"
    if error.errno in _PERMISSION_ERRNOS:
        return "that is not permitted", "check the owner and the mode of the file and its folder"
    if error.errno in _MISSING_ERRNOS:
        return "its folder is gone", "put it back"
    if error.errno in _REPLACED_ERRNOS:
        return "it is not a file any more", "put the file back"
    if error.errno == errno.EAGAIN:
        return "other programs keep writing it", "wait until they are done"
    return "the disk failed", "check the disk and the system's log"


# Seconds between tries at a write that failed.
_RETRY_DELAYS = (0.05, 0.2, 0.8)


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of writing statuses. `problems` are changes that could not be placed."""

    changed: bool
    problems: tuple[Problem, ...] = ()


def write_statuses(
    top: Path,
    writer: StatusFileWriter,
    changes: Sequence[StatusChange],
    *,
    locks: Path,
    pause: Callable[[float], None] = time.sleep,
) -> WriteResult:
    """Write statuses into the writer's file. `locks` is a folder outside the checkout, the same for every plait.

    Raises SourceWriteError if nothing could be written after some attempts.
    """
    path = Path(os.path.realpath(top / writer.path))
    target = TargetFile(path, Path(os.path.realpath(locks)), writer.path, writer.creates)
    # A file that is read again is usually unchanged.
    apply_changes = _bind_source(top, writer)
    apply = lru_cache(maxsize=4 * MAX_REMEMBERED_VERSIONS)(lambda text: apply_changes(text, changes))
    writing = _FileWrite(target, apply, pause)
    for wait in _RETRY_DELAYS:
        with suppress(OSError):
            return writing.run()
        pause(wait)
    try:
        return writing.run()
    except OSError as error:
        writing.clean_up()
        raise _make_error(path, error) from error


def _bind_source(top: Path, writer: StatusFileWriter) -> ApplyStatuses:
    """Return the writer's `apply` with its source's text. An unreadable source lists no task."""
    if writer.bind_source is not None:
        with suppress(OSError):
            return writer.bind_source(file_exchange.read_snapshot(Path(os.path.realpath(top / writer.source))).text)
    return writer.apply


def replace_file_text(
    path: Path, before: str, after: str, *, locks: Path, pause: Callable[[float], None] = time.sleep
) -> bool:
    """Replace one text by another; return False, with nothing written, if the file no longer has the text `before`.

    What is saved at the very instant of the exchange is merged by lines, as for a status. `path` is a real path. Raises
    SourceWriteError if nothing can be written.
    """
    writing = _FileWrite(TargetFile(path, Path(os.path.realpath(locks)), str(path)), Rewrite, pause)
    try:
        return writing.replace(before, after)
    except OSError as error:
        writing.clean_up()
        raise _make_error(path, error, is_edit=True) from error


class _FileWrite(MergingWriter):
    """One write with its retries. A failed attempt leaves what a crash would, and the next one continues from there."""

    def run(self) -> WriteResult:
        with hold_file_lock(self.target.lock, self.target.path, self.pause):
            if not self.target.creates or self.target.path.parent.is_dir():
                self._write()
        return WriteResult(self.changed, self.problems + self.notes)

    def replace(self, before: str, after: str) -> bool:
        """Replace the text `before`; False if the file doesn't have it."""
        with hold_file_lock(self.target.lock, self.target.path, self.pause, "nothing was written"):
            # If there is something, the file lacks an edit that a dead plait had displaced: report it.
            if recover_leftover(self.target) is not None:
                self._write()
                return False
            snapshot = file_exchange.read_snapshot(self.target.path)
            replaced = (
                snapshot.is_complete and snapshot.text == before and self._rewrite(snapshot, Rewrite(after), None)
            )
            remove_intent(self.target)
            return replaced

    def clean_up(self) -> None:
        """Remove everything beside the file except unmerged edits."""
        with (
            suppress(OSError, SourceWriteError),
            hold_file_lock(self.target.lock, self.target.path, self.pause),
        ):
            recover_leftover(self.target)

    def _write(self) -> None:
        leftover = recover_leftover(self.target)
        for wait in REREAD_DELAYS:
            try:
                snapshot, rewrite = self._read_until_stable(leftover)
            except FileNotFoundError:
                self._handle_missing()
                return
            if self._rewrite(snapshot, rewrite, leftover):
                return
            self.pause(wait)
        raise make_busy_error(self.target)

    def _read_until_stable(self, leftover: Leftover | None) -> tuple[file_exchange.FileSnapshot, Rewrite]:
        """Return the file and its new text.

        A file that is missing, empty or lacks a task is read again: some programs truncate or move a file before they
        write it.
        """
        for wait in REREAD_DELAYS:
            with suppress(FileNotFoundError):
                snapshot, rewrite = self._read_and_apply(leftover)
                if snapshot.is_complete and snapshot.text and not rewrite.problems:
                    return snapshot, rewrite
            self.pause(wait)
        return self._read_and_apply(leftover)

    def _read_and_apply(self, leftover: Leftover | None) -> tuple[file_exchange.FileSnapshot, Rewrite]:
        snapshot = file_exchange.read_snapshot(self.target.path)
        return snapshot, self.apply(snapshot.text if leftover is None else leftover.merge_into(snapshot.text))

    def _rewrite(self, snapshot: file_exchange.FileSnapshot, rewrite: Rewrite, leftover: Leftover | None) -> bool:
        """Put the new text in place; False if another program is writing, whose version must not be displaced."""
        self.problems = rewrite.problems
        if rewrite.text == snapshot.text:
            if leftover is not None:
                leftover.temp.unlink(missing_ok=True)
            remove_intent(self.target)
            return True
        if not os.access(self.target.path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, "it is read-only", str(self.target.path))
        versions = (
            (snapshot.text,) if leftover is None else (snapshot.text, leftover.version.text, *leftover.version.previous)
        )
        staged = self.stage(
            NewVersion(rewrite.text, versions[:MAX_REMEMBERED_VERSIONS], has_merged_edit=leftover is not None),
            self.target.path,
        )
        self.announce(staged, None if leftover is None else leftover.temp)
        if file_exchange.read_snapshot(self.target.path).text != snapshot.text:
            staged.temp.unlink()
            return False
        self.install_version(staged)
        if snapshot.stat.st_nlink > 1:
            names = f"this file had {snapshot.stat.st_nlink} names (hard links)"
            self._note(f"{names}: only this one has the new statuses", severity=Severity.INFO)
        return True

    def _handle_missing(self) -> None:
        """Handle a file that does not exist: create it if the format says so."""
        if not self.target.creates:
            hint = "Its statuses are kept in plait's own records."
            self._note("this file is not there any more: no status was written", hint)
            return
        rewrite = self.apply("")
        self.problems = rewrite.problems
        if rewrite.text:
            self._create(rewrite.text)

    def _create(self, text: str) -> None:
        temp = self.target.make_temp_path()
        file_exchange.create_synced_file(temp, encode(text))
        try:
            file_exchange.link_new_file(temp, self.target.path)
        finally:
            temp.unlink(missing_ok=True)
        self.changed = True
        fsync_path(self.target.path.parent)

    def _note(self, message: str, hint: str = "", severity: Severity = Severity.WARNING) -> None:
        problem = Problem(severity, message, Origin(self.target.name), hint)
        if problem not in self.notes:
            self.notes += (problem,)
