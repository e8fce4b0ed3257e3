"""From what the operating system says to what a person should be told."""

from __future__ import annotations

import errno
from pathlib import Path

from plait.store.interfaces import SourceWriteError

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
