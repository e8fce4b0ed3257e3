"""A file that comes into the world whole, or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex


def write_new_file(path: Path, text: str, *, replace: bool = False) -> None:
    """Raises OSError. Without `replace`, FileExistsError if there is anything of that name: of two at once, one wins.

    With it, a link is replaced itself: what it leads to is not ours to write.
    """
    aside = path.with_name(f".{path.name}.{token_hex(4)}")
    _write_exclusive(aside, text)
    try:
        if replace:
            aside.replace(path)
        else:
            _link_into_place(aside, path, text)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _link_into_place(aside: Path, path: Path, text: str) -> None:
    try:
        path.hardlink_to(aside)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the name is claimed first, and filled then
        _write_exclusive(path, text)


def _write_exclusive(path: Path, text: str) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # the file is there and whole; some file systems know no more than that
        opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
