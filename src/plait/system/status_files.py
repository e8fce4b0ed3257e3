"""Statuses written back to the files that tasks came from (`write_back`), and edits of such files (`replace`).

One plait at a time writes a file. Other programs know nothing of this lock, and nothing relies on their knowing.

From what the operating system says to what a person should be told.

Statuses put into a file that people and programs edit at the same time. No edit that somebody saved is lost.

A new version is made beside the file, and exchanged with it if it is still as it was read (`settle` tells what happens if
somebody saves in that very instant).

The path always has a whole file. An error or a crash at any instant leaves at worst a version beside it, which the next
write takes up (`intent`). A file with several names (hard links) becomes one of its own: the others keep the old text.

Outside the promise: what somebody has in a buffer and not saved; a program that empties the file, stands still for longer
than we look, and then goes on writing it; and what `exchange` says of systems that can't exchange files.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.status_changes import Rewrite, StatusChange, StatusFileWriter
from plait.sources.text import encode
from plait.system import file_exchange
from plait.system.interfaces import SourceWriteError
from plait.system.locks import try_lock
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


@contextmanager
def hold_file_lock(
    lock: Path, path: Path, pause: Callable[[float], None], lost: str = "no status was written"
) -> Iterator[None]:
    """Raise SourceWriteError if it can't be had in half a minute."""
    for _ in range(_LOCK_ATTEMPTS):
        with try_lock(lock) as is_held:
            if is_held:
                yield
                return
        pause(_LOCK_POLL_SECONDS)
    raise SourceWriteError(
        f"another plait has been writing {path} for {_LOCK_ATTEMPTS * _LOCK_POLL_SECONDS:.0f} seconds: {lost}",
        hint=f"look for a plait that hangs; the lock is {lock}",
    )


_NO_SPACE_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


_PERMISSION_ERRNOS = {errno.EACCES, errno.EPERM, errno.EROFS}


_MISSING_ERRNOS = {errno.ENOENT, errno.ENOTDIR}


def make_write_error(path: Path, error: OSError) -> SourceWriteError:
    what, hint = _explain_os_error(error)
    if error.errno in _MISSING_ERRNOS:
        hint = f"{hint}, or end the batch"
    return SourceWriteError(
        f"no status could be written to {path}, {what}: {_describe_os_error(error)}",
        hint=f"{hint}; the statuses are kept in plait's own records and written with the next change",
    )


def make_edit_error(path: Path, error: OSError) -> SourceWriteError:
    """For an edit, which nobody does again but whoever asked for it."""
    what, hint = _explain_os_error(error)
    return SourceWriteError(
        f"{path} could not be written, {what}: {_describe_os_error(error)}", hint=f"{hint}, and save again"
    )


def _describe_os_error(error: OSError) -> str | None:
    return f"{error.strerror} ({error.filename})" if error.filename else error.strerror


def _explain_os_error(error: OSError) -> tuple[str, str]:
    """In words, and what to do about it."""
    if error.errno in _NO_SPACE_ERRNOS:
        return "there is no room", "free some space"
    if error.errno in _PERMISSION_ERRNOS:
        return "that is not permitted", "check the owner and the mode of the file and its folder"
    if error.errno in _MISSING_ERRNOS:
        return "its folder is gone", "put it back"
    if error.errno == errno.EAGAIN:
        return "other programs keep writing it", "let them come to an end"
    return "the disk does not do it", "look at the disk and the system's log"


