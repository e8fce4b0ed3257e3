"""From what the operating system says to what a person should be told."""

from __future__ import annotations

import errno
from pathlib import Path

from plait.ports import SourceWriteError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_GONE = {errno.ENOENT, errno.ENOTDIR}


def of_writing(path: Path, error: OSError) -> SourceWriteError:
    said = f"{error.strerror} ({error.filename})" if error.filename else error.strerror
    if error.errno in _FULL:
        what, hint = "there is no room", "free some space"
    elif error.errno in _REFUSED:
        what, hint = "that is not permitted", "check the owner and the mode of the file and its folder"
    elif error.errno in _GONE:
        what, hint = "its folder is gone", "put it back, or end the batch"
    elif error.errno == errno.EAGAIN:
        what, hint = "other programs keep writing it", "let them come to an end"
    else:
        what, hint = "the disk does not do it", "look at the disk and the system's log"
    return SourceWriteError(
        f"no status could be written to {path}, {what}: {said}",
        hint=f"{hint}; the statuses are kept in plait's own records and written with the next change",
    )
