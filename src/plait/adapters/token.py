"""The token that the server asks for: random, made once, for its owner's eyes alone."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from plait.core.errors import WorldError

_BYTES = 32
_SOUND = re.compile(r"[0-9a-f]{64}")
_ANYBODY = stat.S_IRWXG | stat.S_IRWXO


def token(path: Path) -> str:
    """The token in this file, which is made where there is none. Of two who make it at once, both get the same one."""
    try:
        found = _read(path)
        if found is None:
            _make(path)
            found = _read(path)
    except OSError as error:
        raise WorldError(
            f"the token {path} can't be kept: {error.strerror}", hint="See who may write there: ls -ld."
        ) from error
    if found is None or not _SOUND.fullmatch(found):
        raise WorldError(f"{path} holds no token", hint="Remove it: a new one is made the next time.")
    return found


def _read(path: Path) -> str | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor, so that what is looked at is what is read
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            return ""
        if mode & _ANYBODY:
            raise WorldError(
                f"the token {path} could be read by others",
                hint="Remove it: a new one is made the next time. Or, if nobody else is on this machine: chmod 600.",
            )
        return file.read(1024).decode("ascii", "replace").strip()


def _make(path: Path) -> None:
    """Whole under another name first: whoever reads it meanwhile finds all of it, or nothing."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh, text = path.with_name(f".{path.name}.{token_hex(4)}"), f"{token_hex(_BYTES)}\n"
    _write(fresh, text)
    try:
        with suppress(FileExistsError):  # somebody was quicker: then theirs holds
            _claim(fresh, path, text)
    finally:
        fresh.unlink(missing_ok=True)


def _claim(fresh: Path, path: Path, text: str) -> None:
    try:
        path.hardlink_to(fresh)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the name is claimed first, and filled then
        _write(path, text)


def _write(path: Path, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "w", encoding="ascii") as file:  # noqa: PTH123 - a descriptor, for its mode
            file.write(text)
            file.flush()
            os.fsync(fd)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