# Seconds between tries at a write that failed.
_RETRY_DELAYS = (0.05, 0.2, 0.8)


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The problems tell of changes that found no place."""

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
    """Put the statuses into the writer's file. `locks` is a folder outside the checkout, the same for every plait.

    Raise SourceWriteError when nothing can be written, after some tries.
    """
    spot = TargetFile(Path(os.path.realpath(top / writer.path)), Path(os.path.realpath(locks)))
    # A file that is looked at again is mostly the same.
    apply = lru_cache(maxsize=4 * MAX_REMEMBERED_VERSIONS)(lambda text: writer.apply(text, changes))
    writing = _StatusWrite(writer, MergingWriter(spot, apply, pause))
    for wait in _RETRY_DELAYS:
        with suppress(OSError):
            return writing.run()
        pause(wait)
    try:
        return writing.run()
    except OSError as error:
        writing.clean_up()
        raise make_write_error(spot.path, error) from error


def replace_file_text(
    path: Path, before: str, after: str, *, locks: Path, pause: Callable[[float], None] = time.sleep
) -> bool:
    """Put one text in place of another. False, and nothing is written, if the file does not say `before` any more.

    What somebody saves in the very instant of the exchange is merged with it, by lines, as for a status. `path` is real.
    Raise SourceWriteError when nothing can be written.
    """
    spot = TargetFile(path, Path(os.path.realpath(locks)))
    writing = _StatusWrite(
        StatusFileWriter(str(path), lambda text, _: Rewrite(text)), MergingWriter(spot, Rewrite, pause)
    )
    try:
        return writing.replace(before, after)
    except OSError as error:
        writing.clean_up()
        raise make_edit_error(path, error) from error


@dataclass(slots=True)
class _StatusWrite:
    """One write, in as many tries as it takes. A try that fails leaves what a crash would leave; the next one takes it up."""

    writer: StatusFileWriter
    settling: MergingWriter
    notes: tuple[Problem, ...] = ()

    @property
    def spot(self) -> TargetFile:
        return self.settling.spot

    def run(self) -> WriteResult:
        with hold_file_lock(self.spot.lock, self.spot.path, self.settling.pause):
            if not self.writer.creates or self.spot.path.parent.is_dir():
                self._write()
        return WriteResult(self.settling.changed, self.settling.problems + self.notes)

    def replace(self, before: str, after: str) -> bool:
        """Whether `before` was there to be replaced."""
        with hold_file_lock(self.spot.lock, self.spot.path, self.settling.pause, "nothing was written"):
            if (
                recover_leftover(self.spot) is not None
            ):  # the file lacks what a dead plait had of it: somebody should see that
                self._write()
                return False
            seen = file_exchange.read_snapshot(self.spot.path)
            done = seen.is_complete and seen.text == before and self._rewrite(seen, Rewrite(after), None)
            remove_intent(self.spot)
            return done

    def clean_up(self) -> None:
        """Nothing stays beside the file but what somebody would miss."""
        with (
            suppress(OSError, SourceWriteError),
            hold_file_lock(self.spot.lock, self.spot.path, self.settling.pause),
        ):
            recover_leftover(self.spot)

    def _write(self) -> None:
        left = recover_leftover(self.spot)
        for wait in REREAD_DELAYS:
            try:
                seen, rewrite = self._read_until_stable(left)
            except FileNotFoundError:
                self._handle_missing()
                return
            if self._rewrite(seen, rewrite, left):
                return
            self.settling.pause(wait)
        raise make_busy_error(self.spot)

    def _read_until_stable(self, left: Leftover | None) -> tuple[file_exchange.FileSnapshot, Rewrite]:
        """The file and what is to become of it.

        One that is missing or empty, or in which a task is not found, is looked at again: some programs empty a file
        before they write it, or move it away.
        """
        for wait in REREAD_DELAYS:
            with suppress(FileNotFoundError):
                seen, rewrite = self._read_and_apply(left)
                if seen.is_complete and seen.text and not rewrite.problems:
                    return seen, rewrite
            self.settling.pause(wait)
        return self._read_and_apply(left)

    def _read_and_apply(self, left: Leftover | None) -> tuple[file_exchange.FileSnapshot, Rewrite]:
        seen = file_exchange.read_snapshot(self.spot.path)
        return seen, self.settling.apply(seen.text if left is None else left.merge_into(seen.text))

    def _rewrite(self, seen: file_exchange.FileSnapshot, rewrite: Rewrite, left: Leftover | None) -> bool:
        """Return False if somebody writes the file just now: better to begin again than to displace what they save."""
        self.settling.problems = rewrite.problems
        if rewrite.text == seen.text:
            if left is not None:
                left.temp.unlink(missing_ok=True)
            remove_intent(self.spot)
            return True
        if not os.access(self.spot.path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, "it is read-only", str(self.spot.path))
        places = (seen.text,) if left is None else (seen.text, left.offer.text, *left.offer.previous)
        version = self.settling.stage(
            NewVersion(rewrite.text, places[:MAX_REMEMBERED_VERSIONS], has_merged_edit=left is not None),
            self.spot.path,
        )
        self.settling.announce(version, None if left is None else left.temp)
        if file_exchange.read_snapshot(self.spot.path).text != seen.text:
            version.temp.unlink()
            return False
        self.settling.install_version(version)
        if seen.stat.st_nlink > 1:
            names = f"this file had {seen.stat.st_nlink} names (hard links)"
            self._note(f"{names}: only this one has the new statuses")
        return True

    def _handle_missing(self) -> None:
        """There is no file; perhaps there should be one."""
        if not self.writer.creates:
            hint = "Its statuses are kept in plait's own records."
            self._note("this file is not there any more: no status was written", hint)
            return
        rewrite = self.settling.apply("")
        self.settling.problems = rewrite.problems
        if rewrite.text:
            self._create(rewrite.text)

    def _create(self, text: str) -> None:
        temp = self.spot.make_temp_path()
        file_exchange.create_synced_file(temp, encode(text))
        try:
            file_exchange.link_new_file(temp, self.spot.path)
        finally:
            temp.unlink(missing_ok=True)
        self.settling.changed = True
        file_exchange.sync_folder(self.spot.path.parent)

    def _note(self, message: str, hint: str = "") -> None:
        problem = Problem(Severity.WARNING, message, Origin(self.writer.path), hint)
        if problem not in self.notes:
            self.notes += (problem,)
