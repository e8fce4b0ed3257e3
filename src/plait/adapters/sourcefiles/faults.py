"""From what the operating system says to what a person should be told."""

from __future__ import annotations

import errno
from pathlib import Path

from plait.ports import SourceWriteError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_GONE = {errno.ENOENT, errno.ENOTDIR}


def of_writing(path: Path, error: OSError) -> SourceWriteError:
    what, hint = _why(error)
    if error.errno in _GONE:
        hint = f"{hint}, or end the batch"
    return SourceWriteError(
        f"no status could be written to {path}, {what}: {_said(error)}",
        hint=f"{hint}; the statuses are kept in plait's own records and written with the next change",
    )


def of_editing(path: Path, error: OSError) -> SourceWriteError:
    """For an edit, which nobody does again but whoever asked for it."""
    what, hint = _why(error)
    return SourceWriteError(
        f"{path} could not be written, {what}: {_said(error)}", hint=f"{hint}, and save again"
    )


def _said(error: OSError) -> str | None:
    return f"{error.strerror} ({error.filename})" if error.filename else error.strerror


def _why(error: OSError) -> tuple[str, str]:
    """In words, and what to do about it."""
    if error.errno in _FULL:
        return "there is no room", "free some space"
    if error.errno in _REFUSED:
        return "that is not permitted", "check the owner and the mode of the file and its folder"
    if error.errno in _GONE:
        return "its folder is gone", "put it back"
    if error.errno == errno.EAGAIN:
        return "other programs keep writing it", "let them come to an end"
    return "the disk does not do it", "look at the disk and the system's log"
